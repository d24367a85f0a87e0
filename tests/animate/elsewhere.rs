//! Poses, matrices and palettes from elsewhere; clones.

use super::*;

#[test]
fn a_world_pose_puts_a_node_there_and_its_children_follow() {
    let mut stage = Stage::new();
    stage.layer(0, 1.0, 1.0, LayerKind::Blend);
    let transform = Transform::from_translation(Vec3::new(3.0, 4.0, 5.0));
    stage.animator.set_world_poses(stage.id, [WorldPose { node: ARM, transform, weight: 1.0 }]).unwrap();
    near(stage.world(ARM).translation.into(), transform.translation);
    near(stage.world(HAND).translation.into(), transform.translation + Vec3::X);
}

#[test]
fn a_world_pose_of_half_weight_is_half_way() {
    let mut stage = Stage::new();
    let transform = Transform {
        translation: Vec3::new(1.0, 2.0, 0.0),
        rotation: Quat::from_rotation_z(1.0),
        scale: Vec3::splat(3.0),
    };
    stage.animator.set_world_poses(stage.id, [WorldPose { node: ARM, transform, weight: 0.5 }]).unwrap();
    let local = stage.local(ARM);
    near(local.translation, Vec3::new(1.0, 1.0, 0.0));
    near(local.scale, Vec3::splat(2.0));
    assert!((angle(local.rotation) - 0.5).abs() < 1e-6);
}

#[test]
fn world_poses_of_parent_and_child_are_both_reached() {
    let mut stage = Stage::new();
    let at = |node, translation, angle| WorldPose {
        node,
        transform: Transform { translation, rotation: Quat::from_rotation_z(angle), scale: Vec3::ONE },
        weight: 1.0,
    };
    let poses = [at(HAND, Vec3::Z, 2.0), at(ROOT, Vec3::Y, 0.7)];
    stage.animator.set_world_poses(stage.id, poses).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::Z);
    near(stage.world(ROOT).translation.into(), Vec3::Y);
    near(stage.world(HAND).transform_vector3(Vec3::X), Quat::from_rotation_z(2.0) * Vec3::X);
}

#[test]
fn under_a_flat_parent_a_world_pose_changes_nothing_and_stays_finite() {
    let mut stage = Stage::new();
    stage.animator.set_scale(stage.id, ROOT, Vec3::new(1.0, 0.0, 1.0)).unwrap();
    let transform = Transform::from_translation(Vec3::Y);
    stage.animator.set_world_poses(stage.id, [WorldPose { node: ARM, transform, weight: 1.0 }]).unwrap();
    assert_eq!(stage.local(ARM), Transform::from_translation(Vec3::X));
}

#[test]
fn matrices_of_all_nodes_take_the_place_of_the_hierarchy() {
    let mut stage = Stage::new();
    let world: Vec<_> = (0..4).map(|i| Affine3A::from_translation(Vec3::Z * i as f32)).collect();
    stage.animator.set_world(stage.id, Some(&world)).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::Z * 2.0);
    stage.animator.set_world(stage.id, None).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::X * 2.0);
}

#[test]
fn an_external_palette_takes_the_place_of_a_skins_own() {
    let mut stage = Stage::new();
    let own = JointMatrix { x: [2.0, 0.0, 0.0, f32::NAN], ..JointMatrix::IDENTITY };
    stage.animator.set_skin_palette(stage.id, 0, Some(&[own; 3])).unwrap();
    stage.animator.evaluate();
    let bounded = JointMatrix { x: [2.0, 0.0, 0.0, 0.0], ..JointMatrix::IDENTITY };
    let layout = stage.animator.palette_layout(stage.handle).unwrap().clone();
    let palette = stage.animator.palette(stage.id).unwrap().to_vec();
    assert_eq!(palette[layout.skin(0).unwrap()], [bounded; 3]);
    assert_eq!(palette[layout.skin(1).unwrap()], [JointMatrix::IDENTITY]);
    stage.animator.set_skin_palette(stage.id, 0, None).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.animator.palette(stage.id).unwrap()[..3], [JointMatrix::IDENTITY; 3]);
}

#[test]
fn a_skin_without_a_mesh_has_a_palette() {
    let mut stage = Stage::new();
    stage.animator.set_translation(stage.id, ROOT, Vec3::Y).unwrap();
    stage.animator.evaluate();
    let rows = stage.animator.palette_layout(stage.handle).unwrap().skin(1).unwrap();
    let palette = &stage.animator.palette(stage.id).unwrap()[rows];
    assert_eq!(palette, [JointMatrix { y: [0.0, 1.0, 0.0, 1.0], ..JointMatrix::IDENTITY }]);
}

#[test]
fn a_conversion_turns_everything_at_the_root() {
    let mut stage = Stage::new();
    let z_up = Mat3A::from_rotation_x(-FRAC_PI_2);
    stage.animator.set_translation(stage.id, HAND, Vec3::Z).unwrap();
    stage.animator.set_conversion(stage.id, z_up).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::new(1.0, 1.0, 0.0));
}

#[test]
fn a_root_that_moves_three_metres_moves_attached_meshes_three_and_detached_ones_six() {
    let mut stage = Stage::new();
    stage.animator.set_transform(stage.id, Affine3A::from_translation(Vec3::X * 3.0)).unwrap();
    for (mode, expected) in [(BindMode::Attached, 3.0), (BindMode::Detached, 6.0)] {
        stage.animator.set_bind_mode(stage.id, mode).unwrap();
        stage.animator.evaluate();
        assert_eq!(stage.animator.palette(stage.id).unwrap()[..3], [JointMatrix::IDENTITY; 3], "{mode:?}");
        let drawn = stage.animator.draw_transform(stage.id).unwrap();
        near(drawn.translation.into(), Vec3::X * expected);
    }
}

#[test]
fn a_clone_starts_alike_and_goes_its_own_way() {
    let mut stage = Stage::new();
    stage.layer(0, 0.5, 1.0, LayerKind::Blend);
    stage.animator.set_translation(stage.id, ROOT, Vec3::Y).unwrap();
    stage.animator.show_node(stage.id, HAND, false).unwrap();
    let copy = stage.animator.clone_instance(stage.id).unwrap();
    stage.animator.evaluate();
    let palette = stage.animator.palette(stage.id).unwrap().to_vec();
    assert_eq!(stage.animator.palette(copy).unwrap(), palette);
    stage.animator.clear_overrides(stage.id).unwrap();
    stage.animator.show_node(stage.id, HAND, true).unwrap();
    stage.animator.evaluate();
    assert_ne!(stage.animator.palette(stage.id).unwrap(), palette);
    assert_eq!(stage.animator.palette(copy).unwrap(), palette);
}
