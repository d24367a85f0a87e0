//! Twin of wgsl/skin.wgsl.

use glam::{Vec3, Vec4};

use super::source::Vertex;
use crate::animate::JointMatrix;

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
    pub(super) vertex: Vertex,
    /// 1, or -1 where the blended matrix mirrors.
    pub(super) orientation: f32,
}

pub(super) fn scaled(m: Rows, weight: f32) -> Rows {
    Rows { x: m.x * weight, y: m.y * weight, z: m.z * weight }
}

pub(super) fn added(sum: Rows, m: Rows, weight: f32) -> Rows {
    Rows { x: sum.x + m.x * weight, y: sum.y + m.y * weight, z: sum.z + m.z * weight }
}

/// Unit length; `fallback` where `v` has no direction. Components are cut to what can be squared.
fn unit_or(v: Vec3, fallback: Vec3) -> Vec3 {
    let cut = v.clamp(Vec3::splat(-1e18), Vec3::splat(1e18));
    let square = cut.dot(cut);
    if square > 1e-30 { cut * (1.0 / square.sqrt()) } else { fallback }
}

fn largest(m: Rows) -> f32 {
    let rows = [m.x, m.y, m.z].map(|r| r.truncate().abs());
    rows[0].max(rows[1]).max(rows[2]).max_element()
}

/// Positions by the matrix, tangents by its linear part, normals by its cofactor matrix times the sign
/// of the determinant: the inverse transpose up to a positive factor, finite when singular.
pub(super) fn skin_vertex(m: Rows, source: Vertex) -> Skinned {
    let point = source.position.extend(1.0);
    let position = Vec3::new(m.x.dot(point), m.y.dot(point), m.z.dot(point));
    let scale = 1.0 / largest(m).max(1e-30);
    let x = m.x.truncate() * scale;
    let y = m.y.truncate() * scale;
    let z = m.z.truncate() * scale;
    let yz = y.cross(z);
    let orientation = if x.dot(yz) < 0.0 { -1.0 } else { 1.0 };
    let cofactor =
        Vec3::new(yz.dot(source.normal), z.cross(x).dot(source.normal), x.cross(y).dot(source.normal));
    let direction = Vec3::new(x.dot(source.tangent), y.dot(source.tangent), z.dot(source.tangent));
    let normal = unit_or(cofactor * orientation, unit_or(source.normal, source.normal));
    let tangent = unit_or(direction, unit_or(source.tangent, source.tangent));
    Skinned { vertex: Vertex { position, normal, tangent, handedness: source.handedness }, orientation }
}
