use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{access::PassKind, handle::Label};

/// Frames whose times may be on their way; a frame that finds none free is not timed.
const READBACKS: usize = 3;

/// Bytes of one timestamp.
const TICK: u64 = wgpu::QUERY_SIZE as u64;

/// Whether a pass has timestamps. Copies and host passes are not wgpu passes, and have CPU spans only.
pub(crate) fn is_timed(kind: PassKind) -> bool {
    matches!(kind, PassKind::Compute | PassKind::Raster)
}

/// GPU times of a plan's newest run whose work has finished, usually some frames old.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    frame: u64,
    start: u64,
    labels: Arc<[Label]>,
    spans: Vec<Range<u64>>,
}

/// GPU time of one compute or raster pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassTime<'a> {
    /// The pass.
    pub label: &'a str,
    /// Nanoseconds, counted from when the first timed pass of the frame began.
    pub span: Range<u64>,
}

impl Timings {
    /// The run that was timed: runs of all plans of a runtime are numbered from 0.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Nanoseconds on the device's own clock when the first timed pass began. Its zero means nothing, and its
    /// distance to the CPU's clock is not known: only that a frame begins after it was submitted and ends
    /// before its times are here.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The compute and raster passes of that run, in order.
    pub fn passes(&self) -> impl ExactSizeIterator<Item = PassTime<'_>> {
        let both = self.labels.iter().zip(&self.spans);
        both.map(|(label, span)| PassTime { label, span: span.clone() })
    }

    /// Nanoseconds of the timed pass `at`.
    pub(crate) fn nanoseconds(&self, at: usize) -> Option<u64> {
        self.spans.get(at).map(|span| span.end - span.start)
    }
}

/// Two timestamps per pass, resolved into a ring of buffers that are mapped after the caller's submit.
#[derive(Debug)]
pub(crate) struct Timer {
    device: wgpu::Device,
    nanoseconds_per_tick: f64,
    slots: Option<Slots>,
    arrived: Arc<Arrived>,
    /// The newest times of each plan that was timed; those of the newest run last.
    newest: Vec<Timings>,
}

/// The objects for up to `passes` timed passes.
#[derive(Debug)]
struct Slots {
    generation: u64,
    passes: usize,
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readbacks: [Readback; READBACKS],
}

#[derive(Debug)]
struct Readback {
    buffer: wgpu::Buffer,
    in_flight: bool,
    frame: u64,
    labels: Arc<[Label]>,
}

/// Where callbacks say which readbacks are free again, and whether they are mapped.
#[derive(Debug, Default)]
struct Arrived(Mutex<Vec<Arrival>>);

#[derive(Clone, Copy, Debug)]
struct Arrival {
    generation: u64,
    readback: usize,
    is_mapped: bool,
}

impl Arrived {
    fn lock(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports the readback's fate even when its encoder is dropped and the callback never runs.
struct Notice {
    arrival: Arrival,
    arrived: Arc<Arrived>,
}

impl Notice {
    /// Takes `self`: a closure that only set the flag would capture the flag alone, and drop the rest here.
    fn mapped(mut self, is_mapped: bool) {
        self.arrival.is_mapped = is_mapped;
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        self.arrived.lock().push(self.arrival);
    }
}

impl Timer {
    /// `None` if the device cannot write timestamps.
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Self {
            device: device.clone(),
            nanoseconds_per_tick: queue.get_timestamp_period().into(),
            slots: None,
            arrived: Arc::default(),
            newest: Vec::new(),
        })
    }

    /// Of the plan with these labels.
    pub(crate) fn newest(&self, labels: &Arc<[Label]>) -> Option<&Timings> {
        self.newest.iter().find(|times| Arc::ptr_eq(&times.labels, labels))
    }

    /// Lets go of the times of plans whose objects are gone.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&Arc<[Label]>) -> bool) {
        self.newest.retain(|times| is_kept(&times.labels));
    }

    /// Chooses the readback of a frame; `None` if all are in flight or there is nothing to time.
    pub(crate) fn begin(&mut self, frame: u64, labels: &Arc<[Label]>) -> Option<usize> {
        self.collect();
        let passes = labels.len().min(wgpu::QUERY_SET_MAX_QUERIES as usize / 2);
        if passes == 0 {
            return None;
        }
        if self.slots.as_ref().is_none_or(|slots| slots.passes < passes) {
            let generation = self.slots.as_ref().map_or(0, |slots| slots.generation + 1);
            self.slots = Some(Slots::new(&self.device, generation, passes, labels));
        }
        let readbacks = &mut self.slots.as_mut()?.readbacks;
        let free = readbacks.iter().position(|readback| !readback.in_flight)?;
        readbacks[free].frame = frame;
        readbacks[free].labels = Arc::clone(labels);
        Some(free)
    }

    /// Where the timed pass `at` writes its two timestamps.
    pub(crate) fn queries(&self, at: usize) -> Option<(&wgpu::QuerySet, u32, u32)> {
        let slots = self.slots.as_ref().filter(|slots| at < slots.passes)?;
        Some((&slots.queries, 2 * at as u32, 2 * at as u32 + 1))
    }

    /// Resolves the frame's timestamps and has them mapped once the caller has submitted `encoder`.
    pub(crate) fn end(&mut self, readback: usize, encoder: &mut wgpu::CommandEncoder) {
        let Some(slots) = &mut self.slots else { return };
        let Readback { buffer, in_flight, labels, .. } = &mut slots.readbacks[readback];
        let queries = 2 * labels.len().min(slots.passes) as u32;
        let bytes = u64::from(queries) * TICK;
        encoder.resolve_query_set(&slots.queries, 0..queries, &slots.resolved, 0);
        encoder.copy_buffer_to_buffer(&slots.resolved, 0, buffer, 0, bytes);
        *in_flight = true;
        let arrival = Arrival { generation: slots.generation, readback, is_mapped: false };
        let notice = Notice { arrival, arrived: Arc::clone(&self.arrived) };
        encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, ..bytes, move |result| {
            notice.mapped(result.is_ok());
        });
    }

    /// Reads what has arrived.
    pub(crate) fn collect(&mut self) {
        while let Some(arrival) = self.pop() {
            let Some(slots) = self.slots.as_mut().filter(|s| s.generation == arrival.generation) else {
                continue;
            };
            let readback = &mut slots.readbacks[arrival.readback];
            readback.in_flight = false;
            if arrival.is_mapped {
                let known = self.newest.iter().position(|times| Arc::ptr_eq(&times.labels, &readback.labels));
                let known = known.unwrap_or_else(|| {
                    self.newest.push(Timings { labels: Arc::clone(&readback.labels), ..Default::default() });
                    self.newest.len() - 1
                });
                let newest = &mut self.newest[known];
                if readback.frame >= newest.frame {
                    read(readback, slots.passes, self.nanoseconds_per_tick, newest);
                }
                readback.buffer.unmap();
            }
        }
    }

    fn pop(&self) -> Option<Arrival> {
        self.arrived.lock().pop()
    }
}

impl Slots {
    fn new(device: &wgpu::Device, generation: u64, passes: usize, labels: &Arc<[Label]>) -> Self {
        let count = 2 * passes as u32;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("graph timestamps"),
                size: u64::from(count) * TICK,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            generation,
            passes,
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("graph timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readbacks: std::array::from_fn(|_| Readback {
                buffer: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
                in_flight: false,
                frame: 0,
                labels: Arc::clone(labels),
            }),
        }
    }
}

/// Turns a mapped readback into nanoseconds since its first tick.
fn read(readback: &Readback, passes: usize, nanoseconds_per_tick: f64, into: &mut Timings) {
    let bytes = 2 * readback.labels.len().min(passes) as u64 * TICK;
    let Ok(view) = readback.buffer.slice(..bytes).get_mapped_range() else { return };
    let ticks = |pass: &[[u8; 8]; 2]| (u64::from_le_bytes(pass[0]), u64::from_le_bytes(pass[1]));
    let passes = view.as_chunks::<8>().0.as_chunks::<2>().0;
    let start = passes.iter().map(|pass| ticks(pass).0).min().unwrap_or(0);
    let nanoseconds = |tick: u64| (tick.saturating_sub(start) as f64 * nanoseconds_per_tick) as u64;
    into.frame = readback.frame;
    into.start = (start as f64 * nanoseconds_per_tick) as u64;
    into.spans.clear();
    into.spans.extend(passes.iter().map(|pass| {
        let (begin, end) = ticks(pass);
        nanoseconds(begin)..nanoseconds(end.max(begin))
    }));
}
