//! Transforms in f64, for what takes many steps from one pose to the next and rounds once: under an armature of scale
//! 0.01, f32 would not hold a hundred thousandth. Split as three.js splits them; only IEEE operations in a fixed order.

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3};

use super::{
    PoseMut, PoseRef,
    math::{atan2, normalize, sin_cos},
};
use crate::model::Transform;

/// In f64.
pub(crate) fn exact(matrix: Affine3A) -> DAffine3 {
    DAffine3 { matrix3: matrix.matrix3.as_dmat3(), translation: matrix.translation.as_dvec3() }
}

/// In f32.
pub(crate) fn rounded(matrix: DAffine3) -> Affine3A {
    Affine3A { matrix3: matrix.matrix3.as_mat3().into(), translation: matrix.translation.as_vec3a() }
}

/// A local transform. Split from a sheared matrix its quaternion has no unit length, and keeps it until it is
/// written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactLocal {
    pub(crate) translation: DVec3,
    pub(crate) rotation: DQuat,
    pub(crate) scale: DVec3,
}

impl From<Transform> for ExactLocal {
    fn from(local: Transform) -> Self {
        Self {
            translation: local.translation.as_dvec3(),
            rotation: local.rotation.as_dquat(),
            scale: local.scale.as_dvec3(),
        }
    }
}

impl ExactLocal {
    pub(crate) const IDENTITY: Self =
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    pub(crate) fn of(pose: PoseRef<'_>, node: usize) -> Self {
        pose.transform(node as u32).into()
    }

    pub(crate) fn matrix(self) -> DAffine3 {
        let turned = DMat3::from_quat(self.rotation);
        let [x, y, z] = self.scale.to_array();
        let matrix3 = DMat3::from_cols(turned.x_axis * x, turned.y_axis * y, turned.z_axis * z);
        DAffine3 { matrix3, translation: self.translation }
    }

    /// `Matrix4.decompose`: a mirroring matrix has its x scale negative, a flat one neither turns nor scales.
    pub(crate) fn split(matrix: DAffine3) -> Self {
        let (rotation, scale) = split_linear(&matrix.matrix3).unwrap_or((DQuat::IDENTITY, DVec3::ONE));
        Self { translation: matrix.translation, rotation, scale }
    }

    /// Into a pose, with unit length; what is no number leaves the pose as it is.
    pub(crate) fn write(self, pose: &mut PoseMut<'_>, node: usize) {
        let (translation, scale) = (self.translation.as_vec3(), self.scale.as_vec3());
        if translation.is_finite() && scale.is_finite() && self.rotation.is_finite() {
            pose.translations[node] = translation;
            pose.rotations[node] = normalize(self.rotation.as_quat());
            pose.scales[node] = scale;
        }
    }
}

/// Rotation and scale of a matrix, the first scale negative if it mirrors; `None` if it has no volume.
fn split_linear(matrix: &DMat3) -> Option<(DQuat, DVec3)> {
    let determinant = matrix.determinant();
    if determinant == 0.0 {
        return None;
    }
    let mut scale = lengths(matrix);
    if determinant < 0.0 {
        scale.x = -scale.x;
    }
    Some((of_orthogonal(unscaled(matrix, scale)), scale))
}

/// The rotation of a matrix: of its columns by their lengths, the first one turned round if it mirrors; the identity
/// if it has no volume.
pub(crate) fn rotation_of(matrix: &DMat3) -> DQuat {
    split_linear(matrix).map_or(DQuat::IDENTITY, |(rotation, _)| rotation)
}

/// Lengths of the columns.
pub(crate) fn lengths(matrix: &DMat3) -> DVec3 {
    DVec3::new(matrix.x_axis.length(), matrix.y_axis.length(), matrix.z_axis.length())
}

/// Each column over its scale.
pub(crate) fn unscaled(matrix: &DMat3, scale: DVec3) -> DMat3 {
    let over = DVec3::ONE / scale;
    DMat3::from_cols(matrix.x_axis * over.x, matrix.y_axis * over.y, matrix.z_axis * over.z)
}

/// The quaternion of a rotation matrix, by the largest of its four squares (Shepperd 1978), with the thresholds
/// and signs of `Quaternion.setFromRotationMatrix`.
pub(crate) fn of_orthogonal(matrix: DMat3) -> DQuat {
    let [[m11, m21, m31], [m12, m22, m32], [m13, m23, m33]] = matrix.to_cols_array_2d();
    let trace = m11 + m22 + m33;
    if trace > 0.0 {
        let s = 2.0 * (trace + 1.0).sqrt();
        DQuat::from_xyzw((m32 - m23) / s, (m13 - m31) / s, (m21 - m12) / s, 0.25 * s)
    } else if m11 > m22 && m11 > m33 {
        let s = 2.0 * (1.0 + m11 - m22 - m33).sqrt();
        DQuat::from_xyzw(0.25 * s, (m12 + m21) / s, (m13 + m31) / s, (m32 - m23) / s)
    } else if m22 > m33 {
        let s = 2.0 * (1.0 + m22 - m11 - m33).sqrt();
        DQuat::from_xyzw((m12 + m21) / s, 0.25 * s, (m23 + m32) / s, (m13 - m31) / s)
    } else {
        let s = 2.0 * (1.0 + m33 - m11 - m22).sqrt();
        DQuat::from_xyzw((m13 + m31) / s, (m23 + m32) / s, 0.25 * s, (m21 - m12) / s)
    }
}

/// The inverse, where there is one.
pub(crate) fn inverse(matrix: DAffine3) -> Option<DAffine3> {
    let inverse = matrix.inverse();
    (matrix.matrix3.determinant() != 0.0 && inverse.is_finite()).then_some(inverse)
}

/// In the direction of `v`; `None` where it has none.
pub(crate) fn direction(v: DVec3) -> Option<DVec3> {
    // Neither overflow nor underflow of the square.
    let largest = v.abs().max_element();
    let v = v / largest;
    (largest > 0.0 && v.is_finite()).then(|| v / v.length())
}

/// Unit length; the identity where there is no direction.
pub(crate) fn unit(q: DQuat) -> DQuat {
    let square = q.length_squared();
    if square > 1e-200 && square.is_finite() { q * (1.0 / square.sqrt()) } else { DQuat::IDENTITY }
}

/// A turn by `angle` about a unit axis.
pub(crate) fn about(axis: DVec3, angle: f64) -> DQuat {
    let (sine, cosine) = sin_cos(angle / 2.0);
    DQuat::from_xyzw(axis.x * sine, axis.y * sine, axis.z * sine, cosine)
}

/// Between two vectors of any length, 0..=pi.
pub(crate) fn angle_between(a: DVec3, b: DVec3) -> f64 {
    atan2(a.cross(b).length(), a.dot(b))
}

/// A unit axis across two unit vectors, about which the first turns into the second; any one across where both point
/// the same way or opposite ways.
pub(crate) fn axis_between(a: DVec3, b: DVec3) -> DVec3 {
    /// Sine below which the product of opposite directions is rounding alone, which need not stand across them.
    const OPPOSITE: f64 = 1e-8;
    let cross = a.cross(b);
    let is_rounding = a.dot(b) < 0.0 && cross.length() < OPPOSITE;
    direction(cross).filter(|_| !is_rounding).unwrap_or_else(|| a.any_orthonormal_vector())
}

/// The shortest turn of the direction of `a` into that of `b`: a half turn about any axis across between opposite ones.
pub(crate) fn arc(a: DVec3, b: DVec3) -> Option<DQuat> {
    let (a, b) = (direction(a)?, direction(b)?);
    Some(about(axis_between(a, b), angle_between(a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: [DVec3; 5] = [
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(-0.3, 0.5, 0.2),
        DVec3::new(0.1, -0.7, 1e-3),
        DVec3::new(1e-160, 2e-160, -3e-160),
        DVec3::new(3e155, -1e155, 2e155),
    ];

    #[test]
    fn a_transform_is_split_into_what_it_was_made_of() {
        for axis in SOME.map(|v| direction(v).unwrap()) {
            for (angle, x) in [(0.0, 1.0), (1.0, -2.0), (2.5, 3.0), (3.1, -0.01)] {
                let scale = DVec3::new(x, 0.5, 4.0);
                let local = ExactLocal { translation: DVec3::ONE, rotation: about(axis, angle), scale };
                let split = ExactLocal::split(local.matrix());
                assert!((split.scale - scale).length() < 1e-14, "{angle}");
                assert!(split.rotation.dot(local.rotation).abs() > 1.0 - 1e-14, "{angle}");
                assert_eq!(rotation_of(&local.matrix().matrix3), split.rotation);
            }
        }
    }

    #[test]
    fn a_flat_transform_neither_turns_nor_scales_and_has_no_inverse() {
        let flat = DAffine3::from_scale_rotation_translation(
            DVec3::new(1.0, 0.0, 1.0),
            about(DVec3::Y, 1.0),
            DVec3::X,
        );
        let split = ExactLocal::split(flat);
        assert_eq!((split.translation, split.rotation, split.scale), (DVec3::X, DQuat::IDENTITY, DVec3::ONE));
        assert_eq!(inverse(flat), None);
    }

    #[test]
    fn an_arc_brings_one_direction_to_the_other() {
        for (a, b) in SOME.iter().flat_map(|a| SOME.iter().map(move |b| (*a, *b))) {
            let turned = arc(a, b).unwrap() * direction(a).unwrap();
            assert!((turned - direction(b).unwrap()).length() < 1e-14, "{a} {b}");
        }
        assert_eq!((arc(DVec3::ZERO, DVec3::X), arc(DVec3::X, DVec3::NAN)), (None, None));
    }

    #[test]
    fn an_arc_between_nearly_opposite_directions_is_half_a_turn() {
        for a in SOME.map(|v| direction(v).unwrap()) {
            for (i, off) in [0.0, 1e-17, 1e-16, 3e-16, 1e-15, 1e-12, 1e-9, 1e-7].into_iter().enumerate() {
                let b = -a + DVec3::new(0.3, -0.6, 0.7) * off;
                let turned = arc(a, b).unwrap() * a;
                assert!((turned - direction(b).unwrap()).length() < 2e-8, "{a} {i}: {turned}");
            }
        }
    }
}
