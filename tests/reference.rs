//! Every stored job of every model, on the CPU twin and on the GPU, against an independent float64
//! evaluation.
#![cfg(all(feature = "gltf", feature = "meshopt", feature = "gpu"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    gpu,
    oracle::{DataSet, Difference, Job},
};
use sinew::{
    Animator, CpuDeformer, Deformer, InstanceId, Model, Precision,
    deform::{BakedPrimitive, DeformError},
};

/// Of the diagonal (two ulp where that is more): what every job must reach.
const POSITION_BOUND: f64 = 1.5e-5;
/// GPU against twin, likewise.
const TWIN_BOUND: f64 = 1e-5;
/// Degrees, the inverse-transpose convention.
const NORMAL_BOUND: f64 = 1.0;
const TANGENT_BOUND: f64 = 2.0;

fn pose(animator: &mut Animator, instance: InstanceId, job: Job) {
    match job.clip {
        Some(clip) => {
            animator.play(instance, clip).expect("the clip exists");
            let player = animator.player_mut(instance).expect("alive").expect("playing");
            player.seek(f64::from(job.time));
        }
        None => animator.stop(instance).expect("alive"),
    }
}

fn on_cpu(deformer: &mut CpuDeformer, id: InstanceId, job: Job) -> Result<Vec<BakedPrimitive>, DeformError> {
    pose(deformer.animator_mut(), id, job);
    deformer.run()?;
    deformer.bake(id)
}

fn on_gpu(
    (device, queue): &(wgpu::Device, wgpu::Queue),
    deformer: &mut Deformer,
    id: InstanceId,
    job: Job,
) -> Result<Vec<BakedPrimitive>, DeformError> {
    pose(deformer.animator_mut(), id, job);
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder)?;
    let read_back = deformer.read_back(&mut encoder)?;
    gpu::submit(device, queue, encoder);
    Ok(read_back.bake(deformer, id)?.expect("the device was waited for"))
}

/// Largest distance between two results' coordinates.
fn apart(a: &[BakedPrimitive], b: &[BakedPrimitive]) -> f64 {
    let positions = |list: &[BakedPrimitive]| -> Vec<f32> {
        list.iter().flat_map(|p| p.vertices.positions.iter().flat_map(|v| v.to_array())).collect()
    };
    let (a, b) = (positions(a), positions(b));
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs()).fold(0.0, f64::max)
}

#[derive(Default)]
struct Worst {
    jobs: usize,
    /// As a share of what the bound allows, so that far models count fairly.
    cpu: f64,
    gpu: f64,
    twin: f64,
    relative: f64,
    normal: f64,
    tangent: f64,
    within_aim: usize,
}

#[test]
fn every_job_matches_the_reference_on_cpu_and_gpu() {
    let device = gpu::device();
    let mut failures = Vec::new();
    for set in DataSet::all() {
        let mut worst = Worst::default();
        for (file, jobs) in set.jobs() {
            let model = Model::load(set.model(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            let expected = set.load(&file);
            let mut cpu = CpuDeformer::new();
            let cpu_model = cpu.add_model(&model, Precision::Exact).expect("packs");
            let cpu_id = cpu.spawn(cpu_model).expect("spawns");
            let mut gpu = Deformer::new(&device.0);
            let gpu_model = gpu.add_model_with(&device.1, &model, Precision::Exact).expect("uploads");
            let gpu_id = gpu.spawn(gpu_model).expect("spawns");
            for job in jobs {
                let a = on_cpu(&mut cpu, cpu_id, job).expect("deforms");
                let b = on_gpu(&device, &mut gpu, gpu_id, job).expect("deforms");
                let mut check = |name: &str, baked: &[BakedPrimitive]| match expected.compare(job, baked) {
                    Ok(difference) => {
                        check_bounds(&mut failures, &file, name, job, difference);
                        Some(difference)
                    }
                    Err(problem) => {
                        failures.push(format!("{file} {name}: {problem}"));
                        None
                    }
                };
                let (Some(d), Some(g)) = (check("cpu", &a), check("gpu", &b)) else { continue };
                let twin = apart(&a, &b);
                if twin > d.bound(TWIN_BOUND) {
                    failures.push(format!("{file} {job:?}: GPU and twin are {twin:e} m apart"));
                }
                worst.jobs += 1;
                worst.cpu = worst.cpu.max(d.position / d.bound(POSITION_BOUND));
                worst.gpu = worst.gpu.max(g.position / g.bound(POSITION_BOUND));
                worst.twin = worst.twin.max(twin / d.bound(TWIN_BOUND));
                worst.relative = worst.relative.max(d.relative()).max(g.relative());
                worst.normal = worst.normal.max(d.normal).max(g.normal);
                worst.tangent = worst.tangent.max(d.tangent).max(g.tangent);
                worst.within_aim += usize::from(d.position.max(g.position) <= d.bound(1e-5));
            }
        }
        println!(
            "{}: {} jobs; worst share of the bound (1.5e-5 of the diagonal or 2 ulp): CPU {:.3}, GPU {:.3}; \
             GPU against twin (1e-5 or 2 ulp): {:.3}; worst of the diagonal {:.2e}; within 1e-5: {}; \
             normals {:.3} deg, tangents {:.3} deg",
            set.expected.display(),
            worst.jobs,
            worst.cpu,
            worst.gpu,
            worst.twin,
            worst.relative,
            worst.within_aim,
            worst.normal,
            worst.tangent,
        );
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn check_bounds(failures: &mut Vec<String>, file: &str, name: &str, job: Job, d: Difference) {
    if d.position > d.bound(POSITION_BOUND) {
        failures.push(format!(
            "{file} {name} {job:?}: {:e} m = {:e} of the diagonal",
            d.position,
            d.relative()
        ));
    }
    if d.normal > NORMAL_BOUND || d.tangent > TANGENT_BOUND {
        failures.push(format!("{file} {name} {job:?}: normals {} tangents {} degrees", d.normal, d.tangent));
    }
}

/// Weights of 16 bits: eight influences, each less than a step off, their sum kept, over joints a diagonal
/// apart.
const PACKED_BOUND: f64 = 8.0 / 65535.0;

#[test]
fn packed_vertices_of_real_models_stay_within_their_bound() {
    for set in DataSet::all() {
        let mut worst = (0.0f64, String::new());
        for (file, jobs) in set.jobs() {
            let model = Model::load(set.model(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            let expected = set.load(&file);
            let mut cpu = CpuDeformer::new();
            let id = cpu.add_model(&model, Precision::Packed).unwrap_or_else(|e| panic!("{file}: {e}"));
            let id = cpu.spawn(id).expect("spawns");
            for job in jobs {
                let mut baked = on_cpu(&mut cpu, id, job).expect("deforms");
                // Packed handedness follows mirroring; positions and directions are compared.
                baked.iter_mut().for_each(|p| p.vertices.tangents.clear());
                let d = expected.compare(job, &baked).unwrap_or_else(|e| panic!("{file}: {e}"));
                let share = d.position / d.bound(PACKED_BOUND);
                assert!(share <= 1.0, "{file} {job:?}: {:e} of the diagonal", d.relative());
                assert!(d.normal <= NORMAL_BOUND, "{file} {job:?}: normals {} degrees", d.normal);
                if share > worst.0 {
                    worst = (share, format!("{file} {job:?} {:.2e}", d.relative()));
                }
            }
        }
        println!("packed: worst share of the bound {:.3}: {}", worst.0, worst.1);
    }
}

/// One job of the repository's own set with its result, to plant errors in.
fn sample() -> (common::oracle::Expected, Job, Vec<BakedPrimitive>) {
    let set = DataSet::all().into_iter().next().expect("tests/data is part of the repository");
    let file = "blender/suzanne_skin_morph_tangent8.glb";
    let model = Model::load(set.model(file)).expect("loads");
    let job = set.jobs()[file][1];
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(&model, Precision::Exact).expect("packs");
    let id = cpu.spawn(id).expect("spawns");
    let baked = on_cpu(&mut cpu, id, job).expect("deforms");
    (set.load(file), job, baked)
}

#[test]
fn a_planted_position_error_fails() {
    let (expected, job, mut baked) = sample();
    let good = expected.compare(job, &baked).expect("same shape");
    assert!(good.position <= good.bound(POSITION_BOUND));
    for vertex in &mut baked[0].vertices.positions {
        vertex.y += (good.diagonal * 3e-5) as f32;
    }
    let bad = expected.compare(job, &baked).expect("same shape");
    assert!(bad.position > bad.bound(POSITION_BOUND), "{bad:?}");
}

#[test]
fn a_planted_flipped_normal_fails() {
    let (expected, job, mut baked) = sample();
    baked[0].vertices.normals.iter_mut().for_each(|n| *n = -*n);
    assert!(expected.compare(job, &baked).expect("same shape").normal > 90.0);
}

#[test]
fn a_planted_handedness_error_fails() {
    let (expected, job, mut baked) = sample();
    baked[0].vertices.tangents.iter_mut().for_each(|t| t.w = -t.w);
    assert!(expected.compare(job, &baked).is_err());
}

#[test]
fn a_planted_nan_or_missing_vertex_fails() {
    let (expected, job, baked) = sample();
    let mut nan = baked.clone();
    nan[0].vertices.positions[0].x = f32::NAN;
    assert!(expected.compare(job, &nan).is_err());
    let mut short = baked;
    short[0].vertices.positions.pop();
    assert!(expected.compare(job, &short).is_err());
}
