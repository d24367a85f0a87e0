//! Evaluation and the CPU twin on the demo character, as ratios to a plain write of the palette's bytes in
//! the same run: `cargo bench --bench evaluate`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops where it cannot go on"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use sinew::{CpuDeformer, Model, Precision, animate::JointMatrix};

const ROUNDS: usize = 7;

/// Median time of one call.
fn median(mut work: impl FnMut()) -> Duration {
    work();
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn main() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    println!("characters  evaluate ns/joint  plain write ns/joint  ratio  twin ns/vertex");
    for characters in [1usize, 100, 1000] {
        let mut deformer = CpuDeformer::new();
        let id = deformer.add_model(&model, Precision::Packed).unwrap();
        for i in 0..characters {
            let instance = deformer.spawn(id).unwrap();
            let animator = deformer.animator_mut();
            animator.play(instance, "run").unwrap();
            // Every character at its own time.
            animator.player_mut(instance).unwrap().unwrap().seek(i as f64 * 0.001);
        }
        let rows = deformer.animator().palette_layout(id).unwrap().len();
        let joints = (rows * characters) as f64;
        let repeat = (1000 / characters).max(1);
        let evaluate = median(|| (0..repeat).for_each(|_| deformer.animator_mut().evaluate()));
        let mut palette = vec![JointMatrix::IDENTITY; rows * characters];
        let plain = median(|| {
            for round in 0..repeat {
                black_box(&mut palette).fill(JointMatrix { x: [round as f32; 4], ..JointMatrix::IDENTITY });
            }
        });
        let vertices: usize =
            model.meshes().iter().flat_map(|m| m.primitives()).map(|p| p.vertex_count()).sum();
        let twin = median(|| deformer.run().unwrap());
        let ns = |time: Duration, units: f64| time.as_secs_f64() * 1e9 / units;
        let (evaluate, plain) = (ns(evaluate, joints * repeat as f64), ns(plain, joints * repeat as f64));
        let twin = ns(twin, (vertices * characters) as f64);
        println!("{characters:10}  {evaluate:17.1}  {plain:20.2}  {:5.1}  {twin:14.1}", evaluate / plain);
    }
}
