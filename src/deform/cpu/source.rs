//! Twin of wgsl/source.wgsl.

use glam::{Vec3, Vec4};

use crate::deform::{
    codec::{Stereo, unpack_unsigned},
    source::{NORMAL_BELOW, Precision, Streams, TANGENT_BELOW},
};
use crate::model::InfluenceClass;

/// Packed directions are of any length: the output divides anyway.
#[derive(Clone, Copy)]
pub(super) struct Vertex {
    pub(super) position: Vec3,
    pub(super) normal: Vec3,
    pub(super) tangent: Vec3,
    /// Of exact vertices.
    pub(super) handedness: f32,
    /// Of packed vertices; holds the handedness.
    pub(super) tangent_word: u32,
}

/// What a weight of 1 step is worth.
pub(super) fn weight_step(precision: Precision) -> f32 {
    match precision {
        Precision::Exact => 1.0,
        Precision::Packed => 1.0 / 65535.0,
    }
}

#[derive(Clone, Copy)]
pub(in crate::deform) struct Four {
    pub(super) joints: [u32; 4],
    pub(super) weights: [f32; 4],
}

impl Four {
    /// The joints as places in the chunk's list.
    pub(in crate::deform) fn places(self) -> [u32; 4] {
        self.joints
    }

    /// Joints and weights up to the first that is zero.
    pub(super) fn used(self) -> impl Iterator<Item = (u32, f32)> {
        self.joints.into_iter().zip(self.weights).take_while(|(_, weight)| *weight != 0.0)
    }
}

pub(super) fn load_vertex(streams: &Streams, precision: Precision, class: InfluenceClass, at: u32) -> Vertex {
    let at = at as usize;
    match precision {
        Precision::Exact => {
            let a0 = floats(streams.a[at]);
            let a1 = floats(streams.a[at + 1]);
            let b0 = floats(streams.b[at]);
            Vertex {
                position: a0.truncate(),
                normal: Vec3::new(a0.w, a1.x, a1.y),
                tangent: Vec3::new(a1.z, a1.w, b0.x),
                handedness: b0.y,
                tangent_word: 0,
            }
        }
        Precision::Packed => {
            let (a, b) = (streams.a[at], streams.b[at]);
            let below = if class == InfluenceClass::Any { b[3] } else { b[1] };
            Vertex {
                position: floats(a).truncate(),
                normal: Stereo { word: a[3], is_below: below & NORMAL_BELOW != 0 }.unscaled(),
                tangent: Stereo { word: b[0], is_below: below & TANGENT_BELOW != 0 }.unscaled(),
                handedness: 1.0,
                tangent_word: b[0],
            }
        }
    }
}

pub(in crate::deform) fn load_four(streams: &Streams, precision: Precision, at: u32) -> Four {
    let b = streams.b[at as usize];
    match precision {
        Precision::Exact => {
            Four { joints: joints_4x8(b[2]), weights: floats(streams.b[at as usize + 1]).to_array() }
        }
        Precision::Packed => Four { joints: joints_4x8(b[1]), weights: unpack_unsigned([b[2], b[3]]) },
    }
}

pub(in crate::deform) fn load_next_four(streams: &Streams, precision: Precision, start: u32, i: u32) -> Four {
    match precision {
        Precision::Exact => {
            let at = (start + i * 2) as usize;
            let weights = floats(streams.extra[at + 1]).to_array();
            Four { joints: joints_4x8(streams.extra[at][0]), weights }
        }
        Precision::Packed => {
            let word = streams.extra[(start + i) as usize];
            Four { joints: joints_4x8(word[0]), weights: unpack_unsigned([word[1], word[2]]) }
        }
    }
}

/// Start and length of a row of any number of influences.
pub(in crate::deform) fn load_row(streams: &Streams, precision: Precision, at: u32) -> [u32; 2] {
    let b = streams.b[at as usize];
    match precision {
        Precision::Exact => [b[2], b[3]],
        Precision::Packed => [b[1], b[2]],
    }
}

pub(super) fn floats(words: [u32; 4]) -> Vec4 {
    Vec4::from_array(words.map(f32::from_bits))
}

/// Places in a list of at most 64; the bits above them are others' own.
fn joints_4x8(word: u32) -> [u32; 4] {
    word.to_le_bytes().map(|byte| u32::from(byte & 63))
}
