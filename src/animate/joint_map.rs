//! Which node of one model goes with which node of another.

use std::{fmt, sync::Arc};

use super::node_names::{joints_of_skins, uniquely_named_nodes};
use crate::model::Model;

/// For some nodes of a follower's model, the node of a leader's model that each goes with. Cheap to clone.
///
/// Several nodes of the follower may go with one node of the leader; none goes with two.
#[derive(Clone)]
pub struct JointMap(Arc<Data>);

struct Data {
    follower: Model,
    leader: Model,
    pairs: Vec<(u32, u32)>,
    /// By node of the follower, its place among `pairs`, or [`UNMAPPED`].
    places: Vec<u32>,
}

const UNMAPPED: u32 = u32::MAX;

/// The pairs; whole models are nothing to read.
impl fmt::Debug for JointMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JointMap").field(&self.0.pairs).finish()
    }
}

/// Why pairs of nodes make no [`JointMap`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JointMapError {
    /// The follower's model has no such node.
    #[error("pair {pair} maps node {node} of the follower, whose model has {nodes} nodes")]
    UnknownFollowerNode {
        /// Which pair.
        pair: usize,
        /// The node it names.
        node: u32,
        /// Nodes of the model.
        nodes: usize,
    },
    /// The leader's model has no such node.
    #[error("pair {pair} maps to node {node} of the leader, whose model has {nodes} nodes")]
    UnknownLeaderNode {
        /// Which pair.
        pair: usize,
        /// The node it names.
        node: u32,
        /// Nodes of the model.
        nodes: usize,
    },
    /// A node cannot go with two others.
    #[error("pairs {first} and {second} both map node {node} of the follower; map it once")]
    MappedTwice {
        /// The node of the follower.
        node: u32,
        /// The first pair that names it.
        first: usize,
        /// The second.
        second: usize,
    },
}

impl JointMap {
    /// Pairs of (node of `follower`, node of `leader`), in any order. Without any, the follower's nodes are all its
    /// own.
    pub fn new(
        follower: &Model,
        leader: &Model,
        pairs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, JointMapError> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        let mut places = vec![UNMAPPED; follower.skeleton().len()];
        for (pair, &(node, leader_node)) in pairs.iter().enumerate() {
            let nodes = leader.skeleton().len();
            if leader_node as usize >= nodes {
                return Err(JointMapError::UnknownLeaderNode { pair, node: leader_node, nodes });
            }
            let nodes = places.len();
            let Some(place) = places.get_mut(node as usize) else {
                return Err(JointMapError::UnknownFollowerNode { pair, node, nodes });
            };
            if *place != UNMAPPED {
                return Err(JointMapError::MappedTwice { node, first: *place as usize, second: pair });
            }
            *place = pair as u32;
        }
        Ok(Self(Arc::new(Data { follower: follower.clone(), leader: leader.clone(), pairs, places })))
    }

    /// Every node of `follower` with the node of `leader` that has the same name. Names that are empty, or that several
    /// nodes of one model have, map nothing. [`unmapped`](Self::unmapped) says which nodes are left over.
    #[must_use]
    pub fn by_name(follower: &Model, leader: &Model) -> Self {
        let (own, others) = (uniquely_named_nodes(follower), uniquely_named_nodes(leader));
        let mut pairs: Vec<_> =
            own.iter().filter_map(|(name, node)| Some((*node, *others.get(name)?))).collect();
        pairs.sort_unstable();
        let mut places = vec![UNMAPPED; follower.skeleton().len()];
        (0..).zip(&pairs).for_each(|(place, (node, _))| places[*node as usize] = place);
        Self(Arc::new(Data { follower: follower.clone(), leader: leader.clone(), pairs, places }))
    }

    /// (node of the follower, node of the leader).
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.0.pairs
    }

    /// The node of the leader that a node of the follower goes with.
    #[must_use]
    pub fn leader_of(&self, node: u32) -> Option<u32> {
        self.place(node as usize).map(|place| self.0.pairs[place].1)
    }

    /// Nodes of the follower's model that go with none, ascending.
    #[must_use]
    pub fn unmapped(&self) -> Vec<u32> {
        let places = (0..).zip(&self.0.places);
        places.filter(|(_, place)| **place == UNMAPPED).map(|(node, _)| node).collect()
    }

    /// Those of the [unmapped](Self::unmapped) nodes that are joints of a skin: vertices hang on them, so it is worth
    /// knowing that they move by themselves.
    #[must_use]
    pub fn unmapped_joints(&self) -> Vec<u32> {
        let mut nodes = self.unmapped();
        let is_joint = joints_of_skins(&self.0.follower);
        nodes.retain(|node| is_joint[*node as usize]);
        nodes
    }

    /// Place of a node of the follower among the pairs.
    pub(super) fn place(&self, node: usize) -> Option<usize> {
        self.0.places.get(node).filter(|place| **place != UNMAPPED).map(|place| *place as usize)
    }

    pub(super) fn follower(&self) -> &Model {
        &self.0.follower
    }

    pub(super) fn leader(&self) -> &Model {
        &self.0.leader
    }
}
