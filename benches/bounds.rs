//! What bounds that follow the pose cost, against evaluating the pose and against deforming every vertex:
//! `cargo bench --bench bounds`. Ratios are of one run; the fastest of several rounds counts.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and has nobody to report to")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use sinew::{Animator, CpuDeformer, Model, Precision, deform::bounds::PoseBounds};

const INSTANCES: usize = 256;
const ROUNDS: usize = 15;

fn fastest(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}

fn main() {
    let file = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    let file = file.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb").into());
    let model = Model::load(&file).unwrap();
    let mut animator = Animator::new();
    let id = animator.add_model(&model);
    animator.keep_poses(id, false).unwrap();
    for at in 0..INSTANCES {
        let instance = animator.spawn(id).unwrap();
        animator.play(instance, 0).unwrap().seek(0.01 * at as f64);
    }
    let rows = animator.palette_rows() / INSTANCES;
    let evaluation = fastest(|| animator.evaluate());
    let made = fastest(|| {
        black_box(PoseBounds::new(&model));
    });
    let bounds = PoseBounds::new(&model);
    let ids: Vec<_> = animator.instances().collect();
    let following = fastest(|| {
        for id in &ids {
            let (palette, weights) = (animator.palette(*id).unwrap(), animator.weights(*id).unwrap());
            black_box(bounds.of(black_box(palette), weights));
        }
    });
    let mut deformer = CpuDeformer::new();
    let exact = deformer.add_model(&model, Precision::Packed).unwrap();
    let one = deformer.spawn(exact).unwrap();
    deformer.animator_mut().play(one, 0).unwrap();
    let deformed = fastest(|| deformer.run().unwrap());
    let each = |time: Duration| time.as_secs_f64() * 1e6 / INSTANCES as f64;
    println!("{rows} palette rows, {INSTANCES} instances, one thread");
    println!("bounds of an instance      {:8.2} us", each(following));
    println!(
        "evaluation of an instance  {:8.2} us   bounds take {:.2} of it",
        each(evaluation),
        following.div_duration_f64(evaluation)
    );
    println!(
        "deforming every vertex     {:8.2} us   bounds take {:.4} of it",
        deformed.as_secs_f64() * 1e6,
        each(following) / (deformed.as_secs_f64() * 1e6)
    );
    println!("tables of the model        {:8.2} us   once", made.as_secs_f64() * 1e6);
}
