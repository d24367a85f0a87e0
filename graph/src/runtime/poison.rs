//! Shows whether a pass reads what it did not get: every transient buffer is overwritten before its first use.

use crate::{
    plan::Plan,
    runtime::prepare::{Prepared, Scope},
};

const CHUNK: u64 = 64 << 10;

/// A buffer full of 0xFF: NaN as a float, and an index beyond everything.
#[derive(Debug)]
pub(crate) struct Poison(wgpu::Buffer);

impl Poison {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("graph poison"),
            size: CHUNK,
            usage: wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            view.copy_from_slice(&[0xff; CHUNK as usize]);
        }
        buffer.unmap();
        Self(buffer)
    }

    /// Fills the transients whose first pass is `at`.
    pub(crate) fn fill(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        prepared: &Prepared,
        scope: Scope<'_>,
        at: u32,
    ) {
        let plan: &Plan = scope.plan;
        let starting = plan.buffers().iter().filter(|buffer| buffer.first == at);
        for place in starting.filter_map(|buffer| buffer.placement) {
            let Some(arena) = prepared.arenas().get(place.arena as usize) else { continue };
            let end = place.offset + place.size;
            let mut offset = place.offset;
            while offset < end {
                let size = CHUNK.min(end - offset);
                encoder.copy_buffer_to_buffer(&self.0, 0, arena, offset, size);
                offset += size;
            }
        }
    }
}
