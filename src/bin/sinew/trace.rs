//! A trace in Chrome's JSON format: spans of all threads, and the GPU's own times of the passes.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use serde_json::{Map, Value, json};
use sinew::graph::Timings;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};

use crate::{encode::cannot_write, failure::Failure};

/// The row of the GPU among those of the threads.
const GPU_ROW: u64 = 0;

/// A trace that is being written. Finish it, so that errors are reported and the file is whole.
pub(crate) struct Trace {
    shared: Arc<Shared>,
    path: PathBuf,
}

struct Shared {
    start: Instant,
    state: Mutex<State>,
}

struct State {
    file: BufWriter<File>,
    failed: Option<io::Error>,
    is_first: bool,
    /// When each frame was submitted, in microseconds.
    submitted: Vec<f64>,
    last_timed: Option<u64>,
    clock: GpuClock,
}

/// How far the GPU's clock is behind the CPU's, in microseconds: no frame begins before it was submitted or
/// ends after its times were seen. Each frame narrows that down.
#[derive(Debug)]
struct GpuClock {
    least: f64,
    most: f64,
}

impl Default for GpuClock {
    fn default() -> Self {
        Self { least: f64::NEG_INFINITY, most: f64::INFINITY }
    }
}

impl GpuClock {
    /// Takes in a frame's time on the GPU's clock, and when it was submitted and seen on the CPU's.
    fn offset(&mut self, gpu: std::ops::Range<f64>, cpu: std::ops::Range<f64>) -> f64 {
        self.least = self.least.max(cpu.start - gpu.start);
        self.most = self.most.min(cpu.end - gpu.end);
        // The clocks drift: where the bounds contradict each other, this frame's own hold.
        if self.least > self.most {
            (self.least, self.most) = (cpu.start - gpu.start, cpu.end - gpu.end);
        }
        self.least
    }
}

impl Trace {
    /// Creates the file and traces the whole program from now on.
    pub(crate) fn start(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
        let state = State {
            file: BufWriter::new(file),
            failed: None,
            is_first: true,
            submitted: Vec::new(),
            last_timed: None,
            clock: GpuClock::default(),
        };
        let shared = Arc::new(Shared { start: Instant::now(), state: Mutex::new(state) });
        tracing_subscriber::registry()
            .with(TraceLayer { shared: Arc::clone(&shared) })
            .try_init()
            .map_err(|error| Failure::new(format_args!("cannot trace: {error}")))?;
        Ok(Self { shared, path: path.into() })
    }

    /// Names the GPU's row, which stays empty on a device without timestamps.
    pub(crate) fn name_gpu(&self, has_timestamps: bool) {
        let what = if has_timestamps { "placed approximately" } else { "not available: no timestamps" };
        self.shared.name_row(GPU_ROW, &format!("GPU ({what})"));
    }

    /// Notes that a frame was submitted, and adds the newest GPU times of an earlier one.
    pub(crate) fn frame(&self, timings: Option<&Timings>) {
        let now = self.shared.now();
        self.shared.lock().submitted.push(now);
        self.gpu_times(timings);
    }

    /// Adds the newest GPU times, if they are new.
    pub(crate) fn gpu_times(&self, timings: Option<&Timings>) {
        let Some(timings) = timings else { return };
        let mut state = self.shared.lock();
        if state.last_timed.replace(timings.frame()) == Some(timings.frame()) {
            return;
        }
        let Some(&submitted) = state.submitted.get(timings.frame() as usize) else { return };
        let begin = timings.start() as f64 / 1000.0;
        let length = timings.passes().map(|pass| pass.span.end).max().unwrap_or(0) as f64 / 1000.0;
        let offset = state.clock.offset(begin..begin + length, submitted..self.shared.now());
        for pass in timings.passes() {
            state.write(&json!({
                "name": pass.label, "cat": "gpu", "ph": "X", "pid": 1, "tid": GPU_ROW,
                "ts": begin + offset + pass.span.start as f64 / 1000.0,
                "dur": (pass.span.end - pass.span.start) as f64 / 1000.0,
                "args": { "frame": timings.frame() },
            }));
        }
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let mut state = self.shared.lock();
        let end = state.file.write_all(b"\n]\n").and_then(|()| state.file.flush());
        let result = state.failed.take().map_or(end, Err);
        result.map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The file is whole after every statement that holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Microseconds since the start.
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e6
    }

    fn name_row(&self, row: u64, name: &str) {
        let event = json!({
            "name": "thread_name", "ph": "M", "pid": 1, "tid": row, "args": { "name": name },
        });
        self.lock().write(&event);
    }

    /// The row of this thread, named when it is first asked for.
    fn row(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(GPU_ROW + 1);
        thread_local! {
            static ROW: std::cell::OnceCell<u64> = const { std::cell::OnceCell::new() };
        }
        ROW.with(|row| {
            *row.get_or_init(|| {
                let row = NEXT.fetch_add(1, Ordering::Relaxed);
                let thread = std::thread::current();
                self.name_row(row, thread.name().unwrap_or("thread"));
                row
            })
        })
    }
}

impl State {
    fn write(&mut self, event: &Value) {
        let comma = if std::mem::take(&mut self.is_first) { "[\n" } else { ",\n" };
        let written = write!(self.file, "{comma}{event}");
        if let (Err(error), None) = (written, &self.failed) {
            self.failed = Some(error);
        }
    }
}

struct TraceLayer {
    shared: Arc<Shared>,
}

/// What a span carries.
struct SpanData {
    fields: Fields,
    entered: f64,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.target().starts_with("sinew")
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(SpanData { fields, entered: 0.0 });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(data) = span.extensions_mut().get_mut::<SpanData>() {
            record.record(&mut data.fields);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(data) = span.extensions_mut().get_mut::<SpanData>() {
            data.entered = self.shared.now();
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let extensions = span.extensions();
        let Some(data) = extensions.get::<SpanData>() else { return };
        let label = data.fields.0.get("label").and_then(Value::as_str);
        let name = label.map_or_else(|| span.name().into(), |label| format!("{} {label}", span.name()));
        let event = json!({
            "name": name, "cat": span.metadata().target(), "ph": "X", "pid": 1, "tid": self.shared.row(),
            "ts": data.entered, "dur": self.shared.now() - data.entered, "args": data.fields.0,
        });
        self.shared.lock().write(&event);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message = fields.0.remove("message");
        let name = message.as_ref().and_then(Value::as_str).unwrap_or(event.metadata().name());
        let event = json!({
            "name": name, "cat": event.metadata().target(), "ph": "i", "s": "t", "pid": 1,
            "tid": self.shared.row(), "ts": self.shared.now(), "args": fields.0,
        });
        self.shared.lock().write(&event);
    }
}

/// Fields as JSON.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().into(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_the_gpu_says_where_there_are_no_timestamps_and_the_rest_is_traced() {
        let path = std::env::temp_dir().join(format!("sinew-trace-{}.json", std::process::id()));
        let trace = Trace::start(&path).ok().unwrap();
        trace.name_gpu(false);
        tracing::debug_span!(target: "sinew", "frame").in_scope(|| trace.frame(None));
        assert!(trace.finish().is_ok());
        let events: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::remove_file(path).unwrap();
        let events = events.as_array().unwrap();
        let row = events.iter().find(|event| event["tid"] == GPU_ROW).unwrap();
        assert_eq!(row["args"]["name"], "GPU (not available: no timestamps)");
        assert!(events.iter().any(|event| event["name"] == "frame"));
    }
}
