use std::sync::Arc;

use crate::model::{Model, Skeleton};

/// How much of a layer each node takes: a weight per node, from 0 up. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask(Arc<[f32]>);

impl Mask {
    /// The same weight for every node of `model`.
    #[must_use]
    pub fn new(model: &Model, weight: f32) -> Self {
        Self(vec![usable(weight); model.skeleton().len()].into())
    }

    /// With this weight for one node. A node that does not exist changes nothing.
    #[must_use]
    pub fn with_node(mut self, node: u32, weight: f32) -> Self {
        if let Some(own) = Arc::make_mut(&mut self.0).get_mut(node as usize) {
            *own = usable(weight);
        }
        self
    }

    /// With this weight for a node and everything below it.
    #[must_use]
    pub fn with_tree(mut self, skeleton: &Skeleton, root: u32, weight: f32) -> Self {
        let weights = Arc::make_mut(&mut self.0);
        for node in skeleton.sub_tree(root) {
            if let Some(own) = weights.get_mut(node as usize) {
                *own = usable(weight);
            }
        }
        self
    }

    /// A weight per node.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.0
    }
}

/// NaN and negative weights count as 0.
pub(super) fn usable(weight: f32) -> f32 {
    if weight > 0.0 { weight.min(f32::MAX) } else { 0.0 }
}
