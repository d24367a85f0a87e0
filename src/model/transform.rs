use glam::{Affine3A, Mat3A, Mat4, Quat, Vec3};

/// A local transform kept as translation, rotation and scale, applied in the order scale, rotation,
/// translation. Animated matrices are never decomposed, so this is the only form a pose is stored in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Metres, in the parent's space.
    pub translation: Vec3,
    /// A unit quaternion, `xyzw`.
    pub rotation: Quat,
    /// Per axis, before the rotation. Zero and negative values are legal.
    pub scale: Vec3,
}

impl Transform {
    /// No change at all.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// Only a translation.
    #[must_use]
    pub const fn from_translation(translation: Vec3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// The matrix `T · R · S`.
    #[must_use]
    pub fn to_affine(self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Whether every component is a number.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// What takes normals where `m` takes the surface: the cofactor matrix times the sign of the determinant. The inverse
/// transpose up to a factor above zero, but finite where `m` is singular. Lengths are not kept.
pub(crate) fn normal_matrix(m: Mat3A) -> Mat3A {
    let orientation = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    let cofactors =
        Mat3A::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis));
    cofactors * orientation
}

/// Whether the fourth row of a column-vector matrix is `0 0 0 1`.
pub(crate) fn is_affine(matrix: Mat4) -> bool {
    matrix.row(3).abs_diff_eq(glam::Vec4::W, 1e-5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_stay_upright_on_surfaces_that_are_sheared_mirrored_or_flat() {
        let shear = Mat3A::from_cols_array(&[2.0, 0.0, 0.0, 1.0, -0.5, 0.0, 0.3, 0.2, 3.0]);
        let flat = Mat3A::from_cols_array(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        // The plane z = 0 with its normal along z; a mirror along x leaves the outside where it is.
        for (m, expected) in [
            (Mat3A::IDENTITY, Vec3::Z),
            (Mat3A::from_diagonal(Vec3::new(-2.0, 1.0, 1.0)), Vec3::Z),
            (Mat3A::from_diagonal(Vec3::new(1.0, 1.0, -1.0)), Vec3::NEG_Z),
            (flat, Vec3::Z),
            (Mat3A::ZERO, Vec3::ZERO),
        ] {
            assert_eq!(Vec3::from(normal_matrix(m).z_axis).normalize_or_zero(), expected, "{m}");
        }
        let normal = normal_matrix(shear).z_axis;
        assert!(normal.dot(shear.x_axis).abs() < 1e-6 && normal.dot(shear.y_axis).abs() < 1e-6);
        assert!(normal.dot(shear.z_axis) > 0.0);
    }
}
