//! Twin of wgsl/dual.wgsl, where the formula is.

use glam::{Vec3, Vec4};

use super::{
    blend::{self, Group, row_entries},
    rotation::rotation,
    skin::Rows,
    source::{Four, load_four, load_next_four, load_row},
};
use crate::{
    animate::JointMatrix,
    model::{CHUNK_JOINTS, Influence, InfluenceClass},
};

/// A joint, or a weighted sum of joints: the rotation, and the matrix's columns as quaternions, times the rotation.
#[derive(Clone, Copy, Default)]
pub(super) struct DualJoint {
    rotation: Vec4,
    x: Vec4,
    y: Vec4,
    z: Vec4,
    offset: Vec4,
}

/// Quaternions less apart than this are on one side; half turns are, whatever rounding makes of them.
const OPPOSITE: f32 = -1e-4;

/// A vector as a quaternion, times another.
fn times(v: Vec3, q: Vec4) -> Vec4 {
    let turn = q.truncate();
    (v * q.w + v.cross(turn)).extend(-v.dot(turn))
}

fn dual_joint(m: Rows, q: Vec4) -> DualJoint {
    DualJoint {
        rotation: q,
        x: times(Vec3::new(m.x.x, m.y.x, m.z.x), q),
        y: times(Vec3::new(m.x.y, m.y.y, m.z.y), q),
        z: times(Vec3::new(m.x.z, m.y.z, m.z.z), q),
        offset: times(Vec3::new(m.x.w, m.y.w, m.z.w), q),
    }
}

/// Weights are kept in steps; the matrices take the step's size, once for a workgroup.
pub(super) fn keep_joint(m: &JointMatrix, step: f32) -> DualJoint {
    dual_joint(blend::keep_joint(m, step).into(), rotation((*m).into()))
}

/// A joint on the other side than `pivot` counts as its opposite, which is the same motion.
fn joined(sum: DualJoint, j: DualJoint, weight: f32, pivot: Vec4) -> DualJoint {
    let w = if j.rotation.dot(pivot) < OPPOSITE { -weight } else { weight };
    DualJoint {
        rotation: sum.rotation + j.rotation * w,
        x: sum.x + j.x * w,
        y: sum.y + j.y * w,
        z: sum.z + j.z * w,
        offset: sum.offset + j.offset * w,
    }
}

/// The vector in a quaternion times the conjugate of another.
fn vector(p: Vec4, q: Vec4) -> Vec3 {
    let (turn, by) = (p.truncate(), q.truncate());
    turn * q.w - by * p.w - turn.cross(by)
}

/// Weights as given: their sum is what the normalised motion is taken times, as in linear blending. Sums that vanish
/// leave nothing.
fn matrix(sum: DualJoint, weights: f32) -> Rows {
    let b = sum.rotation;
    let q = b * (weights / b.dot(b).max(1e-30));
    let [x, y, z, o] = [sum.x, sum.y, sum.z, sum.offset].map(|column| vector(column, q));
    Rows {
        x: Vec4::new(x.x, y.x, z.x, o.x),
        y: Vec4::new(x.y, y.y, z.y, o.y),
        z: Vec4::new(x.z, y.z, z.z, o.z),
    }
}

/// The first joint of the largest weight. All others turn by half a turn from it at most, so that no sum vanishes.
#[derive(Clone, Copy, Default)]
struct Strongest {
    joint: u32,
    weight: f32,
}

fn stronger(most: Strongest, joint: u32, weight: f32) -> Strongest {
    if weight > most.weight { Strongest { joint, weight } } else { most }
}

fn strongest_of(most: Strongest, f: Four) -> Strongest {
    f.used().fold(most, |most, (joint, weight)| stronger(most, joint, weight))
}

pub(super) fn blend(group: &Group<'_>, joints: &[DualJoint; CHUNK_JOINTS], at: u32, i: u32) -> Rows {
    let joint = |place: u32| joints[(place & 63) as usize];
    // Here a branch costs less than a weight of zero.
    let joined_four = |sum, f: Four, pivot| {
        f.used().fold(sum, |sum, (place, weight)| joined(sum, joint(place), weight, pivot))
    };
    let f = load_four(group.streams, group.precision, at);
    let weights = |f: Four| f.weights.iter().sum::<f32>();
    match group.class {
        InfluenceClass::One | InfluenceClass::Two => {
            let pivot = joint(f.joints[0]).rotation;
            matrix(joined_four(DualJoint::default(), f, pivot), f.weights[0] + f.weights[1])
        }
        InfluenceClass::Four => {
            let pivot = joint(strongest_of(Strongest::default(), f).joint).rotation;
            matrix(joined_four(DualJoint::default(), f, pivot), weights(f))
        }
        InfluenceClass::Eight => {
            let g = load_next_four(group.streams, group.precision, group.extra, i);
            let strongest = strongest_of(strongest_of(Strongest::default(), f), g);
            let pivot = joint(strongest.joint).rotation;
            let sum = joined_four(joined_four(DualJoint::default(), f, pivot), g, pivot);
            matrix(sum, f.weights.iter().chain(&g.weights).sum())
        }
        InfluenceClass::Any => blend_row(group, at),
    }
}

fn blend_row(group: &Group<'_>, at: u32) -> Rows {
    let row = load_row(group.streams, group.precision, at);
    let entries = || row_entries(group, row);
    blend_about(strongest_entry(entries()), group.palette, entries())
}

/// One vertex by its own row, which the kernel keeps in that order: the same sums without a workgroup's joints. Of two
/// joints the kernel takes the first as the pivot; the other one turns every sign round, which is the same matrix.
pub(super) fn blend_single(palette: &[JointMatrix], row: &[Influence]) -> Rows {
    let entries = || row.iter().map(|influence| (influence.joint, influence.weight));
    blend_about(strongest_entry(entries()), palette, entries())
}

fn strongest_entry(entries: impl Iterator<Item = (u32, f32)>) -> u32 {
    let strongest = entries.fold(Strongest::default(), |most, (joint, weight)| stronger(most, joint, weight));
    strongest.joint
}

fn blend_about(pivot: u32, palette: &[JointMatrix], entries: impl Iterator<Item = (u32, f32)>) -> Rows {
    let joint = |joint: u32| Rows::from(palette[joint as usize]);
    let pivot = rotation(joint(pivot));
    let (mut sum, mut weights) = (DualJoint::default(), 0.0);
    for (place, weight) in entries {
        let m = joint(place);
        sum = joined(sum, dual_joint(m, rotation(m)), weight, pivot);
        weights += weight;
    }
    matrix(sum, weights)
}
