//! What dual quaternions come to where that can be said without them.

use glam::{Mat4, Quat, Vec3};
use sinew::{Precision, animate::JointMatrix, model::Skinning};

use super::{BOTH, assert_close, common::sides::Sides, linear, models, posed, positions, row, skinned};

const V: Vec3 = Vec3::new(0.3, 0.5, -0.2);

fn turn(axis: Vec3, degrees: f32) -> Mat4 {
    Mat4::from_axis_angle(axis, degrees.to_radians())
}

/// Matrices of every kind: rigid, scaled, sheared, mirrored, flat in one, two and three axes.
fn kinds() -> Vec<Mat4> {
    let turned = Mat4::from_translation(Vec3::new(1.0, -2.0, 0.5)) * turn(Vec3::ONE.normalize(), 100.0);
    let scale = |x: f32, y: f32, z: f32| turned * Mat4::from_scale(Vec3::new(x, y, z));
    let mut shear = Mat4::IDENTITY;
    shear.x_axis.y = 1.5;
    vec![
        turned,
        turned * turn(Vec3::X, 180.0),
        scale(0.5, 2.0, 1.0),
        scale(1e-6, 1e-6, 1e-6),
        turned * shear,
        scale(-1.0, 1.0, 1.0),
        scale(-2.0, 0.5, 1.0),
        scale(-1.0, -1.0, -1.0),
        scale(1.0, 1.0, 0.0),
        scale(0.0, 1.0, 0.0),
        scale(0.0, 0.0, 0.0),
    ]
}

#[test]
fn a_single_joint_does_what_its_matrix_does() {
    let mut sides = Sides::new();
    for (count, name) in [(2, "two"), (4, "four"), (8, "eight"), (9, "any")] {
        for m in kinds() {
            // All joints are the same one.
            let weights: Vec<_> = (0..count).map(|joint| (joint, 1.0 / count as f32)).collect();
            let model = skinned(count, &[(V, &weights)]);
            for side in positions(&mut sides, &model, Precision::Exact, &vec![m; count as usize]) {
                assert_close(&side, &[m.transform_point3(V)], 2e-6, name);
            }
        }
    }
}

#[test]
fn halfway_between_two_joints_about_one_axis_is_the_turn_between() {
    let mut sides = Sides::new();
    let model = skinned(2, &[(V, &[(0, 0.5), (1, 0.5)])]);
    let pivot = Vec3::new(0.0, 1.0, 0.0);
    let about = |degrees: f32| {
        Mat4::from_translation(pivot) * turn(Vec3::Z, degrees) * Mat4::from_translation(-pivot)
    };
    for precision in BOTH {
        for degrees in [10.0, 90.0, 179.0, -179.0] {
            for side in positions(&mut sides, &model, precision, &[about(20.0), about(20.0 + degrees)]) {
                let expected = about(20.0 + degrees / 2.0).transform_point3(V);
                // Half a step of a weight of 16 bits, times up to four radians.
                let within = if precision == Precision::Packed { 3.1e-5 } else { 1e-6 };
                assert_close(&side, &[expected], within, &format!("{degrees} degrees, {precision:?}"));
            }
        }
    }
}

#[test]
fn rotations_on_opposite_sides_are_blended_the_short_way() {
    let mut sides = Sides::new();
    // 150 and -150 degrees: their quaternions point apart, and what lies between them is 180 degrees.
    for (count, name) in [(2, "two"), (4, "four"), (8, "eight"), (10, "any")] {
        let weights: Vec<_> = (0..count).map(|joint| (joint, 1.0 / count as f32)).collect();
        let model = skinned(count, &[(Vec3::Y, &weights)]);
        let joint = |joint: u32| turn(Vec3::X, if joint.is_multiple_of(2) { 150.0 } else { -150.0 });
        let joints: Vec<_> = (0..count).map(joint).collect();
        for side in positions(&mut sides, &model, Precision::Exact, &joints) {
            assert_close(&side, &[Vec3::NEG_Y], 1e-6, name);
        }
    }
    // The strongest of four decides, wherever it stands.
    let weights = [(0, 0.1), (1, 0.2), (2, 0.6), (3, 0.1)];
    let model = skinned(4, &[(Vec3::Y, &weights)]);
    let degrees = [-150.0f32, -160.0, 160.0, 150.0];
    let joints = degrees.map(|degrees| turn(Vec3::X, degrees));
    // By half angles, those of the short way.
    let halves = [210.0f32, 200.0, 160.0, 150.0].map(|degrees| degrees.to_radians() / 2.0);
    let sum = |of: fn(f32) -> f32| weights.iter().zip(halves).map(|((_, w), half)| w * of(half)).sum::<f32>();
    let expected = Quat::from_rotation_x(2.0 * sum(f32::sin).atan2(sum(f32::cos))) * Vec3::Y;
    for side in positions(&mut sides, &model, Precision::Exact, &joints) {
        assert_close(&side, &[expected], 1e-6, "four");
    }
}

#[test]
fn from_half_a_turn_all_vertices_go_one_way_whatever_rounding_makes_of_it() {
    let mut sides = Sides::new();
    let weights: Vec<_> = (1..20).map(|k| [(0, k as f32 / 20.0), (1, 1.0 - k as f32 / 20.0)]).collect();
    let vertices: Vec<_> = weights.iter().map(|w| (Vec3::X, &w[..])).collect();
    let model = skinned(2, &vertices);
    for axis in [Vec3::Y, Vec3::NEG_Y, Vec3::Z] {
        for start in [0.0, 37.0, 90.0, 123.0, 180.0, 270.0] {
            let mut ways = Vec::new();
            for rounding in [0.0, 2e-4, -2e-4] {
                let joints = [turn(axis, start), turn(axis, start + 180.0 + rounding)];
                for side in positions(&mut sides, &model, Precision::Exact, &joints) {
                    let across = |v: &Vec3| joints[0].transform_vector3(Vec3::X).cross(*v).dot(axis);
                    ways.extend(side.iter().map(|v| across(v) > 0.0));
                    assert!(side.iter().all(|v| (v.length() - 1.0).abs() < 1e-5), "{axis} from {start}");
                }
            }
            assert!(ways.iter().all(|way| *way == ways[0]), "{axis} from {start}: {ways:?}");
        }
    }
}

#[test]
fn joints_of_one_scale_give_the_rigid_result_scaled() {
    let mut sides = Sides::new();
    let model = skinned(2, &[(V, &[(0, 0.3), (1, 0.7)])]);
    let scaled = skinned(2, &[(V * Vec3::new(2.0, 0.5, 3.0), &[(0, 0.3), (1, 0.7)])]);
    let joints = [
        Mat4::from_translation(Vec3::X) * turn(Vec3::Y, 30.0),
        Mat4::from_translation(Vec3::Z) * turn(Vec3::X, -80.0),
    ];
    let scale = Mat4::from_scale(Vec3::new(2.0, 0.5, 3.0));
    let rigid = positions(&mut sides, &scaled, Precision::Exact, &joints);
    let both = positions(&mut sides, &model, Precision::Exact, &joints.map(|joint| joint * scale));
    for (rigid, both) in rigid.iter().zip(&both) {
        assert_close(both, rigid, 2e-6, "scaled first");
    }
}

#[test]
fn a_joint_that_grows_about_a_point_leaves_that_point_wherever_the_origin_is() {
    let mut sides = Sides::new();
    // A hand that grows and turns about a wrist far from the origin: the wrist stays.
    let weights = [(0, 0.5), (1, 0.5)];
    let wrist = Vec3::new(7.0, 1.0, 2.0);
    let model = skinned(2, &[(wrist, &weights)]);
    for scale in [0.0, 0.1, 0.5, 2.0] {
        let hand = Mat4::from_translation(wrist)
            * turn(Vec3::Y, 120.0)
            * Mat4::from_scale(Vec3::splat(scale))
            * Mat4::from_translation(-wrist);
        for side in positions(&mut sides, &model, Precision::Exact, &[Mat4::IDENTITY, hand]) {
            assert_close(&side, &[wrist], 1e-5, &format!("scale {scale}"));
        }
    }
}

#[test]
fn a_rig_that_mirrors_as_a_whole_gives_the_mirrored_result() {
    let mut sides = Sides::new();
    let mut random = models::Random::new(5);
    let joints: Vec<Mat4> = (0..4)
        .map(|_| {
            let angle = random.unit() * 2.8;
            Mat4::from_translation(random.direction()) * Mat4::from_axis_angle(random.direction(), angle)
        })
        .collect();
    let model = skinned(4, &[(V, &[(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)])]);
    let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let usual = positions(&mut sides, &model, Precision::Exact, &joints);
    let mirrored: Vec<Mat4> = joints.iter().map(|joint| mirror * *joint).collect();
    for (side, usual) in positions(&mut sides, &model, Precision::Exact, &mirrored).iter().zip(usual) {
        assert_close(side, &[usual[0] * Vec3::new(-1.0, 1.0, 1.0)], 2e-6, "mirrored");
    }
}

#[test]
fn weights_count_as_given() {
    let mut sides = Sides::new();
    let model = skinned(
        2,
        &[(V, &[(0, 1.0), (1, 1.0)]), (V, &[(0, 0.25), (1, 0.25)]), (V, &[]), (V, &[(0, 1e-30), (1, 1e-30)])],
    );
    let m = Mat4::from_translation(Vec3::X) * turn(Vec3::Z, 50.0);
    let v = m.transform_point3(V);
    for side in positions(&mut sides, &model, Precision::Exact, &[m, m]) {
        assert_close(&side, &[2.0 * v, 0.5 * v, Vec3::ZERO, Vec3::ZERO], 2e-6, "weights");
    }
}

#[test]
fn one_influence_and_none_give_the_bytes_of_linear_skinning() {
    let mut sides = Sides::new();
    let rows: Vec<JointMatrix> = kinds().into_iter().map(row).collect();
    let vertices: Vec<_> = (0..rows.len() as u32).map(|joint| [(joint, 1.0)]).collect();
    let vertices: Vec<_> = vertices.iter().map(|row| (V, &row[..])).collect();
    let model = skinned(rows.len() as u32, &vertices);
    assert_eq!(model.meshes()[0].skinning(), Skinning::DualQuaternion);
    for precision in BOTH {
        assert_eq!(
            posed(&mut sides, &model, precision, &rows),
            posed(&mut sides, &linear(&model), precision, &rows)
        );
    }
}

#[test]
fn a_mesh_that_is_not_there_is_refused() {
    let error = skinned(1, &[]).with_skinning(3, Skinning::Linear).unwrap_err();
    assert_eq!(error.to_string(), "skinning refers to mesh 3, but there are 1");
}
