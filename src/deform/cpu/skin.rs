//! Twin of wgsl/skin.wgsl.

use glam::{Vec3, Vec4};

use super::source::Vertex;
use crate::{animate::JointMatrix, deform::codec::TINY};

#[derive(Clone, Copy, Default)]
pub(super) struct Rows {
    pub(super) x: Vec4,
    pub(super) y: Vec4,
    pub(super) z: Vec4,
}

impl From<JointMatrix> for Rows {
    fn from(m: JointMatrix) -> Self {
        Self { x: m.x.into(), y: m.y.into(), z: m.z.into() }
    }
}

pub(super) struct Skinned {
    pub(super) position: Vec3,
    /// Of any length but zero, and reversed where the determinant is negative.
    pub(super) normal: Vec3,
    /// Only its sign is of use: negative where the blended matrix mirrors.
    pub(super) determinant: f32,
}

pub(super) fn scaled(m: Rows, weight: f32) -> Rows {
    Rows { x: m.x * weight, y: m.y * weight, z: m.z * weight }
}

pub(super) fn added(sum: Rows, m: Rows, weight: f32) -> Rows {
    Rows { x: sum.x + m.x * weight, y: sum.y + m.y * weight, z: sum.z + m.z * weight }
}

/// Less than what determinants are; added, none is a negative zero.
const VANISHES: f32 = 1e-37;

pub(super) fn largest(m: Rows) -> f32 {
    let rows = [m.x, m.y, m.z].map(|r| r.truncate().abs());
    rows[0].max(rows[1]).max(rows[2]).max_element()
}

/// The linear part's rows; where `is_scaled`, times what brings the largest coefficient to 1, so that products
/// neither vanish nor overflow. Weights of up to 1 need no such care: what a palette may hold is bounded.
fn linear(m: Rows, is_scaled: bool) -> [Vec3; 3] {
    let scale = if is_scaled { 1.0 / largest(m).max(1e-30) } else { 1.0 };
    [m.x, m.y, m.z].map(|row| row.truncate() * scale)
}

/// `least` where it vanishes.
fn dot_or(a: Vec3, b: Vec3, least: f32) -> f32 {
    a.x * b.x + (a.y * b.y + (a.z * b.z + least))
}

pub(super) fn mirrors(m: Rows, is_scaled: bool) -> bool {
    let [x, y, z] = linear(m, is_scaled);
    dot_or(x.cross(y), z, VANISHES) < 0.0
}

/// Positions by the matrix, normals by its cofactor matrix: the inverse transpose up to the determinant, finite
/// when singular. Its first two rows share the product of row z with the normal. Where no joint at hand mirrors,
/// `may_mirror` says so, and the determinant is not looked at.
pub(super) fn skin_vertex(m: Rows, source: &Vertex, is_scaled: bool, may_mirror: bool) -> Skinned {
    let p = source.position;
    let row = |r: Vec4| r.x * p.x + r.y * p.y + r.z * p.z + r.w;
    let position = Vec3::new(row(m.x), row(m.y), row(m.z));
    let [x, y, z] = linear(m, is_scaled);
    let xy = x.cross(y);
    let zn = z.cross(source.normal);
    let normal = Vec3::new(y.dot(zn), -x.dot(zn), dot_or(xy, source.normal, TINY));
    let determinant = if may_mirror { dot_or(xy, z, VANISHES) } else { 1.0 };
    Skinned { position, normal, determinant }
}

/// By the linear part; of any length but zero.
pub(super) fn skin_tangent(m: Rows, t: Vec3, is_scaled: bool) -> Vec3 {
    let [x, y, z] = linear(m, is_scaled);
    Vec3::new(x.dot(t), y.dot(t), dot_or(z, t, TINY))
}
