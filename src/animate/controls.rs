//! What the caller says about one instance, besides which clips it plays.

use glam::{Affine3A, Quat, Vec3};
use smallvec::SmallVec;

use super::{
    JointMatrix, Layer, LayerKind, PaletteLayout,
    follow::Following,
    hierarchy::local,
    mask::usable,
    math::{normalize, slerp},
    modifier::Modifiers,
    pose::PoseMut,
    posed::{Posed, PosedMemory},
};
use crate::model::{Model, Skeleton, Transform};

/// Everything that is said about one instance. What most instances have lies together; the rest costs no
/// memory until it is needed.
#[derive(Clone, Debug)]
pub(super) struct Controls {
    pub(super) layers: SmallVec<[Layer; 2]>,
    pub(super) threshold: f32,
    pub(super) bind_mode: BindMode,
    special: Option<Box<Special>>,
}

/// What only some instances are told.
#[derive(Clone, Debug, Default)]
pub(super) struct Special {
    pub(super) overrides: Vec<NodeOverride>,
    /// (index among the weights of all parts, weight)
    pub(super) weights: Vec<(u32, f32)>,
    /// Sorted.
    pub(super) hidden_nodes: Vec<u32>,
    /// Sorted.
    pub(super) hidden_parts: Vec<u32>,
    pub(super) world_poses: Vec<WorldPose>,
    /// Of all nodes, in place of the hierarchy.
    pub(super) world: Option<Vec<Affine3A>>,
    /// (skin, its whole palette)
    pub(super) palettes: Vec<(u32, Vec<JointMatrix>)>,
    pub(super) conversion: Affine3A,
    pub(super) modifiers: Modifiers,
    /// Whom the instance follows. Boxed, so that it can be taken out while others are read.
    pub(super) following: Option<Box<Following>>,
}

/// Weight of the layers below which rest pose and overrides fill up.
pub(super) const THRESHOLD: f32 = 0.1;

impl Default for Controls {
    fn default() -> Self {
        Self { layers: SmallVec::new(), threshold: THRESHOLD, bind_mode: BindMode::default(), special: None }
    }
}

/// How a skinned mesh stands to its instance's transform. The palette is the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BindMode {
    /// Drawn with the instance's transform, as glTF says.
    #[default]
    Attached,
    /// Drawn with the transform of its own node on top of that, whose bind matrix is already part of the
    /// mesh: both follow the root, so it moves twice as far.
    Detached,
}

/// Components of one node that the caller has set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NodeOverride {
    pub(super) node: u32,
    pub(super) translation: Option<Vec3>,
    pub(super) rotation: Option<Quat>,
    pub(super) scale: Option<Vec3>,
}

/// Where something else, such as physics, wants a node to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldPose {
    /// The node.
    pub node: u32,
    /// In the instance's space.
    pub transform: Transform,
    /// 0 leaves the node as it is, 1 puts it there.
    pub weight: f32,
}

impl Controls {
    /// The one layer that says everything its clip drives, if there is no other.
    pub(super) fn single(&self) -> Option<&Layer> {
        match &self.layers[..] {
            [layer] if layer.kind == LayerKind::Blend && layer.mask.is_none() => {
                (usable(layer.weight) >= self.threshold && layer.weight > 0.0).then_some(layer)
            }
            _ => None,
        }
    }

    /// Whether nothing but layers shapes the pose.
    pub(super) fn is_plain(&self) -> bool {
        self.special.as_ref().is_none_or(|special| special.is_plain())
    }

    /// What only some instances are told, if this one is.
    pub(super) fn special(&self) -> Option<&Special> {
        self.special.as_deref()
    }

    /// The same, to let its modifiers run.
    pub(super) fn special_if_any(&mut self) -> Option<&mut Special> {
        self.special.as_deref_mut()
    }

    /// Whom it follows.
    pub(super) fn following(&self) -> Option<&Following> {
        self.special()?.following.as_deref()
    }

    /// Takes out whom it follows, until it is put back.
    pub(super) fn take_following(&mut self) -> Option<Box<Following>> {
        self.special.as_mut()?.following.take()
    }

    /// The same, to be told more.
    pub(super) fn special_mut(&mut self) -> &mut Special {
        self.special.get_or_insert_default()
    }
}

impl Special {
    fn is_plain(&self) -> bool {
        self.overrides.is_empty()
            && self.weights.is_empty()
            && self.hidden_nodes.is_empty()
            && self.world_poses.is_empty()
            && self.world.is_none()
            && self.palettes.is_empty()
            && self.conversion == Affine3A::IDENTITY
            && self.modifiers.is_empty()
            && self.following.is_none()
    }

    /// The override of a node, made when there is none.
    pub(super) fn override_of(&mut self, node: u32) -> &mut NodeOverride {
        let at = self.overrides.iter().position(|known| known.node == node).unwrap_or_else(|| {
            self.overrides.push(NodeOverride { node, ..Default::default() });
            self.overrides.len() - 1
        });
        &mut self.overrides[at]
    }

    /// Stage `overrides`.
    pub(super) fn set_overrides(&self, pose: &mut PoseMut<'_>) {
        for known in &self.overrides {
            let node = known.node as usize;
            if let Some(translation) = known.translation {
                pose.translations[node] = translation;
            }
            if let Some(rotation) = known.rotation {
                pose.rotations[node] = rotation;
            }
            if let Some(scale) = known.scale {
                pose.scales[node] = scale;
            }
        }
        for &(index, weight) in &self.weights {
            pose.weights[index as usize] = weight;
        }
    }

    /// Stage `modifiers`, where the instance stands at `transform` and its last evaluation was `elapsed` seconds ago.
    pub(super) fn modify(
        &mut self,
        model: &Model,
        pose: PoseMut<'_>,
        memory: &mut PosedMemory,
        transform: Affine3A,
        elapsed: f64,
    ) {
        if !self.modifiers.is_empty() {
            let places = [self.conversion, transform];
            self.modifiers.run(&mut Posed::new(model, pose, memory, places, elapsed));
        }
    }

    /// Stage `world poses`: parents first, each wish as a local transform under where its parent then is. A
    /// node whose parent is flat cannot be put anywhere and stays, and so does one that stands where a leader says.
    /// `world` is overwritten.
    pub(super) fn set_world_poses(
        &self,
        skeleton: &Skeleton,
        pose: &mut PoseMut<'_>,
        world: &mut [Affine3A],
    ) {
        if self.world_poses.is_empty() {
            return;
        }
        for &node in skeleton.order() {
            let n = node as usize;
            if let Some(matrix) = self.following.as_ref().and_then(|following| following.matrix(n)) {
                world[n] = matrix;
                continue;
            }
            let parent = skeleton.parents()[n].map_or(self.conversion, |parent| world[parent as usize]);
            let wish = self.world_poses.iter().find(|wish| wish.node == node);
            let weight = wish.map_or(0.0, |wish| usable(wish.weight).min(1.0));
            if let Some(wish) = wish.filter(|_| weight > 0.0) {
                let t = wish.transform;
                let target =
                    Affine3A::from_scale_rotation_translation(t.scale, normalize(t.rotation), t.translation);
                if let Some(local) = under(parent, target) {
                    let lerp = |a: Vec3, b: Vec3| a * (1.0 - weight) + b * weight;
                    pose.translations[n] = lerp(pose.translations[n], local.translation);
                    pose.rotations[n] = slerp(pose.rotations[n], local.rotation, weight);
                    pose.scales[n] = lerp(pose.scales[n], local.scale);
                }
            }
            world[n] = parent * local(pose, n);
        }
    }

    /// Stage `visibility`: a hidden node and all below it to a point.
    pub(super) fn set_visibility(&self, pose: &mut PoseMut<'_>) {
        for &node in &self.hidden_nodes {
            pose.scales[node as usize] = Vec3::ZERO;
        }
    }

    /// After stage `palette`: the caller's own in the place of the skins'.
    pub(super) fn set_palettes(&self, layout: &PaletteLayout, palette: &mut [JointMatrix]) {
        for (skin, own) in &self.palettes {
            if let Some(rows) = layout.skin(*skin) {
                for (row, own) in palette[rows].iter_mut().zip(own) {
                    *row = own.bounded();
                }
            }
        }
    }
}

/// `target` as seen from `parent`; `None` where the parent has no volume.
pub(super) fn under(parent: Affine3A, target: Affine3A) -> Option<Transform> {
    let determinant = parent.matrix3.determinant();
    if !(determinant.abs() > f32::MIN_POSITIVE && determinant.is_finite()) {
        return None;
    }
    let local = parent.inverse() * target;
    if !local.is_finite() || local.matrix3.determinant() == 0.0 {
        return None;
    }
    let (scale, rotation, translation) = local.to_scale_rotation_translation();
    let local = Transform { translation, rotation: normalize(rotation), scale };
    (local.scale.is_finite() && local.translation.is_finite()).then_some(local)
}
