use std::{error::Error, f32::consts::PI};

use glam::{DQuat, DVec3, Vec3};

use super::{
    IkError, Target,
    error::check_node,
    rotation::{across, angle_about, limited},
};
use crate::{
    animate::{
        Modifier, Posed,
        exact::{about, arc, direction, inverse},
    },
    model::{Model, Skeleton},
};

/// A node that faces a target: its forward axis points there, and its up axis leans to where up is.
///
/// Exact under parents that are scaled in any way. Nothing turns where the target is on the node or nearer to it than
/// the line of sight passes, where an axis has no direction or the node no size. Where the target is straight up or
/// down, nothing turns about the line of sight.
///
/// For a look that goes through neck and spine too, add one for each, the lowest first, with a
/// [weight](crate::animate::Animator::set_modifier_weight) each.
#[derive(Clone, Debug)]
pub struct Aim {
    node: u32,
    /// What to face; the origin of model space at first.
    pub target: Target,
    /// The axis of the node that points to the target, of any length; z at first, as glTF's models face.
    pub forward: Vec3,
    /// The axis of the node that is up, of any length; y at first.
    pub up_axis: Vec3,
    /// In which direction of model space up is, of any length; y at first. `None` leaves out the turn about the line of
    /// sight.
    pub up: Option<Vec3>,
    /// Where the line of sight begins, in the node's own space, such as the eyes of a head; the node itself at first.
    pub offset: Vec3,
    /// How far the node turns away from its pose at most, in radians; pi at first, which is no limit.
    pub limit: f32,
}

impl Aim {
    /// Of a node whose z axis points to the origin of model space and whose y axis is up, until it is told otherwise.
    pub fn new(skeleton: &Skeleton, node: u32) -> Result<Self, IkError> {
        check_node(skeleton, node)?;
        let (forward, up_axis, up) = (Vec3::Z, Vec3::Y, Some(Vec3::Y));
        Ok(Self {
            node,
            target: Target::Model(Vec3::ZERO),
            forward,
            up_axis,
            up,
            offset: Vec3::ZERO,
            limit: PI,
        })
    }

    /// The turn of the node in the space of its parent; `None` where there is none.
    fn turn(&self, posed: &mut Posed<'_>) -> Option<DQuat> {
        let target = self.target.position(posed)?;
        let back = inverse(posed.exact_parent(self.node))?;
        let local = posed.local(self.node);
        let (rotation, scale) = (local.rotation.as_dquat(), local.scale.as_dvec3());
        let seen = |own: Vec3| rotation * (scale * own.as_dvec3());
        let (forward, offset) = (direction(seen(self.forward))?, seen(self.offset));
        let (target, place) = (back.transform_point3(target), local.translation.as_dvec3());
        let way = target - place;
        // Closer than f32 tells apart is on the node.
        if way.length() <= 1e-6 * (target.length() + place.length()) {
            return None;
        }
        // The point of the line of sight that is as far from the node as the target.
        let along = forward.dot(offset);
        let square = along * along - offset.length_squared() + way.length_squared();
        let sight = square.sqrt() - along;
        if !(sight > 0.0) {
            return None;
        }
        let turn = arc(offset + forward * sight, way)?;
        let twist = self.up.and_then(|up| {
            let axis = direction(way)?;
            side(axis, turn * seen(self.up_axis))
                .zip(side(axis, back.transform_vector3(up.as_dvec3())))
                .map(|(own, up)| about(axis, angle_about(axis, own, up)))
        });
        Some(twist.map_or(turn, |twist| twist * turn))
    }
}

impl Modifier for Aim {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        let Some(turn) = self.turn(posed).filter(|turn| turn.is_finite()) else { return };
        let turn = limited(turn, f64::from(self.limit.max(0.0)));
        let rotation = posed.local(self.node).rotation.as_dquat();
        posed.set_rotation(self.node, (turn * rotation).as_quat());
    }

    fn check(&self, model: &Model) -> Result<(), Box<dyn Error + Send + Sync>> {
        check_node(model.skeleton(), self.node)?;
        Ok(self.target.check(model.skeleton())?)
    }
}

/// What of `v` stands on a unit axis, if it is not along it.
fn side(axis: DVec3, v: DVec3) -> Option<DVec3> {
    let side = across(axis, v);
    (side.length() > 1e-6 * v.length()).then_some(side)
}
