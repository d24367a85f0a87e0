//! One animated character: file in, frame graph, picture out.
//!
//! `cargo run --release --example one_character --features cli -- assets/mascot.glb wave 1.3 out.png`
#![allow(clippy::print_stdout, reason = "a program says what it did")]

mod support;

use sinew::{
    Deformer, Model, declare,
    graph::{Graph, Runtime, TextureDesc},
    render::{Camera, Light, Output, RenderFrame, Renderer, RendererOptions, extents},
};
use support::{open, save, texture};

const SIZE: [u32; 2] = [512, 512];
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// What changes from frame to frame; every pass of the graph receives it.
struct Frame {
    deformer: Deformer,
    camera: Camera,
    light: Light,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let argument = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let (path, clip) = (argument(1, "assets/mascot.glb"), argument(2, "wave"));
    let (time, out): (f64, _) = (argument(3, "1.3").parse()?, argument(4, "one_character.png"));
    let (device, queue) = pollster::block_on(open())?;

    // A model, an instance of it, and a clip that plays.
    let model = Model::load(path)?;
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, &model)?;
    let instance = deformer.spawn(id)?;
    deformer.play(instance, clip)?;

    // The frame, declared once: deformation, then a raster pass that reads it.
    let mut graph = Graph::new();
    let target = graph.target("picture", TextureDesc::new(SIZE[0], SIZE[1], FORMAT));
    let skinned = declare(&mut graph, &deformer, [instance], |frame: &mut Frame| &mut frame.deformer)?;
    let mut renderer = Renderer::new(&device, RendererOptions { format: FORMAT, samples: 4 })?;
    renderer.add_model(&queue, &model)?;
    let output = Output { color: target, size: SIZE, clear: wgpu::Color::WHITE };
    renderer.declare(&mut graph, deformer.animator(), skinned.all(), output, |frame: &Frame| {
        RenderFrame { camera: &frame.camera, light: &frame.light, animator: frame.deformer.animator() }
    })?;
    let plan = graph.compile(&device.limits().into())?;
    print!("{plan}");

    // A frame. A window would do this in a loop.
    let camera = Camera::frame(extents(&model, Some(clip))?, 1.0);
    let mut frame = Frame { light: Light::studio(&camera), camera, deformer };
    let mut runtime = Runtime::new(&device, &queue, Default::default());
    let picture = texture(&device, "picture", SIZE, FORMAT);
    frame.deformer.advance(time);
    runtime.bind_target(target, &picture.create_view(&Default::default()));
    let mut encoder = device.create_command_encoder(&Default::default());
    runtime.run(&mut graph, &plan, &mut encoder, &mut frame)?;
    save(&device, &queue, encoder, &picture, out)
}
