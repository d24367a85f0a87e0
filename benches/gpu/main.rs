//! The deform kernel, uploads and whole frames on the GPU, beside what the hardware can do and what other layouts do.
//!
//! `cargo bench --bench gpu --features bench-gpu -- [--small] [--json FILE] [SECTION ..]`. Every figure is the median of
//! GPU timestamps around one pass, in a process of its own order: clocks are warmed, outputs poisoned, and sampled
//! vertices compared with f64 before a time counts. `--small` (the default on software adapters) shrinks every case.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench prints, and stops where it cannot go on"
)]

mod ceilings;
mod check;
mod directions;
#[path = "../../tests/common/dual.rs"]
#[allow(unreachable_pub, reason = "tests use it too")]
mod dual;
mod frames;
mod gpu;
mod kernel;
mod layouts;
mod models;
mod real;
mod report;
mod stages;
mod twin;
mod vertex_stage;

use gpu::Gpu;
use report::Report;

type Section = (&'static str, fn(&Gpu, &mut Report));

/// In the order they run.
const SECTIONS: [Section; 9] = [
    ("ceilings", ceilings::run),
    ("sources", kernel::sources),
    ("crowds", kernel::crowds),
    ("skinnings", kernel::skinnings),
    ("layouts", layouts::run),
    ("real", real::run),
    ("frames", frames::run),
    ("stages", stages::run),
    ("twin", twin::run),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut small, mut json, mut wanted) = (None, None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--small" => small = Some(true),
            "--full" => small = Some(false),
            "--json" => json = arguments.next(),
            section => wanted.push(section.to_owned()),
        }
    }
    let names: Vec<_> = SECTIONS.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        panic!("no section {unknown}; there are {}", names.join(", "));
    }
    let gpu = pollster::block_on(Gpu::open(small));
    let mut report = Report::new(&gpu);
    for (name, run) in SECTIONS {
        // Everything is measured against the ceilings.
        if wanted.is_empty() || name == "ceilings" || wanted.iter().any(|wanted| wanted == name) {
            report.section(name);
            run(&gpu, &mut report);
        }
    }
    if let Some(path) = json {
        std::fs::write(&path, report.json()).unwrap();
        println!("\nwritten to {path}");
    }
}
