//! Each option of world copying by itself, with numbers that can be followed by hand.

use glam::{Mat4, Quat, Vec3};
use sinew::{
    Model,
    animate::Pose,
    model::Transform,
    retarget::{Hip, Retarget, RetargetOptions, TargetJoints, WorldCopy},
};

use crate::bodies::{
    assert_turn, assert_vector, at, body, model, node, retargeted, skinned, turn_z, world_copy,
};

/// The body of height 1 with its hip at (1, 2, 3) and its arm turned up by 90 degrees.
fn raised() -> (Model, Pose) {
    let source = model(body(1.0));
    let mut pose = Pose::rest(&source);
    pose.translations[0] = Vec3::new(1.0, 2.0, 3.0);
    pose.rotations[1] = turn_z(90.0);
    (source, pose)
}

/// A target of height 2 below its mesh node, which stands at (10, 0, 0).
fn below_its_mesh() -> Model {
    let nodes = vec![
        node("mesh", None, at(10.0, 0.0, 0.0)),
        node("hip", Some(0), at(0.0, 2.0, 0.0)),
        node("arm", Some(1), at(1.0, 0.0, 0.0)),
        node("hand", Some(2), at(0.5, 0.0, 0.0)),
    ];
    // Bound in the mesh's own space.
    let binds = [Vec3::new(0.0, -2.0, 0.0), Vec3::new(-1.0, -2.0, 0.0), Vec3::new(-1.5, -2.0, 0.0)];
    model(skinned(nodes, &[1, 2, 3], 0, Some(&binds.map(Mat4::from_translation))))
}

fn on(target: &Model, options: &RetargetOptions) -> Pose {
    let (source, pose) = raised();
    retargeted(&source, &pose, target, options)
}

#[test]
fn the_hip_takes_the_place_and_all_joints_the_turns_of_the_source() {
    let out = on(&model(body(2.0)), &world_copy(WorldCopy::default()));
    assert_vector(out.translations[0], Vec3::new(1.0, 2.0, 3.0));
    assert_vector(out.translations[1], Vec3::new(1.0, 0.0, 0.0));
    assert_turn(out.rotations[1], turn_z(90.0));
    assert_turn(out.rotations[2], Quat::IDENTITY);
}

#[test]
fn preserve_bone_positions_off_takes_every_place_of_the_source() {
    let mode = WorldCopy { preserve_bone_positions: false, ..Default::default() };
    let out = on(&model(body(2.0)), &world_copy(mode));
    // The source's arm is half a metre from its hip, the hand a quarter further along the arm.
    assert_vector(out.translations[1], Vec3::new(0.5, 0.0, 0.0));
    assert_vector(out.translations[2], Vec3::new(0.25, 0.0, 0.0));
}

#[test]
fn preserve_bone_matrix_measures_with_the_mesh_node_at_the_identity() {
    let out = on(&below_its_mesh(), &world_copy(WorldCopy::default()));
    assert_vector(out.translations[1], Vec3::new(1.0, 2.0, 3.0));
}

#[test]
fn preserve_bone_matrix_off_measures_from_the_mesh_node_and_places_below_it() {
    // Seen from the mesh the source is at (-9, 2, 3); a joint below the mesh is put there in the world.
    let mode = WorldCopy { preserve_bone_matrix: false, ..Default::default() };
    let out = on(&below_its_mesh(), &world_copy(mode));
    assert_vector(out.translations[1], Vec3::new(-19.0, 2.0, 3.0));
}

#[test]
fn use_target_matrix_takes_the_source_where_it_is_in_the_world() {
    let mode = WorldCopy { preserve_bone_matrix: false, use_target_matrix: true, ..Default::default() };
    let out = on(&below_its_mesh(), &world_copy(mode));
    assert_vector(out.translations[1], Vec3::new(-9.0, 2.0, 3.0));
}

#[test]
fn another_hip_moves_and_the_first_one_stays_where_it_was_bound() {
    let options = RetargetOptions { hip: Hip::Named("arm".into()), ..world_copy(WorldCopy::default()) };
    let out = on(&model(body(2.0)), &options);
    assert_vector(out.translations[0], Vec3::new(0.0, 2.0, 0.0));
    // The arm is at (1.5, 2, 3), its hip was put to (1, 2, 3) before it went back.
    assert_vector(out.translations[1], Vec3::new(0.5, 0.0, 0.0));
}

#[test]
fn without_a_hip_all_joints_stay_where_they_were_bound() {
    let options = RetargetOptions { hip: Hip::None, ..world_copy(WorldCopy::default()) };
    let out = on(&model(body(2.0)), &options);
    assert_vector(out.translations[0], Vec3::new(0.0, 2.0, 0.0));
    assert_turn(out.rotations[1], turn_z(90.0));
}

#[test]
fn hip_influence_counts_per_axis() {
    let options =
        RetargetOptions { hip_influence: Vec3::new(0.0, 1.0, 0.5), ..world_copy(WorldCopy::default()) };
    assert_vector(on(&model(body(2.0)), &options).translations[0], Vec3::new(0.0, 2.0, 1.5));
}

#[test]
fn scale_multiplies_the_hip() {
    let options = RetargetOptions { scale: 2.0, ..world_copy(WorldCopy::default()) };
    assert_vector(on(&model(body(2.0)), &options).translations[0], Vec3::new(2.0, 4.0, 6.0));
}

#[test]
fn hip_position_is_added_before_the_scale_and_after_the_influence() {
    let options = RetargetOptions {
        hip_position: Vec3::new(0.0, 0.5, 0.0),
        hip_influence: Vec3::new(1.0, 0.0, 1.0),
        scale: 2.0,
        ..world_copy(WorldCopy::default())
    };
    assert_vector(on(&model(body(2.0)), &options).translations[0], Vec3::new(2.0, 1.0, 6.0));
}

#[test]
fn names_say_which_joint_follows_which() {
    let names = [("hip", "hip"), ("hand", "arm")].map(|(t, s)| (t.to_owned(), s.to_owned())).into();
    let options = RetargetOptions { names, ..world_copy(WorldCopy::default()) };
    let out = on(&model(body(2.0)), &options);
    assert_turn(out.rotations[1], Quat::IDENTITY);
    assert_turn(out.rotations[2], turn_z(90.0));
}

#[test]
fn a_local_offset_turns_after_the_source_in_the_joints_space() {
    let offset = Quat::from_rotation_x(0.4);
    let options = RetargetOptions {
        local_offsets: [("arm".into(), offset)].into(),
        ..world_copy(WorldCopy::default())
    };
    let out = on(&model(body(2.0)), &options);
    assert_turn(out.rotations[1], turn_z(90.0) * offset);
    assert_turn(out.rotations[2], offset.inverse());
}

#[test]
fn a_skinned_target_starts_from_its_bind_pose_and_a_bare_one_from_where_it_is() {
    let names = [("hip".to_owned(), "hip".to_owned())].into();
    let options = RetargetOptions { names, ..world_copy(WorldCopy::default()) };
    let (source, pose) = raised();
    let target = model(body(2.0));
    let mut stands = Pose::rest(&target);
    stands.rotations[1] = Quat::from_rotation_y(1.0);
    for (joints, kept) in [
        (TargetJoints::Part(0), Quat::IDENTITY),
        (TargetJoints::Skin(0), stands.rotations[1]),
        (TargetJoints::Nodes, stands.rotations[1]),
    ] {
        let mut out = stands.clone();
        let options = RetargetOptions { target: joints, ..options.clone() };
        Retarget::new(&source, &target, &options).unwrap().pose(pose.as_ref(), &mut out.as_mut()).unwrap();
        assert_turn(out.rotations[1], kept);
        assert_vector(out.translations[0], Vec3::new(1.0, 2.0, 3.0));
    }
}

#[test]
fn a_bare_skeleton_leaves_offsets_out_and_says_so() {
    let (source, _) = raised();
    let offsets = [("arm".to_owned(), Quat::from_rotation_x(0.4))].into();
    let options = RetargetOptions {
        target: TargetJoints::Skin(0),
        local_offsets: offsets,
        ..world_copy(WorldCopy::default())
    };
    let target = model(body(2.0));
    assert_turn(on(&target, &options).rotations[1], turn_z(90.0));
    assert_eq!(Retarget::new(&source, &target, &options).unwrap().report().unused_offsets, ["arm"]);
}

#[test]
fn the_scale_of_the_source_is_not_taken_over() {
    let (source, mut pose) = raised();
    pose.scales[0] = Vec3::splat(3.0);
    let out = retargeted(&source, &pose, &model(body(2.0)), &world_copy(WorldCopy::default()));
    assert_eq!(out.scales, [Vec3::ONE; 4]);
    assert_turn(out.rotations[1], turn_z(90.0));
}

#[test]
fn a_model_without_a_skin_is_a_bare_skeleton() {
    let nodes = vec![node("hip", None, at(0.0, 1.0, 0.0)), node("arm", Some(0), Transform::IDENTITY)];
    let skeleton = sinew::model::Skeleton::new(nodes).unwrap();
    let target = model(sinew::model::ModelDesc { skeleton, ..Default::default() });
    let out = on(&target, &world_copy(WorldCopy::default()));
    assert_vector(out.translations[0], Vec3::new(1.0, 2.0, 3.0));
    assert_turn(out.rotations[1], turn_z(90.0));
}
