//! The whole character frame: evaluation, deformation, raster, in one graph, over several frames.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(all(feature = "render", feature = "gltf"))]

mod common;

use sinew::{
    DeclareOptions, Deformer, InstanceId, Model, OutputKind, declare_with,
    graph::{Buffer, Graph, LossFlag, Plan, RunError, Runtime, RuntimeOptions, Texture, TextureDesc},
    render::{Camera, Light, Output, RenderFrame, Renderer, RendererOptions, extents},
};

const SIDE: u32 = 128;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

struct Frame {
    deformer: Deformer,
    camera: Camera,
    light: Light,
}

/// What lives on one device.
struct Stage {
    device: wgpu::Device,
    queue: wgpu::Queue,
    graph: Graph<Frame>,
    plan: Plan,
    runtime: Runtime,
    target: Texture,
    picture: wgpu::Texture,
    vertices: Vec<Buffer>,
}

fn look(f: &Frame) -> RenderFrame<'_> {
    RenderFrame { camera: &f.camera, light: &f.light, animator: f.deformer.animator() }
}

fn mascot() -> Model {
    Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap()
}

/// A playing mascot with a renderer for it.
fn cast(device: &wgpu::Device, queue: &wgpu::Queue) -> (Frame, Renderer, InstanceId) {
    let model = mascot();
    let mut deformer = Deformer::new(device);
    let id = deformer.add_model(queue, &model).unwrap();
    let instance = deformer.spawn(id).unwrap();
    deformer.play(instance, "run").unwrap();
    let mut renderer = Renderer::new(device, RendererOptions { format: FORMAT, samples: 4 }).unwrap();
    renderer.add_model(queue, &model).unwrap();
    let camera = Camera::frame(extents(&model, Some("run")).unwrap(), 1.0);
    (Frame { deformer, light: Light::studio(&camera), camera }, renderer, instance)
}

/// Declares the frame; vertices of every kind are exported.
fn stage(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    frame: &Frame,
    renderer: &Renderer,
    instance: InstanceId,
    options: RuntimeOptions,
) -> Stage {
    let mut graph = Graph::new();
    let target = graph.target("picture", TextureDesc::new(SIDE, SIDE, FORMAT));
    let kinds = [OutputKind::Transient, OutputKind::Persistent, OutputKind::History];
    let kind = |_, part: u32| kinds[part as usize % 3];
    let declare_options = DeclareOptions { kind: &kind, ..Default::default() };
    let skinned = declare_with(&mut graph, &frame.deformer, [instance], &declare_options, |f: &mut Frame| {
        &mut f.deformer
    });
    let skinned = skinned.unwrap();
    let output = Output { color: target, size: [SIDE; 2], clear: wgpu::Color::WHITE };
    renderer.declare(&mut graph, frame.deformer.animator(), skinned.all(), output, look).unwrap();
    let vertices: Vec<_> = skinned.all().iter().flat_map(|part| [part.a, part.b]).collect();
    vertices.iter().for_each(|&value| graph.export(value));
    let plan = graph.compile(&device.limits().into()).unwrap();
    let picture = common::gpu::picture(device, SIDE, FORMAT);
    let runtime = Runtime::new(device, queue, options);
    let (device, queue) = (device.clone(), queue.clone());
    Stage { device, queue, graph, plan, runtime, target, picture, vertices }
}

/// Pixels and the vertices of every part.
type Seen = Vec<Vec<u8>>;

impl Stage {
    fn run(&mut self, frame: &mut Frame) -> Result<Seen, RunError> {
        self.runtime.bind_target(self.target, &self.picture.create_view(&Default::default()));
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.runtime.run(&mut self.graph, &self.plan, &mut encoder, frame)?;
        let readable = |size: u64| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let pixels = readable(u64::from(SIDE * SIDE * 4));
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIDE * 4), rows_per_image: None };
        encoder.copy_texture_to_buffer(
            self.picture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &pixels, layout },
            self.picture.size(),
        );
        let mut copies = vec![pixels];
        for &value in &self.vertices {
            let slice = self.runtime.exported(&self.plan, value).unwrap();
            let copy = readable(slice.size());
            encoder.copy_buffer_to_buffer(slice.buffer(), slice.offset(), &copy, 0, slice.size());
            copies.push(copy);
        }
        common::gpu::submit(&self.device, &self.queue, encoder);
        copies.iter().for_each(|copy| copy.map_async(wgpu::MapMode::Read, .., |result| result.unwrap()));
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        Ok(copies.iter().map(|copy| copy.get_mapped_range(..).unwrap().to_vec()).collect())
    }
}

fn frames(stage: &mut Stage, frame: &mut Frame, count: usize) -> Vec<Seen> {
    (0..count)
        .map(|_| {
            frame.deformer.advance(0.1);
            stage.run(frame).unwrap()
        })
        .collect()
}

#[test]
fn the_frame_after_a_lost_device_is_the_one_that_would_have_come() {
    let (device, queue) = common::gpu::device();
    let (mut frame, renderer, instance) = cast(&device, &queue);
    let mut undisturbed = stage(&device, &queue, &frame, &renderer, instance, RuntimeOptions::default());
    let expected = frames(&mut undisturbed, &mut frame, 3);

    let (mut frame, mut renderer, instance) = cast(&device, &queue);
    let mut first = stage(&device, &queue, &frame, &renderer, instance, RuntimeOptions::default());
    let flag = LossFlag::new();
    flag.install(&device);
    first.runtime.watch(&flag);
    assert!(frames(&mut first, &mut frame, 2) == expected[..2]);
    device.destroy();
    device.poll(wgpu::PollType::Poll).ok();
    frame.deformer.advance(0.1);
    let error = first.run(&mut frame).unwrap_err();
    assert!(
        matches!(error, RunError::DeviceLost { reason: wgpu::DeviceLostReason::Destroyed, .. }),
        "{error}"
    );
    assert!(error.to_string().starts_with("the device was lost (Destroyed: "), "{error}");

    let (device, queue) = common::gpu::device();
    frame.deformer.rebuild(&device, &queue).unwrap();
    renderer.rebuild(&device, &queue).unwrap();
    let mut second = stage(&device, &queue, &frame, &renderer, instance, RuntimeOptions::default());
    assert!(second.run(&mut frame).unwrap() == expected[2]);
}

#[test]
fn no_pass_of_the_frame_reads_what_another_frame_left_in_a_transient_buffer() {
    let (device, queue) = common::gpu::device();
    let (mut frame, renderer, instance) = cast(&device, &queue);
    let mut plain = stage(&device, &queue, &frame, &renderer, instance, RuntimeOptions::default());
    let expected = frames(&mut plain, &mut frame, 2);
    let (mut frame, renderer, instance) = cast(&device, &queue);
    let poison = RuntimeOptions { poison: true, ..RuntimeOptions::default() };
    let mut poisoned = stage(&device, &queue, &frame, &renderer, instance, poison);
    let found = frames(&mut poisoned, &mut frame, 2);
    for (found, expected) in found.iter().zip(&expected) {
        assert!(found[0] == expected[0], "pixels");
        assert!(found[1..] == expected[1..], "vertices");
    }
}
