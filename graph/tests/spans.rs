//! What a subscriber sees of a frame.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use std::{
    fmt::{Debug, Write},
    sync::{Arc, Mutex, MutexGuard},
};

use sinew_graph::{Graph, Limits, Runtime, RuntimeOptions};
use support::{device, encoder};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Writes one line per span and event, with the fields recorded later on lines of their own.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn text(&self) -> MutexGuard<'_, String> {
        self.0.lock().expect("no test panics while it writes")
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").expect("a string");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("sinew_graph")
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let mut text = self.text();
        text.push_str(span.metadata().name());
        span.record(&mut Line(&mut text));
        text.push('\n');
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut text = self.text();
        text.push_str("  record");
        values.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = self.text();
        text.push_str("event");
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn graph() -> Graph<()> {
    let mut graph = Graph::new();
    let [a, b, unread] = ["a", "b", "unread"].map(|label| graph.transient(label, 64));
    graph.host("animate", |pass| {
        let a = pass.upload(a);
        move |host, ()| {
            host.write(a);
            host.set_used(a, 16);
        }
    });
    graph.compute("deform", |pass| {
        pass.storage_read(a);
        pass.storage_write(b);
        |_, resources, ()| resources.count_dispatches(3)
    });
    graph.compute("idle", |pass| {
        pass.storage_write(unread);
        |_, _, ()| ()
    });
    graph.export(b);
    graph
}

#[test]
fn a_frame_has_a_span_per_pass_with_its_numbers() {
    let (device, queue) = device();
    let log = Log::default();
    let mut graph = graph();
    let plan = graph.compile(&Limits::default()).expect("a valid graph");
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect("recorded");
    tracing::subscriber::with_default(log.clone(), || {
        runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect("recorded");
    });
    let expected = "frame number=1 passes=2\n\
        pass label=\"animate\" kind=\"host\" bytes_read=0\n  record bytes_written=16\n\
        pass label=\"deform\" kind=\"compute\" bytes_read=64\n  record dispatches=3\n  record bytes_written=64\n";
    assert_eq!(*log.text(), expected);
}

#[test]
fn compiling_says_why_a_pass_is_culled() {
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || graph().compile(&Limits::default()).expect("valid"));
    assert_eq!(
        *log.text(),
        "compile passes=3\nevent message=culled label=\"idle\" reason=\"unread\" resources=[\"unread\"]\n"
    );
}
