//! Nodes that face a target.

use sinew::ik::{Aim, Target};

use super::*;

const HEAD: u32 = 1;

/// A head on a neck.
fn head_on(neck: Transform) -> Stage {
    Stage::new(model([(None, neck), (Some(0), at(0.0, 0.3, 0.1)), (Some(HEAD), at(0.0, 0.0, 1.0))]))
}

fn head() -> Stage {
    head_on(Transform { rotation: Quat::from_rotation_x(0.2), ..at(0.0, 1.5, 0.0) })
}

fn solve(stage: &mut Stage, change: impl FnOnce(&mut Aim)) {
    let mut aim = Aim::new(stage.model.skeleton(), HEAD).unwrap();
    change(&mut aim);
    stage.add(aim);
    stage.animator.evaluate();
    assert!(stage.pose().iter().all(|local| local.is_finite()), "{:?}", stage.pose());
}

/// How far an axis of the head is from a direction, in radians.
fn off(stage: &Stage, axis: Vec3, direction: Vec3) -> f32 {
    let axis = stage.world(HEAD).transform_vector3(axis).normalize();
    let direction = direction.normalize();
    axis.cross(direction).length().atan2(axis.dot(direction))
}

#[test]
fn the_forward_axis_points_to_the_target_and_the_up_axis_leans_to_where_up_is() {
    let mut random = noise(23);
    for (forward, up_axis) in [(Vec3::Z, Vec3::Y), (Vec3::X * 0.1, Vec3::NEG_Z * 7.0), (Vec3::ONE, Vec3::X)] {
        for _ in 0..50 {
            let mut stage = head();
            let place = stage.model.skeleton().rest_world()[HEAD as usize].translation;
            let way = Vec3::new(random(), random(), random()) * 3.0;
            let up = Vec3::new(random(), random(), random());
            solve(&mut stage, |aim| {
                aim.target = Target::Model(Vec3::from(place) + way);
                (aim.forward, aim.up_axis, aim.up) = (forward, up_axis, Some(up));
            });
            assert!(off(&stage, forward, way) < 2e-6, "{way}: {}", off(&stage, forward, way));
            let axis = way.normalize();
            let across = |v: Vec3| v - axis * v.dot(axis);
            let leaning = across(stage.world(HEAD).transform_vector3(up_axis)).normalize();
            let tolerance = 1e-6 / across(up).length().min(1.0) * 5.0;
            assert!(leaning.distance(across(up).normalize()) < tolerance, "{way} {up}");
        }
    }
}

#[test]
fn without_up_nothing_turns_about_the_line_of_sight() {
    let mut stage = head_on(Transform::IDENTITY);
    solve(&mut stage, |aim| {
        aim.target = Target::Model(Vec3::new(1.0, 0.3, 0.1));
        aim.up = None;
    });
    // From z to x is a quarter turn about y, whatever the head's y axis was.
    near(stage.rotation(HEAD).mul_vec3(Vec3::Y), Vec3::Y, 1e-6);
    assert!(off(&stage, Vec3::Z, Vec3::X) < 1e-6);
}

#[test]
fn parents_scaled_in_any_way_do_not_matter() {
    for scale in
        [Vec3::splat(3.0), Vec3::new(2.0, 0.5, 1.0), Vec3::new(-1.0, 1.0, 1.4), Vec3::new(-1.0, -2.0, -0.3)]
    {
        let neck = Transform {
            scale,
            rotation: Quat::from_xyzw(0.3, 0.1, -0.4, 0.9).normalize(),
            ..at(0.0, 1.5, 0.0)
        };
        let mut stage = head_on(neck);
        let target = Vec3::new(2.0, -1.0, 3.0);
        let (offset, up) = (Vec3::new(0.05, 0.1, 0.02), Vec3::new(0.1, 1.0, -0.2));
        solve(&mut stage, |aim| (aim.target, aim.offset, aim.up) = (Target::Model(target), offset, Some(up)));
        let world = stage.world(HEAD);
        let eyes = world.transform_point3(offset);
        assert!(off(&stage, Vec3::Z, target - eyes) < 5e-6, "{scale}");
        // The line of sight, up and the head's own up lie in one plane through the head.
        let axis = (target - stage.place(HEAD)).normalize();
        let normal = axis.cross(up).normalize();
        let own = world.transform_vector3(Vec3::Y);
        assert!(
            normal.dot(own.normalize()).abs() < 5e-6 && (own - axis * own.dot(axis)).dot(up) > 0.0,
            "{scale}"
        );
    }
}

#[test]
fn the_line_of_sight_from_an_offset_goes_through_the_target() {
    for distance in [0.35, 1.0, 100.0] {
        let mut stage = head();
        let offset = Vec3::new(0.03, 0.12, -0.3);
        let target = Vec3::from(stage.model.skeleton().rest_world()[1].translation) + Vec3::X * distance;
        solve(&mut stage, |aim| (aim.target, aim.offset) = (Target::Model(target), offset));
        let eyes = stage.world(HEAD).transform_point3(offset);
        let sight = stage.world(HEAD).transform_vector3(Vec3::Z).normalize();
        let nearest = eyes + sight * sight.dot(target - eyes);
        near(nearest, target, 1e-5 * distance.max(1.0));
        assert!(sight.dot(target - eyes) > 0.0);
    }
}

#[test]
fn a_head_turns_no_further_than_its_limit_and_towards_the_target_all_the_same() {
    let mut stage = head_on(Transform::IDENTITY);
    let before = Quat::IDENTITY;
    for (angle, limit) in [(0.5f32, 0.7), (1.5, 0.7), (3.0, 0.7), (-2.0, 0.1), (1.0, 0.0), (2.0, f32::MAX)] {
        let target = Vec3::new(0.0, 0.3, 0.1) + Quat::from_rotation_y(angle) * Vec3::Z;
        let mut aim = Aim::new(stage.model.skeleton(), HEAD).unwrap();
        (aim.target, aim.limit) = (Target::Model(target), limit);
        let id = stage.add(aim);
        stage.animator.evaluate();
        stage.animator.remove_modifier(stage.id, id).unwrap();
        let expected = Quat::from_rotation_y(angle.clamp(-limit, limit)) * before;
        assert!(stage.rotation(HEAD).dot(expected).abs() > 1.0 - 1e-6, "{angle} {limit}");
    }
}

#[test]
fn where_there_is_nothing_to_face_the_pose_stays() {
    let mut stage = head();
    stage.animator.evaluate();
    let before = stage.pose();
    let there = stage.place(HEAD);
    let front = there + Vec3::Z;
    let hopeless: [&dyn Fn(&mut Aim); 6] = [
        &|aim| aim.target = Target::Node(HEAD),
        &|aim| aim.target = Target::Model(there),
        &|aim| (aim.target, aim.forward) = (Target::Model(front), Vec3::ZERO),
        &|aim| (aim.target, aim.forward) = (Target::Model(front), Vec3::NAN),
        // Nearer than the line of sight passes, and behind where it begins.
        &|aim| (aim.target, aim.offset) = (Target::Model(there + Vec3::X * 0.1), Vec3::Y),
        &|aim| (aim.target, aim.offset) = (Target::Model(there + Vec3::X * 0.1), Vec3::Z),
    ];
    for (number, change) in hopeless.into_iter().enumerate() {
        let mut aim = Aim::new(stage.model.skeleton(), HEAD).unwrap();
        change(&mut aim);
        let id = stage.add(aim);
        stage.animator.evaluate();
        assert_eq!(stage.pose(), before, "{number}");
        stage.animator.remove_modifier(stage.id, id).unwrap();
    }
    stage.animator.set_scale(stage.id, 0, Vec3::new(1.0, 0.0, 1.0)).unwrap();
    solve(&mut stage, |aim| aim.target = Target::Model(Vec3::ONE));
    assert_eq!(stage.rotation(HEAD), before[1].rotation, "under a parent without a volume");
}

#[test]
fn a_target_straight_up_or_behind_is_faced_by_any_turn() {
    for way in [Vec3::Y, Vec3::NEG_Y, Vec3::NEG_Z, Vec3::Z] {
        for up in [Some(Vec3::Y), Some(Vec3::ZERO), Some(Vec3::NAN), None] {
            let mut stage = head_on(Transform::IDENTITY);
            solve(&mut stage, |aim| {
                aim.target = Target::Model(Vec3::new(0.0, 0.3, 0.1) + way * 2.0);
                aim.up = up;
            });
            assert!(off(&stage, Vec3::Z, way) < 2e-6, "{way} {up:?}");
        }
    }
}

#[test]
fn two_of_them_share_a_look() {
    // A neck that goes half of the way, and a head that goes the rest.
    let mut stage = head_on(Transform::IDENTITY);
    let target = Target::Model(Vec3::new(5.0, 0.3, 0.1));
    let mut neck = Aim::new(stage.model.skeleton(), 0).unwrap();
    let mut head = Aim::new(stage.model.skeleton(), HEAD).unwrap();
    (neck.target, head.target) = (target, target);
    let neck = stage.add(neck);
    stage.add(head);
    stage.animator.set_modifier_weight(stage.id, neck, 0.5).unwrap();
    stage.animator.evaluate();
    let way = Vec3::new(5.0, 0.3, 0.1) - stage.place(HEAD);
    assert!(off(&stage, Vec3::Z, way) < 2e-6);
    let share = stage.rotation(0).angle_between(Quat::IDENTITY);
    assert!((share - std::f32::consts::FRAC_PI_4).abs() < 0.05, "{share}");
}

#[test]
fn no_pose_and_no_target_makes_nan() {
    let sizes = [0.0, 1e-30, 1e-6, 1.0, -1.0, 1e6, 1e18];
    let mut random = noise(51);
    let mut size = move || sizes[((random() + 1.0) * 3.49) as usize];
    for _ in 0..1000 {
        let mut stage = head_on(at(size(), size(), size()));
        for node in [0, HEAD] {
            stage.animator.set_scale(stage.id, node, Vec3::new(size(), size(), size())).unwrap();
        }
        solve(&mut stage, |aim| {
            aim.target = Target::Model(Vec3::new(size(), size(), size()));
            aim.offset = Vec3::new(size(), size(), size());
            aim.forward = Vec3::new(size(), size(), size());
            (aim.up, aim.limit) = (Some(Vec3::new(size(), size(), size())), size());
        });
    }
}
