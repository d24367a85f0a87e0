//! What the CPU does for a frame: encoding, uploads, evaluation.

use std::time::Instant;

use sinew::{
    DeformerOptions, Precision,
    animate::{CompressOptions, CompressedClips, JointMatrix},
    graph::UploadRing,
};

use crate::{
    gpu::{Gpu, buffer},
    kernel::{Scene, checked},
    models::{Counts, Shape, character},
    report::Report,
};

/// Frames of a series.
const FRAMES: usize = 200;
/// Frames that the GPU may be behind.
const IN_FLIGHT: usize = 2;

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    // Encoding took several times as long on a device that other sections, with thousands of buffers, had used.
    let gpu = &gpu.another();
    let characters = gpu.size(10_000, 100);
    for threads in [1, 8, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| frames(gpu, report, characters, threads));
    }
    for threads in [1, 8, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| palettes(gpu, report, characters, threads));
    }
}

/// Milliseconds.
fn median(mut times: Vec<std::time::Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// Characters whose palettes one task writes.
const TOGETHER: usize = 50;
const PALETTE: usize = 64 * size_of::<JointMatrix>();

/// Palettes alone, from the first byte written into mapped memory until the GPU has copied them. They are read from
/// caches, as those that are evaluated come from there.
fn palettes(gpu: &Gpu, report: &mut Report, characters: usize, threads: usize) {
    let bytes = (characters * PALETTE) as u64;
    let made = [[JointMatrix::IDENTITY; 64]; TOGETHER];
    let made: &[u8] = bytemuck::cast_slice(made.as_flattened());
    let to = buffer(&gpu.device, bytes, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC);
    let mut ring = UploadRing::new(&gpu.device);
    let mut times = Vec::new();
    for _ in 0..FRAMES {
        let mut staging = ring.take(bytes).unwrap();
        let start = Instant::now();
        let mut memory = staging.bytes();
        let (places, _) = memory.slice(..bytes as usize).into_chunks::<{ TOGETHER * PALETTE }>();
        let places: Vec<_> = places.into_iter().collect();
        rayon::scope(|scope| {
            for place in places {
                scope.spawn(move |_| wgpu::WriteOnly::<[u8]>::from(place).copy_from_slice(made));
            }
        });

        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        staging.copy(&mut encoder, 0..bytes, &to, 0);
        staging.finish(&encoder);
        gpu.queue.submit([encoder.finish()]);
        gpu.wait();
        times.push(start.elapsed());
    }
    let last: Vec<u8> = gpu.read(&to, bytes - made.len() as u64, made.len() as u64);
    assert!(last == made, "palettes arrive");
    let name = format!("palettes of {characters} characters alone, {threads} threads");
    report.line(name, &[("ms until the GPU has them", median(times))]);
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
    // A frame that is waited for.
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
