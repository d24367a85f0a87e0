use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use super::Deformer;
use crate::{
    animate::InstanceId,
    deform::{
        DeformError,
        output::{BakedPrimitive, bake},
    },
};

const WAITING: u8 = 0;
const MAPPED: u8 = 1;
const FAILED: u8 = 2;

/// Deformed vertices on their way to the CPU. Made by [`Deformer::read_back`]; readable once the caller
/// has submitted the encoder and polled the device.
#[derive(Debug)]
pub struct ReadBack {
    buffers: [wgpu::Buffer; 2],
    states: [Arc<AtomicU8>; 2],
    /// Of the models and instances whose vertices these are.
    revision: u64,
}

/// Waits for one buffer. Dropped without an answer, because its encoder was dropped, it has failed.
#[derive(Debug)]
struct Notice(Arc<AtomicU8>);

impl Notice {
    /// By method: a closure that touched the field alone would capture only that, and drop this early.
    fn answer(&self, mapped: bool) {
        self.0.store(if mapped { MAPPED } else { FAILED }, Ordering::Release);
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        let _ = self.0.compare_exchange(WAITING, FAILED, Ordering::Release, Ordering::Relaxed);
    }
}

impl ReadBack {
    pub(super) fn record(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        outputs: [&wgpu::Buffer; 2],
        revision: u64,
    ) -> Self {
        let buffers = outputs.map(|output| {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("read back"),
                size: output.size(),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            encoder.copy_buffer_to_buffer(output, 0, &buffer, 0, output.size());
            buffer
        });
        let states = [0, 1].map(|_| Arc::new(AtomicU8::new(WAITING)));
        for (buffer, state) in buffers.iter().zip(&states) {
            let notice = Notice(Arc::clone(state));
            encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, .., move |result| {
                notice.answer(result.is_ok());
            });
        }
        Self { buffers, states, revision }
    }

    /// Every primitive of an instance, in its space and the source's vertex order; `None` while the
    /// vertices are not there yet. Fails with [`DeformError::NotRecorded`] once models or instances have
    /// changed since the record.
    pub fn bake(
        &self,
        deformer: &Deformer,
        instance: InstanceId,
    ) -> Result<Option<Vec<BakedPrimitive>>, DeformError> {
        let states = [0, 1].map(|i| self.states[i].load(Ordering::Acquire));
        if states.contains(&FAILED) {
            return Err(DeformError::Map);
        }
        if states.contains(&WAITING) {
            return Ok(None);
        }
        let [a, b] = [0, 1].map(|i| self.buffers[i].slice(..).get_mapped_range());
        let (Ok(a), Ok(b)) = (a, b) else { return Err(DeformError::Map) };
        let (cast, layout) = deformer.cast_and_layout();
        if cast.revision() != self.revision {
            return Err(DeformError::NotRecorded);
        }
        bake(cast, layout, instance, bytemuck::cast_slice(&a), bytemuck::cast_slice(&b)).map(Some)
    }
}
