//! Every pose and every number that a model may hold.

use glam::Vec3;
use sinew::{
    Model, Precision,
    animate::JointMatrix,
    deform::BakedPrimitive,
    model::{MAX_WEIGHT_SUM, Skinning},
};

use super::{
    BOTH,
    common::{
        models::{Random, Shape, extreme, hostile},
        sides::Sides,
    },
    posed, skinned,
};

fn dual(model: Model) -> Model {
    model.with_skinning(0, Skinning::DualQuaternion).unwrap()
}

fn assert_finite(sides: &[Vec<BakedPrimitive>; 2], case: &str) {
    for vertices in sides.iter().flatten().map(|primitive| &primitive.vertices) {
        assert!(vertices.positions.iter().chain(&vertices.normals).all(|v| v.is_finite()), "{case}");
        assert!(vertices.tangents.iter().all(|t| t.is_finite()), "{case}");
    }
}

#[test]
fn hostile_poses_come_out_finite_on_both_sides_in_every_class() {
    let mut sides = Sides::new();
    for seed in 0..40u64 {
        let influences = [2, 3, 8, 12][seed as usize % 4];
        let shape = Shape { vertices: 300, joints: 8, influences, targets: seed as u32 % 3 };
        let precision = BOTH[(seed / 4) as usize % 2];
        let baked = sides.bake(&dual(hostile(seed, shape)), precision, |animator, id| {
            animator.play(id, 0).unwrap().seek(0.0);
        });
        assert_finite(&baked, &format!("seed {seed}"));
    }
}

#[test]
fn the_largest_numbers_that_a_model_may_hold_come_out_finite_on_both_sides() {
    let mut sides = Sides::new();
    for seed in 0..40u64 {
        let influences = [2, 3, 8, 12][seed as usize % 4];
        let shape = Shape { vertices: 300, joints: 8, influences, targets: seed as u32 % 3 };
        let (precision, sum) = match (seed / 4) % 2 {
            // Packed weights hold no more than 1.
            0 => (Precision::Packed, 1.0),
            _ => (Precision::Exact, MAX_WEIGHT_SUM),
        };
        let time = [0.0, 0.5, 1.0][seed as usize % 3];
        let baked = sides.bake(&dual(extreme(seed, shape, sum)), precision, |animator, id| {
            animator.play(id, 0).unwrap().seek(time);
        });
        assert_finite(&baked, &format!("seed {seed}"));
    }
}

#[test]
fn matrices_of_any_numbers_come_out_finite_on_both_sides() {
    let mut sides = Sides::new();
    const NUMBERS: [f32; 12] =
        [0.0, -0.0, 1.0, -1.0, 1e-38, 1e-20, -1e-10, 1e12, -1e12, f32::NAN, f32::INFINITY, f32::MAX];
    let mut random = Random::new(3);
    let weights = [0.4, 0.3, 0.1, 0.1, 0.05, 0.02, 0.02, 0.01, 1e-30];
    for count in [2, 4, 8, 9] {
        let row: Vec<_> = (0..).zip(&weights[..count]).map(|(joint, weight)| (joint, *weight)).collect();
        let model = skinned(count as u32, &[(Vec3::new(1e12, -1e12, 1.0), &row)]);
        for round in 0..30 {
            let mut number = || NUMBERS[random.below(NUMBERS.len() as u32) as usize];
            let mut row = || [number(), number(), number(), number()];
            let rows: Vec<_> = (0..count).map(|_| JointMatrix { x: row(), y: row(), z: row() }).collect();
            assert_finite(
                &posed(&mut sides, &model, Precision::Exact, &rows),
                &format!("{count} joints, round {round}"),
            );
        }
    }
}
