//! How far two deformations of the same capture are apart.

use glam::Vec3;

use super::{Capture, CaptureOutput, CapturedPart};
use crate::deform::{
    codec::{oct_decode, oct_sign},
    source::Precision,
};

/// How far positions may be apart, as a share of the part's diagonal; or two f32 steps of the coordinate, where those
/// are larger.
pub const POSITION_TOLERANCE: f32 = 1e-5;

/// How far normals and tangents of exact vertices may be apart, as unit vectors.
pub const DIRECTION_TOLERANCE: f32 = 1e-5;

/// The same of packed vertices: what two steps of the octahedral grid along one axis, or one along both, come to where
/// they are largest.
pub const PACKED_DIRECTION_TOLERANCE: f32 = 2e-4;

/// The vertex that is farthest off, measured by what is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    /// Its place in the part, in deformed order.
    pub vertex: u32,
    /// Positions: metres. Directions: length of the difference of unit vectors, 2 where a tangent's handedness is
    /// another. Infinite where one of both is not a number.
    pub difference: f32,
    /// The difference over what is allowed there.
    pub share: f32,
}

/// The differences of one part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartDifference {
    /// Which.
    pub part: CapturedPart,
    /// Of positions.
    pub position: Worst,
    /// Of normals.
    pub normal: Worst,
    /// Of tangents.
    pub tangent: Worst,
}

impl PartDifference {
    /// Whether everything is as close as GPUs and the twin come.
    #[must_use]
    pub fn is_within(&self) -> bool {
        [self.position, self.normal, self.tangent].iter().all(|worst| worst.share <= 1.0)
    }
}

impl Worst {
    fn take(&mut self, vertex: u32, difference: f32, allowed: f32) {
        let difference = if difference.is_nan() { f32::INFINITY } else { difference };
        let share = if difference == 0.0 { 0.0 } else { difference / allowed };
        if share > self.share {
            *self = Self { vertex, difference, share };
        }
    }
}

/// One deformed vertex.
struct Vertex {
    position: Vec3,
    normal: Vec3,
    tangent: Vec3,
    handedness: [f32; 2],
}

impl Vertex {
    fn read(precision: Precision, a: [u32; 4], b: &[u32]) -> Self {
        let float = |words: &[u32]| Vec3::from_array([0, 1, 2].map(|i| f32::from_bits(words[i])));
        let (normal, tangent, handedness) = match precision {
            Precision::Packed => (oct_decode(a[3]), oct_decode(b[0]), [oct_sign(b[0]), 1.0]),
            Precision::Exact => (float(b), float(&b[3..]), [f32::from_bits(b[6]), f32::from_bits(b[7])]),
        };
        Self { position: float(&a), normal, tangent, handedness }
    }
}

impl Capture {
    /// How far `output` is from what was [recorded](Self::recorded), part by part. A part that `output` lacks, because
    /// it is of another capture, is infinitely far away.
    #[must_use]
    pub fn compare(&self, output: &CaptureOutput) -> Vec<PartDifference> {
        let mut all = Vec::new();
        for (at, (group, recorded)) in self.groups.iter().zip(&self.recorded.groups).enumerate() {
            for part in &group.parts {
                let of = |(a, b): &(Vec<[u32; 4]>, Vec<u32>)| {
                    Some((a.get(part.in_a())?.to_vec(), b.get(part.in_b())?.to_vec()))
                };
                all.push(match (of(recorded), output.groups.get(at).and_then(of)) {
                    (Some(expected), Some(found)) => compare(part, &expected, &found),
                    _ => lacking(part),
                });
            }
        }
        all
    }
}

fn lacking(part: &CapturedPart) -> PartDifference {
    let far = Worst { vertex: 0, difference: f32::INFINITY, share: f32::INFINITY };
    PartDifference { part: part.clone(), position: far, normal: far, tangent: far }
}

type Words = (Vec<[u32; 4]>, Vec<u32>);

fn compare(part: &CapturedPart, expected: &Words, found: &Words) -> PartDifference {
    let (precision, words) = (part.precision, part.precision.words_b() as usize);
    let vertices = |output: &Words| -> Vec<Vertex> {
        let both = output.0.iter().zip(output.1.chunks_exact(words));
        both.map(|(a, b)| Vertex::read(precision, *a, b)).collect()
    };
    let (expected, found) = (vertices(expected), vertices(found));
    let near = POSITION_TOLERANCE * diagonal(&expected);
    let allowed = match precision {
        Precision::Packed => PACKED_DIRECTION_TOLERANCE,
        Precision::Exact => DIRECTION_TOLERANCE,
    };
    let mut all = lacking(part);
    (all.position, all.normal, all.tangent) = Default::default();
    for (vertex, (expected, found)) in (0u32..).zip(expected.iter().zip(&found)) {
        let difference = apart(expected.position, found.position);
        all.position.take(vertex, difference, near.max(two_steps(expected.position)));
        all.normal.take(vertex, apart(expected.normal, found.normal), allowed);
        let is_turned = expected.handedness.map(f32::to_bits) != found.handedness.map(f32::to_bits);
        let difference = if is_turned { 2.0 } else { apart(expected.tangent, found.tangent) };
        all.tangent.take(vertex, difference, allowed);
    }
    all
}

/// 0 where both are the same bits, whatever they mean.
fn apart(a: Vec3, b: Vec3) -> f32 {
    if a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits) { 0.0 } else { a.distance(b) }
}

/// Of the largest coordinate.
fn two_steps(position: Vec3) -> f32 {
    position.abs().max_element() * 2.0 * f32::EPSILON
}

fn diagonal(vertices: &[Vertex]) -> f32 {
    let finite = || vertices.iter().map(|vertex| vertex.position).filter(|position| position.is_finite());
    let Some(first) = finite().next() else { return 0.0 };
    let (low, high) = finite().fold((first, first), |(low, high), p| (low.min(p), high.max(p)));
    low.distance(high)
}
