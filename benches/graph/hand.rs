//! A frame of compute passes as somebody would write it who knows where everything lies.

use sinew::graph::Plan;

use crate::{Kernels, kernel, passes::Passes};

pub(crate) struct Frame(Vec<(wgpu::ComputePipeline, wgpu::BindGroup)>);

impl Frame {
    /// Buffers as `plan` lays them out, and a bind group for every pass. All passes are in the plan, and all
    /// buffers, in the order of their declaration.
    pub(crate) fn new(device: &wgpu::Device, passes: &Passes, plan: &Plan, kernels: &mut Kernels) -> Self {
        let arena = |arena: &sinew::graph::Arena| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: arena.size,
                usage: arena.usage,
                mapped_at_creation: false,
            })
        };
        let arenas: Vec<_> = plan.arenas().iter().map(arena).collect();
        let pass = |pass: &crate::passes::Pass| {
            let pipeline = kernel(device, kernels, pass.reads.len(), pass.writes.len());
            let range = |(binding, &buffer): (u32, &usize)| {
                let planned = &plan.buffers()[buffer];
                let place = planned.placement.unwrap();
                let (buffer, size) = (&arenas[place.arena as usize], wgpu::BufferSize::new(planned.size));
                let range = wgpu::BufferBinding { buffer, offset: place.offset, size };
                wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(range) }
            };
            let entries: Vec<_> = (0..).zip(pass.reads.iter().chain(&pass.writes)).map(range).collect();
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            (pipeline, group)
        };
        Self(passes.passes.iter().map(pass).collect())
    }

    pub(crate) fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        for (pipeline, group) in &self.0 {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("pass"),
                timestamp_writes: None,
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
    }
}
