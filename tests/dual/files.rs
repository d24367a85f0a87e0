//! Real files, all meshes with dual quaternions.

use glam::Vec3;
use sinew::{Model, Precision, deform::BakedPrimitive, model::Skinning};

use super::{
    POSITION,
    common::{models::skinned, oracle::DataSet, sides::Sides},
};

fn positions(baked: &[BakedPrimitive]) -> Vec<Vec3> {
    baked.iter().flat_map(|primitive| primitive.vertices.positions.iter().copied()).collect()
}

#[test]
fn every_stored_job_is_the_same_on_both_sides() {
    let mut sides = Sides::new();
    let (mut jobs, mut worst, mut file_of_worst) = (0, 0.0, String::new());
    for set in DataSet::all() {
        for (file, list) in set.jobs() {
            let model = Model::load(set.model(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let model = skinned(&model, Skinning::DualQuaternion);
            for job in list {
                let baked = sides.bake(&model, Precision::Exact, |animator, id| {
                    if let Some(clip) = job.clip {
                        animator.play(id, clip).unwrap().seek(f64::from(job.time));
                    }
                });
                let [gpu, cpu] = baked.map(|side| positions(&side));
                let fold = |of: fn(Vec3, Vec3) -> Vec3| cpu.iter().copied().reduce(of).unwrap_or_default();
                let (low, high) = (fold(Vec3::min), fold(Vec3::max));
                let largest = low.abs().max(high.abs()).max_element();
                let two_ulp = 2.0 * f64::from(largest.next_up() - largest);
                let allowed = (POSITION * f64::from(low.distance(high))).max(two_ulp);
                let off = gpu.iter().zip(&cpu).map(|(a, b)| f64::from((*a - *b).abs().max_element()));
                let share = off.fold(0.0, f64::max) / allowed;
                if share > worst {
                    (worst, file_of_worst) = (share, file.clone());
                }
                jobs += 1;
            }
        }
    }
    println!(
        "{jobs} jobs; GPU against twin, worst share of 1e-5 of the diagonal or two ulp: {worst:.3} ({file_of_worst})"
    );
    assert!(jobs > 0 && worst <= 1.0, "{file_of_worst}");
}
