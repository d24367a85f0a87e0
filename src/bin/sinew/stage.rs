//! One instance of one model before a camera: the graph of a frame, and the way of its pixels back.

use std::collections::VecDeque;

use sinew::{
    Deformer, InstanceId, Model, declare,
    deform::Capture,
    graph::{Graph, Plan, Report, Runtime, RuntimeOptions, Texture, TextureDesc, Timings},
    render::{Camera, Light, Output, RenderFrame, Renderer, RendererOptions},
};

use crate::{encode::Picture, engine::captured, failure::Failure, gpu::Gpu, playing::Playing, ui::Ui};

/// #c5d0dc, in linear light.
const BACKGROUND: wgpu::Color = wgpu::Color { r: 0.558, g: 0.631, b: 0.716, a: 1.0 };

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// Frames that are drawn while earlier ones are on their way back.
pub(crate) const IN_FLIGHT: usize = 2;

/// What the passes of a frame receive.
struct Frame {
    deformer: Deformer,
    camera: Camera,
    light: Light,
}

pub(crate) struct Stage<'g> {
    gpu: &'g Gpu,
    graph: Graph<Frame>,
    plan: Plan,
    runtime: Runtime,
    frame: Frame,
    playing: Playing,
    instance: InstanceId,
    target: Texture,
    size: [u32; 2],
    pixels: wgpu::Texture,
    view: wgpu::TextureView,
    idle: Vec<wgpu::Buffer>,
    in_flight: VecDeque<wgpu::Buffer>,
}

impl<'g> Stage<'g> {
    /// Uploads the model, frames the camera on all that is played, and declares the graph.
    pub(crate) fn new(
        gpu: &'g Gpu,
        model: &Model,
        playing: Playing,
        size: [u32; 2],
        ui: Ui,
    ) -> Result<Self, Failure> {
        let mut deformer = Deformer::new(&gpu.device);
        let id = deformer.add_model(&gpu.queue, model)?;
        let instance = deformer.spawn(id)?;
        playing.start(&mut deformer, instance)?;
        let mut renderer = Renderer::new(&gpu.device, RendererOptions { format: FORMAT, samples: 4 })?;
        for diagnostic in renderer.add_model(&gpu.queue, model)? {
            ui.note(diagnostic);
        }
        let camera = Camera::frame(playing.extents(model)?, size[0] as f32 / size[1] as f32);
        let light = Light::studio(&camera);

        let mut graph = Graph::new();
        let target = graph.target("picture", TextureDesc::new(size[0], size[1], FORMAT));
        let skinned = declare(&mut graph, &deformer, [instance], |frame: &mut Frame| &mut frame.deformer)?;
        let output = Output { color: target, size, clear: BACKGROUND };
        renderer.declare(&mut graph, deformer.animator(), skinned.all(), output, |frame: &Frame| {
            RenderFrame { camera: &frame.camera, light: &frame.light, animator: frame.deformer.animator() }
        })?;
        let plan = graph.compile(&gpu.device.limits().into())?;
        let pixels = create_pixels(&gpu.device, size);
        Ok(Self {
            gpu,
            graph,
            plan,
            runtime: Runtime::new(&gpu.device, &gpu.queue, RuntimeOptions::default()),
            frame: Frame { deformer, camera, light },
            playing,
            instance,
            target,
            size,
            view: pixels.create_view(&wgpu::TextureViewDescriptor::default()),
            pixels,
            idle: (0..IN_FLIGHT).map(|_| create_readback(&gpu.device, size)).collect(),
            in_flight: VecDeque::new(),
        })
    }

    /// Draws the pose at `time`; [`Stage::take`] returns it. At most [`IN_FLIGHT`] may be outstanding.
    pub(crate) fn draw(&mut self, time: f64) -> Result<(), Failure> {
        self.playing.seek(&mut self.frame.deformer, self.instance, time)?;
        let Some(readback) = self.idle.pop() else {
            return Err(Failure::new("more frames drawn than taken"));
        };
        self.runtime.bind_target(self.target, &self.view);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.runtime.run(&mut self.graph, &self.plan, &mut encoder, &mut self.frame)?;
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row_bytes(self.size[0])),
            rows_per_image: None,
        };
        encoder.copy_texture_to_buffer(
            self.pixels.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &readback, layout },
            self.pixels.size(),
        );
        encoder.map_buffer_on_submit(&readback, wgpu::MapMode::Read, .., |_| {});
        self.gpu.queue.submit([encoder.finish()]);
        self.in_flight.push_back(readback);
        self.gpu.check()
    }

    /// Whether the next draw needs a [`Stage::take`] first.
    pub(crate) fn is_full(&self) -> bool {
        self.idle.is_empty()
    }

    /// The oldest picture that was drawn and not taken, once it is finished.
    pub(crate) fn take(&mut self) -> Result<Option<Picture>, Failure> {
        let Some(readback) = self.in_flight.pop_front() else { return Ok(None) };
        let _span = tracing::debug_span!("read back").entered();
        self.gpu.wait()?;
        let [width, height] = self.size;
        let mut rgba = Vec::with_capacity((width * height * 4) as usize);
        {
            let mapped = readback.slice(..).get_mapped_range();
            let mapped =
                mapped.map_err(|error| Failure::new(format_args!("no pixels came back: {error}")))?;
            for row in mapped.chunks_exact(row_bytes(width) as usize) {
                rgba.extend_from_slice(&row[..width as usize * 4]);
            }
        }
        readback.unmap();
        self.idle.push(readback);
        Ok(Some(Picture { width, height, rgba }))
    }

    /// What was drawn last, deformed once more and captured.
    pub(crate) fn capture(&mut self) -> Result<Capture, Failure> {
        captured(self.gpu, &mut self.frame.deformer)
    }

    /// The frame's plan with the newest GPU times.
    pub(crate) fn report(&mut self, title: &str, write: impl FnOnce(Report<'_>) -> String) -> String {
        write(self.plan.report().titled(title).with_times(self.runtime.timings(&self.plan)))
    }

    /// The newest GPU times, for the trace.
    pub(crate) fn timings(&mut self) -> Option<&Timings> {
        self.runtime.timings(&self.plan)
    }
}

fn create_pixels(device: &wgpu::Device, size: [u32; 2]) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

fn create_readback(device: &wgpu::Device, size: [u32; 2]) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size: u64::from(row_bytes(size[0])) * u64::from(size[1]),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Rows of a copy start at multiples of 256 bytes.
fn row_bytes(width: u32) -> u32 {
    (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}
