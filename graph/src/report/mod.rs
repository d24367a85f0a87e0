//! A plan for reading: as text, as a graph for Graphviz, as JSON, and as one HTML page.

mod data;
mod dot;
mod html;
mod json;
mod svg;
mod text;

use std::fmt;

use crate::{plan::Plan, runtime::Timings};

/// A plan with what is known about it, to be written in one of four forms.
///
/// ```
/// # use sinew_graph::{Graph, Limits};
/// # let mut graph = Graph::<()>::new();
/// # let value = graph.transient("value", 256);
/// # graph.compute("fill", |pass| {
/// #     pass.storage_write(value);
/// #     |_, _, _| ()
/// # });
/// # graph.export(value);
/// let plan = graph.compile(&Limits::default())?;
/// let page = plan.report().html();
/// assert!(page.starts_with("<!doctype html>"));
/// # Ok::<(), sinew_graph::GraphErrors>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    plan: &'a Plan,
    times: Option<&'a Timings>,
    title: &'a str,
}

impl Plan {
    /// The plan for reading.
    pub fn report(&self) -> Report<'_> {
        Report { plan: self, times: None, title: "Frame graph" }
    }
}

impl<'a> Report<'a> {
    /// Adds measured GPU times; those of another plan are left out.
    #[must_use]
    pub fn with_times(self, times: Option<&'a Timings>) -> Self {
        Self { times, ..self }
    }

    /// The heading of the HTML page and the name of the Graphviz graph.
    #[must_use]
    pub fn titled(self, title: &'a str) -> Self {
        Self { title, ..self }
    }

    /// Passes in order with what they do to their attachments, buffers and textures with lifetime and place,
    /// and what was culled, one a line.
    pub fn text(&self) -> String {
        text::text(&data::Data::new(self))
    }

    /// Passes and resources as nodes, for Graphviz.
    pub fn dot(&self) -> String {
        dot::dot(&data::Data::new(self))
    }

    /// One JSON object: `passes`, `buffers`, `textures`, `arenas` and `culled` as lists of objects, `totals`
    /// in bytes, and `schema`, the version of this layout. Passes say what they use by name and by index into
    /// `buffers` or `textures`; lifetimes are indices into `passes`.
    pub fn json(&self) -> String {
        json::json(&data::Data::new(self))
    }

    /// One page that needs nothing else: the passes, every resource's life, a map of every arena over the
    /// frame, what was culled and why, and the measured times.
    pub fn html(&self) -> String {
        html::html(&data::Data::new(self))
    }
}

/// As [`Report::text`].
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report().text())
    }
}
