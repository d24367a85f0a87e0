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

/// What a workgroup knows: the streams, the chunk's joints, and where rows of any length start.
pub(super) struct Group<'a> {
    pub(super) streams: &'a Streams,
    pub(super) precision: Precision,
    pub(super) class: InfluenceClass,
    pub(super) joints: &'a [JointMatrix; CHUNK_JOINTS],
    pub(super) palette: &'a [JointMatrix],
    pub(super) extra: u32,
}

/// Weights are kept in steps; the matrices take the step's size, once for a workgroup.
pub(super) fn keep_joint(m: &JointMatrix, step: f32) -> JointMatrix {
    let scaled = |row: [f32; 4]| row.map(|c| c * step);
    JointMatrix { x: scaled(m.x), y: scaled(m.y), z: scaled(m.z) }
}

impl Group<'_> {
    pub(super) fn blend(&self, at: u32, i: u32) -> Rows {
        let four = || load_four(self.streams, self.precision, at);
        match self.class {
            InfluenceClass::One => {
                let f = four();
                scaled(self.joint(f.joints[0]), f.weights[0])
            }
            InfluenceClass::Two => {
                let f = four();
                added(scaled(self.joint(f.joints[0]), f.weights[0]), self.joint(f.joints[1]), f.weights[1])
            }
            InfluenceClass::Four => self.added_four(Rows::default(), four()),
            InfluenceClass::Eight => {
                let sum = self.added_four(Rows::default(), four());
                self.added_four(sum, load_next_four(self.streams, self.precision, self.extra, i))
            }
            InfluenceClass::Any => self.blend_row(at),
        }
    }

    fn joint(&self, place: u32) -> Rows {
        self.joints[(place & 63) as usize].into()
    }

    /// Here a branch costs less than a weight of zero.
    fn added_four(&self, mut sum: Rows, f: Four) -> Rows {
        for (joint, weight) in f.joints.into_iter().zip(f.weights) {
            if weight == 0.0 {
                break;
            }
            sum = added(sum, self.joint(joint), weight);
        }
        sum
    }

    fn blend_row(&self, at: u32) -> Rows {
        let [start, length] = load_row(self.streams, self.precision, at);
        let mut sum = Rows::default();
        for k in 0..length {
            let pair = self.streams.extra[(self.extra + start + (k >> 1)) as usize];
            let entry = if k & 1 == 1 { [pair[2], pair[3]] } else { [pair[0], pair[1]] };
            sum = added(sum, self.palette[entry[0] as usize].into(), f32::from_bits(entry[1]));
        }
        sum
    }
}
