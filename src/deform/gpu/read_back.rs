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
    /// Both outputs of every group.
    outputs: Vec<[Copied; 2]>,
    /// Of the models and instances whose vertices these are.
    revision: u64,
}

#[derive(Debug)]
struct Copied {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
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
    pub(super) fn record<'o>(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        outputs: impl IntoIterator<Item = [&'o wgpu::Buffer; 2]>,
        revision: u64,
    ) -> Self {
        let outputs =
            outputs.into_iter().map(|group| group.map(|output| Copied::record(device, encoder, output)));
        Self { outputs: outputs.collect(), revision }
    }

    /// Every primitive of an instance, in its space and the source's vertex order; `None` while the
    /// vertices are not there yet. Fails with [`DeformError::NotRecorded`] once models or instances have
    /// changed since the record.
    pub fn bake(
        &self,
        deformer: &Deformer,
        instance: InstanceId,
    ) -> Result<Option<Vec<BakedPrimitive>>, DeformError> {
        let Some(views) = self.views()? else { return Ok(None) };
        let (cast, layout) = deformer.cast_and_layout();
        if cast.revision() != self.revision {
            return Err(DeformError::NotRecorded);
        }
        let outputs = |group: usize| {
            let [a, b] = &views[group];
            (bytemuck::cast_slice(a), bytemuck::cast_slice(b))
        };
        bake(cast, layout, instance, outputs).map(Some)
    }

    /// Both outputs of every group; `None` while they are not there yet.
    pub(super) fn views(&self) -> Result<Option<Vec<[wgpu::BufferView; 2]>>, DeformError> {
        let states: Vec<_> = self.outputs.iter().flatten().map(|c| c.state.load(Ordering::Acquire)).collect();
        if states.contains(&FAILED) {
            return Err(DeformError::Map);
        }
        if states.contains(&WAITING) {
            return Ok(None);
        }
        let mapped =
            |copied: &Copied| copied.buffer.slice(..).get_mapped_range().map_err(|_| DeformError::Map);
        let views = self.outputs.iter().map(|[a, b]| Ok([mapped(a)?, mapped(b)?]));
        views.collect::<Result<_, _>>().map(Some)
    }

    /// Of which models and instances.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }
}

impl Copied {
    fn record(device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, output: &wgpu::Buffer) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: output.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(output, 0, &buffer, 0, output.size());
        let state = Arc::new(AtomicU8::new(WAITING));
        let notice = Notice(Arc::clone(&state));
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |result| {
            notice.answer(result.is_ok());
        });
        Self { buffer, state }
    }
}
