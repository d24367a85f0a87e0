//! A dispatch for each mesh.

use crate::gpu::{Gpu, Timestamps, buffer, grid, pipeline};

pub(super) struct Dispatches {
    pub(super) pipeline: wgpu::ComputePipeline,
    /// One for each mesh.
    pub(super) groups: Vec<wgpu::BindGroup>,
    workgroups: (u32, u32),
}

impl Dispatches {
    /// Of a kernel with a thread for each vertex of a mesh.
    pub(super) fn new(gpu: &Gpu, text: &str, workgroup: u32, vertices: usize) -> Self {
        let pipeline = pipeline(&gpu.device, text, None);
        Self { pipeline, groups: Vec::new(), workgroups: grid((vertices as u32).div_ceil(workgroup)) }
    }

    pub(super) fn record(&self, encoder: &mut wgpu::CommandEncoder, at: Option<Timestamps<'_>>) {
        let timestamp_writes = at.map(Timestamps::writes);
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        pass.set_pipeline(&self.pipeline);
        for group in &self.groups {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(self.workgroups.0, self.workgroups.1, 1);
        }
    }
}

/// What a kernel writes, and a check reads.
pub(super) fn output(gpu: &Gpu, bytes: usize) -> wgpu::Buffer {
    buffer(&gpu.device, bytes as u64, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)
}
