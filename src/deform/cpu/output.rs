//! Twin of wgsl/output.wgsl.

use glam::Vec3;

use super::{skin::Skinned, source::Vertex};
use crate::deform::{
    codec::{HANDEDNESS, TINY, oct_encode, oct_encode_signed},
    source::Precision,
};

/// Unit length; `fallback` where `v` has no direction. Components are cut to what can be squared.
fn unit_or(v: Vec3, fallback: Vec3) -> Vec3 {
    let cut = v.clamp(Vec3::splat(-1e18), Vec3::splat(1e18));
    let square = cut.dot(cut);
    if square > 1e-30 { cut * (1.0 / square.sqrt()) } else { fallback }
}

fn outward(source: &Vertex, skinned: &Skinned) -> Vec3 {
    let normal = if skinned.determinant < 0.0 { -skinned.normal } else { skinned.normal };
    unit_or(normal, unit_or(source.normal, source.normal))
}

/// Normal and tangent of unit length.
pub(super) fn directions(source: &Vertex, skinned: &Skinned, tangent: Vec3) -> [Vec3; 2] {
    [outward(source, skinned), unit_or(tangent, unit_or(source.tangent, source.tangent))]
}

pub(super) fn store_a(
    out_a: &mut [[u32; 4]],
    precision: Precision,
    at: u32,
    source: &Vertex,
    skinned: &Skinned,
) {
    let [x, y, z] = skinned.position.to_array().map(f32::to_bits);
    let normal = match precision {
        Precision::Exact => {
            let n = outward(source, skinned);
            oct_encode(n.with_z(n.z + TINY), 1.0)
        }
        Precision::Packed => oct_encode(skinned.normal, skinned.determinant),
    };
    out_a[at as usize] = [x, y, z, normal];
}

pub(super) fn store_b(
    out_b: &mut [u32],
    precision: Precision,
    at: u32,
    source: &Vertex,
    skinned: &Skinned,
    direction: Vec3,
) {
    let at = at as usize;
    let mirrors = skinned.determinant < 0.0;
    match precision {
        Precision::Exact => {
            let [n, t] = directions(source, skinned, direction);
            let orientation = if mirrors { -1.0 } else { 1.0 };
            let words = [n.x, n.y, n.z, t.x, t.y, t.z, source.handedness, orientation].map(f32::to_bits);
            out_b[at..at + 8].copy_from_slice(&words);
        }
        Precision::Packed => {
            let is_negative = (source.tangent_word & HANDEDNESS != 0) != mirrors;
            out_b[at] = oct_encode_signed(direction, is_negative);
        }
    }
}
