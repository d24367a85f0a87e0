use glam::Affine3A;

use super::Transform;

/// A node hierarchy with its rest pose. Joints are nodes; so are cameras, hats and empties between them.
///
/// Indices are the caller's (for glTF: the file's node indices) and never change. Parents may come
/// after their children; [`Skeleton::order`] lists parents first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    names: Vec<String>,
    parents: Vec<Option<u32>>,
    rest: Vec<Transform>,
    order: Vec<u32>,
    depth: u32,
}

/// One node of a skeleton under construction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// May be empty, need not be unique.
    pub name: String,
    /// Index of the parent in the same list.
    pub parent: Option<u32>,
    /// Where the node rests, in its parent's space.
    pub rest: Transform,
}

/// Why a node list is not a skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// A parent index points past the list.
    #[error("node {node} names parent {parent}, but there are {nodes} nodes")]
    ParentOutOfRange {
        /// The child.
        node: u32,
        /// Its claimed parent.
        parent: u32,
        /// Length of the list.
        nodes: usize,
    },
    /// Following parents never reaches a root.
    #[error("node {node} is its own ancestor; a hierarchy must be a forest")]
    Cycle {
        /// One node of the cycle.
        node: u32,
    },
    /// A rest transform holds NaN or infinity.
    #[error("the rest transform of node {node} is not finite")]
    NotFinite {
        /// The node.
        node: u32,
    },
}

impl Skeleton {
    /// Checks the forest and sorts it, parents first. No recursion: any depth is accepted.
    pub fn new(nodes: Vec<Node>) -> Result<Self, SkeletonError> {
        let count = nodes.len();
        for (index, node) in (0u32..).zip(&nodes) {
            if let Some(parent) = node.parent.filter(|&p| p as usize >= count) {
                return Err(SkeletonError::ParentOutOfRange { node: index, parent, nodes: count });
            }
            if !node.rest.is_finite() {
                return Err(SkeletonError::NotFinite { node: index });
            }
        }
        let parents: Vec<_> = nodes.iter().map(|n| n.parent).collect();
        let order = parents_first(&parents)?;
        let rest = nodes.iter().map(|n| n.rest).collect();
        let mut depths = vec![1; count];
        for &node in &order {
            if let Some(parent) = parents[node as usize] {
                depths[node as usize] = depths[parent as usize] + 1;
            }
        }
        let depth = depths.into_iter().max().unwrap_or(0);
        Ok(Self { names: nodes.into_iter().map(|n| n.name).collect(), parents, rest, order, depth })
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Node names by index; empty where the source had none.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Parents by index.
    #[must_use]
    pub fn parents(&self) -> &[Option<u32>] {
        &self.parents
    }

    /// Rest transforms by index, each in its parent's space.
    #[must_use]
    pub fn rest(&self) -> &[Transform] {
        &self.rest
    }

    /// Every node once, parents before children.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// A node and everything below it, parents before children; nothing where there is no such node.
    #[must_use]
    pub fn sub_tree(&self, root: u32) -> Vec<u32> {
        let mut is_inside = vec![false; self.len()];
        for &node in &self.order {
            let parent = self.parents[node as usize];
            is_inside[node as usize] =
                node == root || parent.is_some_and(|parent| is_inside[parent as usize]);
        }
        self.order.iter().copied().filter(|&node| is_inside[node as usize]).collect()
    }

    /// Levels: 0 without nodes, 1 for roots alone.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The first node with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|n| n == name).map(|i| i as u32)
    }

    /// The rest pose in model space.
    #[must_use]
    pub fn rest_world(&self) -> Vec<Affine3A> {
        let mut world = vec![Affine3A::IDENTITY; self.len()];
        for &node in &self.order {
            let local = self.rest[node as usize].to_affine();
            world[node as usize] = match self.parents[node as usize] {
                Some(parent) => world[parent as usize] * local,
                None => local,
            };
        }
        world
    }
}

/// Breadth-first from the roots; whatever is not reached hangs on a cycle.
fn parents_first(parents: &[Option<u32>]) -> Result<Vec<u32>, SkeletonError> {
    let mut first_child = vec![u32::MAX; parents.len()];
    let mut next_sibling = vec![u32::MAX; parents.len()];
    let mut order = Vec::with_capacity(parents.len());
    for (node, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            next_sibling[node] = first_child[*parent as usize];
            first_child[*parent as usize] = node as u32;
        }
    }
    order.extend((0u32..).zip(parents).filter(|(_, p)| p.is_none()).map(|(n, _)| n));
    let mut at = 0;
    while at < order.len() {
        let mut child = first_child[order[at] as usize];
        while child != u32::MAX {
            order.push(child);
            child = next_sibling[child as usize];
        }
        at += 1;
    }
    if order.len() == parents.len() {
        return Ok(order);
    }
    let mut reached = vec![false; parents.len()];
    for &node in &order {
        reached[node as usize] = true;
    }
    let node = reached.iter().position(|r| !r).map_or(0, |n| n as u32);
    Err(SkeletonError::Cycle { node })
}
