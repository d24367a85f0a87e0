//! The pipelines of wgsl/lit.wgsl, created when something first needs them.

use std::collections::HashMap;

use super::{
    RenderError,
    layout::Attributes,
    material::{MATERIAL_GROUP, layout},
};
use crate::{
    deform::gpu::{VERTEX_A, VERTEX_B},
    model::{AlphaMode, Material, Topology},
    shaders,
};

/// Depth as [`Camera`](super::Camera) projects it: reversed.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The order that things are drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Layer {
    Opaque,
    Masked,
    /// From back to front, depth tested but not written.
    Blended,
}

impl Layer {
    pub(crate) fn of(material: &Material) -> Self {
        match material.alpha_mode {
            AlphaMode::Opaque => Self::Opaque,
            AlphaMode::Mask { .. } => Self::Masked,
            AlphaMode::Blend => Self::Blended,
        }
    }

    fn entry_point(self) -> &'static str {
        match self {
            Self::Opaque => "opaque",
            Self::Masked => "masked",
            Self::Blended => "blended",
        }
    }
}

/// What distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) topology: Topology,
    pub(crate) layer: Layer,
    pub(crate) double_sided: bool,
}

/// One pipeline, the same for vertices that a mirroring matrix has moved, whose winding is reversed, and the same for
/// primitives that have both, which are drawn from both sides.
#[derive(Clone, Debug)]
pub(crate) struct PipelineSet {
    pub(crate) plain: wgpu::RenderPipeline,
    pub(crate) mirrored: wgpu::RenderPipeline,
    pub(crate) mixed: wgpu::RenderPipeline,
}

#[derive(Debug)]
pub(crate) struct Pipelines {
    device: wgpu::Device,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    pub(crate) view_layout: wgpu::BindGroupLayout,
    pub(crate) material_layout: wgpu::BindGroupLayout,
    format: wgpu::TextureFormat,
    samples: u32,
    built: HashMap<PipelineKey, PipelineSet>,
}

impl Pipelines {
    pub(crate) fn new(
        device: &wgpu::Device,
        format: wgpu::TextureFormat,
        samples: u32,
    ) -> Result<Self, RenderError> {
        if !format.is_srgb() {
            return Err(RenderError::Format { format });
        }
        if !matches!(samples, 1 | 4) {
            return Err(RenderError::Samples { samples });
        }
        let view_layout = layout(device, 0);
        let material_layout = layout(device, MATERIAL_GROUP);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("lit"),
            bind_group_layouts: &[Some(&view_layout), Some(&material_layout)],
            immediate_size: 0,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("lit"),
            source: wgpu::ShaderSource::Wgsl(shaders::LIT.source.into()),
        });
        Ok(Self {
            device: device.clone(),
            module,
            layout: pipeline_layout,
            view_layout,
            material_layout,
            format,
            samples,
            built: HashMap::new(),
        })
    }

    pub(crate) fn samples(&self) -> u32 {
        self.samples
    }

    pub(crate) fn format(&self) -> wgpu::TextureFormat {
        self.format
    }

    pub(crate) fn get(&mut self, key: PipelineKey) -> PipelineSet {
        if let Some(set) = self.built.get(&key) {
            return set.clone();
        }
        let create = |double_sided, front_face| self.create(PipelineKey { double_sided, ..key }, front_face);
        let plain = create(key.double_sided, wgpu::FrontFace::Ccw);
        let set = if key.double_sided {
            // Winding makes no difference.
            PipelineSet { mirrored: plain.clone(), mixed: plain.clone(), plain }
        } else {
            let mirrored = create(false, wgpu::FrontFace::Cw);
            PipelineSet { plain, mirrored, mixed: create(true, wgpu::FrontFace::Ccw) }
        };
        self.built.insert(key, set.clone());
        set
    }

    fn create(&self, key: PipelineKey, front_face: wgpu::FrontFace) -> wgpu::RenderPipeline {
        let topology = topology(key.topology);
        let is_blended = key.layer == Layer::Blended;
        let target = wgpu::ColorTargetState {
            format: self.format,
            blend: is_blended.then_some(wgpu::BlendState::ALPHA_BLENDING),
            write_mask: wgpu::ColorWrites::ALL,
        };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(key.layer.entry_point()),
            layout: Some(&self.layout),
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &vertex_buffers(),
            },
            primitive: wgpu::PrimitiveState {
                topology,
                strip_index_format: topology.is_strip().then_some(wgpu::IndexFormat::Uint32),
                front_face,
                cull_mode: (!key.double_sided).then_some(wgpu::Face::Back),
                ..Default::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(!is_blended),
                depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: self.samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &self.module,
                entry_point: Some(key.layer.entry_point()),
                compilation_options: Default::default(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// Deformed A, deformed B (packed), and the attributes that stay.
fn vertex_buffers() -> [Option<wgpu::VertexBufferLayout<'static>>; 3] {
    const STATIC: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Attributes>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![3 => Float32x4, 4 => Unorm16x4],
    };
    [Some(VERTEX_A), Some(VERTEX_B), Some(STATIC)]
}

fn topology(topology: Topology) -> wgpu::PrimitiveTopology {
    match topology {
        Topology::Points => wgpu::PrimitiveTopology::PointList,
        Topology::Lines => wgpu::PrimitiveTopology::LineList,
        Topology::LineStrip => wgpu::PrimitiveTopology::LineStrip,
        Topology::Triangles => wgpu::PrimitiveTopology::TriangleList,
        Topology::TriangleStrip => wgpu::PrimitiveTopology::TriangleStrip,
    }
}
