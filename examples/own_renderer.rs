//! Deformed characters in a frame of your own: your encoder, your pass, your shader; no frame graph, no renderer.
//!
//! `cargo run --release --example own_renderer --features cli -- assets/mascot.glb wave 0.9 own_renderer.png`
mod support;

use std::ops::Range;

use glam::{Affine3A, Mat4, Quat, Vec3};
use sinew::{
    Deformer, Model,
    deform::BYTES_A,
    model::{Bounds, Topology},
    render::{Camera, DEPTH_FORMAT, extents},
};
use support::{open, save, texture};
use wgpu::util::DeviceExt;

const SIZE: u32 = 512;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const BACKGROUND: wgpu::Color = wgpu::Color { r: 0.57, g: 0.62, b: 0.70, a: 1.0 };

const SHADER: &str = "
@group(0) @binding(0) var<uniform> view_projection: mat4x4<f32>;
@group(0) @binding(1) var<storage, read> transforms: array<mat4x4<f32>>;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) normal: vec3<f32>,
}

@vertex
fn vertex(
    @location(0) position: vec3<f32>,
    @location(1) folded: vec2<f32>,
    @builtin(instance_index) instance: u32,
) -> Varying {
    // Enough for normals as long as transforms turn and move; uneven scales need the cofactor matrix.
    let transform = transforms[instance];
    let normal = transform * vec4(unfold(folded), 0.0);
    return Varying(view_projection * transform * vec4(position, 1.0), normal.xyz);
}

// A unit vector from its octahedral form.
fn unfold(f: vec2<f32>) -> vec3<f32> {
    let z = 1.0 - abs(f.x) - abs(f.y);
    let fold = max(-z, 0.0);
    return normalize(vec3(f - select(vec2(-fold), vec2(fold), f >= vec2(0.0)), z));
}

@fragment
fn fragment(in: Varying, @builtin(front_facing) is_front: bool) -> @location(0) vec4<f32> {
    let light = normalize(vec3(-0.4, 0.7, 0.6));
    // Both sides are drawn, and the back of a surface faces the other way.
    let normal = select(-1.0, 1.0, is_front) * normalize(in.normal);
    let lambert = max(dot(normal, light), 0.0);
    return vec4(vec3(0.85, 0.42, 0.20) * (0.15 + 0.85 * lambert), 1.0);
}
";

/// One primitive of the model, drawn once for each instance.
struct Draw {
    /// Index into the model's parts.
    part: u32,
    primitive: usize,
    indices: Range<u32>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let argument = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let (path, clip) = (argument(1, "assets/mascot.glb"), argument(2, "wave"));
    let (time, out): (f64, _) = (argument(3, "0.9").parse()?, argument(4, "own_renderer.png"));
    let (device, queue) = pollster::block_on(open())?;

    // Three instances of one model, each further in its clip than the next; the middle one stands in front.
    let model = Model::load(path)?;
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, &model)?;
    let bounds = extents(&model, Some(clip))?;
    let mut instances = Vec::new();
    for place in [-1.0, 0.0, 1.0] {
        deformer.advance(0.25);
        let instance = deformer.spawn(id)?;
        deformer.play(instance, clip)?;
        let turn = Quat::from_rotation_y(-0.5 * place);
        let shift = (bounds.max - bounds.min) * Vec3::new(0.6 * place, 0.0, -0.5 * place.abs());
        deformer.animator_mut().set_transform(instance, Affine3A::from_rotation_translation(turn, shift))?;
        instances.push(instance);
    }

    // Indices, which deformation leaves alone: once for all instances. Lines and points need other pipelines.
    let (mut indices, mut draws) = (Vec::new(), Vec::new());
    for &part in model.shown_parts() {
        let mesh = &model.meshes()[model.parts()[part as usize].mesh as usize];
        for (primitive, data) in mesh.primitives().iter().enumerate() {
            if data.topology() == Topology::Triangles && !data.indices().is_empty() {
                let first = indices.len() as u32;
                indices.extend_from_slice(data.indices());
                draws.push(Draw { part, primitive, indices: first..indices.len() as u32 });
            }
        }
    }
    if draws.is_empty() {
        return Err("the model shows no triangles".into()); // and wgpu would refuse the empty index buffer
    }
    let indices = buffer(&device, "indices", bytemuck::cast_slice(&indices), wgpu::BufferUsages::INDEX);

    // Where everything stands, and from where it is seen; from frame to frame only poses change here.
    let animator = deformer.animator();
    let transforms: Result<Vec<_>, _> = instances.iter().map(|&id| animator.transform(id)).collect();
    let transforms: Vec<Mat4> = transforms?.into_iter().map(Mat4::from).collect();
    let corners = transforms.iter().flat_map(|t| bounds.corners().map(|corner| t.transform_point3(corner)));
    let camera = Camera::frame_from(corners.collect::<Bounds>(), 1.0, Vec3::new(0.0, 0.25, 1.0));
    let view_projection = camera.view_projection();
    let view = buffer(&device, "view", bytemuck::bytes_of(&view_projection), wgpu::BufferUsages::UNIFORM);
    let transforms = bytemuck::cast_slice(&transforms);
    let transforms = buffer(&device, "transforms", transforms, wgpu::BufferUsages::STORAGE);
    let pipeline = pipeline(&device);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("view and transforms"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: view.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: transforms.as_entire_binding() },
        ],
    });
    let picture = texture(&device, "picture", [SIZE; 2], FORMAT);
    let depth = texture(&device, "depth", [SIZE; 2], DEPTH_FORMAT);
    let picture_view = picture.create_view(&Default::default());
    let depth_view = depth.create_view(&Default::default());

    // A frame. A window would do this in a loop.
    deformer.advance(time);
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder)?;
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("characters"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &picture_view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(BACKGROUND), store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth_view,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(0.0), // the camera's depth is reversed: 0 is far away
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        }),
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
    for (slot, &instance) in (0u32..).zip(&instances) {
        for draw in &draws {
            let base_vertex = deformer.first_vertices(instance, draw.part)?[draw.primitive] as i32;
            pass.set_vertex_buffer(0, deformer.vertices(instance, draw.part)?.a);
            pass.draw_indexed(draw.indices.clone(), base_vertex, slot..slot + 1);
        }
    }
    drop(pass);
    save(&device, &queue, encoder, &picture, out)
}

fn pipeline(device: &wgpu::Device) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("characters"),
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("characters"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            // Output A of the deformer. Tangents are output B, in a buffer of their own.
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: BYTES_A,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Snorm16x2],
            })],
        },
        primitive: wgpu::PrimitiveState::default(), // counter-clockwise in front, both sides drawn
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn buffer(device: &wgpu::Device, label: &str, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let label = Some(label);
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label, contents: bytes, usage })
}
