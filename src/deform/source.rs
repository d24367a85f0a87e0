//! Packing of a model's vertices into the kernel's streams. Twin of wgsl/source.wgsl on the writing side.

use glam::{Vec3, Vec4};
use smallvec::SmallVec;

use super::{
    DeformError,
    codec::{Stereo, pack_unorm, unorm16},
    targets::PackedTarget,
};
use crate::model::{Chunk, Influence, InfluenceClass, Influences, Primitive, chunks};

/// How exactly vertices are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bytes in, 20 bytes out: positions f32, normals and tangents 2×16 bit (within 5e-5 and 7e-5 rad going in,
    /// 1e-4 and 1.2e-4 rad coming out), weights 16 bit. Morph deltas in 16 bits, where that moves no vertex by more than
    /// [`MORPH_TOLERANCE`](super::MORPH_TOLERANCE) of the primitive's diagonal; others stay f32.
    #[default]
    Packed,
    /// 64 bytes in, 48 bytes out: everything f32.
    Exact,
}

impl Precision {
    /// `vec4`s a vertex takes in each source stream.
    pub(crate) fn stride(self) -> u32 {
        match self {
            Self::Packed => 1,
            Self::Exact => 2,
        }
    }

    /// Words a vertex takes in output stream B.
    #[must_use]
    pub const fn words_b(self) -> u32 {
        match self {
            Self::Packed => 1,
            Self::Exact => 8,
        }
    }
}

/// How a model is kept on the device; from a [`Precision`], all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Packing {
    /// Vertices, going in and coming out.
    pub vertices: Precision,
    /// Morph deltas.
    pub morphs: Precision,
}

impl From<Precision> for Packing {
    fn from(precision: Precision) -> Self {
        Self { vertices: precision, morphs: precision }
    }
}

/// Bits of a packed vertex's joints that say which directions lie below the plane z = 0: places of joints leave them.
/// Rows of any length have a word of their own for them.
pub(crate) const NORMAL_BELOW: u32 = 1 << 7;
pub(crate) const TANGENT_BELOW: u32 = 1 << 15;

/// Names of the four source streams, in the order of their bindings.
pub(crate) const SOURCES: [&str; 4] =
    ["source vertices A", "source vertices B", "extra influences", "tables"];

/// Packed weights reach 1; normalising may leave a rounding error above it.
const MOST_WEIGHT: f32 = 1.0 + 1e-5;

/// The four source streams; the kernel's bindings 0 to 3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Streams {
    pub(crate) a: Vec<[u32; 4]>,
    pub(crate) b: Vec<[u32; 4]>,
    pub(crate) extra: Vec<[u32; 4]>,
    pub(crate) tables: Vec<u32>,
}

/// Where one chunk lies in the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedChunk {
    pub(crate) class: InfluenceClass,
    /// First vertex in the primitive.
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) joint_list: u32,
    pub(crate) joint_count: u32,
    pub(crate) extra: u32,
}

/// Where one primitive lies in the streams, relative to the model's own start in each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PackedPrimitive {
    /// First vertex in streams A and B, in `vec4`s.
    pub(crate) source: u32,
    pub(crate) vertices: u32,
    pub(crate) chunks: Vec<PackedChunk>,
    pub(crate) targets: Vec<PackedTarget>,
}

impl Streams {
    /// Appends a primitive, by its influences or, for a part without a skin, as one that rides on its
    /// node. Fails where a value cannot be held: weights above 1 in packed streams,
    /// more than 2³² units in a stream.
    pub(crate) fn push(
        &mut self,
        primitive: &Primitive,
        packing: Packing,
        skinned: bool,
    ) -> Result<PackedPrimitive, DeformError> {
        let precision = packing.vertices;
        let influences = primitive.influences().filter(|_| skinned);
        let rigid = (!skinned).then(|| chunks(None, primitive.vertex_count()));
        let source = unit(self.a.len())?;
        self.a.reserve(primitive.vertex_count() * precision.stride() as usize);
        self.b.reserve(primitive.vertex_count() * precision.stride() as usize);
        let mut packed = Vec::with_capacity(primitive.chunks().len());
        for chunk in rigid.as_deref().unwrap_or(primitive.chunks()) {
            packed.push(self.push_chunk(primitive, influences, chunk, precision)?);
        }
        let targets = self.push_targets(primitive, packing.morphs)?;
        let vertices = primitive.vertex_count();
        Ok(PackedPrimitive { source, vertices: vertices as u32, chunks: packed, targets })
    }

    fn push_chunk(
        &mut self,
        primitive: &Primitive,
        influences: Option<&Influences>,
        chunk: &Chunk,
        precision: Precision,
    ) -> Result<PackedChunk, DeformError> {
        let joint_list = unit(self.tables.len())?;
        self.tables.extend_from_slice(&chunk.joints);
        // Rows of any length are reached from the start of the stream.
        let extra = if chunk.class == InfluenceClass::Any { 0 } else { unit(self.extra.len())? };
        for vertex in chunk.first..chunk.first + chunk.count {
            let whole = [Influence { joint: 0, weight: 1.0 }];
            let row = influences.map_or(&whole[..], |i| i.row(vertex as usize));
            self.push_vertex(primitive, row, chunk, vertex as usize, precision)?;
        }
        let (class, first, count) = (chunk.class, chunk.first, chunk.count);
        Ok(PackedChunk { class, first, count, joint_list, joint_count: chunk.joints.len() as u32, extra })
    }

    fn push_vertex(
        &mut self,
        primitive: &Primitive,
        row: &[Influence],
        chunk: &Chunk,
        vertex: usize,
        precision: Precision,
    ) -> Result<(), DeformError> {
        let position = primitive.positions()[vertex].to_array().map(f32::to_bits);
        let normal = primitive.normals().get(vertex).copied().unwrap_or(Vec3::ZERO);
        let tangent = primitive.tangents().get(vertex).copied().unwrap_or(Vec4::W);
        let mut row = kept_influences(row.into());
        let is_any = chunk.class == InfluenceClass::Any;
        let eight = chunk.class == InfluenceClass::Eight;
        let [x, y, z] = position;
        match precision {
            Precision::Exact => {
                let [nx, ny, nz] = normal.to_array().map(f32::to_bits);
                let [tx, ty, tz, tw] = tangent.to_array().map(f32::to_bits);
                self.a.extend([[x, y, z, nx], [ny, nz, tx, ty]]);
                if is_any {
                    let (start, length) = (self.push_row(&row)?, row.len() as u32);
                    self.b.extend([[tz, tw, start, length], [0; 4]]);
                } else {
                    let weights = row.iter().map(|i| i.weight.to_bits());
                    let [first, next] = fours(&row, chunk, weights);
                    self.b.extend([[tz, tw, first.0, 0], first.1]);
                    if eight {
                        self.extra.extend([[next.0, 0, 0, 0], next.1]);
                    }
                }
            }
            Precision::Packed => {
                let normal = Stereo::new(normal);
                let tangent = Stereo::signed(tangent.truncate(), tangent.w < 0.0);
                let below = if normal.is_below { NORMAL_BELOW } else { 0 }
                    | if tangent.is_below { TANGENT_BELOW } else { 0 };
                self.a.push([x, y, z, normal.word]);
                if is_any {
                    let (start, length) = (self.push_row(&row)?, row.len() as u32);
                    self.b.push([tangent.word, start, length, below]);
                } else {
                    let steps = steps(&mut row)?;
                    let [(joints, w), (next_joints, next_w)] = fours(&row, chunk, steps.into_iter());
                    let ([w0, w1], [w2, w3]) = (pack_unorm(&w), pack_unorm(&next_w));
                    self.b.push([tangent.word, joints | below, w0, w1]);
                    if eight {
                        self.extra.push([next_joints, w2, w3, 0]);
                    }
                }
            }
        }
        Ok(())
    }

    /// A row of any length: (joint, weight) pairs, two to a `vec4`. Returns its start.
    fn push_row(&mut self, row: &[Influence]) -> Result<u32, DeformError> {
        let start = unit(self.extra.len())?;
        for pair in row.chunks(2) {
            let second = pair.get(1).map_or([0, 0], |i| [i.joint, i.weight.to_bits()]);
            self.extra.push([pair[0].joint, pair[0].weight.to_bits(), second[0], second[1]]);
        }
        Ok(start)
    }

    /// Fills up to the given units of each stream.
    #[cfg(feature = "gpu")]
    pub(crate) fn pad(&mut self, vertices: u32, extra: u32, tables: u32) {
        self.a.resize(vertices as usize, [0; 4]);
        self.b.resize(vertices as usize, [0; 4]);
        self.extra.resize(extra as usize, [0; 4]);
        self.tables.resize(tables as usize, 0);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.a.append(&mut other.a);
        self.b.append(&mut other.b);
        self.extra.append(&mut other.extra);
        self.tables.append(&mut other.tables);
    }

    /// Bytes of the four streams, in the order of their bindings.
    #[cfg(feature = "gpu")]
    pub(crate) fn bytes(&self) -> [&[u8]; 4] {
        [
            bytemuck::cast_slice(&self.a),
            bytemuck::cast_slice(&self.b),
            bytemuck::cast_slice(&self.extra),
            bytemuck::cast_slice(&self.tables),
        ]
    }
}

/// What the kernel reads of a vertex's influences, in its order.
pub(super) fn kept_influences(mut row: SmallVec<[Influence; 8]>) -> SmallVec<[Influence; 8]> {
    // By joint: vertices beside each other have the same joints, and so read the same one at the same time.
    row.sort_by_key(|influence| influence.joint);
    // Where denormals count as zero, one would end the twin's sum.
    row.retain(|influence| influence.weight.is_normal());
    row
}

pub(super) fn unit(len: usize) -> Result<u32, DeformError> {
    u32::try_from(len).map_err(|_| DeformError::StreamTooLong { units: len })
}

/// Weights of up to eight influences in steps of 1/65535. Influences that are less than a step are taken out: the
/// twin stops at the first weight of zero.
fn steps(row: &mut SmallVec<[Influence; 8]>) -> Result<SmallVec<[u32; 8]>, DeformError> {
    let mut weights = [0.0; 8];
    for (weight, influence) in weights.iter_mut().zip(row.iter()) {
        if influence.weight > MOST_WEIGHT {
            return Err(DeformError::WeightAboveOne { weight: influence.weight });
        }
        *weight = influence.weight;
    }
    let all = unorm16(weights);
    let mut next = 0..;
    row.retain(|_| next.next().is_some_and(|at: usize| all.get(at).is_some_and(|steps| *steps > 0)));
    Ok(all.into_iter().filter(|steps| *steps > 0).collect())
}

/// Two times four influences: joints as places in the chunk's list, 8 bits each, and what is kept of their weights.
fn fours(row: &[Influence], chunk: &Chunk, weights: impl Iterator<Item = u32>) -> [(u32, [u32; 4]); 2] {
    let mut fours = [(0, [0; 4]); 2];
    for (i, (influence, weight)) in row.iter().zip(weights).enumerate().take(8) {
        let place = chunk.joints.partition_point(|joint| *joint < influence.joint) as u32;
        debug_assert_eq!(chunk.joints.get(place as usize), Some(&influence.joint), "chunks list every joint");
        let (joints, weights) = &mut fours[i / 4];
        *joints |= place << (8 * (i % 4));
        weights[i % 4] = weight;
    }
    fours
}
