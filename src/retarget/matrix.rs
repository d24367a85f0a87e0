//! Transforms in f64, split and joined as three.js does: under scaled roots f32 would not hold a hundred
//! thousandth. Only IEEE operations in a fixed order.

use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};

use crate::{
    animate::{PoseMut, math::normalize},
    model::Skeleton,
};

/// A local transform. Split from a sheared matrix its quaternion has no unit length, and keeps it until it is
/// written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub(super) translation: DVec3,
    pub(super) rotation: DQuat,
    pub(super) scale: DVec3,
}

impl Local {
    pub(super) const IDENTITY: Self =
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    pub(super) fn of(pose: &PoseMut<'_>, node: usize) -> Self {
        Self {
            translation: pose.translations[node].as_dvec3(),
            rotation: pose.rotations[node].as_dquat(),
            scale: pose.scales[node].as_dvec3(),
        }
    }

    pub(super) fn matrix(self) -> DAffine3 {
        let turned = DMat3::from_quat(self.rotation);
        let [x, y, z] = self.scale.to_array();
        let matrix3 = DMat3::from_cols(turned.x_axis * x, turned.y_axis * y, turned.z_axis * z);
        DAffine3 { matrix3, translation: self.translation }
    }

    /// `Matrix4.decompose`: a mirroring matrix has its x scale negative, a flat one neither turns nor scales.
    pub(super) fn split(matrix: DAffine3) -> Self {
        let (translation, columns) = (matrix.translation, matrix.matrix3);
        let determinant = columns.determinant();
        if determinant == 0.0 {
            return Self { translation, ..Self::IDENTITY };
        }
        let mut scale = lengths(columns);
        if determinant < 0.0 {
            scale.x = -scale.x;
        }
        Self { translation, rotation: rotation(unscaled(columns, scale)), scale }
    }

    /// Into a pose, with unit length; what is no number leaves the pose as it is.
    pub(super) fn write(self, pose: &mut PoseMut<'_>, node: usize) {
        let (translation, scale) = (self.translation.as_vec3(), self.scale.as_vec3());
        if translation.is_finite() && scale.is_finite() && self.rotation.is_finite() {
            pose.translations[node] = translation;
            pose.rotations[node] = normalize(self.rotation.as_quat());
            pose.scales[node] = scale;
        }
    }
}

/// Lengths of the columns.
pub(super) fn lengths(matrix: DMat3) -> DVec3 {
    DVec3::new(matrix.x_axis.length(), matrix.y_axis.length(), matrix.z_axis.length())
}

/// Each column over its scale.
pub(super) fn unscaled(matrix: DMat3, scale: DVec3) -> DMat3 {
    let over = DVec3::ONE / scale;
    DMat3::from_cols(matrix.x_axis * over.x, matrix.y_axis * over.y, matrix.z_axis * over.z)
}

/// The quaternion of a rotation matrix, by the largest of its four squares (Shepperd 1978), with the thresholds
/// and signs of `Quaternion.setFromRotationMatrix`.
pub(super) fn rotation(matrix: DMat3) -> DQuat {
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

/// The inverse; all zero where there is none, as `Matrix4.invert` has it.
pub(super) fn inverse(matrix: DAffine3) -> DAffine3 {
    if matrix.matrix3.determinant() == 0.0 { DAffine3::ZERO } else { matrix.inverse() }
}

/// World transforms of the nodes that are needed, in the model's space.
#[derive(Clone, Debug)]
pub(super) struct Worlds {
    /// (node, its parent), parents first.
    chain: Vec<(u32, Option<u32>)>,
    /// By node; what is not needed stays the identity.
    pub(super) matrices: Vec<DAffine3>,
    /// Products of local rotations, by node: without scale, and so without shear.
    pub(super) rotations: Vec<DQuat>,
}

impl Worlds {
    /// For these nodes and all above them.
    pub(super) fn above(skeleton: &Skeleton, wanted: impl IntoIterator<Item = u32>) -> Self {
        let mut is_needed = vec![false; skeleton.len()];
        wanted.into_iter().for_each(|node| is_needed[node as usize] = true);
        for &node in skeleton.order().iter().rev() {
            if let Some(parent) = skeleton.parents()[node as usize] {
                is_needed[parent as usize] |= is_needed[node as usize];
            }
        }
        let needed = skeleton.order().iter().filter(|&&node| is_needed[node as usize]);
        Self {
            chain: needed.map(|&node| (node, skeleton.parents()[node as usize])).collect(),
            matrices: vec![DAffine3::IDENTITY; skeleton.len()],
            rotations: vec![DQuat::IDENTITY; skeleton.len()],
        }
    }

    pub(super) fn set(&mut self, pose: &PoseMut<'_>) {
        for at in 0..self.chain.len() {
            let (node, parent) = self.chain[at];
            self.place(node, parent, Local::of(pose, node as usize));
        }
    }

    /// One node under its parent.
    pub(super) fn place(&mut self, node: u32, parent: Option<u32>, local: Local) {
        let (matrix, rotation) = self.at(parent);
        self.matrices[node as usize] = matrix * local.matrix();
        self.rotations[node as usize] = unit(rotation * local.rotation);
    }

    /// Where a node is; what stands above all roots for `None`.
    pub(super) fn at(&self, node: Option<u32>) -> (DAffine3, DQuat) {
        node.map_or((DAffine3::IDENTITY, DQuat::IDENTITY), |node| {
            (self.matrices[node as usize], self.rotations[node as usize])
        })
    }

    pub(super) fn chain(&self) -> &[(u32, Option<u32>)] {
        &self.chain
    }
}

/// Unit length; the identity where there is no direction.
pub(super) fn unit(q: DQuat) -> DQuat {
    let square = q.length_squared();
    if square > 1e-200 && square.is_finite() { q * (1.0 / square.sqrt()) } else { DQuat::IDENTITY }
}

/// As an f32 vector where that is a number.
pub(super) fn finite(v: DVec3) -> Option<Vec3> {
    Some(v.as_vec3()).filter(|v| v.is_finite())
}
