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
fn a_skin_that_lists_a_node_twice_is_bound_where_it_is() {
    let skeleton = Skeleton::new(vec![Node::default()]).unwrap();
    let skin = Skin::accept_duplicates("", &skeleton, vec![0, 0], None).unwrap();
    let world = [Affine3A::from_translation(Vec3::X)];
    let bound = bind_here(&skin, &skeleton, &world).unwrap();
    assert_eq!(bound.inverse_binds(), [Affine3A::from_translation(Vec3::NEG_X); 2]);
}

#[test]
fn nodes_that_are_no_joints_count_in_the_bind_pose() {
    let node = |parent, translation| Node {
        parent,
        rest: Transform::from_translation(translation),
        ..Node::default()
    };
    // A root of which nothing was bound, a joint, a plain node and another joint.
    let skeleton = Skeleton::new(vec![
        node(None, Vec3::Y),
        node(Some(0), Vec3::X),
        node(Some(1), Vec3::Z),
        node(Some(2), Vec3::X),
    ]);
    let skeleton = skeleton.unwrap();
    let binds = [Vec3::NEG_X, Vec3::new(-9.0, 0.0, 0.0)].map(glam::Mat4::from_translation);
    let skin = Skin::new("", &skeleton, vec![1, 3], Some(&binds)).unwrap();
    let model = Model::new(ModelDesc { skeleton, skins: vec![skin], ..Default::default() }).unwrap();
    let places: Vec<_> =
        bind_pose(&model, 0).iter().map(|(node, local)| (*node, local.translation)).collect();
    // Below (0, 1, 0); below (1, 0, 0) and then (0, 0, 1).
    assert_eq!(places, [(1, Vec3::new(1.0, -1.0, 0.0)), (3, Vec3::new(8.0, 0.0, -1.0))]);
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
