//! Modifiers, and those that come with the library, against closed forms and stored results of another program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

#[path = "../common/mod.rs"]
mod common;

mod aim;
mod ccd;
#[cfg(feature = "gltf")]
mod example;
mod modifiers;
mod posed;
mod refusals;
mod spring;
mod two_bone;

use glam::{Affine3A, Quat, Vec3};
use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{Modifier, ModifierId},
    model::{Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton, Skin, Topology, Transform},
};

/// A model of nodes alone, with a point that the last of them carries.
fn model(nodes: impl IntoIterator<Item = (Option<u32>, Transform)>) -> Model {
    let node = |(parent, rest)| Node { name: String::new(), parent, rest };
    model_of(Skeleton::new(nodes.into_iter().map(node).collect()).unwrap(), Vec::new())
}

fn model_of(skeleton: Skeleton, clips: Vec<sinew::model::Clip>) -> Model {
    let joints: Vec<u32> = (0..skeleton.len() as u32).collect();
    let skin = Skin::bind_at_rest("skin", &skeleton, joints).unwrap();
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::X],
        targets: vec![sinew::model::MorphTarget::from_rows(false, false, Vec::new())],
        ..Default::default()
    };
    let mesh = Mesh::new("mesh", vec![primitive], vec![0.0]).unwrap();
    Model::new(ModelDesc {
        parts: vec![Part { node: skeleton.len() as u32 - 1, mesh: 0, skin: None, weights: vec![0.0] }],
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        clips,
        ..Default::default()
    })
    .unwrap()
}

fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform::from_translation(Vec3::new(x, y, z))
}

/// Nodes below each other, each so far from the one before.
fn chain(steps: &[Vec3]) -> Model {
    let parent = |i: usize| (i as u32).checked_sub(1);
    model(steps.iter().enumerate().map(|(i, step)| (parent(i), Transform::from_translation(*step))))
}

/// One instance.
struct Stage {
    animator: Animator,
    model: Model,
    handle: ModelId,
    id: InstanceId,
}

impl Stage {
    fn new(model: Model) -> Self {
        let mut animator = Animator::new();
        let handle = animator.add_model(&model);
        let id = animator.spawn(handle).unwrap();
        Self { animator, model, handle, id }
    }

    fn add(&mut self, modifier: impl Modifier + Clone) -> ModifierId {
        self.animator.add_modifier(self.id, modifier).unwrap()
    }

    fn step(&mut self, seconds: f64) {
        self.animator.advance(seconds);
        self.animator.evaluate();
    }

    fn world(&self, node: u32) -> Affine3A {
        self.animator.world(self.id).unwrap()[node as usize]
    }

    fn place(&self, node: u32) -> Vec3 {
        self.world(node).translation.into()
    }

    fn rotation(&self, node: u32) -> Quat {
        self.animator.local(self.id, node).unwrap().rotation
    }

    fn pose(&self) -> Vec<Transform> {
        let nodes = self.model.skeleton().len() as u32;
        (0..nodes).map(|node| self.animator.local(self.id, node).unwrap()).collect()
    }
}

#[track_caller]
fn near(a: Vec3, b: Vec3, within: f32) {
    assert!(a.distance(b) <= within, "{a} instead of {b}, {} apart", a.distance(b));
}

/// A small reproducible generator, -1..1.
fn noise(seed: u32) -> impl FnMut() -> f32 + Clone {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}
