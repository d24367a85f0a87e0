//! One instance of a model in a small picture.

use glam::Vec3;
use sinew::{
    Deformer, InstanceId, Model, declare,
    graph::{Graph, Runtime, RuntimeOptions, TextureDesc},
    model::Diagnostic,
    render::{Camera, Light, Output, RenderFrame, Renderer, RendererOptions},
};

use super::gpu;

pub const SIDE: u32 = 64;

pub struct Frame {
    pub deformer: Deformer,
    pub camera: Camera,
    pub light: Light,
}

#[derive(PartialEq)]
pub struct Picture(pub Vec<u8>);

impl Picture {
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        let at = ((y * SIDE + x) * 4) as usize;
        self.0[at..at + 4].try_into().unwrap()
    }

    pub fn center(&self) -> [u8; 4] {
        self.at(SIDE / 2, SIDE / 2)
    }
}

/// Seen from +Z; x and y from -2 to 2 at z = 0 fill the picture.
pub fn camera() -> Camera {
    let eye = Vec3::Z * 10.0;
    Camera {
        eye,
        target: Vec3::ZERO,
        fov_y: 2.0 * 0.2f32.atan(),
        aspect: 1.0,
        near: 0.1,
        ..Camera::default()
    }
}

pub fn look(frame: &Frame) -> RenderFrame<'_> {
    RenderFrame { camera: &frame.camera, light: &frame.light, animator: frame.deformer.animator() }
}

pub fn draw(model: &Model) -> Picture {
    draw_with(model, Light::default(), |_, _| ()).0
}

/// Draws one instance after `prepare` has had its way with it.
pub fn draw_with(
    model: &Model,
    light: Light,
    prepare: impl FnOnce(&mut Deformer, InstanceId),
) -> (Picture, Vec<Diagnostic>) {
    draw_from(model, camera(), light, prepare)
}

/// As [`draw_with`], from somewhere else.
pub fn draw_from(
    model: &Model,
    camera: Camera,
    light: Light,
    prepare: impl FnOnce(&mut Deformer, InstanceId),
) -> (Picture, Vec<Diagnostic>) {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, model).unwrap();
    let instance = deformer.spawn(id).unwrap();
    prepare(&mut deformer, instance);
    let mut renderer = Renderer::new(&device, RendererOptions::default()).unwrap();
    let diagnostics = renderer.add_model(&queue, model).unwrap();

    let mut graph = Graph::new();
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let color = graph.target("picture", TextureDesc::new(SIDE, SIDE, format));
    let skinned = declare(&mut graph, &deformer, [instance], |f: &mut Frame| &mut f.deformer).unwrap();
    let output = Output { color, size: [SIDE; 2], clear: wgpu::Color::BLUE };
    renderer.declare(&mut graph, deformer.animator(), skinned.all(), output, look).unwrap();
    let plan = graph.compile(&device.limits().into()).unwrap();
    let texture = gpu::picture(&device, SIDE, format);
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let mut frame = Frame { deformer, camera, light };
    let mut encoder = device.create_command_encoder(&Default::default());
    runtime.bind_target(color, &texture.create_view(&Default::default()));
    runtime.run(&mut graph, &plan, &mut encoder, &mut frame).unwrap();
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIDE * SIDE * 4),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIDE * 4), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        texture.size(),
    );
    encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu::submit(&device, &queue, encoder);
    let pixels = buffer.slice(..).get_mapped_range().unwrap().to_vec();
    (Picture(pixels), diagnostics)
}
