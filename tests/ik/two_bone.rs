//! Limbs against the law of cosines, and where they have no room to move.

use std::f32::consts::{FRAC_PI_2, PI};

use sinew::ik::{Target, TwoBone};

use super::*;

const ROOT: u32 = 1;
const MID: u32 = 2;
const END: u32 = 3;

/// A base, then a limb of two lengths that hangs down, bent forwards by an angle.
fn limb_of(base: Transform, [upper, lower]: [f32; 2], bend: f32) -> Stage {
    let mid = Transform { rotation: Quat::from_rotation_x(bend), ..at(0.0, -upper, 0.0) };
    Stage::new(model([
        (None, base),
        (Some(0), at(0.1, 0.2, 0.3)),
        (Some(ROOT), mid),
        (Some(MID), at(0.0, -lower, 0.0)),
    ]))
}

fn limb(lengths: [f32; 2], bend: f32) -> Stage {
    limb_of(Transform::IDENTITY, lengths, bend)
}

const USUAL: [f32; 2] = [0.5, 0.4];

/// With a limb that was changed, after a frame.
fn solve(stage: &mut Stage, change: impl FnOnce(&mut TwoBone)) {
    let mut solver = TwoBone::new(stage.model.skeleton(), [ROOT, MID, END]).unwrap();
    change(&mut solver);
    stage.add(solver);
    stage.animator.evaluate();
    assert!(stage.pose().iter().all(|local| local.is_finite()), "{:?}", stage.pose());
}

fn lengths(stage: &Stage) -> [f32; 2] {
    let [a, b, c] = [ROOT, MID, END].map(|node| stage.place(node));
    [a.distance(b), b.distance(c)]
}

#[test]
fn the_end_reaches_every_target_in_reach_with_the_angle_of_the_law_of_cosines() {
    let mut random = noise(11);
    for _ in 0..200 {
        let mut stage = limb(USUAL, 0.3 + random().abs() * 2.0);
        stage
            .animator
            .set_rotation(stage.id, ROOT, Quat::from_xyzw(random(), random(), random(), 0.5))
            .unwrap();
        let distance = 0.11 + 0.78 * random().abs();
        let direction = Vec3::new(random(), random(), random()).normalize();
        stage.animator.evaluate();
        let target = stage.place(ROOT) + direction * distance;
        solve(&mut stage, |limb| limb.target = Target::Model(target));
        near(stage.place(END), target, 2e-6);
        let [a, b, c] = [ROOT, MID, END].map(|node| stage.place(node));
        let cosine = (0.25 + 0.16 - distance * distance) / (2.0 * 0.5 * 0.4);
        assert!(((a - b).angle_between(c - b) - cosine.acos()).abs() < 1e-3, "{distance}");
    }
}

#[test]
fn a_target_that_is_too_far_is_faced_by_a_straight_limb_and_one_too_near_by_a_folded_one() {
    for (distance, reached) in [(3.0, 0.9), (0.9, 0.9), (1e6, 0.9), (0.02, 0.1), (0.1, 0.1)] {
        let mut stage = limb(USUAL, 0.8);
        let (root, direction) = (Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.6, 0.0, 0.8));
        solve(&mut stage, |limb| limb.target = Target::Model(root + direction * distance));
        near(stage.place(END), root + direction * reached, 2e-6);
    }
}

#[test]
fn the_middle_joint_is_on_the_side_of_the_pole() {
    let mut random = noise(5);
    for _ in 0..100 {
        let mut stage = limb(USUAL, 0.7);
        let root = Vec3::new(0.1, 0.2, 0.3);
        let target = root + Vec3::new(random(), random(), random()).normalize() * 0.6;
        let pole = root + Vec3::new(random(), random(), random());
        solve(&mut stage, |limb| {
            limb.target = Target::Model(target);
            limb.pole = Some(Target::Model(pole));
        });
        near(stage.place(END), target, 2e-6);
        let axis = (target - root).normalize();
        let across = |v: Vec3| v - axis * v.dot(axis);
        let (side, wanted) = (across(stage.place(MID) - root), across(pole - root));
        let apart = side.normalize().distance(wanted.normalize());
        // Rounding of the limb, seen from the distance of the pole.
        assert!(apart < 1e-5 / wanted.length().min(1.0), "{side} instead of {wanted}");
    }
}

#[test]
fn a_pole_on_the_line_to_the_target_leaves_the_limb_in_its_plane() {
    let root = Vec3::new(0.1, 0.2, 0.3);
    let target = root + Vec3::new(0.0, -0.4, 0.5);
    for share in [-1.0, 0.0, 0.5, 1.0, 20.0] {
        let mut stage = limb(USUAL, 0.7);
        solve(&mut stage, |limb| {
            limb.target = Target::Model(target);
            limb.pole = Some(Target::Model(root.lerp(target, share)));
        });
        near(stage.place(END), target, 2e-6);
        assert!((stage.place(MID).x - 0.1).abs() < 1e-6, "{share}: {}", stage.place(MID));
    }
}

#[test]
fn a_straight_limb_bends_towards_the_pole_and_without_one_it_bends_anyhow() {
    let root = Vec3::new(0.1, 0.2, 0.3);
    let target = root + Vec3::NEG_Y * 0.6;
    let height = (0.25f32 - 0.375f32 * 0.375).sqrt();
    for pole in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z, Vec3::new(1.0, -3.0, 1.0)] {
        let mut stage = limb(USUAL, 0.0);
        solve(&mut stage, |limb| {
            limb.target = Target::Model(target);
            limb.pole = Some(Target::Model(root + pole));
        });
        let side = Vec3::new(pole.x, 0.0, pole.z).normalize();
        near(stage.place(MID), root + Vec3::NEG_Y * 0.375 + side * height, 1e-5);
        near(stage.place(END), target, 2e-6);
    }
    let mut stage = limb(USUAL, 0.0);
    solve(&mut stage, |limb| limb.target = Target::Model(target));
    near(stage.place(END), target, 2e-6);
}

#[test]
fn a_hinge_bends_to_its_side_from_wherever_the_limb_is() {
    let root = Vec3::new(0.1, 0.2, 0.3);
    let target = root + Vec3::NEG_Y * 0.6;
    let height = (0.25f32 - 0.375f32 * 0.375).sqrt();
    for (hinge, side) in [(Vec3::X * 3.0, Vec3::NEG_Z), (Vec3::NEG_X, Vec3::Z), (Vec3::Z, Vec3::X)] {
        for bend in [-1.0, -1e-5, 0.0, 0.4] {
            let mut stage = limb(USUAL, if hinge.x == 0.0 { 0.0 } else { bend });
            solve(&mut stage, |limb| {
                limb.target = Target::Model(target);
                limb.hinge = Some(hinge);
                limb.pole = Some(Target::Model(root + side));
            });
            near(stage.place(END), target, 2e-6);
            near(stage.place(MID), root + Vec3::NEG_Y * 0.375 + side * height, 1e-5);
            // It is about the hinge that the joint has turned; the pole finds nothing to turn.
            let turned = stage.rotation(MID) * hinge.normalize();
            near(turned, hinge.normalize(), 1e-5);
            near(stage.rotation(ROOT) * hinge.normalize(), hinge.normalize(), 1e-5);
        }
    }
}

#[test]
fn a_soft_limb_stretches_by_the_formula_and_never_straightens() {
    let root = Vec3::new(0.1, 0.2, 0.3);
    let reach = |soften: f32, distance: f32| {
        let mut stage = limb(USUAL, 0.7);
        solve(&mut stage, |limb| {
            limb.target = Target::Model(root + Vec3::Z * distance);
            limb.soften = soften;
        });
        let end = stage.place(END) - root;
        near(end, Vec3::Z * end.z, 2e-6);
        end.z
    };
    for soften in [0.0, 0.5, 0.9f32] {
        let (start, rest) = (0.9 * soften, 0.9 * (1.0 - soften));
        let mut before = 0.0;
        for distance in [0.2, 0.44, 0.46, 0.7, 0.85, 0.9, 1.5, 30.0] {
            let x = (distance - start) / rest;
            let soft = start + rest * (1.0 - (1.0 + x / 4.0f32).powi(-4));
            let expected = if distance > start { soft } else { distance };
            // The smallest distance of both ends is 0.1.
            let found = reach(soften, distance);
            assert!(
                (found - expected.max(0.1)).abs() < 3e-6,
                "{soften}, {distance}: {found}, not {expected}"
            );
            assert!(found >= before && found <= 0.9 + 1e-6, "{soften}, {distance}");
            before = found;
        }
        assert!(reach(soften, 0.9) < 0.9 - 0.2 * rest, "{soften}");
    }
    assert!((reach(1.0, 0.9) - 0.9).abs() < 2e-6 && (reach(1.0, 0.87) - 0.87).abs() < 2e-6);
    // Where it begins, the end follows the target one to one.
    let slope = (reach(0.5, 0.45 + 0.002) - reach(0.5, 0.45)) / 0.002;
    assert!((slope - 1.0).abs() < 0.01, "{slope}");
}

#[test]
fn a_target_on_the_root_folds_the_limb_and_turns_it_nowhere() {
    for lengths in [[0.5, 0.5], [0.5, 0.3]] {
        for pole in [None, Some(Target::Model(Vec3::new(5.0, 0.2, 0.3))), Some(Target::Node(ROOT))] {
            let mut stage = limb(lengths, 0.9);
            solve(&mut stage, |limb| {
                limb.target = Target::Node(ROOT);
                limb.pole = pole;
            });
            let apart = stage.place(END).distance(stage.place(ROOT));
            assert!((apart - (lengths[0] - lengths[1])).abs() < 1e-3, "{lengths:?}: {apart}");
        }
    }
}

#[test]
fn a_length_of_zero_bends_nothing_and_the_rest_still_faces_the_target() {
    let (root, target) = (Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.9, 0.2, 0.3));
    for lengths in [[0.0, 0.4], [0.5, 0.0]] {
        let mut stage = limb(lengths, 0.9);
        solve(&mut stage, |limb| {
            limb.target = Target::Model(target);
            limb.pole = Some(Target::Model(Vec3::Y * 4.0));
        });
        near(stage.place(END), root + Vec3::X * (lengths[0] + lengths[1]), 1e-6);
    }
    let mut stage = limb([0.0, 0.0], 0.9);
    solve(&mut stage, |limb| limb.target = Target::Model(target));
    near(stage.place(END), root, 0.0);
}

#[test]
fn parents_scaled_in_any_way_and_joints_scaled_evenly_change_nothing() {
    let bases =
        [Vec3::splat(2.5), Vec3::new(1.3, 0.6, 0.9), Vec3::new(-1.0, 1.0, 1.0), Vec3::new(1.1, -0.7, -2.0)];
    for scale in bases {
        for joints in [1.0, 0.7, -1.2f32] {
            let base = Transform {
                scale,
                rotation: Quat::from_xyzw(0.3, -0.2, 0.5, 1.0).normalize(),
                ..at(1.0, 2.0, 3.0)
            };
            let mut stage = limb_of(base, USUAL, 0.8);
            stage.animator.set_scale(stage.id, ROOT, Vec3::splat(joints)).unwrap();
            stage.animator.set_scale(stage.id, MID, Vec3::new(0.9, 0.9, 0.9)).unwrap();
            stage.animator.evaluate();
            // A point that the limb reaches when it is bent otherwise and turned.
            let below = stage.world(0) * Affine3A::from_translation(Vec3::new(0.1, 0.2, 0.3));
            let target = below.transform_point3(Vec3::new(0.3, -0.25, 0.4) * joints.abs());
            let pole = below.transform_point3(Vec3::new(-2.0, 0.5, 1.0));
            solve(&mut stage, |limb| {
                limb.target = Target::Model(target);
                limb.pole = Some(Target::Model(pole));
            });
            near(stage.place(END), target, 1e-5);
            // In the plane of root, target and pole, on the side of the pole.
            let root = stage.place(ROOT);
            let back = below.inverse();
            let [mid, target, pole] = [stage.place(MID), target, pole].map(|p| back.transform_point3(p));
            let normal = target.cross(pole).normalize();
            assert!(mid.dot(normal).abs() < 1e-5, "{scale} {joints}: {mid}, {root}");
            let axis = target.normalize();
            assert!((mid - axis * mid.dot(axis)).dot(pole) > 0.0, "{scale} {joints}");
        }
    }
}

#[test]
fn nodes_between_the_joints_stay_as_they_are() {
    let turn = Quat::from_rotation_y(0.4);
    let step = |y: f32| Transform { rotation: turn, ..at(0.02, y, 0.01) };
    let mut stage = Stage::new(model([
        (None, Transform::IDENTITY),
        (Some(0), step(-0.2)),
        (Some(1), Transform { rotation: Quat::from_rotation_x(0.5), ..at(0.0, -0.3, 0.0) }),
        (Some(2), step(-0.2)),
        (Some(3), step(-0.2)),
        (Some(4), at(0.0, -0.1, 0.0)),
    ]));
    let mut limb = TwoBone::new(stage.model.skeleton(), [0, 2, 5]).unwrap();
    limb.target = Target::Model(Vec3::new(0.3, -0.4, 0.2));
    stage.add(limb);
    stage.animator.evaluate();
    near(stage.place(5), Vec3::new(0.3, -0.4, 0.2), 1e-6);
    let rest = stage.model.skeleton().rest();
    assert!([1, 3, 4, 5].iter().all(|&node| stage.pose()[node] == rest[node]));
    assert_eq!(
        [1, 2, 3].map(|node| stage.pose()[node].translation),
        [1, 2, 3].map(|node| rest[node].translation)
    );
}

#[test]
fn the_end_gets_the_rotation_in_model_space_that_was_asked_for() {
    for scale in [Vec3::ONE, Vec3::splat(2.0), Vec3::new(-1.0, 1.0, 1.0)] {
        let base = Transform { scale, rotation: Quat::from_rotation_z(0.6), ..Transform::IDENTITY };
        let mut stage = limb_of(base, USUAL, 0.8);
        let wanted = Quat::from_xyzw(0.1, 0.5, -0.3, 0.8).normalize();
        solve(&mut stage, |limb| {
            limb.target = Target::Model(Vec3::new(0.2, -0.3, 0.2));
            limb.end_rotation = Some(wanted * 3.0);
        });
        let (_, found, _) = stage.world(END).to_scale_rotation_translation();
        assert!(found.dot(wanted).abs() > 1.0 - 1e-6, "{scale}: {found} instead of {wanted}");
    }
}

#[test]
fn a_target_of_the_scene_is_reached_where_the_instance_stands() {
    let mut stage = limb(USUAL, 0.8);
    let place = Affine3A::from_scale_rotation_translation(
        Vec3::splat(2.0),
        Quat::from_rotation_y(FRAC_PI_2),
        Vec3::new(10.0, 0.0, -4.0),
    );
    stage.animator.set_transform(stage.id, place).unwrap();
    let inside = Vec3::new(0.4, -0.1, 0.6);
    solve(&mut stage, |limb| limb.target = Target::Scene(place.transform_point3(inside)));
    near(stage.place(END), inside, 5e-6);
}

#[test]
fn no_pose_and_no_target_makes_nan() {
    let mut random = noise(17);
    let sizes = [0.0, 1e-30, 1e-6, 1.0, -1.0, 1e6, 1e18];
    let mut size = move || sizes[((random() + 1.0) * 3.49) as usize];
    let mut other = noise(18);
    for _ in 0..2000 {
        let mut stage = limb([size(), size()], other() * PI);
        for node in [0, ROOT, MID] {
            stage.animator.set_scale(stage.id, node, Vec3::new(size(), size(), size())).unwrap();
        }
        solve(&mut stage, |limb| {
            limb.target = Target::Model(Vec3::new(size(), size(), size()));
            limb.pole = Some(Target::Model(Vec3::new(size(), size(), size())));
            limb.hinge = (other() > 0.0).then(|| Vec3::new(size(), size(), size()));
            limb.soften = other() * 2.0;
        });
    }
}

#[test]
fn lengths_stay() {
    let mut stage = limb(USUAL, 0.8);
    solve(&mut stage, |limb| limb.target = Target::Model(Vec3::new(0.5, 0.5, 0.5)));
    let [upper, lower] = lengths(&stage);
    assert!((upper - 0.5).abs() < 1e-6 && (lower - 0.4).abs() < 1e-6);
}

#[test]
fn a_stretched_limb_turns_the_side_to_which_it_would_bend_towards_the_pole() {
    let root = Vec3::new(0.1, 0.2, 0.3);
    for (pole, hinge) in [(Vec3::X, Vec3::Z), (Vec3::NEG_X, Vec3::NEG_Z), (Vec3::Z, Vec3::NEG_X)] {
        for bend in [0.0, 0.5] {
            let mut stage = limb(USUAL, bend);
            solve(&mut stage, |limb| {
                limb.target = Target::Model(root + Vec3::NEG_Y * 5.0);
                limb.pole = Some(Target::Model(root + pole));
                limb.hinge = Some(Vec3::X);
            });
            near(stage.place(END), root + Vec3::NEG_Y * 0.9, 2e-6);
            // About the direction of the limb times that of the pole a positive turn opens.
            near(stage.world(MID).transform_vector3(Vec3::X), hinge, 1e-5);
        }
    }
}
