use glam::{DVec3, Vec3};

use super::error::{IkError, check_node};
use crate::{
    animate::{Posed, exact::inverse},
    model::Skeleton,
};

/// A point that a solver reaches for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Where a node of the same instance then is.
    Node(u32),
    /// In model space, the instance's own.
    Model(Vec3),
    /// In the space of the scene, where the instance stands under its transform.
    Scene(Vec3),
}

impl Target {
    /// Where it is in model space; `None` where that is no point, such as of a node that does not exist or
    /// under a transform without a volume.
    pub(super) fn position(self, posed: &mut Posed<'_>) -> Option<DVec3> {
        let position = match self {
            Self::Node(node) => {
                check_node(posed.skeleton(), node).ok()?;
                posed.exact_world(node).translation
            }
            Self::Model(point) => point.as_dvec3(),
            Self::Scene(point) => inverse(posed.exact_transform())?.transform_point3(point.as_dvec3()),
        };
        position.is_finite().then_some(position)
    }

    pub(super) fn check(self, skeleton: &Skeleton) -> Result<(), IkError> {
        match self {
            Self::Node(node) => check_node(skeleton, node),
            Self::Model(_) | Self::Scene(_) => Ok(()),
        }
    }
}
