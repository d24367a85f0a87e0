use crate::model::Skeleton;

/// Why a solver was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IkError {
    /// The skeleton has no such node.
    #[error("there is no node {node}; the skeleton has {nodes}")]
    UnknownNode {
        /// What was asked for.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// One node does not hang on the other.
    #[error("node {upper} is not above node {lower}: it must be its parent, or that one's, and so on")]
    NotAbove {
        /// What should be the ancestor.
        upper: u32,
        /// What should be below it.
        lower: u32,
    },
    /// The solver has no such chain.
    #[error("there is no chain {chain}; the solver has {chains}")]
    UnknownChain {
        /// What was asked for.
        chain: usize,
        /// How many there are.
        chains: usize,
    },
    /// The chain has no such link.
    #[error("chain {chain} has no link {link}; it has {links}")]
    UnknownLink {
        /// The chain.
        chain: usize,
        /// What was asked for.
        link: usize,
        /// How many there are.
        links: usize,
    },
    /// A blend that is none.
    #[error("a blend is 0 to 1, not {blend}")]
    BlendOutOfRange {
        /// What was given.
        blend: f32,
    },
    /// An angle that is none.
    #[error("the least and the largest angle of a turn are 0 or more, not {angle}")]
    BadAngle {
        /// What was given.
        angle: f32,
    },
    /// An axis without a direction.
    #[error("the axis of node {node} has no direction: {axis:?}")]
    BadAxis {
        /// The link's node.
        node: u32,
        /// What was given.
        axis: glam::Vec3,
    },
    /// Bounds that nothing is within.
    #[error("no angle is within the bounds of node {node}: {min:?} to {max:?}")]
    BadBounds {
        /// The link's node.
        node: u32,
        /// The lower one.
        min: Option<glam::Vec3>,
        /// The upper one.
        max: Option<glam::Vec3>,
    },
}

/// Refuses a node that does not exist.
pub(super) fn check_node(skeleton: &Skeleton, node: u32) -> Result<(), IkError> {
    let nodes = skeleton.len();
    if (node as usize) < nodes { Ok(()) } else { Err(IkError::UnknownNode { node, nodes }) }
}

/// The nodes from `upper` down to `lower`, both of them too; refuses where that is no way downwards.
pub(super) fn path(skeleton: &Skeleton, upper: u32, lower: u32) -> Result<Vec<u32>, IkError> {
    check_node(skeleton, upper)?;
    check_node(skeleton, lower)?;
    let mut nodes = vec![lower];
    let mut last = lower;
    while last != upper || nodes.len() == 1 {
        last = skeleton.parents()[last as usize].ok_or(IkError::NotAbove { upper, lower })?;
        nodes.push(last);
    }
    nodes.reverse();
    Ok(nodes)
}
