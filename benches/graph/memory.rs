//! Bytes against the live lower bound: no placement can need less.

use sinew::graph::{Colouring, CompileOptions, Limits, Plan};

use crate::{
    declared,
    passes::{self, Passes},
};

/// A way to give transients memory, as the bytes that it takes for a plan's lifetimes.
type Way = (&'static str, fn(&Passes) -> u64);

const WAYS: [Way; 4] = [
    ("arenas, balanced colours", |passes| plan(passes, Colouring::Balanced).peak_bytes()),
    ("arenas, first allowed colour", |passes| plan(passes, Colouring::Greedy).peak_bytes()),
    ("pool of power-of-two buffers", |passes| pool(&plan(passes, Colouring::Balanced))),
    ("one buffer each", |passes| plan(passes, Colouring::Balanced).unaliased_bytes()),
];

pub(crate) fn table() {
    let small: Vec<_> = (1..=2000).map(passes::fuzz).collect();
    let large: Vec<_> =
        (0..200).map(|seed| passes::random(seed + 1, 34 + seed as usize * 166 / 199)).collect();
    let frames: Vec<_> = [34, 50, 100, 150, 200].map(passes::frame).into();
    println!("memory: bytes over the live lower bound, mean (worst)");
    println!("| way | 2000 graphs of 2-15 passes | 200 graphs of 34-200 passes | frames of 34-200 passes |");
    println!("|---|---|---|---|");
    for (name, way) in WAYS {
        let [small, large, frames] = [&small, &large, &frames].map(|graphs| ratios(graphs, way));
        println!("| {name} | {small} | {large} | {frames} |");
    }
}

fn ratios(graphs: &[Passes], way: fn(&Passes) -> u64) -> String {
    let ratios: Vec<f64> = graphs.iter().map(|g| way(g) as f64 / g.live_bytes() as f64).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    format!("{mean:.3} ({:.2})", ratios.iter().copied().fold(0.0, f64::max))
}

fn plan(passes: &Passes, colour: Colouring) -> Plan {
    let options = CompileOptions { colour, ..CompileOptions::default() };
    declared(passes).compile_with(&Limits::default(), options).unwrap()
}

/// Whole buffers, taken over by the next one of the same power of two once the last user has run.
fn pool(plan: &Plan) -> u64 {
    let mut lives: Vec<_> =
        plan.buffers().iter().map(|b| (b.first, b.last, b.size.next_power_of_two())).collect();
    lives.sort_unstable();
    let mut slots: Vec<(u64, u32)> = Vec::new();
    for (first, last, size) in lives {
        match slots.iter_mut().find(|slot| slot.0 == size && slot.1 < first) {
            Some(slot) => slot.1 = last,
            None => slots.push((size, last)),
        }
    }
    slots.iter().map(|slot| slot.0).sum()
}
