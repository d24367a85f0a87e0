//! What solvers compute with, in f64.

use glam::{DMat3, DQuat, DVec3};

use crate::animate::{
    exact::{about, direction, rotation_of},
    math::atan2,
};

/// From `a` to `b` as seen against a unit axis on which both stand, -pi..=pi; counter-clockwise is positive.
pub(super) fn angle_about(axis: DVec3, a: DVec3, b: DVec3) -> f64 {
    atan2(axis.dot(a.cross(b)), a.dot(b))
}

/// What of `v` stands on a unit axis.
pub(super) fn across(axis: DVec3, v: DVec3) -> DVec3 {
    v - axis * axis.dot(v)
}

/// The part of a turn that goes no further than `limit`, about the same axis.
pub(super) fn limited(turn: DQuat, limit: f64) -> DQuat {
    let (vector, w) = if turn.w < 0.0 { (-turn.xyz(), -turn.w) } else { (turn.xyz(), turn.w) };
    match direction(vector) {
        Some(axis) if 2.0 * atan2(vector.length(), w) > limit => about(axis, limit),
        _ => turn,
    }
}

/// `v` turned. As three.js does it, also where `q` is not quite of unit length.
pub(super) fn turned(q: DQuat, v: DVec3) -> DVec3 {
    let twice = 2.0 * q.xyz().cross(v);
    v + q.w * twice + q.xyz().cross(twice)
}

/// The local rotation under a parent that makes a rotation in model space, as [`rotation_of`] finds it.
pub(super) fn local_rotation(parent: &DMat3, rotation: DQuat) -> DQuat {
    let local = rotation_of(parent).conjugate() * rotation;
    // Seen in a mirror along the first axis, as the columns are.
    let is_mirror = parent.determinant() < 0.0;
    if is_mirror { DQuat::from_xyzw(local.x, -local.y, -local.z, local.w) } else { local }
}
