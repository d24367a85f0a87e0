//! Binding anew.

use super::*;

#[test]
fn a_skin_bound_here_leaves_vertices_where_they_are() {
    let mut stage = Stage::new();
    stage.layer(0, 0.7, 1.0, LayerKind::Blend);
    stage.animator.evaluate();
    let world = stage.animator.world(stage.id).unwrap();
    let skin = bind_here(&stage.model.skins()[0], stage.model.skeleton(), world).unwrap();
    for (&node, inverse) in skin.joints().iter().zip(skin.inverse_binds()) {
        let row = world[node as usize] * *inverse;
        assert!(row.abs_diff_eq(Affine3A::IDENTITY, 1e-6));
    }
}

#[test]
fn a_joint_without_volume_cannot_be_bound_where_it_is() {
    let stage = Stage::new();
    let flat = [Affine3A::from_scale(Vec3::new(1.0, 0.0, 1.0)); 4];
    assert!(bind_here(&stage.model.skins()[0], stage.model.skeleton(), &flat).is_err());
}

#[test]
fn the_bind_pose_brings_the_palette_back_to_the_identity() {
    let mut stage = Stage::new();
    stage.animator.set_rotation(stage.id, ARM, Quat::from_rotation_x(1.0)).unwrap();
    stage.animator.set_translation(stage.id, HAND, Vec3::splat(3.0)).unwrap();
    let pose = bind_pose(&stage.model, 0);
    assert_eq!(pose.len(), 3);
    stage.animator.set_pose(stage.id, pose).unwrap();
    stage.animator.evaluate();
    for row in &stage.animator.palette(stage.id).unwrap()[..3] {
        let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        let identity = JointMatrix::IDENTITY;
        assert!(near(row.x, identity.x) && near(row.y, identity.y) && near(row.z, identity.z), "{row:?}");
    }
}
