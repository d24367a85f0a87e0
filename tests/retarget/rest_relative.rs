//! Turns relative to rest, against closed forms.

use glam::{Quat, Vec3};
use sinew::{
    animate::{Pose, set_world},
    model::Transform,
    retarget::{Align, Hip, Mode, RestRelative, Retarget, RetargetOptions},
};

use crate::bodies::{
    alike, assert_turn, assert_vector, at, body, model, node, relative, retargeted, skinned, turn_z,
};

fn with(mode: RestRelative) -> RetargetOptions {
    RetargetOptions { mode: Mode::RestRelative(mode), ..relative() }
}

/// As [`relative`], for bodies that keep how they rest.
fn unaligned() -> RetargetOptions {
    with(RestRelative { align: Align::Off, ..Default::default() })
}

/// A body at this height in a pose that nothing about is special.
fn bent(height: f32) -> Pose {
    let mut pose = Pose::rest(&model(body(height)));
    pose.translations[0] += Vec3::new(0.1, -0.2, 0.3);
    pose.rotations[0] = Quat::from_xyzw(0.1, 0.7, -0.1, 0.7).normalize();
    pose.rotations[1] = Quat::from_xyzw(-0.3, 0.2, 0.5, 0.8).normalize();
    pose.rotations[2] = Quat::from_xyzw(0.6, 0.1, 0.2, -0.7).normalize();
    pose
}

/// As [`body`] of height 1, with each joint resting turned.
fn twisted() -> sinew::Model {
    let turned = |t: Transform, q: Quat| Transform { rotation: q, ..t };
    let nodes = vec![
        node("hip", None, turned(at(0.0, 1.0, 0.0), Quat::from_rotation_y(0.7))),
        node("arm", Some(0), turned(at(0.5, 0.0, 0.0), Quat::from_rotation_x(-1.1))),
        node("hand", Some(1), turned(at(0.25, 0.0, 0.0), turn_z(40.0))),
        node("mesh", None, Transform::IDENTITY),
    ];
    model(skinned(nodes, &[0, 1, 2], 3, None))
}

#[test]
fn the_same_body_takes_the_same_pose() {
    let pose = bent(1.0);
    let out = retargeted(&model(body(1.0)), &pose, &model(body(1.0)), &relative());
    for n in 0..3 {
        assert_turn(out.rotations[n], pose.rotations[n]);
        assert_vector(out.translations[n], pose.translations[n]);
    }
}

#[test]
fn a_body_twice_as_tall_moves_its_hip_twice_as_far_and_turns_alike() {
    let pose = bent(1.0);
    let out = retargeted(&model(body(1.0)), &pose, &model(body(2.0)), &relative());
    assert_vector(out.translations[0], 2.0 * pose.translations[0]);
    // All but the hip keeps its own length.
    assert_vector(out.translations[1], Vec3::new(1.0, 0.0, 0.0));
    (0..3).for_each(|n| assert_turn(out.rotations[n], pose.rotations[n]));
}

#[test]
fn a_source_at_rest_leaves_a_target_that_rests_otherwise_at_its_own_rest() {
    let target = twisted();
    let out = retargeted(&model(body(1.0)), &Pose::rest(&model(body(1.0))), &target, &unaligned());
    for (n, rest) in target.skeleton().rest().iter().enumerate() {
        assert_turn(out.rotations[n], rest.rotation);
        assert_vector(out.translations[n], rest.translation);
    }
}

#[test]
fn joints_with_other_axes_turn_as_far_in_the_world() {
    // The hand turns by 90 degrees about the world's z: W = Rz(90) · W_rest.
    let (source, target) = (model(body(1.0)), twisted());
    let mut pose = Pose::rest(&source);
    pose.rotations[2] = turn_z(90.0);
    let mut out = retargeted(&source, &pose, &target, &unaligned());
    let world = |pose: &mut Pose| {
        let mut world = vec![glam::Affine3A::IDENTITY; 4];
        set_world(target.skeleton(), glam::Affine3A::IDENTITY, &pose.as_mut(), &mut world);
        Quat::from_affine3(&world[2].into())
    };
    let rest = world(&mut Pose::rest(&target));
    assert_turn(world(&mut out), turn_z(90.0) * rest);
    assert_turn(out.rotations[1], Quat::from_rotation_x(-1.1));
}

#[test]
fn arms_that_rest_level_and_arms_that_rest_lowered_keep_their_difference() {
    // T: the arm rests along x. A: it rests 45 degrees below. Lowered by 30 in the source: 75 below in the target.
    let (t, mut lowered) = (model(body(1.0)), body(1.0));
    lowered.skeleton = sinew::model::Skeleton::new(vec![
        node("hip", None, at(0.0, 1.0, 0.0)),
        node("arm", Some(0), Transform { rotation: turn_z(-45.0), ..at(0.5, 0.0, 0.0) }),
        node("hand", Some(1), at(0.25, 0.0, 0.0)),
        node("mesh", None, Transform::IDENTITY),
    ])
    .unwrap();
    let a = model(lowered);
    let mut pose = Pose::rest(&t);
    pose.rotations[1] = turn_z(-30.0);
    let out = retargeted(&t, &pose, &a, &unaligned());
    assert_turn(out.rotations[1], turn_z(-75.0));

    // Told how the target stands level, it lowers its arm by those 30 degrees alone.
    let mut level = Pose::rest(&a);
    level.rotations[1] = Quat::IDENTITY;
    let out = retargeted(
        &t,
        &pose,
        &a,
        &with(RestRelative { target_rest: Some(level), align: Align::Off, ..Default::default() }),
    );
    assert_turn(out.rotations[1], turn_z(-30.0));

    // By default it finds that out itself, and says by how much.
    let align = relative();
    assert_turn(retargeted(&t, &pose, &a, &align).rotations[1], turn_z(-30.0));
    let report = Retarget::new(&t, &a, &align).unwrap().report().clone();
    let angles: Vec<_> =
        report.rest_angles.iter().map(|r| (r.target, r.degrees.round(), r.is_aligned)).collect();
    assert_eq!(angles, [(0, 0.0, false), (1, 45.0, true)]);

    // The same said of the source.
    let mut hanging = Pose::rest(&t);
    hanging.rotations[1] = turn_z(-45.0);
    let out = retargeted(
        &t,
        &pose,
        &a,
        &with(RestRelative { source_rest: Some(hanging), align: Align::Off, ..Default::default() }),
    );
    assert_turn(out.rotations[1], turn_z(-30.0));
}

/// Two links of a metre each; the second is lowered by these degrees, the first by the others.
fn chain(first: f32, second: f32) -> sinew::Model {
    let turned = |t: Transform, degrees: f32| Transform { rotation: turn_z(-degrees), ..t };
    let nodes = vec![
        node("hip", None, turned(at(0.0, 1.0, 0.0), first)),
        node("arm", Some(0), turned(at(1.0, 0.0, 0.0), second)),
        node("hand", Some(1), at(1.0, 0.0, 0.0)),
    ];
    model(skinned(nodes, &[0, 1, 2], 0, None))
}

#[test]
fn what_hangs_on_an_aligned_joint_turns_along_before_it_is_looked_at() {
    // 50 degrees off at the first link, the second in line with it: one turn brings both where they belong.
    let (source, target) = (chain(0.0, 0.0), chain(50.0, 0.0));
    let options = with(RestRelative { align: Align::Far, ..Default::default() });
    let report = Retarget::new(&source, &target, &options).unwrap().report().clone();
    let angles: Vec<_> =
        report.rest_angles.iter().map(|r| (r.target, r.degrees.round(), r.is_aligned)).collect();
    assert_eq!(angles, [(0, 50.0, true), (1, 0.0, false)]);
    let out = retargeted(&source, &Pose::rest(&source), &target, &options);
    assert_turn(out.rotations[0], Quat::IDENTITY);
    assert_turn(out.rotations[1], Quat::IDENTITY);
}

#[test]
fn twenty_degrees_are_not_far_and_named_joints_are_aligned_however_near() {
    let (source, target) = (chain(0.0, 0.0), chain(0.0, 19.0));
    let turned = |align| {
        let options = with(RestRelative { align, ..Default::default() });
        retargeted(&source, &Pose::rest(&source), &target, &options).rotations[1]
    };
    assert_turn(turned(Align::Far), turn_z(-19.0));
    assert_turn(turned(Align::Joints(["arm".to_owned()].into())), Quat::IDENTITY);
    assert_turn(turned(Align::Joints(["hip".to_owned()].into())), turn_z(-19.0));
}

#[test]
fn a_joint_with_two_next_joints_points_nowhere() {
    let fork = |height: f32| {
        let nodes = vec![
            node("hip", None, at(0.0, 1.0, 0.0)),
            node("arm", Some(0), at(0.5, height, 0.0)),
            node("hand", Some(0), at(-0.5, height, 0.0)),
        ];
        model(skinned(nodes, &[0, 1, 2], 0, None))
    };
    let options = with(RestRelative { align: Align::Far, ..Default::default() });
    let report = Retarget::new(&fork(0.0), &fork(5.0), &options).unwrap().report().clone();
    assert_eq!(report.rest_angles, []);
}

#[test]
fn a_joint_that_points_the_opposite_way_is_turned_by_half_a_turn() {
    let (source, target) = (chain(0.0, 0.0), chain(180.0, 0.0));
    let options = with(RestRelative { align: Align::Far, ..Default::default() });
    let mut out = retargeted(&source, &Pose::rest(&source), &target, &options);
    let mut world = vec![glam::Affine3A::IDENTITY; 3];
    set_world(target.skeleton(), glam::Affine3A::IDENTITY, &out.as_mut(), &mut world);
    assert_vector(world[2].translation.into(), Vec3::new(2.0, 1.0, 0.0));
}

#[test]
fn the_hip_follows_per_axis_with_an_offset_before_the_scale() {
    // Height 1 to 2, scale 3: six times the movement (0.1, -0.2, 0.3) at influence, and six times the offset.
    let options = RetargetOptions {
        hip_influence: Vec3::new(1.0, 0.0, 0.5),
        hip_position: Vec3::new(0.0, 0.1, 0.0),
        scale: 3.0,
        ..relative()
    };
    let out = retargeted(&model(body(1.0)), &bent(1.0), &model(body(2.0)), &options);
    assert_vector(out.translations[0], Vec3::new(0.6, 2.0 + 0.6, 0.9));
}

#[test]
fn a_given_ratio_replaces_that_of_the_heights() {
    let mode = RestRelative { hip_ratio: Some(1.0), ..Default::default() };
    let out = retargeted(&model(body(1.0)), &bent(1.0), &model(body(2.0)), &with(mode));
    assert_vector(out.translations[0], Vec3::new(0.1, 1.8, 0.3));
}

#[test]
fn without_a_hip_nothing_moves() {
    let options = RetargetOptions { hip: Hip::None, ..relative() };
    let out = retargeted(&model(body(1.0)), &bent(1.0), &model(body(2.0)), &options);
    assert_vector(out.translations[0], Vec3::new(0.0, 2.0, 0.0));
    assert_turn(out.rotations[0], bent(1.0).rotations[0]);
}

#[test]
fn an_offset_turns_after_the_source() {
    let mut pose = Pose::rest(&model(body(1.0)));
    pose.rotations[1] = turn_z(90.0);
    let offset = Quat::from_rotation_x(0.4);
    let options = RetargetOptions { local_offsets: [("arm".into(), offset)].into(), ..relative() };
    let out = retargeted(&model(body(1.0)), &pose, &model(body(1.0)), &options);
    assert_turn(out.rotations[1], turn_z(90.0) * offset);
    // The hand stays as it was in the world.
    assert_turn(out.rotations[2], offset.inverse());
}

#[test]
fn a_body_that_faces_the_other_way_steps_its_own_way() {
    // Turned about y by 180 degrees: left is right and front is back, a turn about x goes the other way round.
    let mut pose = Pose::rest(&model(body(1.0)));
    pose.translations[0] += Vec3::new(0.1, 0.2, 0.3);
    pose.rotations[1] = Quat::from_rotation_x(0.5);
    let turn = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);
    let out = retargeted(
        &model(body(1.0)),
        &pose,
        &model(body(1.0)),
        &with(RestRelative { turn, align: Align::Off, ..Default::default() }),
    );
    assert_vector(out.translations[0], Vec3::new(-0.1, 1.2, -0.3));
    assert_turn(out.rotations[1], Quat::from_rotation_x(-0.5));
}

#[test]
fn a_root_that_is_scaled_and_turned_changes_nothing_in_the_world() {
    // As many exporters write it: centimetres, z up.
    let root = Transform {
        rotation: Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        scale: Vec3::splat(0.01),
        ..Transform::IDENTITY
    };
    let nodes = vec![
        node("root", None, root),
        node("hip", Some(0), at(0.0, 0.0, 100.0)),
        node("arm", Some(1), at(50.0, 0.0, 0.0)),
        node("mesh", None, Transform::IDENTITY),
    ];
    let target = model(skinned(nodes, &[1, 2], 3, None));
    let mut pose = Pose::rest(&model(body(1.0)));
    pose.translations[0] = Vec3::new(0.1, 1.2, 0.3);
    pose.rotations[1] = Quat::from_rotation_y(0.5);
    let options = RetargetOptions { names: alike(&["hip", "arm"]), ..Default::default() };
    let out = retargeted(&model(body(1.0)), &pose, &target, &options);
    assert!((out.translations[1] - Vec3::new(10.0, -30.0, 120.0)).length() < 1e-4, "{}", out.translations[1]);
    // About the world's y, which is the root's z.
    assert_turn(out.rotations[2], turn_z(0.5f32.to_degrees()));
    assert_eq!(out.scales, Pose::rest(&target).scales);
}
