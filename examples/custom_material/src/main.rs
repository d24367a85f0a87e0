//! A material of one's own in the frame graph: the character as a hologram.
//!
//! wgsl/material.wgsl imports the library's vertex layout and unpacking, build.rs composes and proves it with
//! `sinew::shader`, and this program draws with what build.rs wrote. From the repository's root:
//!
//! ```sh
//! cd examples/custom_material && cargo run --release -- ../../assets/mascot.glb wave 1.3 hologram.png
//! ```
//!
//! The first build takes a few minutes. Spoil the WGSL, or a field of src/layout.rs, and build again: the build stops
//! and says where.

mod layout;
#[path = "../../support/mod.rs"]
mod support;

use std::ops::Range;

use layout::{Hologram, View};
use sinew::{
    Deformer, Model, SkinnedPart, declare,
    deform::gpu::VERTEX_A,
    gpu::bind_group_layout_entries,
    graph::{Graph, Runtime, Texture, TextureDesc},
    model::Topology,
    render::{Camera, DEPTH_FORMAT, extents},
};
use support::{open, save, texture};

// `MATERIAL`: the composed text with its entry points and bindings.
include!(concat!(env!("OUT_DIR"), "/material.rs"));

const SIZE: u32 = 512;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const SAMPLES: u32 = 4;
const NIGHT: wgpu::Color = wgpu::Color { r: 0.004, g: 0.006, b: 0.014, a: 1.0 };

const HOLOGRAM: Hologram =
    Hologram { color: [0.03, 0.35, 0.75], lines: 45.0, rim: [0.35, 0.95, 1.2], sharpness: 2.5 };

/// What changes from frame to frame; every pass of the graph receives it.
struct Frame {
    deformer: Deformer,
    view: View,
}

/// A primitive of a part, among the indices of all.
struct Draw {
    part: usize,
    indices: Range<u32>,
    base_vertex: i32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let argument = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let (path, clip) = (argument(1, "../../assets/mascot.glb"), argument(2, "wave"));
    let (time, out): (f64, _) = (argument(3, "1.3").parse()?, argument(4, "hologram.png"));
    let (device, queue) = pollster::block_on(open())?;

    let model = Model::load(path)?;
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, &model)?;
    let instance = deformer.spawn(id)?;
    deformer.play(instance, clip)?;
    deformer.advance(time);

    // Deformation, then a raster pass of our own that reads it.
    let mut graph = Graph::new();
    let target = graph.target("picture", TextureDesc::new(SIZE, SIZE, FORMAT));
    let skinned = declare(&mut graph, &deformer, [instance], |frame: &mut Frame| &mut frame.deformer)?;
    declare_hologram(&mut graph, &device, &queue, &model, skinned.all(), target);
    let plan = graph.compile(&device.limits().into())?;

    let camera = Camera::frame(extents(&model, Some(clip))?, 1.0);
    let view_projection = camera.view_projection().to_cols_array_2d();
    let view = View { view_projection, eye: camera.eye.to_array(), time: time as f32 };
    let mut frame = Frame { deformer, view };
    let mut runtime = Runtime::new(&device, &queue, Default::default());
    let picture = texture(&device, "picture", [SIZE; 2], FORMAT);
    runtime.bind_target(target, &picture.create_view(&Default::default()));
    let mut encoder = device.create_command_encoder(&Default::default());
    runtime.run(&mut graph, &plan, &mut encoder, &mut frame)?;
    save(&device, &queue, encoder, &picture, out)
}

/// The pass: it reads output A of every part and nothing of output B, because the material has no use for tangents.
fn declare_hologram(
    graph: &mut Graph<Frame>,
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    model: &Model,
    parts: &[SkinnedPart],
    target: Texture,
) {
    let (draws, indices) = indices(device, queue, model, parts);
    let (pipeline, layout) = pipeline(device);
    let size = |format| TextureDesc { samples: SAMPLES, ..TextureDesc::new(SIZE, SIZE, format) };
    let view = graph.transient("view", size_of::<View>() as u64);
    let hologram = graph.import(
        "hologram",
        &buffer(device, queue, bytemuck::bytes_of(&HOLOGRAM), wgpu::BufferUsages::UNIFORM),
    );
    let multisampled = graph.texture("multisampled", size(FORMAT));
    let depth = graph.texture("depth", size(DEPTH_FORMAT));
    graph.host("view", |pass| {
        let view = pass.upload(view);
        move |host, frame: &mut Frame| host.write(view).copy_from_slice(bytemuck::bytes_of(&frame.view))
    });
    graph.raster("hologram", |pass| {
        let vertices: Vec<_> = parts.iter().map(|part| pass.vertex(part.a)).collect();
        let bound = [(0, pass.uniform(view).into()), (1, pass.uniform(hologram).into())];
        let group = pass.bind_group(&layout, bound);
        pass.color_resolve(multisampled, Some(NIGHT), target);
        pass.depth(depth, Some(0.0)); // the camera's depth is reversed: 0 is far away
        move |pass, resources, _| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, resources.group(group), &[]);
            pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
            for draw in &draws {
                pass.set_vertex_buffer(0, resources.vertex(vertices[draw.part]));
                pass.draw_indexed(draw.indices.clone(), draw.base_vertex, 0..1);
            }
        }
    });
}

/// Indices, which deformation leaves alone. Lines and points are left out: they need other pipelines.
fn indices(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    model: &Model,
    parts: &[SkinnedPart],
) -> (Vec<Draw>, wgpu::Buffer) {
    let (mut indices, mut draws) = (Vec::new(), Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let mesh = &model.meshes()[model.parts()[part.part as usize].mesh as usize];
        for (primitive, first_vertex) in mesh.primitives().iter().zip(&part.first_vertices) {
            if primitive.topology() == Topology::Triangles {
                let first = indices.len() as u32;
                indices.extend_from_slice(primitive.indices());
                let indices = first..indices.len() as u32;
                draws.push(Draw { part: at, indices, base_vertex: *first_vertex as i32 });
            }
        }
    }
    (draws, buffer(device, queue, bytemuck::cast_slice(&indices), wgpu::BufferUsages::INDEX))
}

/// Everything that the shader says about itself comes from `MATERIAL`.
fn pipeline(device: &wgpu::Device) -> (wgpu::RenderPipeline, wgpu::BindGroupLayout) {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(MATERIAL.name),
        source: wgpu::ShaderSource::Wgsl(MATERIAL.source.into()),
    });
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(MATERIAL.name),
        entries: &bind_group_layout_entries(&MATERIAL, 0),
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(MATERIAL.name),
        bind_group_layouts: &[Some(&layout)],
        ..Default::default()
    });
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(MATERIAL.name),
        layout: Some(&pipeline_layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[Some(VERTEX_A)],
        },
        primitive: wgpu::PrimitiveState::default(), // counter-clockwise in front, both sides drawn
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    (pipeline, layout)
}

fn buffer(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len().max(4) as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}
