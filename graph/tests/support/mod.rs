//! What several test binaries share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use sinew_graph::{Buffer, Graph, GraphErrors, Limits, Plan, Runtime, RuntimeOptions};

/// Default WebGPU limits: a driver's own would hide faults.
pub(crate) fn device() -> (wgpu::Device, wgpu::Queue) {
    wgpu::Device::noop(&wgpu::DeviceDescriptor::default())
}

pub(crate) fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

pub(crate) fn encoder(device: &wgpu::Device) -> wgpu::CommandEncoder {
    device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

pub(crate) fn view(
    device: &wgpu::Device,
    width: u32,
    height: u32,
    format: wgpu::TextureFormat,
) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// Runs `what` in a validation scope and returns the first error's text.
pub(crate) fn validation(device: &wgpu::Device, what: impl FnOnce()) -> Option<String> {
    let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
    what();
    pollster::block_on(scope.pop()).map(|error| error.to_string())
}

/// A kernel that reads `reads` buffers and writes `writes`, bound in that order in group 0.
pub(crate) fn kernel(device: &wgpu::Device, reads: usize, writes: usize) -> wgpu::ComputePipeline {
    let mut source = String::new();
    for at in 0..reads {
        source += &format!("@group(0) @binding({at}) var<storage, read> r{at}: array<u32>;\n");
    }
    for at in 0..writes {
        let binding = reads + at;
        source += &format!("@group(0) @binding({binding}) var<storage, read_write> w{at}: array<u32>;\n");
    }
    source += "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n";
    source += "var sum = 0u;\n";
    for at in 0..reads {
        source += &format!("sum += r{at}[id.x % arrayLength(&r{at})];\n");
    }
    for at in 0..writes {
        source += &format!("if id.x < arrayLength(&w{at}) {{ w{at}[id.x] = sum; }}\n");
    }
    source += "}";
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    })
}

#[expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]
pub(crate) fn compile<F>(graph: &Graph<F>) -> Plan {
    graph.compile(&Limits::default()).expect("a valid graph")
}

/// With everything at its default.
pub(crate) fn runtime(device: &wgpu::Device, queue: &wgpu::Queue) -> Runtime {
    Runtime::new(device, queue, RuntimeOptions::default())
}

/// Records and submits one frame.
#[expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]
pub(crate) fn run(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    runtime: &mut Runtime,
    graph: &mut Graph<()>,
    plan: &Plan,
) {
    let mut encoder = encoder(device);
    runtime.run(graph, plan, &mut encoder, &mut ()).expect("a run");
    queue.submit([encoder.finish()]);
}

/// A host pass that claims its block and writes nothing into it.
pub(crate) fn upload(graph: &mut Graph<()>, to: Buffer) {
    graph.host("upload", |pass| {
        let to = pass.upload(to);
        move |host, ()| {
            host.write(to);
        }
    });
}

/// The labels of the passes that run, in order.
pub(crate) fn trace(plan: &Plan) -> String {
    plan.passes().iter().map(|pass| &*pass.label).collect::<Vec<_>>().join(" ")
}

/// All errors as text, one a line.
pub(crate) fn text(result: Result<Plan, GraphErrors>) -> String {
    result.map_or_else(|errors| errors.to_string(), |plan| format!("compiled: {plan}"))
}

/// xorshift64*: the same graphs in every run.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            rng.below(2);
        }
        rng
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
