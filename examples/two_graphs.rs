//! Two frame graphs on one runtime, without a character in sight: a glow as a chain of full-screen passes,
//! and Conway's Game of Life in compute. They share nothing but the runtime and the encoder of a frame.
//!
//! `cargo run --release --example two_graphs --features cli -- two_graphs.png two_graphs.html`
#![allow(clippy::print_stdout, reason = "a program says what it did")]

mod support;

use sinew::graph::{Bind, Buffer, Declare, Graph, Runtime, Texture, TextureDesc};

const SIZE: u32 = 512;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Light between the passes may be brighter than 1.
const LIGHT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Times the light is blurred across and down.
const ROUNDS: usize = 3;
const FRAMES: u32 = 40;
/// Cells along a side of the world, whose edges meet; one u32 each.
const WORLD: u32 = 32;

const GLOW: &str = "
@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var source: texture_2d<f32>;
@group(0) @binding(2) var glow: texture_2d<f32>;
@group(0) @binding(3) var linear: sampler;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    // 0, 0 in the upper left corner.
    @location(0) uv: vec2<f32>,
}

// One triangle that covers the target.
@vertex
fn cover(@builtin(vertex_index) index: u32) -> Varying {
    let uv = vec2(f32((index << 1u) & 2u), f32(index & 2u));
    return Varying(vec4(uv * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0), uv);
}

// Lamps that fly around a dim chequered floor.
@fragment
fn scene(in: Varying) -> @location(0) vec4<f32> {
    let tile = vec2<i32>(floor(in.uv * 8.0));
    var light = select(vec3(0.02, 0.03, 0.06), vec3(0.05, 0.07, 0.12), ((tile.x + tile.y) & 1) == 0);
    for (var lamp = 0; lamp < 5; lamp++) {
        let angle = time + f32(lamp) * 1.2566;
        let at = vec2(0.5) + vec2(cos(angle), sin(angle)) * 0.3;
        let colour = vec3(1.2) + cos(vec3(0.0, 2.1, 4.2) + f32(lamp));
        light = select(light, colour * 6.0, distance(in.uv, at) < 0.015 + 0.005 * f32(lamp));
    }
    return vec4(light, 1.0);
}

@fragment
fn bright(in: Varying) -> @location(0) vec4<f32> {
    return max(textureSample(source, linear, in.uv) - 1.0, vec4(0.0));
}

@fragment
fn across(in: Varying) -> @location(0) vec4<f32> {
    return blur(in.uv, vec2(1.0, 0.0));
}

@fragment
fn down(in: Varying) -> @location(0) vec4<f32> {
    return blur(in.uv, vec2(0.0, 1.0));
}

fn blur(uv: vec2<f32>, direction: vec2<f32>) -> vec4<f32> {
    let step = direction / vec2<f32>(textureDimensions(source));
    var sum = vec4(0.0);
    var weights = 0.0;
    for (var i = -8; i <= 8; i++) {
        let weight = exp(-f32(i * i) / 24.0);
        sum += textureSample(source, linear, uv + step * f32(i)) * weight;
        weights += weight;
    }
    return sum / weights;
}

@fragment
fn combine(in: Varying) -> @location(0) vec4<f32> {
    let light = textureSample(source, linear, in.uv).rgb + textureSample(glow, linear, in.uv).rgb;
    return vec4(1.0 - exp(-light), 1.0);
}
";

const LIFE: &str = "
@group(0) @binding(0) var<storage, read_write> next: array<u32>;
@group(0) @binding(1) var<storage, read> before: array<u32>;

override WORLD: u32;

// A glider, which moves one cell right and one down in four generations.
@compute @workgroup_size(8, 8)
fn seed(@builtin(global_invocation_id) cell: vec3<u32>) {
    let is_alive = all(cell.xy < vec2(3u)) && ((0x1e2u >> (cell.y * 3u + cell.x)) & 1u) != 0u;
    next[cell.y * WORLD + cell.x] = u32(is_alive);
}

@compute @workgroup_size(8, 8)
fn live(@builtin(global_invocation_id) cell: vec3<u32>) {
    var neighbours = 0u;
    for (var i = 0u; i < 9u; i++) {
        let at = (cell.xy + vec2(i % 3u, i / 3u) + WORLD - 1u) % WORLD;
        neighbours += select(before[at.y * WORLD + at.x], 0u, i == 4u);
    }
    let index = cell.y * WORLD + cell.x;
    next[index] = u32(neighbours == 3u || (neighbours == 2u && before[index] == 1u));
}
";

/// What changes from frame to frame in the picture. The cells need nothing: their graph is a `Graph<()>`.
struct Frame {
    time: f32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let argument = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let (picture_path, report_path) = (argument(1, "two_graphs.png"), argument(2, "two_graphs.html"));
    let (device, queue) = pollster::block_on(open())?;

    let mut glow = Graph::new();
    let target = declare_glow(&mut glow, &device);
    let glow_plan = glow.compile(&device.limits().into())?;
    let mut life = Graph::new();
    let cells = declare_life(&mut life, &device);
    let life_plan = life.compile(&device.limits().into())?;
    print!("{glow_plan}{life_plan}");

    // Frames. A window would bind a view of its surface, and not wait.
    let picture = support::texture(&device, "picture", [SIZE; 2], FORMAT);
    let view = picture.create_view(&Default::default());
    let mut runtime = Runtime::new(&device, &queue, Default::default());
    for number in 0..FRAMES {
        let mut encoder = device.create_command_encoder(&Default::default());
        runtime.bind_target(target, &view);
        runtime.run(&mut glow, &glow_plan, &mut encoder, &mut Frame { time: number as f32 * 0.02 })?;
        runtime.run(&mut life, &life_plan, &mut encoder, &mut ())?;
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
    }

    // What the last frame left: the picture in the caller's texture, the cells in the runtime's buffer.
    let mut encoder = device.create_command_encoder(&Default::default());
    let pixels = read_back(&device, u64::from(SIZE * SIZE * 4));
    let row = Some(SIZE * 4); // a multiple of 256, as copies need
    let layout = wgpu::TexelCopyBufferLayout { bytes_per_row: row, ..Default::default() };
    let into = wgpu::TexelCopyBufferInfo { buffer: &pixels, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), into, picture.size());
    let exported = runtime.exported(&life_plan, cells).ok_or("the cells were never stepped")?;
    let (buffer, offset, size) = (exported.buffer(), exported.offset(), exported.size());
    let world = read_back(&device, size);
    encoder.copy_buffer_to_buffer(buffer, offset, &world, 0, size);
    for buffer in [&pixels, &world] {
        encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, .., |_| {});
    }
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;

    let world = world.slice(..).get_mapped_range()?;
    let world: &[u32] = bytemuck::cast_slice(&world);
    let alive: Vec<u32> = (0..).zip(world).filter(|(_, state)| **state == 1).map(|(cell, _)| cell).collect();
    let (x, y) = (alive.iter().map(|cell| cell % WORLD).min(), alive.iter().map(|cell| cell / WORLD).min());
    let (count, x, y) = (alive.len(), x.unwrap_or(0), y.unwrap_or(0));
    println!("life: generation {FRAMES} has {count} cells alive, from column {x} and row {y} on");
    let pixels = pixels.slice(..).get_mapped_range()?;
    image::save_buffer(picture_path, &pixels, SIZE, SIZE, image::ColorType::Rgba8)?;
    let report = glow_plan.report().titled("Glow").with_times(runtime.timings(&glow_plan));
    std::fs::write(report_path, report.html())?;
    println!("{picture_path}\n{report_path}");
    Ok(())
}

/// Lamps → what is bright of them → that blurred → both together in the target, which this returns.
///
/// Every pass draws into a texture of its own. Which of them are one on the device is the plan's business:
/// however many rounds there are, three are enough.
fn declare_glow(graph: &mut Graph<Frame>, device: &wgpu::Device) -> Texture {
    let passes = FullScreen::new(device);
    let time = graph.transient("time", 4);
    graph.host("clock", |pass| {
        let time = pass.upload(time);
        move |host, frame| host.write(time).copy_from_slice(&frame.time.to_le_bytes())
    });

    let full = TextureDesc::new(SIZE, SIZE, LIGHT);
    let small = TextureDesc::new(SIZE / 4, SIZE / 4, LIGHT);
    let scene = graph.texture("scene", full);
    passes.declare(graph, "scene", scene, LIGHT, |pass| vec![(0, pass.uniform(time).into())]);
    let mut glow = graph.texture("bright", small);
    passes.declare(graph, "bright", glow, LIGHT, |pass| passes.sampled(pass, &[scene]));
    for round in 0..ROUNDS {
        for entry in ["across", "down"] {
            let blurred = graph.texture(format!("{entry} {round}"), small);
            passes.declare(graph, entry, blurred, LIGHT, |pass| passes.sampled(pass, &[glow]));
            glow = blurred;
        }
    }
    let target = graph.target("picture", TextureDesc::new(SIZE, SIZE, FORMAT));
    passes.declare(graph, "combine", target, FORMAT, |pass| passes.sampled(pass, &[scene, glow]));
    target
}

/// What full-screen passes share.
struct FullScreen {
    device: wgpu::Device,
    module: wgpu::ShaderModule,
    linear: wgpu::Sampler,
}

impl FullScreen {
    fn new(device: &wgpu::Device) -> Self {
        let linear = device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Self { device: device.clone(), module: module(device, "glow", GLOW), linear }
    }

    /// Declares a pass that fills `output` by the fragment stage `entry`, which reads `inputs`.
    fn declare(
        &self,
        graph: &mut Graph<Frame>,
        entry: &'static str,
        output: Texture,
        format: wgpu::TextureFormat,
        inputs: impl FnOnce(&mut Declare<'_>) -> Vec<(u32, Bind)>,
    ) {
        let pipeline = self.pipeline(entry, format);
        graph.raster(entry, |pass| {
            let inputs = inputs(pass);
            let group = pass.bind_group(&pipeline.get_bind_group_layout(0), inputs);
            pass.color(output, Some(wgpu::Color::BLACK)); // a clear, so that nothing is loaded
            move |pass, resources, _| {
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, resources.group(group), &[]);
                pass.draw(0..3, 0..1);
            }
        });
    }

    /// Bindings of textures that the pass samples.
    fn sampled(&self, pass: &mut Declare<'_>, textures: &[Texture]) -> Vec<(u32, Bind)> {
        let textures = (1..).zip(textures).map(|(binding, &texture)| (binding, pass.sampled(texture).into()));
        textures.chain([(3, self.linear.clone().into())]).collect()
    }

    fn pipeline(&self, entry: &str, format: wgpu::TextureFormat) -> wgpu::RenderPipeline {
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(entry),
            layout: None,
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some("cover"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &self.module,
                entry_point: Some(entry),
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// Every run steps the cells once. Returns what it leaves.
fn declare_life(graph: &mut Graph<()>, device: &wgpu::Device) -> Buffer {
    let cells = graph.history("cells", u64::from(WORLD * WORLD * 4));
    let module = module(device, "life", LIFE);
    let pipeline = |entry| {
        let constants = &[("WORLD", f64::from(WORLD))];
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
            cache: None,
        })
    };
    let seed = pipeline("seed");
    graph.compute("seed", |pass| {
        let next = pass.storage_write(cells.previous).into();
        let group = pass.bind_group(&seed.get_bind_group_layout(0), [(0, next)]);
        move |pass, resources, _| {
            // Only the first run has no generation before it.
            if !resources.has_previous(cells.previous) {
                pass.set_pipeline(&seed);
                pass.set_bind_group(0, resources.group(group), &[]);
                pass.dispatch_workgroups(WORLD / 8, WORLD / 8, 1);
            }
        }
    });
    let live = pipeline("live");
    graph.compute("live", |pass| {
        let (next, before) = (pass.storage_write(cells.current), pass.storage_read(cells.previous));
        let entries = [(0, next.into()), (1, before.into())];
        let group = pass.bind_group(&live.get_bind_group_layout(0), entries);
        move |pass, resources, _| {
            pass.set_pipeline(&live);
            pass.set_bind_group(0, resources.group(group), &[]);
            pass.dispatch_workgroups(WORLD / 8, WORLD / 8, 1);
        }
    });
    graph.export(cells.current);
    cells.current
}

async fn open() -> Result<(wgpu::Device, wgpu::Queue), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Default::default()).await?;
    // For the times in the report; without it they are left out.
    let required_features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
    Ok(adapter.request_device(&wgpu::DeviceDescriptor { required_features, ..Default::default() }).await?)
}

fn module(device: &wgpu::Device, label: &str, text: &str) -> wgpu::ShaderModule {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source })
}

fn read_back(device: &wgpu::Device, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
