//! What solvers compute with, in f64.

use std::f64::consts::PI;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::animate::math::{atan2, sin_cos};

/// The inverse, where there is one.
pub(super) fn inverse(matrix: DAffine3) -> Option<DAffine3> {
    let inverse = matrix.inverse();
    (matrix.matrix3.determinant() != 0.0 && inverse.is_finite()).then_some(inverse)
}

/// In the direction of `v`; `None` where it has none.
pub(super) fn unit(v: DVec3) -> Option<DVec3> {
    // Neither overflow nor underflow of the square.
    let largest = v.abs().max_element();
    let v = v / largest;
    (largest > 0.0 && v.is_finite()).then(|| v / v.length())
}

/// A turn by `angle` about a unit axis.
pub(super) fn about(axis: DVec3, angle: f64) -> DQuat {
    let (sine, cosine) = sin_cos(angle / 2.0);
    DQuat::from_xyzw(axis.x * sine, axis.y * sine, axis.z * sine, cosine)
}

/// Between two vectors of any length, 0..=pi.
pub(super) fn angle_between(a: DVec3, b: DVec3) -> f64 {
    atan2(a.cross(b).length(), a.dot(b))
}

/// From `a` to `b` as seen against a unit axis on which both stand, -pi..=pi; counter-clockwise is positive.
pub(super) fn angle_about(axis: DVec3, a: DVec3, b: DVec3) -> f64 {
    atan2(axis.dot(a.cross(b)), a.dot(b))
}

/// What of `v` stands on a unit axis.
pub(super) fn across(axis: DVec3, v: DVec3) -> DVec3 {
    v - axis * axis.dot(v)
}

/// The shortest turn of the direction of `a` into that of `b`: a half turn about any axis between opposite ones.
pub(super) fn arc(a: DVec3, b: DVec3) -> Option<DQuat> {
    let (a, b) = (unit(a)?, unit(b)?);
    Some(match unit(a.cross(b)) {
        Some(axis) => about(axis, angle_between(a, b)),
        None if a.dot(b) > 0.0 => DQuat::IDENTITY,
        None => about(a.any_orthonormal_vector(), PI),
    })
}

/// The part of a turn that goes no further than `limit`, about the same axis.
pub(super) fn limited(turn: DQuat, limit: f64) -> DQuat {
    let (vector, w) = if turn.w < 0.0 { (-turn.xyz(), -turn.w) } else { (turn.xyz(), turn.w) };
    match unit(vector) {
        Some(axis) if 2.0 * atan2(vector.length(), w) > limit => about(axis, limit),
        _ => turn,
    }
}

/// `v` turned. As three.js does it, also where `q` is not quite of unit length.
pub(super) fn turned(q: DQuat, v: DVec3) -> DVec3 {
    let twice = 2.0 * q.xyz().cross(v);
    v + q.w * twice + q.xyz().cross(twice)
}

/// The rotation of a matrix: of its columns by their lengths, the first one turned round if it mirrors; the identity
/// if it has no volume. The arithmetic of three.js's `Matrix4.decompose`.
pub(super) fn rotation_of(matrix: &DMat3) -> DQuat {
    let determinant = matrix.determinant();
    if determinant == 0.0 {
        return DQuat::IDENTITY;
    }
    let lengths = DVec3::new(matrix.x_axis.length(), matrix.y_axis.length(), matrix.z_axis.length());
    let first = if determinant < 0.0 { -lengths.x } else { lengths.x };
    let (x, y, z) = (matrix.x_axis / first, matrix.y_axis / lengths.y, matrix.z_axis / lengths.z);
    let trace = x.x + y.y + z.z;
    // All components times four times the largest, which the diagonal tells.
    let (parts, largest) = if trace > 0.0 {
        ([y.z - z.y, z.x - x.z, x.y - y.x, trace + 1.0], 3)
    } else if x.x > y.y && x.x > z.z {
        ([1.0 + x.x - y.y - z.z, y.x + x.y, z.x + x.z, y.z - z.y], 0)
    } else if y.y > z.z {
        ([y.x + x.y, 1.0 + y.y - x.x - z.z, z.y + y.z, z.x - x.z], 1)
    } else {
        ([z.x + x.z, z.y + y.z, 1.0 + z.z - x.x - y.y, x.y - y.x], 2)
    };
    DQuat::from_array(parts.map(|part| part * 0.5 / parts[largest].sqrt()))
}

/// The local rotation under a parent that makes a rotation in model space, as [`rotation_of`] finds it.
pub(super) fn local_rotation(parent: &DMat3, rotation: DQuat) -> DQuat {
    let local = rotation_of(parent).conjugate() * rotation;
    // Seen in a mirror along the first axis, as the columns are.
    let is_mirror = parent.determinant() < 0.0;
    if is_mirror { DQuat::from_xyzw(local.x, -local.y, -local.z, local.w) } else { local }
}
