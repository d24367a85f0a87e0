//! The exact boxes of deformed parts, found on the GPU.

use crate::{gpu::bind_group_layout_entries, shaders};

/// The pipeline of wgsl/bounds.wgsl.
#[derive(Debug)]
pub(super) struct Reduction {
    pub(super) layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

impl Reduction {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let shader = &shaders::BOUNDS;
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(shader.name),
            entries: &bind_group_layout_entries(shader, 0),
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(shader.name),
            source: wgpu::ShaderSource::Wgsl(shader.source.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(shader.name),
            layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(shader.name),
                bind_group_layouts: &[Some(&layout)],
                ..Default::default()
            })),
            module: &module,
            entry_point: shader.entry_points.first().map(|e| e.name),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every lane writes its own before any is read.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Self { layout, pipeline }
    }

    /// One dispatch, a workgroup for each of `parts`, folded at `width`.
    pub(super) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        group: &wgpu::BindGroup,
        parts: u32,
        width: u32,
    ) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(parts.min(width), parts.div_ceil(width), 1);
    }
}
