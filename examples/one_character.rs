//! One animated character: file in, frame graph, picture out.
//!
//! `cargo run --release --example one_character --features cli -- assets/mascot.glb wave 1.3 out.png`
#![allow(clippy::print_stdout, reason = "a program says what it did")]

use sinew::{
    Deformer, Model, declare,
    graph::{Graph, Runtime, TextureDesc},
    render::{Camera, Light, Output, RenderFrame, Renderer, RendererOptions, extents},
};

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
    let picture = picture(&device);
    frame.deformer.advance(time);
    runtime.bind_target(target, &picture.create_view(&Default::default()));
    let mut encoder = device.create_command_encoder(&Default::default());
    runtime.run(&mut graph, &plan, &mut encoder, &mut frame)?;
    save(&device, &queue, encoder, &picture, out)
}

async fn open() -> Result<(wgpu::Device, wgpu::Queue), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Default::default()).await?;
    Ok(adapter.request_device(&Default::default()).await?)
}

fn picture(device: &wgpu::Device) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Submits the frame, waits for its pixels and writes them.
fn save(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    picture: &wgpu::Texture,
    path: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let row = SIZE[0] * 4; // a multiple of 256, as copies need
    let pixels = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("pixels"),
        size: u64::from(row * SIZE[1]),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    let into = wgpu::TexelCopyBufferInfo { buffer: &pixels, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), into, picture.size());
    encoder.map_buffer_on_submit(&pixels, wgpu::MapMode::Read, .., |_| {});
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = pixels.slice(..).get_mapped_range()?;
    image::save_buffer(path, &bytes, SIZE[0], SIZE[1], image::ColorType::Rgba8)?;
    println!("{path}");
    Ok(())
}
