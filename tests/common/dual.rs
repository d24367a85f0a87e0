//! Dual quaternion skinning in f64 as Kavan et al. write it: motions as dual quaternions, blended, normalised, applied.
//! Shares no step with the kernel, which never forms a dual quaternion and finds rotations without a decomposition.

use glam::{DMat3, DQuat, DVec3};
use sinew::animate::JointMatrix;

/// Two axes of a joint that are together less than this share of the third leave it no rotation of its own.
const FLAT: f64 = 1.0 / 17.0;

/// Quaternions closer to perpendicular than this are half a turn apart: both ways are as short.
const HALF_TURN: f64 = 2e-4;

pub fn linear(m: &JointMatrix) -> DMat3 {
    let row = |row: [f32; 4]| DVec3::new(row[0].into(), row[1].into(), row[2].into());
    DMat3::from_cols(row(m.x), row(m.y), row(m.z)).transpose()
}

pub fn translation(m: &JointMatrix) -> DVec3 {
    DVec3::new(m.x[3].into(), m.y[3].into(), m.z[3].into())
}

/// Eigenvectors of a symmetric matrix as columns, the largest eigenvalue first (cyclic Jacobi).
fn eigenvectors(mut a: DMat3) -> DMat3 {
    let mut v = DMat3::IDENTITY;
    for _ in 0..8 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (diagonal, off) = (a.col(q)[q] - a.col(p)[p], a.col(p)[q]);
            let angle = 0.5 * (2.0 * off).atan2(diagonal);
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = angle.cos();
            turn.col_mut(q)[q] = angle.cos();
            turn.col_mut(q)[p] = angle.sin();
            turn.col_mut(p)[q] = -angle.sin();
            a = turn.transpose() * a * turn;
            v *= turn;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|i, j| a.col(*j)[*j].total_cmp(&a.col(*i)[*i]));
    DMat3::from_cols(v.col(order[0]), v.col(order[1]), v.col(order[2]))
}

/// By a singular value decomposition. Of what mirrors, that of its negative; without a plane left, none.
pub fn nearest_rotation(m: DMat3) -> DMat3 {
    let size = (m.to_cols_array().iter().map(|c| c * c).sum::<f64>() / 3.0).sqrt();
    let m = if m.determinant() < -1e-3 * size.powi(3) { -m } else { m };
    let v = eigenvectors(m.transpose() * m);
    let (first, second) = (m * v.col(0), m * v.col(1));
    let Some(x) = first.try_normalize() else { return DMat3::IDENTITY };
    let Some(y) = second.reject_from_normalized(x).try_normalize() else { return DMat3::IDENTITY };
    let (z, last) = (x.cross(y), v.col(0).cross(v.col(1)));
    let flat = second.dot(y) + (m * last).dot(z);
    if flat < FLAT * first.length() {
        return DMat3::IDENTITY;
    }
    DMat3::from_cols(x, y, z) * DMat3::from_cols(v.col(0), v.col(1), last).transpose()
}

fn pure(v: DVec3) -> DQuat {
    DQuat::from_xyzw(v.x, v.y, v.z, 0.0)
}

/// A joint's matrix with its rotation.
pub struct Joint {
    linear: DMat3,
    translation: DVec3,
    rotation: DMat3,
}

impl Joint {
    pub fn new(m: &JointMatrix) -> Self {
        let linear = linear(m);
        Self { linear, translation: translation(m), rotation: nearest_rotation(linear) }
    }
}

/// Where joints with their weights take `v`; none where two of them are half a turn apart.
fn point(joints: &[(&Joint, f64)], v: DVec3) -> Option<DVec3> {
    let motions: Vec<_> = joints
        .iter()
        .map(|(joint, weight)| {
            let real = DQuat::from_mat3(&joint.rotation).normalize();
            let moved = joint.linear * v + joint.translation - joint.rotation * v;
            (real, pure(moved) * real * 0.5, *weight)
        })
        .collect();
    let most = motions.iter().fold(0.0f64, |most, (.., weight)| most.max(*weight));
    let Some((pivot, ..)) = motions.iter().find(|(.., weight)| *weight == most) else {
        return Some(DVec3::ZERO);
    };
    let (mut real, mut dual, mut weights) = (pure(DVec3::ZERO), pure(DVec3::ZERO), 0.0);
    for (r, d, weight) in &motions {
        let side = r.dot(*pivot);
        if side.abs() < HALF_TURN {
            return None;
        }
        real += *r * side.signum() * *weight;
        dual += *d * side.signum() * *weight;
        weights += weight;
    }
    let length = real.length();
    let (real, dual) = (real * (1.0 / length), dual * (1.0 / length));
    let moved = dual * real.conjugate() * 2.0;
    Some((real * v + DVec3::new(moved.x, moved.y, moved.z)) * weights)
}

/// The matrix that moves a vertex with these joints and weights, and its translation: where it goes is an affine
/// function of where it was.
pub fn blended(joints: &[(&Joint, f64)]) -> Option<(DMat3, DVec3)> {
    let origin = point(joints, DVec3::ZERO)?;
    let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| point(joints, axis));
    Some((DMat3::from_cols(x? - origin, y? - origin, z? - origin), origin))
}
