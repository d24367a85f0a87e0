//! A device with all that the adapter has, and times of passes on it.

use std::{sync::OnceLock, time::Instant};

/// Samples of a series; the median counts.
const SAMPLES: usize = 30;
/// Busy work before a series: cards clock up only under load.
const WARM_SECONDS: f64 = 0.3;

/// The device, and what is measured with.
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) name: String,
    /// Sizes for software adapters.
    pub(crate) is_small: bool,
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    busy: wgpu::ComputePipeline,
    busy_group: wgpu::BindGroup,
    /// Seconds that one busy dispatch takes.
    busy_seconds: OnceLock<f64>,
}

const BUSY: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = data[id.x];
    for (var i = 0; i < 256; i++) { x = x * 0.999 + 0.001; }
    data[id.x] = x;
}";

impl Gpu {
    pub(crate) async fn open(small: Option<bool>) -> Self {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance.request_adapter(&options).await.expect("no graphics adapter");
        let info = adapter.get_info();
        assert!(
            adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
            "{} has no timestamps",
            info.name
        );
        let descriptor = wgpu::DeviceDescriptor {
            required_features: wgpu::Features::TIMESTAMP_QUERY,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = adapter.request_device(&descriptor).await.expect("a device");
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let resolved = buffer(&device, 16, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
        let read = buffer(&device, 16, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let busy = pipeline(&device, BUSY, None);
        let data = buffer(&device, 4 << 18, wgpu::BufferUsages::STORAGE);
        let busy_group = group(&device, &busy, &[&data]);
        let is_small = small.unwrap_or(info.device_type == wgpu::DeviceType::Cpu);
        let name = format!("{}, {} {}", info.name, info.backend, info.driver_info);
        let busy_seconds = OnceLock::new();
        Self { device, queue, name, is_small, queries, resolved, read, busy, busy_group, busy_seconds }
    }

    /// Another device, to render on: on llvmpipe the timestamps of compute passes are wrong once anything was rendered.
    pub(crate) fn another(&self) -> Self {
        pollster::block_on(Self::open(Some(self.is_small)))
    }

    /// `full` on hardware, `small` on software.
    pub(crate) fn size<T>(&self, full: T, small: T) -> T {
        if self.is_small { small } else { full }
    }

    /// Median seconds between the timestamps that `record` writes around its pass.
    ///
    /// The card is busy until the pass begins, so that it never clocks down while a frame is prepared.
    pub(crate) fn median(&self, mut record: impl FnMut(&mut wgpu::CommandEncoder, Timestamps<'_>)) -> f64 {
        self.warm(WARM_SECONDS);
        let samples = self.size(SAMPLES, 5);
        let mut preparing = 0.0f64;
        let mut sample = |_| {
            self.warm((1.5 * preparing).max(0.002));
            let start = Instant::now();
            self.once(|encoder, at| {
                record(encoder, at);
                preparing = start.elapsed().as_secs_f64();
            })
        };
        let mut times: Vec<f64> = (0..samples).map(&mut sample).collect();
        times.sort_by(f64::total_cmp);
        times[samples / 2]
    }

    fn once(&self, record: impl FnOnce(&mut wgpu::CommandEncoder, Timestamps<'_>)) -> f64 {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        record(&mut encoder, Timestamps { queries: &self.queries });
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, 16);
        self.queue.submit([encoder.finish()]);
        let words: Vec<u64> = self.mapped(&self.read);
        words[1].wrapping_sub(words[0]) as f64 * f64::from(self.queue.get_timestamp_period()) * 1e-9
    }

    /// Waits for everything.
    pub(crate) fn wait(&self) {
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }

    /// Submits work that keeps the card busy for a while.
    pub(crate) fn warm(&self, seconds: f64) {
        const FEW: usize = 64;
        let few = self.size(FEW, 1);
        let each = self.busy_seconds.get_or_init(|| {
            // The first time runs at idle clocks.
            self.once(|encoder, at| self.busy(encoder, Some(at.writes()), few));
            self.once(|encoder, at| self.busy(encoder, Some(at.writes()), few)).max(1e-9) / few as f64
        });
        let dispatches = (seconds / each).ceil().clamp(1.0, 1e5) as usize;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.busy(&mut encoder, None, self.size(dispatches, 1));
        self.queue.submit([encoder.finish()]);
    }

    fn busy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
        dispatches: usize,
    ) {
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        pass.set_pipeline(&self.busy);
        pass.set_bind_group(0, &self.busy_group, &[]);
        (0..dispatches).for_each(|_| pass.dispatch_workgroups(1024, 1, 1));
    }

    fn mapped<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer) -> Vec<T> {
        buffer.slice(..).map_async(wgpu::MapMode::Read, |result| result.unwrap());
        self.wait();
        let values = bytemuck::pod_collect_to_vec(&buffer.slice(..).get_mapped_range().unwrap());
        buffer.unmap();
        values
    }

    /// Bytes of a buffer.
    pub(crate) fn read<T: bytemuck::Pod>(&self, from: &wgpu::Buffer, offset: u64, bytes: u64) -> Vec<T> {
        let copy = buffer(&self.device, bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, offset, &copy, 0, bytes);
        self.queue.submit([encoder.finish()]);
        self.mapped(&copy)
    }

    /// A storage buffer that holds `words`.
    pub(crate) fn storage(&self, words: &[u32]) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let made = buffer(&self.device, (words.len() as u64 * 4).max(16), usage);
        // In pieces: one write stages all it is given.
        for (at, piece) in words.chunks(16 << 20).enumerate() {
            self.queue.write_buffer(&made, (at as u64) * (64 << 20), bytemuck::cast_slice(piece));
            self.queue.submit([]);
            self.wait();
        }
        made
    }
}

/// Where a pass writes its times.
#[derive(Clone, Copy)]
pub(crate) struct Timestamps<'a> {
    queries: &'a wgpu::QuerySet,
}

impl<'a> Timestamps<'a> {
    pub(crate) fn writes(self) -> wgpu::ComputePassTimestampWrites<'a> {
        wgpu::ComputePassTimestampWrites {
            query_set: self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    pub(crate) fn compute(self) -> wgpu::ComputePassDescriptor<'a> {
        wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(self.writes()) }
    }

    pub(crate) fn raster(self) -> wgpu::RenderPassTimestampWrites<'a> {
        wgpu::RenderPassTimestampWrites {
            query_set: self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Of the first and the last of several passes.
    pub(crate) fn around(self, first: bool, last: bool) -> Option<wgpu::RenderPassTimestampWrites<'a>> {
        (first || last).then_some(wgpu::RenderPassTimestampWrites {
            query_set: self.queries,
            beginning_of_pass_write_index: first.then_some(0),
            end_of_pass_write_index: last.then_some(1),
        })
    }

    /// Only the start.
    pub(crate) fn start(self) -> wgpu::ComputePassTimestampWrites<'a> {
        wgpu::ComputePassTimestampWrites { end_of_pass_write_index: None, ..self.writes() }
    }
}

pub(crate) fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

pub(crate) fn pipeline(
    device: &wgpu::Device,
    text: &str,
    layout: Option<&wgpu::PipelineLayout>,
) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

pub(crate) fn group(
    device: &wgpu::Device,
    pipeline: &wgpu::ComputePipeline,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0u32..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

/// A grid of so many workgroups, folded.
pub(crate) fn grid(groups: u32) -> (u32, u32) {
    let width = groups.clamp(1, 4096);
    (width, groups.div_ceil(width))
}
