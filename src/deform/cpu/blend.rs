//! Twin of wgsl/blend.wgsl: the blended matrix of one vertex, by influence class.

use super::{
    skin::{Rows, added, scaled},
    source::{Four, load_four, load_next_four, load_row},
};
use crate::{
    animate::JointMatrix,
    deform::source::{Precision, Streams},
    model::{CHUNK_JOINTS, InfluenceClass},
};

/// What a workgroup knows beside its joints: the streams, and where rows of any length start.
pub(super) struct Group<'a> {
    pub(super) streams: &'a Streams,
    pub(super) precision: Precision,
    pub(super) class: InfluenceClass,
    pub(super) palette: &'a [JointMatrix],
    pub(super) extra: u32,
}

/// Weights are kept in steps; the matrices take the step's size, once for a workgroup.
pub(super) fn keep_joint(m: &JointMatrix, step: f32) -> JointMatrix {
    let scaled = |row: [f32; 4]| row.map(|c| c * step);
    JointMatrix { x: scaled(m.x), y: scaled(m.y), z: scaled(m.z) }
}

pub(super) fn blend(group: &Group<'_>, joints: &[JointMatrix; CHUNK_JOINTS], at: u32, i: u32) -> Rows {
    let joint = |place: u32| Rows::from(joints[(place & 63) as usize]);
    // Here a branch costs less than a weight of zero.
    let added_four = |sum, f: Four| f.used().fold(sum, |sum, (place, w)| added(sum, joint(place), w));
    let four = || load_four(group.streams, group.precision, at);
    match group.class {
        InfluenceClass::One => {
            let f = four();
            scaled(joint(f.joints[0]), f.weights[0])
        }
        InfluenceClass::Two => {
            let f = four();
            added(scaled(joint(f.joints[0]), f.weights[0]), joint(f.joints[1]), f.weights[1])
        }
        InfluenceClass::Four => added_four(Rows::default(), four()),
        InfluenceClass::Eight => {
            let sum = added_four(Rows::default(), four());
            added_four(sum, load_next_four(group.streams, group.precision, group.extra, i))
        }
        InfluenceClass::Any => blend_row(group, at),
    }
}

fn blend_row(group: &Group<'_>, at: u32) -> Rows {
    let row = load_row(group.streams, group.precision, at);
    row_entries(group, row)
        .fold(Rows::default(), |sum, (joint, w)| added(sum, group.palette[joint as usize].into(), w))
}

/// Joints and weights of a row of any length.
pub(super) fn row_entries(group: &Group<'_>, [start, length]: [u32; 2]) -> impl Iterator<Item = (u32, f32)> {
    (0..length).map(move |k| {
        let pair = group.streams.extra[(group.extra + start + (k >> 1)) as usize];
        let entry = if k & 1 == 1 { [pair[2], pair[3]] } else { [pair[0], pair[1]] };
        (entry[0], f32::from_bits(entry[1]))
    })
}
