//! Bodies of a few joints whose numbers can be followed by hand.

use std::collections::BTreeMap;

use glam::{Mat4, Quat, Vec3};
use sinew::{
    Model,
    animate::Pose,
    model::{
        Channel, Clip, Influence, Influences, Interpolation, Mesh, ModelDesc, Node, Part, PrimitiveDesc,
        Skeleton, Skin, Track, Transform,
    },
    retarget::{Mode, Retarget, RetargetOptions, WorldCopy},
};

pub(crate) fn node(name: &str, parent: Option<u32>, rest: Transform) -> Node {
    Node { name: name.into(), parent, rest }
}

pub(crate) fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform::from_translation(Vec3::new(x, y, z))
}

/// A model with one skinned triangle at node `mesh`, its joints bound at rest unless `binds` says otherwise.
pub(crate) fn skinned(nodes: Vec<Node>, joints: &[u32], mesh: u32, binds: Option<&[Mat4]>) -> ModelDesc {
    let skeleton = Skeleton::new(nodes).unwrap();
    let skin = match binds {
        Some(binds) => Skin::new("skin", &skeleton, joints.to_vec(), Some(binds)),
        None => Skin::bind_at_rest("skin", &skeleton, joints.to_vec()),
    };
    let mut influences = Influences::default();
    (0..3).for_each(|_| influences.push([Influence { joint: 0, weight: 1.0 }]));
    let triangle = PrimitiveDesc {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        influences: Some(influences),
        ..Default::default()
    };
    let triangle = Mesh::new("triangle", vec![triangle], vec![]).unwrap();
    let part = Part { node: mesh, mesh: 0, skin: Some(0), weights: vec![] };
    ModelDesc {
        skeleton,
        skins: vec![skin.unwrap()],
        meshes: vec![triangle],
        parts: vec![part],
        ..Default::default()
    }
}

/// `hip` at the height given, `arm` beside it, `hand` at its end, and the mesh.
pub(crate) fn body(height: f32) -> ModelDesc {
    let nodes = vec![
        node("hip", None, at(0.0, height, 0.0)),
        node("arm", Some(0), at(0.5 * height, 0.0, 0.0)),
        node("hand", Some(1), at(0.25 * height, 0.0, 0.0)),
        node("mesh", None, Transform::IDENTITY),
    ];
    skinned(nodes, &[0, 1, 2], 3, None)
}

pub(crate) fn model(desc: ModelDesc) -> Model {
    Model::new(desc).unwrap()
}

/// Every name from the same one.
pub(crate) fn alike(names: &[&str]) -> BTreeMap<String, String> {
    names.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect()
}

/// All joints of [`body`].
pub(crate) fn relative() -> RetargetOptions {
    RetargetOptions { names: alike(&["hip", "arm", "hand"]), ..Default::default() }
}

pub(crate) fn world_copy(mode: WorldCopy) -> RetargetOptions {
    RetargetOptions { mode: Mode::WorldCopy(mode), ..relative() }
}

/// The target's pose, from its rest pose on.
pub(crate) fn retargeted(source: &Model, pose: &Pose, target: &Model, options: &RetargetOptions) -> Pose {
    let mut out = Pose::rest(target);
    let mut retarget = Retarget::new(source, target, options).unwrap();
    retarget.pose(pose.as_ref(), &mut out.as_mut()).unwrap();
    out
}

pub(crate) fn track(node: u32, channel: Channel, times: &[f32], values: &[f32]) -> Track {
    let width = (values.len() / times.len().max(1)) as u32;
    let interpolation = Interpolation::Linear;
    Track { node, channel, interpolation, times: times.to_vec(), values: values.to_vec(), width }
}

/// In a second `hip` rises by half a metre and `arm` turns by 90 degrees about z.
pub(crate) fn raise(height: f32) -> Clip {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let tracks = vec![
        track(0, Channel::Translation, &[0.0, 1.0], &[0.0, height, 0.0, 0.0, height + 0.5, 0.0]),
        track(1, Channel::Rotation, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]),
    ];
    Clip::new("raise", tracks).unwrap()
}

pub(crate) fn turn_z(degrees: f32) -> Quat {
    Quat::from_rotation_z(degrees.to_radians())
}

#[track_caller]
pub(crate) fn assert_vector(found: Vec3, wanted: Vec3) {
    assert!((found - wanted).abs().max_element() < 1e-6, "{found} instead of {wanted}");
}

#[track_caller]
pub(crate) fn assert_turn(found: Quat, wanted: Quat) {
    let apart = (found - wanted).length().min((found + wanted).length());
    assert!(apart < 1e-6, "{found} instead of {wanted}");
    assert!((found.length() - 1.0).abs() < 1e-6, "{found}");
}
