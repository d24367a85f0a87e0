use std::sync::OnceLock;

use super::reduce::Reduction;
use crate::{
    deform::{DeformError, layout::VARIANTS},
    gpu::{bind_group_layout_entries, trusted},
    shaders::{self, Shader},
};

/// The kernel's pipelines, each compiled when something first needs it, and their common layout.
#[derive(Debug)]
pub(crate) struct Kernels {
    device: wgpu::Device,
    /// Made when something is first bound: a device that cannot have them is refused before that.
    layouts: OnceLock<(wgpu::BindGroupLayout, wgpu::PipelineLayout)>,
    pipelines: [OnceLock<wgpu::ComputePipeline>; VARIANTS],
    is_trusted: bool,
    reduction: OnceLock<Reduction>,
    /// Most workgroups along x; items beyond fold into y.
    grid_width: u32,
}

const GRID_WIDTH: u32 = 4096;

impl Kernels {
    pub(crate) fn new(device: &wgpu::Device, is_trusted: bool) -> Self {
        let grid_width = GRID_WIDTH.min(device.limits().max_compute_workgroups_per_dimension).max(1);
        let pipelines = [const { OnceLock::new() }; VARIANTS];
        let (layouts, reduction) = Default::default();
        Self { device: device.clone(), layouts, pipelines, is_trusted, reduction, grid_width }
    }

    /// Refuses a device on which no kernel can run, before anything is made on it.
    pub(crate) fn check(limits: &wgpu::Limits) -> Result<(), DeformError> {
        let threads = |shader: &Shader| shader.entry_points[0].workgroup_size.iter().product();
        let most_threads = shaders::DEFORM.iter().map(threads).max().unwrap_or(0);
        let bindings = entries().len() as u32;
        let name = "max_storage_buffers_per_shader_stage";
        at_least("storage buffers", bindings, limits.max_storage_buffers_per_shader_stage, name)?;
        let name = "max_compute_invocations_per_workgroup";
        at_least("threads", most_threads, limits.max_compute_invocations_per_workgroup, name)
    }

    pub(crate) fn group_layout(&self) -> &wgpu::BindGroupLayout {
        &self.layouts().0
    }

    /// Binds whole buffers, in the order of their bindings.
    pub(crate) fn bind(&self, buffers: [&wgpu::Buffer; 8]) -> wgpu::BindGroup {
        let mut binding = 0..;
        let entries = buffers.map(|buffer| wgpu::BindGroupEntry {
            binding: binding.next().unwrap_or_default(),
            resource: buffer.as_entire_binding(),
        });
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("deform"),
            layout: self.group_layout(),
            entries: &entries,
        })
    }

    fn layouts(&self) -> &(wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        self.layouts.get_or_init(|| {
            let group = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("deform"),
                entries: &entries(),
            });
            let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("deform"),
                bind_group_layouts: &[Some(&group)],
                ..Default::default()
            });
            (group, layout)
        })
    }

    /// The pipeline of a variant; compiles it the first time.
    pub(crate) fn pipeline(&self, variant: usize) -> &wgpu::ComputePipeline {
        self.pipelines[variant].get_or_init(|| {
            let shader = &shaders::DEFORM[variant];
            let module = if self.is_trusted {
                trusted::module(&self.device, shader)
            } else {
                self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(shader.name),
                    source: wgpu::ShaderSource::Wgsl(shader.source.into()),
                })
            };
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(shader.name),
                layout: Some(&self.layouts().1),
                module: &module,
                entry_point: shader.entry_points.first().map(|e| e.name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    // Every chunk lists the joints that its vertices read, and at least one.
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        })
    }

    /// The reduction to boxes; compiled the first time.
    pub(super) fn reduction(&self) -> &Reduction {
        self.reduction.get_or_init(|| Reduction::new(&self.device))
    }

    /// Most workgroups along x.
    pub(super) fn grid_width(&self) -> u32 {
        self.grid_width
    }

    /// One dispatch for each variant that has items. Returns their number.
    pub(crate) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        group: &wgpu::BindGroup,
        counts: &[u32; VARIANTS],
    ) -> u32 {
        let mut dispatches = 0;
        pass.set_bind_group(0, group, &[]);
        for (variant, &items) in counts.iter().enumerate().filter(|(_, items)| **items > 0) {
            pass.set_pipeline(self.pipeline(variant));
            pass.dispatch_workgroups(items.min(self.grid_width), items.div_ceil(self.grid_width), 1);
            dispatches += 1;
        }
        dispatches
    }
}

fn at_least(what: &'static str, needed: u32, limit: u32, name: &'static str) -> Result<(), DeformError> {
    if limit >= needed { Ok(()) } else { Err(DeformError::UnderLimits { what, needed, limit, name }) }
}

/// Every binding that some variant uses, at the most that one of them needs; variants share the layout.
fn entries() -> Vec<wgpu::BindGroupLayoutEntry> {
    let mut all: Vec<wgpu::BindGroupLayoutEntry> = Vec::new();
    for entry in shaders::DEFORM.iter().flat_map(|shader: &Shader| bind_group_layout_entries(shader, 0)) {
        match all.iter_mut().find(|known| known.binding == entry.binding) {
            Some(known) => widen(&mut known.ty, entry.ty),
            None => all.push(entry),
        }
    }
    all
}

fn widen(known: &mut wgpu::BindingType, other: wgpu::BindingType) {
    if let (
        wgpu::BindingType::Buffer { min_binding_size: known, .. },
        wgpu::BindingType::Buffer { min_binding_size: other, .. },
    ) = (known, other)
    {
        *known = (*known).max(other);
    }
}
