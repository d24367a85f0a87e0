//! What a modifier sees of an instance.

use glam::{Affine3A, DAffine3, Quat, Vec3};

use super::{
    exact::{ExactLocal, exact, rounded},
    math::{normalize, slerp},
    pose::PoseMut,
};
use crate::model::{Model, Skeleton, Transform};

/// The pose of one instance after blending and before the hierarchy, as a [`Modifier`](super::Modifier) reads and
/// changes it.
///
/// Nodes are those of [`Model::skeleton`]. A node that the model lacks reads as the identity and takes nothing;
/// [`Modifier::check`](super::Modifier::check) is the place to refuse a model. *Model space* is the instance's own space, that of
/// [`Animator::world`](super::Animator::world), under the conversion of axes if there is one.
#[derive(Debug)]
pub struct Posed<'a> {
    model: &'a Model,
    pose: PoseMut<'a>,
    memory: &'a mut PosedMemory,
    /// Above every node without a parent.
    root: DAffine3,
    transform: Affine3A,
    /// Since the evaluation before.
    elapsed: f64,
    is_first: bool,
    /// What is known of nodes and weights from before this time belongs to another instance.
    start: u64,
    /// When something changed last.
    last_change: u64,
    /// When the modifier began whose changes are only partly wanted.
    mixed_since: Option<u64>,
}

/// Memory for one thread, kept so that no frame allocates. Times count what happens, for all instances in a row.
#[derive(Debug, Default)]
pub(super) struct PosedMemory {
    now: u64,
    /// Per node.
    nodes: Vec<Known>,
    world: Vec<DAffine3>,
    /// Nodes on the way to a root.
    path: Vec<u32>,
    /// When each morph weight was changed.
    weights: Vec<u64>,
    /// What a modifier has changed, as it was before.
    before: Vec<(u32, Transform)>,
    weights_before: Vec<(usize, f32)>,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// When its local transform was changed.
    changed: u64,
    /// When its matrix was computed.
    computed: u64,
    /// When its matrix was last known to be right.
    verified: u64,
}

impl PosedMemory {
    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }
}

impl<'a> Posed<'a> {
    pub(super) fn new(
        model: &'a Model,
        pose: PoseMut<'a>,
        memory: &'a mut PosedMemory,
        [root, transform]: [Affine3A; 2],
        elapsed: f64,
    ) -> Self {
        memory.nodes.resize(model.skeleton().len(), Known::default());
        memory.world.resize(model.skeleton().len(), DAffine3::IDENTITY);
        memory.weights.resize(model.weight_count(), 0);
        let start = memory.tick();
        let root = exact(root);
        let (is_first, last_change, mixed_since) = (false, start, None);
        Self { model, pose, memory, root, transform, elapsed, is_first, start, last_change, mixed_since }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// Its nodes.
    #[must_use]
    pub fn skeleton(&self) -> &'a Skeleton {
        self.model.skeleton()
    }

    /// Where the instance stands: from model space to the space of the scene.
    #[must_use]
    pub fn transform(&self) -> Affine3A {
        self.transform
    }

    /// The same in f64.
    #[must_use]
    pub fn exact_transform(&self) -> DAffine3 {
        exact(self.transform)
    }

    /// Seconds that [`advance`](super::Animator::advance) was told since the evaluation before, at least 0: also when
    /// clips run backwards. 0 in a [`refresh`](super::Animator::refresh) and whenever it [is first](Self::is_first).
    #[must_use]
    pub fn seconds(&self) -> f64 {
        if self.is_first { 0.0 } else { self.elapsed }
    }

    /// Whether what the modifier remembers is of no use: it has not run yet, did not run in the evaluation before
    /// because its weight was 0, or the instance was told to
    /// [forget what was](super::Animator::forget_previous).
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// A node's local transform.
    #[must_use]
    pub fn local(&self, node: u32) -> Transform {
        let n = node as usize;
        if n >= self.memory.nodes.len() {
            return Transform::IDENTITY;
        }
        Transform {
            translation: self.pose.translations[n],
            rotation: self.pose.rotations[n],
            scale: self.pose.scales[n],
        }
    }

    /// Sets a node's local transform; the rotation may have any length.
    pub fn set_local(&mut self, node: u32, local: Transform) {
        if let Some(n) = self.change(node) {
            self.pose.translations[n] = local.translation;
            self.pose.rotations[n] = normalize(local.rotation);
            self.pose.scales[n] = local.scale;
        }
    }

    /// Sets a node's local translation.
    pub fn set_translation(&mut self, node: u32, translation: Vec3) {
        if let Some(n) = self.change(node) {
            self.pose.translations[n] = translation;
        }
    }

    /// Sets a node's local rotation; of any length.
    pub fn set_rotation(&mut self, node: u32, rotation: Quat) {
        if let Some(n) = self.change(node) {
            self.pose.rotations[n] = normalize(rotation);
        }
    }

    /// Sets a node's local scale.
    pub fn set_scale(&mut self, node: u32, scale: Vec3) {
        if let Some(n) = self.change(node) {
            self.pose.scales[n] = scale;
        }
    }

    /// Morph weights of all parts; [`Model::weight_range`] says where each part's lie.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        self.pose.weights
    }

    /// Sets the morph weight at a place in [`weights`](Self::weights).
    pub fn set_weight(&mut self, index: usize, weight: f32) {
        let Some(&own) = self.pose.weights.get(index) else { return };
        if self.mixed_since.is_some_and(|since| self.memory.weights[index] <= since) {
            self.memory.weights_before.push((index, own));
        }
        self.memory.weights[index] = self.memory.tick();
        self.pose.weights[index] = weight;
    }

    /// A node's matrix in model space, as all changes so far make it.
    #[must_use]
    pub fn world(&mut self, node: u32) -> Affine3A {
        rounded(self.exact_world(node))
    }

    /// The same in the precision in which it is computed. Only what is asked for and what stands above it is, and
    /// again only after a change there.
    #[must_use]
    pub fn exact_world(&mut self, node: u32) -> DAffine3 {
        let parents = self.skeleton().parents();
        let memory = &mut *self.memory;
        memory.path.clear();
        let mut next = Some(node).filter(|n| (*n as usize) < memory.nodes.len());
        while let Some(n) = next.filter(|n| memory.nodes[*n as usize].verified <= self.last_change) {
            memory.path.push(n);
            next = parents[n as usize];
        }
        let (mut world, mut computed) = match next {
            Some(n) => (memory.world[n as usize], memory.nodes[n as usize].computed),
            None if memory.path.is_empty() => return DAffine3::IDENTITY,
            None => (self.root, 0),
        };
        let now = memory.tick();
        while let Some(n) = memory.path.pop() {
            let n = n as usize;
            let known = &mut memory.nodes[n];
            if known.computed <= self.start || known.computed < known.changed.max(computed) {
                memory.world[n] = world * ExactLocal::of(self.pose.as_ref(), n).matrix();
                known.computed = now;
            }
            known.verified = now;
            (world, computed) = (memory.world[n], known.computed);
        }
        world
    }

    /// The matrix in model space of what a node hangs on: its parent's, or the conversion of axes at the root.
    #[must_use]
    pub fn exact_parent(&mut self, node: u32) -> DAffine3 {
        match self.skeleton().parents().get(node as usize) {
            Some(Some(parent)) => self.exact_world(*parent),
            _ => self.root,
        }
    }

    /// Notes that a node changes, and as what if that may be wanted back. `None` if there is no such node.
    fn change(&mut self, node: u32) -> Option<usize> {
        let changed = self.memory.nodes.get(node as usize)?.changed;
        if self.mixed_since.is_some_and(|since| changed <= since) {
            let before = self.local(node);
            self.memory.before.push((node, before));
        }
        self.last_change = self.memory.tick();
        self.memory.nodes[node as usize].changed = self.last_change;
        Some(node as usize)
    }

    /// Before a modifier of this weight, above 0.
    pub(super) fn begin(&mut self, weight: f32, is_first: bool) {
        self.is_first = is_first;
        self.memory.before.clear();
        self.memory.weights_before.clear();
        self.mixed_since = (weight < 1.0).then(|| self.memory.tick());
    }

    /// After it: what it changed, as far as its weight goes.
    pub(super) fn finish(&mut self, weight: f32) {
        if self.mixed_since.take().is_none() {
            return;
        }
        while let Some((node, before)) = self.memory.before.pop() {
            let Some(n) = self.change(node) else { continue };
            let lerp = |from: Vec3, to: Vec3| from + (to - from) * weight;
            self.pose.translations[n] = lerp(before.translation, self.pose.translations[n]);
            self.pose.scales[n] = lerp(before.scale, self.pose.scales[n]);
            // Where nothing turned, not a bit changes.
            if self.pose.rotations[n] != before.rotation {
                self.pose.rotations[n] = slerp(before.rotation, self.pose.rotations[n], weight);
            }
        }
        while let Some((index, before)) = self.memory.weights_before.pop() {
            let own = &mut self.pose.weights[index];
            *own = before + (*own - before) * weight;
        }
    }
}
