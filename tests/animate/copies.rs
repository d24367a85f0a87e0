//! Sub-trees of a model once more.

use super::*;
use sinew::model::{Influence, Influences, ModelError, Scene};

const HIP: u32 = 0;
const ARM_2: u32 = 1;
const GLOVE: u32 = 2;
const HAND_2: u32 = 3;

/// hip → arm → (glove, hand), one metre each along x; the glove has a mesh on the hip and the hand.
fn gloved() -> Model {
    let node = |name: &str, parent, x: f32| Node {
        name: name.into(),
        parent,
        rest: Transform::from_translation(Vec3::X * x),
    };
    let skeleton = Skeleton::new(vec![
        node("hip", None, 1.0),
        node("arm", Some(HIP), 1.0),
        node("glove", Some(ARM_2), 0.0),
        node("hand", Some(ARM_2), 1.0),
    ]);
    let skeleton = skeleton.unwrap();
    let skin = Skin::bind_at_rest("skin", &skeleton, vec![HIP, HAND_2]).unwrap();
    let mut influences = Influences::with_capacity(2);
    influences.push([Influence { joint: 0, weight: 1.0 }]);
    influences.push([Influence { joint: 1, weight: 1.0 }]);
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::ZERO; 2],
        influences: Some(influences),
        ..Default::default()
    };
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![Mesh::new("mesh", vec![primitive], Vec::new()).unwrap()],
        parts: vec![Part { node: GLOVE, mesh: 0, skin: Some(0), weights: Vec::new() }],
        scenes: vec![Scene { name: "scene".into(), roots: vec![HIP] }],
        ..Default::default()
    })
    .unwrap()
}

#[test]
fn a_copied_mesh_whose_skin_lists_a_node_twice_follows_the_copies() {
    let model = gloved();
    let skin = Skin::accept_duplicates("skin", model.skeleton(), vec![HIP, HAND_2, HAND_2], None).unwrap();
    let twice = Model::new(ModelDesc {
        skeleton: model.skeleton().clone(),
        skins: vec![skin],
        meshes: model.meshes().to_vec(),
        parts: model.parts().to_vec(),
        ..Default::default()
    });
    let copied = twice.unwrap().with_copy_of(ARM_2).unwrap().model;
    assert_eq!(copied.parts()[1].skin, Some(1));
    assert_eq!(copied.skins()[1].joints(), [HIP, 6, 6]);
}

#[test]
fn a_copied_mesh_follows_copied_joints_and_an_outer_joint_stays_the_original() {
    let copied = gloved().with_copy_of(ARM_2).unwrap();
    assert_eq!(copied.nodes, [(ARM_2, 4), (GLOVE, 5), (HAND_2, 6)]);
    let model = &copied.model;
    assert_eq!(model.skeleton().parents()[4..], [Some(HIP), Some(4), Some(4)]);
    assert_eq!(model.shown_parts(), [0, 1]);
    let parts: Vec<_> = model.parts().iter().map(|part| (part.node, part.mesh, part.skin)).collect();
    assert_eq!(parts, [(GLOVE, 0, Some(0)), (5, 0, Some(1))]);
    assert_eq!(model.skins()[0].joints(), [HIP, HAND_2]);
    assert_eq!(model.skins()[1].joints(), [HIP, 6]);
    assert_eq!(model.skins()[1].inverse_binds(), model.skins()[0].inverse_binds());
}

#[test]
fn the_copy_of_a_sub_tree_moves_by_itself() {
    let copied = gloved().with_copy_of(ARM_2).unwrap();
    let mut animator = Animator::new();
    let model = animator.add_model(&copied.model);
    let id = animator.spawn(model).unwrap();
    animator.set_translation(id, copied.copy_of(ARM_2).unwrap(), Vec3::new(1.0, 5.0, 0.0)).unwrap();
    animator.evaluate();
    let moved = JointMatrix { y: [0.0, 1.0, 0.0, 5.0], ..JointMatrix::IDENTITY };
    let layout = animator.palette_layout(model).unwrap();
    let palette = animator.palette(id).unwrap();
    assert_eq!(palette[layout.skin(0).unwrap()], [JointMatrix::IDENTITY; 2]);
    assert_eq!(palette[layout.skin(1).unwrap()], [JointMatrix::IDENTITY, moved]);
}

#[test]
fn a_skin_without_a_joint_inside_is_shared() {
    let copied = gloved().with_copy_of(GLOVE).unwrap();
    assert_eq!(copied.model.skins().len(), 1);
    assert_eq!(copied.model.parts()[1].skin, Some(0));
    assert_eq!((copied.copy_of(GLOVE), copied.copy_of(HAND_2)), (Some(4), None));
}

#[test]
fn a_root_is_copied_into_its_scene() {
    let copied = gloved().with_copy_of(HIP).unwrap();
    assert_eq!(copied.model.scenes()[0].roots, [HIP, 4]);
    assert_eq!(copied.model.skins()[1].joints(), [4, 7]);
    assert_eq!(copied.model.shown_parts(), [0, 1]);
    // And once more: what was copied is as good as the rest.
    assert_eq!(copied.model.with_copy_of(4).unwrap().model.parts().len(), 3);
}

#[test]
fn a_node_that_is_not_there_cannot_be_copied() {
    let error = gloved().with_copy_of(4).unwrap_err();
    assert_eq!(error, ModelError::OutOfRange { place: "the copy".into(), kind: "node", index: 4, count: 4 });
}
