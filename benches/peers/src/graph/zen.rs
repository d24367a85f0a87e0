//! The graphs in `zenfg`, which records and compiles anew every frame.

use std::hint::black_box;

use zenfg::{
    Buffer, BufferDesc, BufferRange, CompileOptions, Frame, FrameGraph, FrameGraphError, RootReason,
    WriteContents,
};

use crate::{
    measure::{Clock, Cost},
    passes::Passes,
};

/// How much is recorded besides the accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No labels and no callbacks: the least that can be compiled.
    Bare,
    /// A label on everything and a callback in every pass, as a graph that runs has them.
    Full,
}

/// Declares `passes`. Every buffer is a transient, the roots too: only marked as output.
/// Returns the handles in the order of `passes.buffers`.
pub fn record<'f>(
    frame: &mut Frame<'f>,
    passes: &Passes,
    style: Style,
) -> Result<Vec<Buffer<'f>>, FrameGraphError> {
    let label = |label: &'static str| if style == Style::Full { label } else { "" };
    let mut buffers = Vec::with_capacity(passes.buffers.len());
    for &size in &passes.buffers {
        buffers.push(frame.create_buffer(BufferDesc::new(label("value"), size))?);
    }
    for declared in &passes.passes {
        let mut pass = frame.compute_pass(label("pass"));
        for &read in &declared.reads {
            let _token = pass.storage_buffer_read(buffers[read], BufferRange::whole())?;
        }
        for &write in &declared.writes {
            let (range, contents) = (BufferRange::whole(), WriteContents::Overwrite);
            let _token = pass.storage_buffer_write(buffers[write], range, contents)?;
        }
        match style {
            Style::Bare => pass.finish()?,
            Style::Full => pass.finish_compute(|_| Ok(()))?,
        };
    }
    for &root in &passes.roots {
        frame.mark_buffer_root(buffers[root], BufferRange::whole(), RootReason::Output)?;
    }
    Ok(buffers)
}

/// Records, compiles without a report and drops one frame.
pub fn cost(graph: &mut FrameGraph, passes: &Passes, style: Style) -> Result<Cost, FrameGraphError> {
    let whole = Clock::start();
    let mut frame = graph.begin_frame();
    record(&mut frame, passes, style)?;
    let compile = Clock::start();
    let compiled = black_box(frame.compile(CompileOptions::default())?);
    let (compile, whole) = (compile.spent(), whole.spent());
    let release = Clock::start();
    drop(compiled);
    Ok(Cost { whole, compile, release: release.spent() })
}

/// Who sees to it that the roots still hold their values after the last pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Roots {
    /// Nobody: a transient's memory may be used again after the last pass that names it, root or not.
    Marked,
    /// One more pass at the end, which reads them all.
    Read,
}

/// What a compiled frame needs on the device.
pub struct Planned {
    /// Bytes of all buffers.
    pub bytes: u64,
    /// Whether a later pass writes over a root.
    pub loses_root: bool,
}

/// Compiles `passes` for its memory.
pub fn planned(graph: &mut FrameGraph, passes: &Passes, roots: Roots) -> Result<Planned, FrameGraphError> {
    let mut frame = graph.begin_frame();
    let buffers = record(&mut frame, passes, Style::Bare)?;
    let is_root = |id| passes.roots.iter().any(|&root| buffers[root].id() == id);
    if roots == Roots::Read {
        let mut pass = frame.compute_pass("");
        pass.set_side_effect(true);
        for &root in &passes.roots {
            let _token = pass.storage_buffer_read(buffers[root], BufferRange::whole())?;
        }
        pass.finish()?;
    }
    let compiled = frame.compile(CompileOptions::default())?;
    let buffers = compiled.allocations();
    Ok(Planned {
        bytes: buffers.iter().map(|buffer| buffer.estimated_byte_size).sum(),
        // The transients of one buffer are listed in the order in which they use it.
        loses_root: buffers
            .iter()
            .any(|buffer| buffer.resource_ids.iter().rev().skip(1).copied().any(is_root)),
    })
}
