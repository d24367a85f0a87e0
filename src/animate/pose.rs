use glam::{Quat, Vec3};

use crate::model::{Model, Transform};

/// Local transforms of every node and all morph weights of one instance, borrowed from wherever they
/// lie. The four slices are structure-of-arrays: three of one length (nodes), one of
/// [`Model::weight_count`].
#[derive(Debug)]
pub struct PoseMut<'a> {
    /// One per node.
    pub translations: &'a mut [Vec3],
    /// One per node.
    pub rotations: &'a mut [Quat],
    /// One per node.
    pub scales: &'a mut [Vec3],
    /// Of all parts; [`Model::weight_range`] says where each part's lie.
    pub weights: &'a mut [f32],
}

/// The same as it is to be read.
#[derive(Clone, Copy, Debug)]
pub struct PoseRef<'a> {
    /// One per node.
    pub translations: &'a [Vec3],
    /// One per node.
    pub rotations: &'a [Quat],
    /// One per node.
    pub scales: &'a [Vec3],
    /// Of all parts; [`Model::weight_range`] says where each part's lie.
    pub weights: &'a [f32],
}

impl PoseRef<'_> {
    /// One node's transform.
    #[must_use]
    pub fn transform(&self, node: u32) -> Transform {
        let n = node as usize;
        Transform { translation: self.translations[n], rotation: self.rotations[n], scale: self.scales[n] }
    }

    /// Nodes that all three lists have.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.translations.len().min(self.rotations.len()).min(self.scales.len())
    }
}

impl PoseMut<'_> {
    /// To be read.
    #[must_use]
    pub fn as_ref(&self) -> PoseRef<'_> {
        PoseRef {
            translations: self.translations,
            rotations: self.rotations,
            scales: self.scales,
            weights: self.weights,
        }
    }

    /// The same for a shorter time.
    pub(super) fn reborrow(&mut self) -> PoseMut<'_> {
        PoseMut {
            translations: self.translations,
            rotations: self.rotations,
            scales: self.scales,
            weights: self.weights,
        }
    }
}

/// An owned pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// One per node.
    pub translations: Vec<Vec3>,
    /// One per node.
    pub rotations: Vec<Quat>,
    /// One per node.
    pub scales: Vec<Vec3>,
    /// Of all parts.
    pub weights: Vec<f32>,
}

impl Pose {
    /// The model's rest pose.
    #[must_use]
    pub fn rest(model: &Model) -> Self {
        let nodes = model.skeleton().len();
        let mut pose = Self {
            translations: vec![Vec3::ZERO; nodes],
            rotations: vec![Quat::IDENTITY; nodes],
            scales: vec![Vec3::ONE; nodes],
            weights: vec![0.0; model.weight_count()],
        };
        set_rest(model, &mut pose.as_mut());
        pose
    }

    /// Borrowed for a stage.
    #[must_use]
    pub fn as_mut(&mut self) -> PoseMut<'_> {
        PoseMut {
            translations: &mut self.translations,
            rotations: &mut self.rotations,
            scales: &mut self.scales,
            weights: &mut self.weights,
        }
    }

    /// Borrowed to be read.
    #[must_use]
    pub fn as_ref(&self) -> PoseRef<'_> {
        PoseRef {
            translations: &self.translations,
            rotations: &self.rotations,
            scales: &self.scales,
            weights: &self.weights,
        }
    }

    /// One node's transform.
    #[must_use]
    pub fn transform(&self, node: u32) -> Transform {
        self.as_ref().transform(node)
    }
}

/// Stage `rest`: every node and weight to the model's rest pose.
pub fn set_rest(model: &Model, pose: &mut PoseMut<'_>) {
    for (node, rest) in model.skeleton().rest().iter().enumerate() {
        pose.translations[node] = rest.translation;
        pose.rotations[node] = rest.rotation;
        pose.scales[node] = rest.scale;
    }
    for (index, part) in (0u32..).zip(model.parts()) {
        pose.weights[model.weight_range(index)].copy_from_slice(&part.weights);
    }
}
