//! The graphs in `sinew-graph`. A frame costs this only when its shape changes: plans are kept.

use std::hint::black_box;

use sinew_graph::{CompileOptions, Graph, GraphErrors, Limits, Plan};

use crate::{
    measure::{Clock, Cost},
    passes::Passes,
};

/// Declares `passes` with a label on everything and a record closure in every pass.
pub fn declare(passes: &Passes) -> Graph<()> {
    let mut graph = Graph::new();
    let buffers: Vec<_> = passes.buffers.iter().map(|&size| graph.transient("value", size)).collect();
    for pass in &passes.passes {
        graph.compute("pass", |declare| {
            for &read in &pass.reads {
                declare.storage_read(buffers[read]);
            }
            for &write in &pass.writes {
                declare.storage_write(buffers[write]);
            }
            |_, _, ()| ()
        });
    }
    for &root in &passes.roots {
        graph.export(buffers[root]);
    }
    graph
}

/// Declares, compiles and drops one graph.
pub fn cost(passes: &Passes) -> Result<Cost, GraphErrors> {
    let whole = Clock::start();
    let graph = declare(passes);
    let compile = Clock::start();
    let plan = black_box(plan(&graph)?);
    let (compile, whole) = (compile.spent(), whole.spent());
    let release = Clock::start();
    drop((plan, graph));
    Ok(Cost { whole, compile, release: release.spent() })
}

/// Bytes of all buffers. Exported values keep theirs to the end of the frame.
pub fn planned(passes: &Passes) -> Result<u64, GraphErrors> {
    Ok(plan(&declare(passes))?.peak_bytes())
}

/// Not from memory.
fn plan(graph: &Graph<()>) -> Result<Plan, GraphErrors> {
    graph.compile_with(&Limits::default(), CompileOptions::default())
}
