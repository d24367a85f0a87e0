use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use sinew_graph::{Access, Buffer, Graph, role};

use super::buffers::create;

/// How long a part's deformed vertices live; chosen per part when it is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputKind {
    /// Inside the frame; the graph gives the memory to something else afterwards.
    #[default]
    Transient,
    /// Until the graph is gone, in buffers of its own: readable outside the graph, and kept while the
    /// instance is hidden. Costs a copy a frame.
    Persistent,
}

/// One part that is copied out of the packs.
pub(super) struct Kept {
    /// Place among the declared parts.
    pub(super) index: usize,
    pub(super) transient: [Buffer; 2],
    pub(super) bytes: [u64; 2],
}

/// Where it lies afterwards.
pub(super) struct Persisted {
    pub(super) index: usize,
    pub(super) values: [Buffer; 2],
    pub(super) buffers: [wgpu::Buffer; 2],
}

struct Copy {
    index: usize,
    streams: [(Access<role::CopySrc>, Access<role::CopyDst>); 2],
}

/// Declares one pass that copies every part that `written` names this frame.
pub(super) fn persist<F: 'static>(
    graph: &mut Graph<F>,
    device: &wgpu::Device,
    kept: &[Kept],
    written: Arc<[AtomicBool]>,
) -> Vec<Persisted> {
    if kept.is_empty() {
        return Vec::new();
    }
    let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let persisted: Vec<_> = kept
        .iter()
        .map(|part| {
            let buffers = part.bytes.map(|bytes| create(device, "persistent vertices", bytes, usage));
            let values = [0, 1].map(|stream| graph.import("persistent vertices", &buffers[stream]));
            Persisted { index: part.index, values, buffers }
        })
        .collect();
    graph.transfer("persist", |pass| {
        let mut copies = Vec::with_capacity(kept.len());
        for (part, persisted) in kept.iter().zip(&persisted) {
            let streams = [0, 1].map(|stream| {
                (pass.copy_src(part.transient[stream]), pass.copy_dst(persisted.values[stream]))
            });
            copies.push(Copy { index: part.index, streams });
        }
        move |encoder: &mut wgpu::CommandEncoder, resources: &sinew_graph::Resources<'_>, _: &F| {
            for copy in copies.iter().filter(|copy| written[copy.index].load(Ordering::Relaxed)) {
                for (from, to) in copy.streams {
                    let (from, to) = (resources.binding(from), resources.binding(to));
                    let size = to.buffer.size();
                    encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, size);
                }
            }
        }
    });
    persisted
}
