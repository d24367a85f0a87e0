use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Staging buffers are a multiple of this many bytes, so that a growing upload rarely needs a new one.
const GRANULARITY: u64 = 16 << 10;

/// A buffer that this many takes did not need is given back to the device.
const IDLE_TAKES: u64 = 64;

/// Mapped staging buffers, reused once the GPU has copied out of them.
///
/// ```text
/// take ─→ write into mapped memory ─→ copy (recorded) ─→ finish ─→ the caller submits ─→ back in the ring
///                                                              └─→ the encoder is dropped ─→ mapped again
/// ```
///
/// Every [`take`](Self::take) hands out a buffer that nothing else uses, so uploads recorded one after
/// another into encoders that are submitted together do not overwrite each other, unlike writes through
/// `wgpu::Queue::write_buffer`. The ring never submits, polls or waits: buffers come back while the caller
/// submits or polls, and until then `take` creates new ones.
#[derive(Debug)]
pub struct UploadRing {
    device: wgpu::Device,
    returned: Arc<Returned>,
    takes: u64,
    created: u64,
}

/// Where callbacks leave buffers.
#[derive(Debug, Default)]
struct Returned {
    idle: Mutex<Idle>,
    /// Uploads whose encoder was dropped instead of submitted.
    lost: AtomicU64,
}

/// Up to when everything that was recorded with a ring's uploads has reached the GPU, as far as is known.
///
/// What the GPU keeps from frame to frame need not be written again as long as this stays equal: same ring, no
/// encoder dropped meanwhile. A submit that wgpu refuses is not noticed.
#[derive(Clone, Debug)]
pub struct Continuity {
    returned: Arc<Returned>,
    lost: u64,
}

impl PartialEq for Continuity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.returned, &other.returned) && self.lost == other.lost
    }
}

/// Which run of which runtime: the same for all host passes of one run, and for no other.
#[derive(Clone, Debug)]
pub struct RunId {
    returned: Arc<Returned>,
    number: u64,
}

impl PartialEq for RunId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.returned, &other.returned) && self.number == other.number
    }
}

impl Continuity {
    pub(crate) fn run(&self, number: u64) -> RunId {
        RunId { returned: Arc::clone(&self.returned), number }
    }
}

#[derive(Debug, Default)]
struct Idle {
    /// Ready to be written, with the number of the take that last used each.
    mapped: Vec<(wgpu::Buffer, u64)>,
    /// Their encoder was dropped unsubmitted, so they still have to be mapped.
    unmapped: Vec<wgpu::Buffer>,
}

impl Returned {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        // The lists are valid after every statement that holds the lock.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UploadRing {
    /// An empty ring; it creates buffers on `device` as they are needed.
    pub fn new(device: &wgpu::Device) -> Self {
        Self { device: device.clone(), returned: Arc::default(), takes: 0, created: 0 }
    }

    /// A mapped buffer of at least `bytes`, the smallest idle one or a new one.
    ///
    /// `None` if the device cannot map it, as after it was lost, or has no buffers of that size.
    pub fn take(&mut self, bytes: u64) -> Option<Staging> {
        self.takes += 1;
        self.remap();
        let buffer = match self.reuse(bytes) {
            Some(buffer) => buffer,
            None if bytes > self.device.limits().max_buffer_size => return None,
            None => self.create(bytes),
        };
        let view = buffer.slice(..).get_mapped_range_mut().ok()?;
        let slot = Slot { buffer: Some(buffer), take: self.takes, returned: Arc::clone(&self.returned) };
        Some(Staging { view: Some(view), slot, copied: false })
    }

    /// A mark to compare later ones with.
    pub fn continuity(&self) -> Continuity {
        Continuity { returned: Arc::clone(&self.returned), lost: self.returned.lost.load(Ordering::Acquire) }
    }

    /// Buffers that lie ready in the ring.
    pub fn idle(&self) -> usize {
        self.returned.lock().mapped.len()
    }

    /// Buffers that the ring has created so far.
    pub fn created(&self) -> u64 {
        self.created
    }

    /// Gives idle buffers back to the device. Buffers in flight come back later and are kept.
    pub fn clear(&mut self) {
        let mut idle = self.returned.lock();
        idle.mapped.clear();
        idle.unmapped.clear();
    }

    fn reuse(&mut self, bytes: u64) -> Option<wgpu::Buffer> {
        let now = self.takes;
        let mut idle = self.returned.lock();
        idle.mapped.retain(|(_, take)| now - take <= IDLE_TAKES);
        // A buffer far too large is left to grow idle, or one big upload would hold its memory for good.
        let sizes = bytes..=bytes.max(GRANULARITY).saturating_mul(4);
        let fitting =
            idle.mapped.iter().enumerate().filter(|(_, (buffer, _))| sizes.contains(&buffer.size()));
        let (at, _) = fitting.min_by_key(|(_, (buffer, _))| buffer.size())?;
        Some(idle.mapped.swap_remove(at).0)
    }

    fn create(&mut self, bytes: u64) -> wgpu::Buffer {
        self.created += 1;
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("upload"),
            size: self.size(bytes),
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        })
    }

    /// Room to spare, as far as the device has buffers of that size.
    fn size(&self, bytes: u64) -> u64 {
        let wanted = bytes.max(1).checked_next_multiple_of(GRANULARITY).unwrap_or(bytes);
        wanted.min(self.device.limits().max_buffer_size).max(bytes)
    }

    /// Asks for the buffers whose encoder was dropped. The lock is not held: a failing map calls back at once.
    fn remap(&mut self) {
        while let Some(buffer) = self.unmapped() {
            let mut slot =
                Slot { buffer: Some(buffer.clone()), take: self.takes, returned: Arc::clone(&self.returned) };
            buffer.slice(..).map_async(wgpu::MapMode::Write, move |result| slot.mapped(result.is_ok()));
        }
    }

    fn unmapped(&self) -> Option<wgpu::Buffer> {
        self.returned.lock().unmapped.pop()
    }
}

/// Mapped memory of one upload. Dropped without [`finish`](Self::finish), it goes back to the ring.
#[derive(Debug)]
pub struct Staging {
    /// Taken when the buffer is unmapped.
    view: Option<wgpu::BufferViewMut>,
    slot: Slot,
    copied: bool,
}

impl Staging {
    /// Bytes that can be written, at least as many as were asked for.
    pub fn size(&self) -> u64 {
        self.slot.buffer.as_ref().map_or(0, wgpu::Buffer::size)
    }

    /// The memory to write into. What is not written holds what an earlier upload left there.
    pub fn bytes(&mut self) -> wgpu::WriteOnly<'_, [u8]> {
        self.view.as_mut().map_or_else(Default::default, |view| view.slice(..))
    }

    /// Records a copy of `range` to `offset` in `into`. Both ends and the offset are multiples of 4.
    pub fn copy(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        range: Range<u64>,
        into: &wgpu::Buffer,
        offset: u64,
    ) {
        if let Some(buffer) = &self.slot.buffer {
            self.copied = true;
            let size = range.end.saturating_sub(range.start);
            encoder.copy_buffer_to_buffer(buffer, range.start, into, offset, size);
        }
    }

    /// Unmaps the buffer, so that `encoder` may be submitted, and has it mapped again after that.
    ///
    /// Every copy must have been recorded into `encoder`.
    pub fn finish(mut self, encoder: &wgpu::CommandEncoder) {
        self.view = None;
        let returned = Arc::clone(&self.slot.returned);
        let mut slot = Slot { buffer: self.slot.buffer.take(), take: self.slot.take, returned };
        if let Some(buffer) = slot.buffer.clone() {
            buffer.unmap();
            encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Write, .., move |result| {
                slot.mapped(result.is_ok());
            });
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.view = None;
        match self.slot.buffer.take() {
            // An encoder holds copies out of it and may still be submitted: leave the buffer to it.
            Some(buffer) if self.copied => {
                self.slot.returned.lost.fetch_add(1, Ordering::Release);
                buffer.unmap();
            }
            Some(buffer) => self.slot.returned.lock().mapped.push((buffer, self.slot.take)),
            None => {}
        }
    }
}

/// A buffer on its way back. Dropped before it was mapped, it is left for the ring to map: the encoder that
/// held the callback was dropped, so the GPU does not use it.
#[derive(Debug)]
struct Slot {
    buffer: Option<wgpu::Buffer>,
    take: u64,
    returned: Arc<Returned>,
}

impl Slot {
    fn mapped(&mut self, is_mapped: bool) {
        let buffer = self.buffer.take().filter(|_| is_mapped);
        if let Some(buffer) = buffer {
            self.returned.lock().mapped.push((buffer, self.take));
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.returned.lost.fetch_add(1, Ordering::Release);
            self.returned.lock().unmapped.push(buffer);
        }
    }
}
