//! What the CPU does for a frame: encoding, uploads, evaluation.

use std::time::Instant;

use sinew::{
    DeformerOptions, Precision,
    animate::{CompressOptions, CompressedClips},
};

use crate::{
    gpu::Gpu,
    kernel::{Scene, checked},
    models::{Counts, Shape, character},
    report::Report,
};

/// Frames of a series.
const FRAMES: usize = 200;
/// Frames that the GPU may be behind.
const IN_FLIGHT: usize = 2;

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    let characters = gpu.size(10_000, 100);
    for threads in [1, 8, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| frames(gpu, report, characters, threads));
    }
}

fn frames(gpu: &Gpu, report: &mut Report, characters: usize, threads: usize) {
    let options = DeformerOptions { keep_palettes: false, ..checked() };
    // Small meshes: what is measured here is the CPU and the bus.
    let model = character(1, Shape::of(500, 64, Counts::Mixed));
    let mut scene = Scene::new(gpu, options, Precision::Packed, vec![model.clone()], characters, false);
    let id = scene.deformer.animator().models().next().unwrap();
    let clips = CompressedClips::new(&model, &CompressOptions::default());
    let animator = scene.deformer.animator_mut();
    animator.set_compressed(id, Some(clips)).unwrap();
    animator.keep_poses(id, false).unwrap();

    let (mut evaluate, mut encode, mut frame, mut upload) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    gpu.wait();
    let mut pending = std::collections::VecDeque::new();
    for number in 0..FRAMES + 20 {
        let start = Instant::now();
        scene.deformer.advance(1.0 / 60.0);
        scene.deformer.prepare().unwrap();
        let prepared = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        scene.deformer.record(&mut encoder).unwrap();
        pending.push_back(gpu.queue.submit([encoder.finish()]));
        let submitted = Instant::now();
        if pending.len() > IN_FLIGHT {
            let oldest = pending.pop_front();
            gpu.device.poll(wgpu::PollType::Wait { submission_index: oldest, timeout: None }).unwrap();
        }
        if number >= 20 {
            evaluate.push(prepared - start);
            encode.push(submitted - prepared);
            frame.push(start.elapsed());
        }
    }
    gpu.wait();
    // Palettes alone, from the first byte written until the GPU has them.
    for _ in 0..20 {
        scene.deformer.advance(1.0 / 60.0);
        let start = Instant::now();
        scene.deformer.prepare().unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        scene.deformer.record(&mut encoder).unwrap();
        gpu.queue.submit([encoder.finish()]);
        gpu.wait();
        upload.push(start.elapsed());
    }
    let median = |mut times: Vec<std::time::Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    report.line(
        format!("{characters} characters of 64 joints, {threads} threads"),
        &[
            ("ms evaluate", median(evaluate)),
            ("ms encode", median(encode)),
            ("ms frame", median(frame)),
            ("ms alone", median(upload)),
        ],
    );
}
