//! Twin of wgsl/rotation.wgsl: the rotation in a joint's matrix.

use glam::{Mat4, Vec3, Vec4};

use super::skin::{Rows, largest};

const UNTURNED: Vec4 = Vec4::W;

/// Of a rotation's two quaternions the one on this side. No rotation by a common angle about a common axis lies between.
const SIDE: Vec4 = Vec4::new(0.11, 0.23, 0.47, 1.0);

/// Relative to a cube's, the determinant below which a joint counts as mirrored: more than rounding makes of zero.
const MIRRORED: f32 = -1e-3;

/// Squarings, and the sum of the squares of eigenvalues, out of one, from which one is all there is.
const SQUARINGS: u32 = 8;
const ALONE: f32 = 0.9999;

/// The rotation nearest to the linear part of `m`, by Horn, "Closed-form solution of absolute orientation using unit
/// quaternions" (1987): an eigenvector of the largest eigenvalue of a symmetric matrix, which squaring brings out. A
/// matrix that mirrors turns as its negative does; one that leaves no more than a line does not turn.
pub(super) fn rotation(m: Rows) -> Vec4 {
    let scale = 1.0 / largest(m).max(1e-30);
    let [x, y, z] = [m.x, m.y, m.z].map(|row| row.truncate() * scale);
    let square = x.dot(x) + y.dot(y) + z.dot(z);
    if square < 0.5 {
        return UNTURNED;
    }
    let size = (square / 3.0).sqrt();
    let is_mirrored = x.cross(y).dot(z) < MIRRORED * size * size * size;
    let share = if is_mirrored { -0.25 } else { 0.25 } / size;
    let a = Vec3::new(z.y - y.z, x.z - z.x, y.x - x.y) * share;
    let s = Vec3::new(y.z + z.y, x.z + z.x, x.y + y.x) * share;
    let d = Vec3::new(x.x, y.y, z.z) * share;
    let mut k = Mat4::from_cols(
        Vec4::new(0.25 + d.x - d.y - d.z, s.z, s.y, a.x),
        Vec4::new(s.z, 0.25 - d.x + d.y - d.z, s.x, a.y),
        Vec4::new(s.y, s.x, 0.25 - d.x - d.y + d.z, a.z),
        a.extend(0.25 + d.x + d.y + d.z),
    );
    let mut alone = 0.0;
    // The first makes no eigenvalue negative.
    for n in 0..SQUARINGS {
        if n >= 2 && alone >= ALONE {
            break;
        }
        k *= k;
        alone = k.x_axis.x + k.y_axis.y + k.z_axis.z + k.w_axis.w;
        k *= 1.0 / alone;
    }
    if alone < ALONE {
        return UNTURNED;
    }
    // Its columns are multiples of the eigenvector; the longest is the most exact.
    let (mut most, mut q) = (k.w_axis.w, k.w_axis);
    if k.x_axis.x > most {
        (most, q) = (k.x_axis.x, k.x_axis);
    }
    if k.y_axis.y > most {
        (most, q) = (k.y_axis.y, k.y_axis);
    }
    if k.z_axis.z > most {
        q = k.z_axis;
    }
    q = q.normalize();
    if q.dot(SIDE) < 0.0 { -q } else { q }
}
