//! Twin of wgsl/blend.wgsl: the blended matrix of one vertex, by influence class.

use super::{
    skin::{Rows, added, scaled},
    source::{Four, load_four, load_next_four, load_row},
};
use crate::{
    animate::JointMatrix,
    deform::source::{Precision, Streams},
    model::InfluenceClass,
};

/// What a workgroup knows: the streams, the chunk's joints, and where rows of any length start.
pub(super) struct Group<'a> {
    pub(super) streams: &'a Streams,
    pub(super) precision: Precision,
    pub(super) class: InfluenceClass,
    pub(super) joints: &'a [JointMatrix],
    pub(super) palette: &'a [JointMatrix],
    pub(super) extra: u32,
}

impl Group<'_> {
    pub(super) fn blend(&self, at: u32, i: u32) -> Rows {
        match self.class {
            InfluenceClass::One => {
                let f = load_four(self.streams, self.precision, at);
                scaled(self.joints[f.joints[0] as usize].into(), f.weights[0])
            }
            InfluenceClass::Four => self.blend_four(load_four(self.streams, self.precision, at)),
            InfluenceClass::Eight => {
                let sum = self.blend_four(load_four(self.streams, self.precision, at));
                let next = self.blend_four(load_next_four(self.streams, self.precision, self.extra, i));
                Rows { x: sum.x + next.x, y: sum.y + next.y, z: sum.z + next.z }
            }
            InfluenceClass::Any => self.blend_row(at),
        }
    }

    fn blend_four(&self, f: Four) -> Rows {
        let joint = |k: usize| Rows::from(self.joints[f.joints[k] as usize]);
        let mut sum = scaled(joint(0), f.weights[0]);
        if f.weights[1] != 0.0 {
            sum = added(sum, joint(1), f.weights[1]);
            if f.weights[2] != 0.0 {
                sum = added(sum, joint(2), f.weights[2]);
                if f.weights[3] != 0.0 {
                    sum = added(sum, joint(3), f.weights[3]);
                }
            }
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
