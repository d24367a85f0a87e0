use glam::Vec3;

use super::{
    EulerBounds, Target,
    error::{IkError, check_node, path},
};
use crate::model::Skeleton;

/// What one chain of a [`Ccd`](super::Ccd) is like. The defaults are those of three.js.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The node that is to reach the target.
    pub effector: u32,
    /// The nodes that turn for it, each above the effector, in the order in which they turn: usually the lowest first.
    pub links: Vec<Link>,
    /// What the effector reaches for; where it is when solving begins.
    pub target: Target,
    /// How often all links turn, unless none needs to any more.
    pub iterations: u32,
    /// No turn is smaller than this, in radians.
    pub min_angle: Option<f32>,
    /// No turn is larger than this, in radians.
    pub max_angle: Option<f32>,
    /// How much of what the chain does is taken, 0 to 1; that of the solver if there is none.
    pub blend: Option<f32>,
    /// Whether it is solved at all when the solver runs.
    pub enabled: bool,
}

/// One node of a [`Chain`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The node.
    pub node: u32,
    /// Whether it turns. One that does not ends an iteration: those after it do not turn either.
    pub enabled: bool,
    /// The only axis about which it is turned away from its parent, in its own space and of any length; whatever else
    /// its rotation was is lost.
    pub axis: Option<Vec3>,
    /// Between which angles its rotation stays.
    pub bounds: Option<EulerBounds>,
}

impl Link {
    /// A node that turns without limits.
    #[must_use]
    pub const fn new(node: u32) -> Self {
        Self { node, enabled: true, axis: None, bounds: None }
    }
}

impl From<u32> for Link {
    fn from(node: u32) -> Self {
        Self::new(node)
    }
}

impl Chain {
    /// Links that turn without limits, once.
    #[must_use]
    pub fn new(effector: u32, links: impl IntoIterator<Item = impl Into<Link>>, target: Target) -> Self {
        Self {
            effector,
            links: links.into_iter().map(Into::into).collect(),
            target,
            iterations: 1,
            min_angle: None,
            max_angle: None,
            blend: None,
            enabled: true,
        }
    }

    /// The nodes from the highest link to the effector; refuses what cannot be solved.
    pub(super) fn check(&self, skeleton: &Skeleton) -> Result<Vec<u32>, IkError> {
        check_node(skeleton, self.effector)?;
        self.target.check(skeleton)?;
        self.blend.map_or(Ok(()), check_blend)?;
        let bad = |angle: &f32| !(*angle >= 0.0);
        if let Some(angle) = self.min_angle.into_iter().chain(self.max_angle).find(bad) {
            return Err(IkError::BadAngle { angle });
        }
        let mut longest = Vec::new();
        for link in &self.links {
            let nodes = path(skeleton, link.node, self.effector)?;
            if nodes.len() > longest.len() {
                longest = nodes;
            }
            let has_direction = |axis: &Vec3| axis.is_finite() && *axis != Vec3::ZERO;
            if let Some(axis) = link.axis.filter(|axis| !has_direction(axis)) {
                return Err(IkError::BadAxis { node: link.node, axis });
            }
            link.bounds.map_or(Ok(()), |bounds| bounds.check(link.node))?;
        }
        Ok(longest)
    }
}

/// Refuses what is not 0 to 1.
pub(super) fn check_blend(blend: f32) -> Result<(), IkError> {
    if (0.0..=1.0).contains(&blend) { Ok(()) } else { Err(IkError::BlendOutOfRange { blend }) }
}
