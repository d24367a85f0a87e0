//! The same declarations through `sinew-graph` and through other frame graphs: how long until a graph is
//! compiled, how many heap allocations that takes, and how much memory the result needs.
//!
//! `cargo run --release --ignore-rust-version --bin graph --features graph` in this folder. Nothing here
//! touches a GPU.
//!
//! - [`passes`]: the graphs as plain data.
//! - [`measure`]: time and heap allocations.
//! - [`zen`]: the graphs in `zenfg`.
//! - [`ours`]: the graphs in `sinew-graph`.

#[path = "../../../../graph/tests/support/counting.rs"]
mod counting;
mod measure;
mod ours;
#[path = "../../../graph/passes.rs"]
mod passes;
mod zen;

use std::{error::Error, time::Duration};

use measure::{Cost, Spent, best};
use passes::Passes;
use zenfg::FrameGraph;

/// Time for the repetitions of one figure of a large graph, and of one small graph out of many.
const BUDGET: Duration = Duration::from_millis(1000);
const SMALL_BUDGET: Duration = Duration::from_millis(10);

const FRAMES: [usize; 3] = [34, 100, 1000];
/// Seed and passes of a graph that is mostly culled.
const RANDOM: (u64, usize) = (9, 1000);
const TIMED_SEEDS: std::ops::RangeInclusive<u64> = 1..=200;
const PACKED_SEEDS: std::ops::RangeInclusive<u64> = 1..=2000;

fn main() -> Result<(), Box<dyn Error>> {
    let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let mut on_cpu = FrameGraph::new();
    let mut on_device = FrameGraph::with_device(&device);

    println!("times in us, heap allocations in brackets");
    println!("{:41} {:>19} {:>19} {:>19}", "", "record + compile", "compile", "drop");
    rows("sinew-graph", ours::cost)?;
    rows("zenfg, bare", |graph| zen::cost(&mut on_cpu, graph, zen::Style::Bare))?;
    rows("zenfg, full", |graph| zen::cost(&mut on_cpu, graph, zen::Style::Full))?;
    rows("zenfg, full, with a device", |graph| zen::cost(&mut on_device, graph, zen::Style::Full))?;

    println!("\nplanned bytes over live bytes, mean of {} random graphs", PACKED_SEEDS.count());
    let mut lost = 0;
    let marked = bytes(|graph| {
        let planned = zen::planned(&mut on_cpu, graph, zen::Roots::Marked)?;
        lost += usize::from(planned.loses_root);
        Ok::<_, zenfg::FrameGraphError>(planned.bytes)
    })?;
    let read =
        bytes(|graph| zen::planned(&mut on_cpu, graph, zen::Roots::Read).map(|planned| planned.bytes))?;
    println!("{:34} {:.3}", "sinew-graph", bytes(ours::planned)?);
    println!("{:34} {marked:.3}, a root written over in {lost} graphs", "zenfg");
    println!("{:34} {read:.3}", "zenfg, roots read at the end");
    Ok(())
}

/// One line for each frame, one for a large random graph, and one for the mean small graph.
fn rows<E>(name: &str, mut cost: impl FnMut(&Passes) -> Result<Cost, E>) -> Result<(), E> {
    for count in FRAMES {
        let graph = passes::frame(count);
        row(name, &format!("frame({count})"), &[best(BUDGET, || cost(&graph))?]);
    }
    let graph = passes::random(RANDOM.0, RANDOM.1);
    row(name, &format!("random({})", RANDOM.1), &[best(BUDGET, || cost(&graph))?]);
    let mut costs = Vec::new();
    for seed in TIMED_SEEDS {
        let graph = passes::fuzz(seed);
        costs.push(best(SMALL_BUDGET, || cost(&graph))?);
    }
    row(name, "fuzz", &costs);
    Ok(())
}

/// Prints the mean of `costs`.
fn row(name: &str, graph: &str, costs: &[Cost]) {
    let mean = |part: fn(&Cost) -> Spent| {
        let sum = |figure: fn(Spent) -> f64| costs.iter().map(|cost| figure(part(cost))).sum::<f64>();
        let time = sum(|spent| spent.time.as_secs_f64() * 1e6) / costs.len() as f64;
        let allocations = sum(|spent| spent.allocations as f64) / costs.len() as f64;
        format!("{time:10.1} {:>8}", format!("({allocations:.0})"))
    };
    let (whole, compile) = (mean(|cost| cost.whole), mean(|cost| cost.compile));
    println!("{name:27} {graph:13} {whole} {compile} {:>10}", mean(|cost| cost.release));
}

/// Mean of `planned` bytes over live bytes.
fn bytes<E>(mut planned: impl FnMut(&Passes) -> Result<u64, E>) -> Result<f64, E> {
    let mut sum = 0.0;
    for seed in PACKED_SEEDS {
        let graph = passes::fuzz(seed);
        sum += planned(&graph)? as f64 / graph.live_bytes() as f64;
    }
    Ok(sum / PACKED_SEEDS.count() as f64)
}
