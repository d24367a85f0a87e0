//! Skinning in the vertex stage, from the streams that our kernel reads.

use glam::Vec3;

use crate::{
    directions::encode,
    gpu::{Gpu, Timestamps, buffer},
    layouts::{Facts, Layout, Meshes, RUN},
};

/// Side of the target that nothing reaches.
const SIDE: u32 = 16;
/// What is checked: three pixels a vertex.
const PROBE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

pub(crate) struct VertexStage {
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    pub(crate) group: wgpu::BindGroup,
    points: wgpu::RenderPipeline,
    target: wgpu::TextureView,
    vertices: u32,
    characters: u32,
}

impl VertexStage {
    pub(crate) fn new(gpu: &Gpu, Meshes { primitive, palettes }: Meshes<'_>) -> Self {
        let device = &gpu.device;
        let vertices = primitive.vertex_count();
        let (mut a, mut b) = (Vec::with_capacity(vertices * 4), Vec::with_capacity(vertices * 4));
        for v in 0..vertices {
            a.extend(primitive.positions()[v].to_array().map(f32::to_bits));
            a.push(encode(primitive.normals()[v]));
            let row = primitive.influences().unwrap().row(v);
            let joint = |k: usize| row.get(k).map_or(0, |influence| influence.joint) << (8 * k);
            let weight = |k: usize| row.get(k).map_or(0, |i| (i.weight * 65535.0).round() as u32);
            b.extend([encode(primitive.tangents()[v].truncate()), (0..4).map(joint).sum()]);
            b.extend([weight(0) | weight(1) << 16, weight(2) | weight(3) << 16]);
        }
        let joints = palettes[0].len();
        assert!(joints <= 256, "8-bit joints do not reach {joints}");
        let rows: Vec<_> = palettes.iter().flatten().copied().collect();
        let buffers = [gpu.storage(&a), gpu.storage(&b), gpu.storage(bytemuck::cast_slice(&rows))];
        let entry = |binding: u32| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries = [0, 1, 2].map(entry);
        let group_layout = device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let entries = [0, 1, 2].map(|binding: u32| wgpu::BindGroupEntry {
            binding,
            resource: buffers[binding as usize].as_entire_binding(),
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &group_layout,
            entries: &entries,
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group_layout)],
            immediate_size: 0,
        });
        let text = [
            &format!("const JOINTS: u32 = {joints}u;\n"),
            include_str!("layouts/octahedral.wgsl"),
            include_str!("layouts/vertex_stage.wgsl"),
        ]
        .concat();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let points = point_pipeline(device, &layout, &module, ["beside", "shade"], COLOR);
        let target = texture(device, [SIDE, SIDE], COLOR).create_view(&Default::default());
        let (vertices, characters) = (vertices as u32, palettes.len() as u32);
        Self { module, layout, group, points, target, vertices, characters }
    }

    /// A pipeline that leaves depth alone behind; with `buffers` of the deformed positions, else skinning by itself.
    pub(crate) fn depth_pipeline(
        &self,
        device: &wgpu::Device,
        entry: &str,
        buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    ) -> wgpu::RenderPipeline {
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&self.layout),
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some(entry),
                compilation_options: Default::default(),
                buffers,
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: None,
            multiview_mask: None,
            cache: None,
        })
    }

    fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        (pipeline, target): (&wgpu::RenderPipeline, &wgpu::TextureView),
        vertices: std::ops::Range<u32>,
        characters: std::ops::Range<u32>,
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })],
            timestamp_writes,
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(vertices, characters);
    }
}

impl Layout for VertexStage {
    fn facts(&self) -> Facts {
        Facts { name: "vertex stage", read: 32.0, written: 0.0, bounds: [4e-6, 1.5e-4] }
    }

    /// One draw of points for all meshes, all of them clipped.
    fn record(&self, encoder: &mut wgpu::CommandEncoder, at: Option<Timestamps<'_>>) {
        let into = (&self.points, &self.target);
        self.draw(encoder, into, 0..self.vertices, 0..self.characters, at.map(Timestamps::raster));
    }

    fn found(&self, gpu: &Gpu, mesh: usize, first: usize) -> Vec<[Vec3; 3]> {
        const PIXELS: u32 = RUN as u32 * 3;
        const BYTES: u32 = PIXELS * 16;
        let device = &gpu.device;
        let probe = texture(device, [PIXELS, 1], PROBE);
        let view = probe.create_view(&Default::default());
        let pipeline = point_pipeline(device, &self.layout, &self.module, ["written", "write"], PROBE);
        let copy = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let pixels = buffer(device, u64::from(BYTES), copy);
        let mut encoder = device.create_command_encoder(&Default::default());
        let (first, mesh) = (first as u32 * 3, mesh as u32);
        self.draw(&mut encoder, (&pipeline, &view), first..first + PIXELS, mesh..mesh + 1, None);
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(BYTES), rows_per_image: None };
        let into = wgpu::TexelCopyBufferInfo { buffer: &pixels, layout };
        encoder.copy_texture_to_buffer(probe.as_image_copy(), into, probe.size());
        gpu.queue.submit([encoder.finish()]);
        let values: Vec<[[f32; 4]; 3]> = gpu.read(&pixels, 0, u64::from(BYTES));
        values.iter().map(|vertex| vertex.map(|v| Vec3::from_slice(&v[..3]))).collect()
    }
}

pub(crate) fn texture(
    device: &wgpu::Device,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

fn point_pipeline(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    [vertex, fragment]: [&str; 2],
    format: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
    let topology = wgpu::PrimitiveTopology::PointList;
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState { topology, ..Default::default() },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
