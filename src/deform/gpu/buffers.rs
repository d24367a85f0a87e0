use crate::deform::{DeformError, cast::Taken, source::Streams};

/// Names of the four source buffers, in the order of their bindings.
pub(crate) const SOURCES: [&str; 4] =
    ["source vertices A", "source vertices B", "extra influences", "tables"];

/// The static source streams on the device: one buffer each, grown by size classes.
#[derive(Debug)]
pub(crate) struct SourceBuffers {
    pub(crate) buffers: [wgpu::Buffer; 4],
    used: [u64; 4],
}

impl SourceBuffers {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let buffers = SOURCES.map(|label| create(device, label, 16, wgpu::BufferUsages::COPY_DST));
        Self { buffers, used: [0; 4] }
    }

    /// Writes one more model's streams behind the others. `false` when a buffer has no room left.
    pub(crate) fn append(&mut self, queue: &wgpu::Queue, streams: &Streams) -> bool {
        let bytes = streams.bytes();
        let fits = |i: usize| self.used[i] + bytes[i].len() as u64 <= self.buffers[i].size();
        if !(0..4).all(fits) {
            return false;
        }
        for (i, bytes) in bytes.into_iter().enumerate() {
            queue.write_buffer(&self.buffers[i], self.used[i], bytes);
            self.used[i] += bytes.len() as u64;
        }
        true
    }

    /// New buffers that hold `streams` and nothing else, with room to grow.
    pub(crate) fn replace(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        streams: &Streams,
    ) -> Result<(), DeformError> {
        let sizes = streams.bytes().map(|bytes| bytes.len() as u64);
        check_sizes(device, sizes)?;
        let limit = device.limits().max_storage_buffer_binding_size.min(device.limits().max_buffer_size);
        for (i, label) in SOURCES.iter().enumerate() {
            let size = size_class(sizes[i]).min(limit);
            self.buffers[i] = create(device, label, size, wgpu::BufferUsages::COPY_DST);
        }
        self.used = [0; 4];
        self.append(queue, streams);
        Ok(())
    }

    /// Bytes of the four buffers.
    pub(crate) fn bytes(&self) -> u64 {
        self.buffers.iter().map(wgpu::Buffer::size).sum()
    }
}

/// Whether source streams of this size fit the device.
pub(crate) fn check_sources(device: &wgpu::Device, taken: Taken) -> Result<(), DeformError> {
    let [vertices, extra, tables] = [taken.vertices, taken.extra, taken.tables].map(u64::from);
    check_sizes(device, [vertices * 16, vertices * 16, extra * 16, tables * 4])
}

fn check_sizes(device: &wgpu::Device, sizes: [u64; 4]) -> Result<(), DeformError> {
    SOURCES.iter().zip(sizes).try_for_each(|(label, size)| check(device, label, size))
}

/// Refuses what a storage binding cannot reach, naming the limit.
pub(crate) fn check(device: &wgpu::Device, what: &'static str, bytes: u64) -> Result<(), DeformError> {
    let limit = device.limits().max_storage_buffer_binding_size;
    if bytes > limit {
        return Err(DeformError::OverLimit { what, bytes, limit, name: "max_storage_buffer_binding_size" });
    }
    check_buffer(device, what, bytes)
}

/// Refuses what one buffer cannot hold, naming the limit.
pub(crate) fn check_buffer(device: &wgpu::Device, what: &'static str, bytes: u64) -> Result<(), DeformError> {
    let limit = device.limits().max_buffer_size;
    if bytes > limit {
        return Err(DeformError::OverLimit { what, bytes, limit, name: "max_buffer_size" });
    }
    Ok(())
}

/// The next eighth of a power of two, so that small growth keeps buffers and plans.
fn size_class(bytes: u64) -> u64 {
    let step = (bytes.max(2048).next_power_of_two() / 16).max(256);
    bytes.max(256).next_multiple_of(step)
}

pub(crate) fn create(
    device: &wgpu::Device,
    label: &str,
    size: u64,
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage: usage | wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    })
}
