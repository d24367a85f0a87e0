//! Picking on one thread: `cargo bench --bench pick`. A skinned tube of 50,000 triangles in the middle of its clip, and the
//! demo character. Times are medians; beside them stands what they are of a pass that reads the same positions once.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops where it cannot go on"
)]

#[path = "../tests/common/tube.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
mod tube;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use glam::Vec3;
use sinew::{
    CpuDeformer, InstanceId, Model, Precision,
    pick::{PickOptions, Picker, Ray, Socket},
};

const ROUNDS: usize = 51;
const RAYS: usize = 1000;

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

/// Rays from a sphere around the model towards points in its box: the same in every run.
fn rays(positions: &[Vec3]) -> Vec<Ray> {
    let (min, max) =
        positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(*p), b.max(*p)));
    let (middle, size) = ((min + max) * 0.5, max - min);
    // The golden ratio's multiples spread evenly.
    let spread = |i: usize, by: f32| (i as f32 * by).fract() - 0.5;
    let ray = |i: usize| {
        let target =
            middle + size * Vec3::new(spread(i, 0.618_034), spread(i, 0.754_878), spread(i, 0.569_84));
        let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
        let from = middle + size.length() * Vec3::new(cos, spread(i, 0.414_214), sin);
        Ray::towards(from, target).unwrap()
    };
    (0..RAYS).map(ray).collect()
}

struct Case {
    deformer: CpuDeformer,
    id: InstanceId,
    picker: Picker,
    built: Duration,
}

impl Case {
    fn new(model: &Model, clip: u32) -> Self {
        let mut deformer = CpuDeformer::new();
        let handle = deformer.add_model(model, Precision::Exact).unwrap();
        let id = deformer.spawn(handle).unwrap();
        let length = model.clips()[clip as usize].duration();
        deformer.animator_mut().play(id, clip).unwrap().seek(f64::from(length) * 0.5);
        deformer.run().unwrap();
        let start = Instant::now();
        let picker = Picker::new(model).unwrap();
        Self { deformer, id, picker, built: start.elapsed() }
    }

    fn print(&mut self, name: &str) {
        let Self { deformer, id, picker, built } = self;
        let id = *id;
        let baked = deformer.bake(id).unwrap();
        let positions: Vec<Vec3> =
            baked.iter().flat_map(|primitive| primitive.vertices.positions.clone()).collect();
        let read = median(|| {
            black_box(black_box(&positions).iter().fold(Vec3::ZERO, |sum, p| sum + *p));
        });
        let refit = median(|| picker.refit(deformer, id).unwrap());
        let (rays, options) = (rays(&positions), PickOptions::default());
        let nearest = |ray: &Ray| picker.nearest(deformer.animator(), *ray, &options).unwrap();
        let hits: Vec<_> = rays.iter().filter_map(nearest).collect();
        let all = median(|| {
            for ray in &rays {
                black_box(nearest(ray));
            }
        });
        let any = median(|| {
            for ray in &rays {
                black_box(picker.is_hit(deformer.animator(), *ray, &options).unwrap());
            }
        });
        let socket = Socket::surface(&hits[0], glam::Affine3A::IDENTITY);
        let sockets = median(|| {
            for _ in 0..RAYS {
                black_box(socket.world(deformer.animator(), id).unwrap());
            }
        });
        let us = |time: Duration, of: usize| time.as_secs_f64() * 1e6 / of as f64;
        println!("{name}: {} triangles, {} vertices", picker.triangles(), positions.len());
        println!("  tree built once: {:.1} ms", built.as_secs_f64() * 1e3);
        println!(
            "  refit after a pose: {:.0} us, {:.1} of a pass that reads the positions",
            us(refit, 1),
            refit.as_secs_f64() / read.as_secs_f64()
        );
        println!("  nearest hit: {:.2} us a ray ({} of {RAYS} hit)", us(all, RAYS), hits.len());
        println!("  any hit: {:.2} us a ray", us(any, RAYS));
        println!("  refit and one ray: {:.3} ms", (us(refit, 1) + us(all, RAYS)) / 1e3);
        println!("  a socket on the surface: {:.2} us", us(sockets, RAYS));
    }
}

fn main() {
    // 2 * 249 * 100 + 2 * 100 = 50,000.
    Case::new(&tube::tube(249, 100, 25), 0).print("tube");
    let demo = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    Case::new(&demo, demo.find_clip("run").unwrap()).print("demo character");
}
