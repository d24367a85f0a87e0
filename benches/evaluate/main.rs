//! CPU evaluation on a 67-joint skeleton, as ratios to a plain write of the same palette bytes in the same
//! run: `cargo bench --bench evaluate --features threads`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops where it cannot go on"
)]

mod pab;

use std::{hint::black_box, time::Instant};

use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{CompressOptions, CompressedClips, JointMatrix, LayerKind},
    model::{Clip, Interpolation, ModelDesc},
};

const ROUNDS: usize = 15;

/// Some characters, each at its own time.
struct Crowd {
    animator: Animator,
    model: ModelId,
    instances: Vec<InstanceId>,
}

impl Crowd {
    /// With as many layers as clips are named.
    fn new(model: &Model, count: usize, clips: &[&str], compressed: Option<&CompressedClips>) -> Self {
        let mut animator = Animator::new();
        let id = animator.add_model(model);
        animator.keep_poses(id, false).unwrap();
        animator.set_compressed(id, compressed.cloned()).unwrap();
        let instances = (0..count).map(|i| {
            let instance = animator.spawn(id).unwrap();
            for (layer, clip) in clips.iter().enumerate() {
                let layer_of = animator.add_layer(instance, *clip, LayerKind::Blend).unwrap();
                layer_of.weight = 1.0 / (layer + 1) as f32;
                // Far apart, in no order.
                layer_of.player.seek((i * 7919 + layer * 104_729) as f64 * 0.013 % 15.0);
            }
            instance
        });
        let instances = instances.collect();
        Self { animator, model: id, instances }
    }

    fn frame(&mut self) {
        self.animator.advance(1.0 / 60.0);
        self.animator.evaluate();
    }

    /// Every character somewhere else.
    fn seek(&mut self, round: usize) {
        for (i, &instance) in self.instances.iter().enumerate() {
            let player = self.animator.player_mut(instance).unwrap().unwrap();
            player.seek(((i * 7919 + round * 104_729) % 15_013) as f64 * 0.001);
        }
        self.animator.evaluate();
    }
}

/// Work to measure, with how many joints one call evaluates.
struct Case<'a> {
    name: String,
    joints: usize,
    work: Box<dyn FnMut(usize) + 'a>,
}

/// Median nanoseconds per joint of each case; the cases take turns.
fn measure(cases: &mut [Case<'_>]) -> Vec<f64> {
    let mut times = vec![Vec::new(); cases.len()];
    let repeats: Vec<_> = cases.iter().map(|case| (300_000 / case.joints).max(1)).collect();
    for round in 0..ROUNDS + 1 {
        for ((case, times), &repeats) in cases.iter_mut().zip(&mut times).zip(&repeats) {
            let start = Instant::now();
            (0..repeats).for_each(|i| (case.work)(round * repeats + i));
            times.push(start.elapsed().as_secs_f64() * 1e9 / (case.joints * repeats) as f64);
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            // The first one warms up.
            times.remove(0);
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect()
}

fn main() {
    let (Some(reduced), Some(dense)) = (pab::load("_opt"), pab::load("_dense")) else {
        println!("the bench data is not here");
        return;
    };
    let model = &reduced;
    println!("clip           bytes   error mm");
    let options = CompressOptions::default().with_tolerance(1e-3);
    let [compressed, compressed_dense] = [&reduced, &dense].map(|model| {
        let compressed = CompressedClips::new(model, &options);
        for (i, clip) in (0u32..).zip(model.clips()) {
            match compressed.get(i).unwrap() {
                Ok(packed) => {
                    println!("{:12} {:7}   {:8.4}", clip.name(), packed.bytes(), packed.error() * 1e3);
                }
                Err(error) => println!("{:12} {error}", clip.name()),
            }
        }
        compressed
    });
    let joints = model.skeleton().len();
    let mut plain = vec![JointMatrix::IDENTITY; joints * 10_000];
    let mut cases = vec![Case {
        name: "plain write".into(),
        joints: joints * 10_000,
        work: Box::new(|round| {
            let row = JointMatrix { x: [round as f32; 4], ..JointMatrix::IDENTITY };
            black_box(&mut plain).fill(row);
        }),
    }];
    let mut add = |name: &str,
                   model: &Model,
                   count: usize,
                   clips: &[&str],
                   compressed: Option<&CompressedClips>,
                   prepare: fn(&mut Crowd)| {
        let mut crowd = Crowd::new(model, count, clips, compressed);
        prepare(&mut crowd);
        let work = Box::new(move |_| crowd.frame());
        cases.push(Case { name: format!("{name}, {count}"), joints: joints * count, work });
    };
    for count in [1, 1000, 10_000] {
        add("one layer", model, count, &["walk_opt"], Some(&compressed), |_| {});
        add("two layers", model, count, &["walk_opt", "jog_opt"], Some(&compressed), |_| {});
    }
    add("even frames", &dense, 1000, &["walk_dense"], Some(&compressed_dense), |_| {});
    add("even frames", &dense, 10_000, &["walk_dense"], Some(&compressed_dense), |_| {});
    add("atlas", model, 1000, &["atlas_opt"], Some(&compressed), |_| {});
    add("exact clips", model, 1000, &["walk_opt"], None, |_| {});
    add("exact, poses kept", model, 1000, &["walk_opt"], None, |c| {
        c.animator.keep_poses(c.model, true).unwrap();
    });
    add("portable", model, 1000, &["walk_opt"], Some(&compressed), |c| c.animator.use_simd(false));
    let mut crowd = Crowd::new(model, 1000, &["atlas_opt"], Some(&compressed));
    cases.push(Case {
        name: "atlas, seek, 1000".into(),
        joints: joints * 1000,
        work: Box::new(move |round| crowd.seek(round)),
    });
    // A part of a name measures that case alone.
    if let Some(only) = std::env::args().skip(1).find(|arg| !arg.starts_with('-')) {
        cases.retain(|case| {
            (case.name == only || !only.contains(',') && case.name.contains(&only))
                || case.name == "plain write"
        });
    }
    let ns = measure(&mut cases);
    println!("\n                          ns/joint  of a plain write");
    for (case, ns_of) in cases.iter().zip(&ns) {
        println!("{:24}  {ns_of:8.2}  {:5.2}", case.name, ns_of / ns[0]);
    }
    let _ = (Interpolation::Linear, ModelDesc::default(), Clip::tracks);
}
