use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use sinew_graph::Graph;

use super::{ReadBack, SkinnedPart};

/// Asks a graph for deformed vertices, and takes them as they come. Made by [`declare_read_back`]; clones share what is
/// asked for.
#[derive(Clone, Debug, Default)]
pub struct ReadBackRequests(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    is_wanted: bool,
    recorded: VecDeque<ReadBack>,
}

impl ReadBackRequests {
    /// Has the next run of the graph copy its parts; once, however often it is called before.
    pub fn request(&self) {
        self.with(|requests| requests.is_wanted = true);
    }

    /// The oldest that a run has recorded and nobody has taken; `None` where there is none.
    #[must_use]
    pub fn take(&self) -> Option<ReadBack> {
        self.with(|requests| requests.recorded.pop_front())
    }

    fn with<T>(&self, change: impl FnOnce(&mut Requests) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Declares a transfer pass `read back` that copies parts for the CPU in the runs in which that was
/// [requested](ReadBackRequests::request): give those of one instance, such as `skinned.parts(hero)`, or any others.
/// The pass counts as a reader of the parts: their vertices are deformed in every run. Buffers are made anew for every
/// read-back; runs without one allocate nothing.
///
/// What is hidden is not deformed: transient parts of a hidden instance are read back as whatever lies there.
pub fn declare_read_back<F: 'static>(
    graph: &mut Graph<F>,
    device: &wgpu::Device,
    parts: &[SkinnedPart],
) -> ReadBackRequests {
    let requests = ReadBackRequests::default();
    let (shared, device) = (requests.clone(), device.clone());
    let parts: Arc<[SkinnedPart]> = parts.into();
    graph.transfer("read back", |pass| {
        pass.keep();
        let reads: Vec<_> = parts.iter().map(|part| [pass.copy_src(part.a), pass.copy_src(part.b)]).collect();
        move |encoder: &mut wgpu::CommandEncoder, resources: &sinew_graph::Resources<'_>, _: &F| {
            if !shared.with(|requests| std::mem::take(&mut requests.is_wanted)) {
                return;
            }
            let outputs = reads.iter().zip(parts.iter()).map(|(reads, part)| {
                let [a, b] = reads.map(|read| resources.binding(read));
                let vertices = part.vertices();
                let bytes_b = vertices * u64::from(part.precision.words_b()) * 4;
                [
                    (a.buffer, a.offset..a.offset + vertices * crate::deform::BYTES_A),
                    (b.buffer, b.offset..b.offset + bytes_b),
                ]
            });
            let recorded = ReadBack::record_parts(&device, encoder, &parts, outputs);
            shared.with(|requests| requests.recorded.push_back(recorded));
        }
    });
    requests
}

impl SkinnedPart {
    /// Deformed vertices of all primitives.
    fn vertices(&self) -> u64 {
        let mesh = self.model.parts()[self.part as usize].mesh as usize;
        self.model.meshes()[mesh].primitives().iter().map(|primitive| primitive.vertex_count() as u64).sum()
    }
}
