//! CPU evaluation, of a 67-joint skeleton or of the demo character, as ratios to a plain write of the same palette bytes in the same
//! run: `cargo bench --bench evaluate --features threads`. With a case's name behind `--`, that case alone.
//!
//! Beside the medians stand the fastest rounds: on machines that others use too, a neighbour on the same core takes half
//! of what evaluation needs, and nothing of what writes need.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops where it cannot go on"
)]

mod pab;

use std::{
    hint::black_box,
    sync::OnceLock,
    time::{Duration, Instant},
};

use glam::Vec3A;
use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{CompressOptions, CompressedClips, JointMatrix, LayerKind, LoopMode},
};

const ROUNDS: usize = 31;

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
                let duration = layer_of.player.duration();
                layer_of.player.seek((i * 7919 + layer * 104_729) as f64 * 0.013 % duration);
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
    work: Box<dyn FnMut(usize) + Send + 'a>,
}

/// Nanoseconds per joint.
#[derive(Clone, Copy)]
struct Times {
    median: f64,
    fastest: f64,
}

/// Times of each case; the cases take turns.
fn measure(cases: &mut [Case<'_>], clock: fn() -> Duration) -> Vec<Times> {
    let mut times = vec![Vec::new(); cases.len()];
    let repeats: Vec<_> = cases.iter().map(|case| (300_000 / case.joints).max(1)).collect();
    for round in 0..ROUNDS + 1 {
        for ((case, times), &repeats) in cases.iter_mut().zip(&mut times).zip(&repeats) {
            let start = clock();
            (0..repeats).for_each(|i| (case.work)(round * repeats + i));
            times.push((clock() - start).as_secs_f64() * 1e9 / (case.joints * repeats) as f64);
        }
    }
    let sorted = |mut times: Vec<f64>| {
        // The first one warms up.
        times.remove(0);
        times.sort_by(f64::total_cmp);
        Times { median: times[times.len() / 2], fastest: times[0] }
    };
    times.into_iter().map(sorted).collect()
}

/// On one thread, where there could be more.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    #[cfg(feature = "threads")]
    return rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(work);
    #[cfg(not(feature = "threads"))]
    work()
}

/// Time that passes.
fn wall() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Bytes that the reference library for this data keeps of each clip, from the data's description.
const REDUCED_BYTES: [(&str, usize); 4] =
    [("walk_opt", 11_081), ("run_opt", 7_383), ("jog_opt", 7_910), ("atlas_opt", 78_884)];

/// How far the compressed clip puts points 10 cm from a joint from where the exact one does, in millimetres, at
/// 500 times.
fn added_error(model: &Model, clip: u32, compressed: &CompressedClips) -> f64 {
    let worlds = |clips: Option<&CompressedClips>| {
        let mut animator = Animator::new();
        let handle = animator.add_model(model);
        animator.set_compressed(handle, clips.cloned()).unwrap();
        let id = animator.spawn(handle).unwrap();
        animator.play(id, clip).unwrap().set_mode(LoopMode::Once);
        let duration = f64::from(model.clips()[clip as usize].duration());
        let all = (0..500).map(|i| {
            animator.player_mut(id).unwrap().unwrap().seek(duration * f64::from(i) / 499.0);
            animator.evaluate();
            animator.world(id).unwrap().to_vec()
        });
        all.collect::<Vec<_>>().concat()
    };
    let pairs = worlds(None).into_iter().zip(worlds(Some(compressed)));
    let off = pairs.flat_map(|(exact, own)| {
        let tips = [Vec3A::ZERO, Vec3A::X, Vec3A::Y, Vec3A::Z];
        let length = exact.matrix3.x_axis.length();
        tips.map(|tip| {
            let tip = tip * 0.1 / length;
            (exact.transform_point3a(tip) - own.transform_point3a(tip)).length()
        })
    });
    f64::from(off.fold(0.0, f32::max)) * 1e3
}

fn sizes(model: &Model, compressed: &CompressedClips) {
    println!("                   bytes  of reduced   added error mm   stated");
    for (i, clip) in (0u32..).zip(model.clips()) {
        let packed = match compressed.get(i).unwrap() {
            Ok(packed) => packed,
            Err(error) => {
                println!("{:16} {error}", clip.name());
                continue;
            }
        };
        let reduced = REDUCED_BYTES.iter().find(|(name, _)| *name == clip.name());
        let share =
            reduced.map_or("-".into(), |(_, bytes)| format!("{:.2}", packed.bytes() as f64 / *bytes as f64));
        let error = added_error(model, i, compressed);
        println!(
            "{:16} {:7}  {share:>10}   {error:14.4}   {:.4}",
            clip.name(),
            packed.bytes(),
            packed.error() * 1e3
        );
    }
}

/// Process time of one thread and of two on the same crowd.
#[cfg(all(feature = "threads", unix))]
fn threads(model: &Model, clip: &str, compressed: &CompressedClips) {
    let joints = model.skeleton().len();
    let mut cases: Vec<_> = [1, 2]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut crowd = Crowd::new(model, 10_000, &[clip], Some(compressed));
            let work = Box::new(move |_| pool.install(|| crowd.frame()));
            Case { name: format!("{threads} threads"), joints: joints * 10_000, work }
        })
        .collect();
    let wall = measure(&mut cases, wall);
    let process = measure(&mut cases, process);
    println!("\n10,000 characters     wall ns   process ns   of one thread");
    for ((case, wall), own) in cases.iter().zip(wall).zip(&process) {
        let share = own.median / process[0].median;
        println!("{:18}  {:9.2}  {:11.2}  {share:14.2}", case.name, wall.median, own.median);
    }
}

/// Time that all threads of the process have run.
#[cfg(all(feature = "threads", unix))]
fn process() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What is evaluated: a model, the names of two of its clips and of a long one, and the same with keys in every frame.
struct Data {
    model: Model,
    clips: [&'static str; 3],
    dense: Option<Model>,
}

/// The 67-joint skeleton if it lies beside the checkout, the demo character otherwise.
fn data() -> Data {
    if let (Some(model), dense @ Some(_)) = (pab::load("_opt"), pab::load("_dense")) {
        return Data { model, clips: ["walk_opt", "jog_opt", "atlas_opt"], dense };
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
    Data { model: Model::load(file).unwrap(), clips: ["walk", "run", "jump"], dense: None }
}

fn main() {
    let Data { model, clips: [walk, jog, long], dense } = data();
    let model = &model;
    let options = CompressOptions::default();
    let compressed = CompressedClips::new(model, &options);
    let dense = dense.map(|dense| (CompressedClips::new(&dense, &options), dense));
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    if only.is_none() {
        sizes(model, &compressed);
        dense.iter().for_each(|(compressed, dense)| sizes(dense, compressed));
    }
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
    let mut add = |name: &str, mut crowd: Crowd| {
        let count = crowd.instances.len();
        let name = format!("{name}, {count}");
        cases.push(Case { name, joints: joints * count, work: Box::new(move |_| crowd.frame()) });
    };
    let reduced = |count, clips: &[&str]| Crowd::new(model, count, clips, Some(&compressed));
    for count in [1, 8, 1000, 10_000] {
        add("one layer", reduced(count, &[walk]));
        add("two layers", reduced(count, &[walk, jog]));
    }
    if let Some((compressed, dense)) = &dense {
        for count in [1000, 10_000] {
            add("even frames", Crowd::new(dense, count, &["walk_dense"], Some(compressed)));
        }
    }
    add("exact clips", Crowd::new(model, 1000, &[walk], None));
    add("exact, every fourth frame", {
        let mut crowd = Crowd::new(model, 1000, &[walk], None);
        crowd.instances.iter().for_each(|id| crowd.animator.set_rate(*id, 4).unwrap());
        crowd
    });
    add("exact, poses kept", {
        let mut crowd = Crowd::new(model, 1000, &[walk], None);
        crowd.animator.keep_poses(crowd.model, true).unwrap();
        crowd
    });
    add("portable", {
        let mut crowd = reduced(1000, &[walk]);
        crowd.animator.use_simd(false);
        crowd
    });
    let mut crowd = reduced(1000, &[long]);
    let mut own = reduced(1000, &[long]);
    for (name, work) in [
        ("long clip, played", Box::new(move |_| crowd.frame()) as Box<dyn FnMut(usize) + Send>),
        ("long clip, sought", Box::new(move |round| own.seek(round))),
    ] {
        cases.push(Case { name: format!("{name}, 1000"), joints: joints * 1000, work });
    }
    if let Some(only) = &only {
        let is_it = |name: &str| name == only || !only.contains(',') && name.contains(&**only);
        cases.retain(|case| is_it(&case.name) || case.name == "plain write");
    }
    let ns = alone(|| measure(&mut cases, wall));
    println!("\n                             ns/joint  of a plain write  fastest of a plain write");
    for (case, Times { median, fastest }) in cases.iter().zip(&ns) {
        let (share, fastest) = (median / ns[0].median, fastest / ns[0].fastest);
        println!("{:27}  {median:8.2}  {share:16.2}  {fastest:24.2}", case.name);
    }
    let of = |name: &str| cases.iter().position(|case| case.name == name).map(|at| ns[at]);
    if let (Some(played), Some(sought)) = (of("long clip, played, 1000"), of("long clip, sought, 1000")) {
        println!("seek against playback        {:.2}", sought.median / played.median);
    }
    #[cfg(all(feature = "threads", unix))]
    if only.is_none() {
        threads(model, walk, &compressed);
    }
}
