//! What an animator makes of layers, overrides and poses from elsewhere, against closed forms.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod binding;
mod copies;
mod elsewhere;
mod events;
mod layers;
mod outfits;
mod overrides;
mod root_motion;
mod storm;

use std::f32::consts::FRAC_PI_2;

use glam::{Affine3A, Mat3A, Quat, Vec3};
use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{
        AnimateError, BindMode, Events, JointMatrix, LayerKind, LoopMode, Mask, Reference, RootMotion,
        Travel, WorldPose, bind_here, bind_pose, sample,
    },
    model::{
        Channel, Clip, Interpolation, Mesh, ModelDesc, MorphTarget, Node, Part, PrimitiveDesc, Skeleton,
        Skin, Topology, Track, Transform,
    },
};

const ROOT: u32 = 0;
const ARM: u32 = 1;
const HAND: u32 = 2;
const BODY: u32 = 3;

fn track(node: u32, channel: Channel, values: &[f32]) -> Track {
    let width = match channel {
        Channel::Rotation => 4,
        Channel::Weights => 2,
        Channel::Translation | Channel::Scale => 3,
    };
    let keys = values.len() / width as usize;
    Track {
        node,
        channel,
        interpolation: Interpolation::Linear,
        times: (0..keys).map(|key| key as f32).collect(),
        values: values.to_vec(),
        width,
    }
}

fn turn(angle: f32) -> [f32; 4] {
    Quat::from_rotation_z(angle).to_array()
}

/// root → arm → hand, one metre each along x, and a body with two morph targets that all three deform.
fn model() -> Model {
    let node = |name: &str, parent, x: f32| Node {
        name: name.into(),
        parent,
        rest: Transform::from_translation(Vec3::X * x),
    };
    let skeleton = Skeleton::new(vec![
        node("root", None, 0.0),
        node("arm", Some(ROOT), 1.0),
        node("hand", Some(ARM), 1.0),
        node("body", None, 0.0),
    ]);
    let skeleton = skeleton.unwrap();
    let skin = Skin::bind_at_rest("skin", &skeleton, vec![ROOT, ARM, HAND]).unwrap();
    let alone = Skin::bind_at_rest("alone", &skeleton, vec![HAND]).unwrap();
    let mut influences = sinew::model::Influences::with_capacity(1);
    influences.push([sinew::model::Influence { joint: 2, weight: 1.0 }]);
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::X * 2.0],
        influences: Some(influences),
        targets: vec![MorphTarget::from_rows(false, false, Vec::new()); 2],
        ..Default::default()
    };
    let mesh = Mesh::new("mesh", vec![primitive], vec![0.0; 2]).unwrap();
    let clips = vec![
        // 0: the arm turns a quarter in one second.
        Clip::new("turn", vec![track(ARM, Channel::Rotation, &[turn(0.0), turn(FRAC_PI_2)].concat())]),
        // 1: the root goes one metre along y in one second, weights rise.
        Clip::new(
            "rise",
            vec![
                track(ROOT, Channel::Translation, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
                track(BODY, Channel::Weights, &[0.0, 0.0, 1.0, 0.5]),
            ],
        ),
        // 2: the arm turned back, held.
        Clip::new(
            "back",
            vec![track(ARM, Channel::Rotation, &[turn(-FRAC_PI_2), turn(-FRAC_PI_2)].concat())],
        ),
        // 3: the hand grows.
        Clip::new("grow", vec![track(HAND, Channel::Scale, &[1.0, 1.0, 1.0, 3.0, 1.0, 1.0])]),
    ];
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin, alone],
        meshes: vec![mesh],
        parts: vec![Part { node: BODY, mesh: 0, skin: Some(0), weights: vec![0.0; 2] }],
        clips: clips.into_iter().map(Result::unwrap).collect(),
        ..Default::default()
    })
    .unwrap()
}

struct Stage {
    animator: Animator,
    model: Model,
    handle: ModelId,
    id: InstanceId,
}

impl Stage {
    fn new() -> Self {
        let model = model();
        let mut animator = Animator::new();
        let handle = animator.add_model(&model);
        let id = animator.spawn(handle).unwrap();
        Self { animator, model, handle, id }
    }

    /// Adds a layer at a time.
    fn layer(&mut self, clip: u32, time: f64, weight: f32, kind: LayerKind) -> sinew::animate::LayerId {
        let layer = self.animator.add_layer(self.id, clip, kind).unwrap();
        layer.player.seek(time);
        layer.weight = weight;
        layer.id()
    }

    fn local(&mut self, node: u32) -> Transform {
        self.animator.evaluate();
        self.animator.local(self.id, node).unwrap()
    }

    fn world(&mut self, node: u32) -> Affine3A {
        self.animator.evaluate();
        self.animator.world(self.id).unwrap()[node as usize]
    }

    fn weights(&mut self) -> Vec<f32> {
        self.animator.evaluate();
        self.animator.weights(self.id).unwrap().to_vec()
    }
}

fn near(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-6, "{a} instead of {b}");
}

/// Radians about z.
fn angle(rotation: Quat) -> f32 {
    2.0 * rotation.z.atan2(rotation.w)
}
