use glam::{Affine3A, Mat4, Quat, Vec3};

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

/// Whether the fourth row of a column-vector matrix is `0 0 0 1`.
pub(crate) fn is_affine(matrix: Mat4) -> bool {
    matrix.row(3).abs_diff_eq(glam::Vec4::W, 1e-5)
}
