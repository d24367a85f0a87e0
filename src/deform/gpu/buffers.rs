use crate::deform::source::{SOURCES, Streams};

/// The static source streams of one page on the device: one buffer each.
#[derive(Debug)]
pub(crate) struct SourceBuffers {
    pub(crate) buffers: [wgpu::Buffer; 4],
    used: [u64; 4],
}

impl SourceBuffers {
    /// Buffers that hold `streams` and nothing else, with room to grow up to `most` bytes each. No smaller than
    /// half again as large as `before`, so that many models are not packed many times.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        streams: &Streams,
        most: u64,
        before: Option<&Self>,
    ) -> Self {
        let sizes = streams.bytes().map(|bytes| bytes.len() as u64);
        let mut stream = 0..4;
        let buffers = SOURCES.map(|label| {
            let i = stream.next().unwrap_or_default();
            let least = before.map_or(0, |before| before.grown(i, sizes[i]));
            create(device, label, size_class(sizes[i].max(least)).min(most), wgpu::BufferUsages::COPY_DST)
        });
        let mut new = Self { buffers, used: [0; 4] };
        new.append(queue, streams);
        new
    }

    /// Buffers of nothing, to be bound.
    pub(crate) fn empty(device: &wgpu::Device) -> Self {
        let buffers = SOURCES.map(|label| create(device, label, 16, wgpu::BufferUsages::COPY_DST));
        Self { buffers, used: [0; 4] }
    }

    /// Whether `streams` fit behind the others.
    pub(crate) fn has_room(&self, streams: &Streams) -> bool {
        let bytes = streams.bytes();
        (0..4).all(|i| self.used[i] + bytes[i].len() as u64 <= self.buffers[i].size())
    }

    /// Writes streams behind the others, where they fit.
    pub(crate) fn append(&mut self, queue: &wgpu::Queue, streams: &Streams) {
        for (i, bytes) in streams.bytes().into_iter().enumerate() {
            queue.write_buffer(&self.buffers[i], self.used[i], bytes);
            self.used[i] += bytes.len() as u64;
        }
    }

    /// Bytes of the four buffers.
    pub(crate) fn bytes(&self) -> u64 {
        self.buffers.iter().map(wgpu::Buffer::size).sum()
    }

    /// The size that stream `i` grows to where it has to hold `needed` bytes.
    fn grown(&self, i: usize, needed: u64) -> u64 {
        let size = self.buffers[i].size();
        if needed <= size { size } else { size + size / 2 }
    }
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
