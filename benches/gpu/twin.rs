//! The kernel against its twin on the CPU, in one run: what a software adapter is worth.

use std::time::Instant;

use sinew::{CpuDeformer, Precision};

use crate::{
    gpu::Gpu,
    kernel::{Scene, checked},
    models::{Counts, Shape, character},
    report::Report,
};

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    let weights = [0.3, -0.2, 0.5, 0.1];
    let shape = Shape { targets: 4, covered: 100, ..Shape::of(100_000, 64, Counts::All(4)) };
    let model = character(1, shape);
    let mut scene = Scene::new(gpu, checked(), Precision::Packed, vec![model.clone()], 1, false);
    scene.set_weights(&weights);
    scene.check(gpu, &weights);
    let on_gpu = scene.time(gpu);

    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(&model, Precision::Packed).unwrap();
    let id = cpu.spawn(id).unwrap();
    cpu.animator_mut().play(id, 0).unwrap();
    for (target, &weight) in weights.iter().enumerate() {
        cpu.animator_mut().set_weight(id, 0, target, weight).unwrap();
    }
    let mut twin = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut times: Vec<f64> = (0..9)
            .map(|_| {
                let start = Instant::now();
                pool.install(|| cpu.run()).unwrap();
                start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (one, two) = (twin(1), twin(2));
    report.line(
        "100,000 vertices, 4 influences, 4 active targets",
        &[
            ("ms adapter", on_gpu * 1e3),
            ("ms twin 1", one * 1e3),
            ("ms twin 2", two * 1e3),
            ("adapter / 2", on_gpu / two),
        ],
    );
}
