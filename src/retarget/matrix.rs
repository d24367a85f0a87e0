//! World transforms of both bodies in f64.

use glam::{DAffine3, DQuat, DVec3, Vec3};

use crate::{
    animate::{
        PoseRef,
        exact::{self, ExactLocal, unit},
    },
    model::Skeleton,
};

/// The inverse; all zero where there is none, as `Matrix4.invert` has it.
pub(super) fn inverse(matrix: DAffine3) -> DAffine3 {
    exact::inverse(matrix).unwrap_or(DAffine3::ZERO)
}

/// World transforms of the nodes that are needed, in the model's space.
#[derive(Clone, Debug)]
pub(super) struct Worlds {
    /// (node, its parent), parents first.
    chain: Vec<(u32, Option<u32>)>,
    /// By node; what is not needed stays the identity.
    pub(super) matrices: Vec<DAffine3>,
    /// Products of local rotations, by node: without scale, and so without shear.
    pub(super) rotations: Vec<DQuat>,
}

impl Worlds {
    /// For these nodes and all above them.
    pub(super) fn above(skeleton: &Skeleton, wanted: impl IntoIterator<Item = u32>) -> Self {
        let mut is_needed = vec![false; skeleton.len()];
        wanted.into_iter().for_each(|node| is_needed[node as usize] = true);
        for &node in skeleton.order().iter().rev() {
            if let Some(parent) = skeleton.parents()[node as usize] {
                is_needed[parent as usize] |= is_needed[node as usize];
            }
        }
        let needed = skeleton.order().iter().filter(|&&node| is_needed[node as usize]);
        Self {
            chain: needed.map(|&node| (node, skeleton.parents()[node as usize])).collect(),
            matrices: vec![DAffine3::IDENTITY; skeleton.len()],
            rotations: vec![DQuat::IDENTITY; skeleton.len()],
        }
    }

    pub(super) fn set(&mut self, pose: PoseRef<'_>) {
        for at in 0..self.chain.len() {
            let (node, parent) = self.chain[at];
            self.place(node, parent, ExactLocal::of(pose, node as usize));
        }
    }

    /// One node under its parent.
    pub(super) fn place(&mut self, node: u32, parent: Option<u32>, local: ExactLocal) {
        let (matrix, rotation) = self.at(parent);
        self.matrices[node as usize] = matrix * local.matrix();
        self.rotations[node as usize] = unit(rotation * local.rotation);
    }

    /// Where a node is; what stands above all roots for `None`.
    pub(super) fn at(&self, node: Option<u32>) -> (DAffine3, DQuat) {
        node.map_or((DAffine3::IDENTITY, DQuat::IDENTITY), |node| {
            (self.matrices[node as usize], self.rotations[node as usize])
        })
    }

    pub(super) fn chain(&self) -> &[(u32, Option<u32>)] {
        &self.chain
    }
}

/// As an f32 vector where that is a number.
pub(super) fn finite(v: DVec3) -> Option<Vec3> {
    Some(v.as_vec3()).filter(|v| v.is_finite())
}
