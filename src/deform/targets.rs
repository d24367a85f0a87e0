//! Packing of morph targets into the tables. Twin of wgsl/morph.wgsl on the writing side.

use glam::Vec3;

use super::{
    DeformError,
    codec::MOST_STEPS,
    layout::{ActiveTarget, DELTA_DENSE, DELTA_NORMALS, DELTA_SHORT, DELTA_TANGENTS},
    source::{Precision, Streams, unit},
};
use crate::model::{Delta, MorphTarget, Primitive};

/// How far a position may be off for a morph target in 16 bits at weight 1, as a share of its primitive's diagonal
/// at rest. A target whose deltas are too large for that keeps them in f32.
pub const MORPH_TOLERANCE: f32 = 1e-5;

/// How far a normal or tangent may be off for a target in 16 bits at weight 1, before it is normalised.
const DIRECTION_TOLERANCE: f32 = 1e-4;

/// Where one morph target lies in the tables, and what its numbers mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PackedTarget {
    blocks: u32,
    deltas: u32,
    flags: u32,
    steps: Steps,
}

/// The size of one step of each attribute; 1 in f32.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steps {
    position: f32,
    normal: f32,
    tangent: f32,
}

impl PackedTarget {
    /// The target at `weight`, for a model whose tables start at `tables`.
    pub(crate) fn active(&self, tables: u32, weight: f32) -> ActiveTarget {
        ActiveTarget {
            blocks: tables + self.blocks,
            deltas: tables + self.deltas,
            flags: self.flags,
            pad: 0,
            position: weight * self.steps.position,
            normal: weight * self.steps.normal,
            tangent: weight * self.steps.tangent,
            pad_end: 0.0,
        }
    }
}

impl Steps {
    const WHOLE: Self = Self { position: 1.0, normal: 1.0, tangent: 1.0 };

    /// The finest steps that reach every delta.
    fn of(target: &MorphTarget) -> Self {
        let step = |list: &[Vec3]| {
            let largest = list.iter().fold(0.0f32, |most, v| most.max(v.abs().max_element()));
            // Rounded up, so that the largest delta is no more than all steps; never 0.
            (largest / MOST_STEPS * (1.0 + f32::EPSILON)).max(f32::MIN_POSITIVE)
        };
        Self {
            position: step(target.positions()),
            normal: step(target.normals()),
            tangent: step(target.tangents()),
        }
    }

    /// Whether half a step along each axis is within the tolerances.
    fn are_fine(self, diagonal: f32) -> bool {
        let worst = |step: f32| step * 0.5 * 3.0f32.sqrt();
        worst(self.position) <= MORPH_TOLERANCE * diagonal
            && worst(self.normal.max(self.tangent)) <= DIRECTION_TOLERANCE
    }
}

impl Streams {
    /// Appends the targets of a primitive to the tables.
    pub(super) fn push_targets(
        &mut self,
        primitive: &Primitive,
        precision: Precision,
    ) -> Result<Vec<PackedTarget>, DeformError> {
        let (vertices, diagonal) = (primitive.vertex_count(), diagonal(primitive.positions()));
        primitive.targets().iter().map(|t| self.push_target(t, precision, vertices, diagonal)).collect()
    }

    /// (mask, rank) pairs for every 32 vertices unless every vertex moves, then the deltas.
    fn push_target(
        &mut self,
        target: &MorphTarget,
        precision: Precision,
        vertices: usize,
        diagonal: f32,
    ) -> Result<PackedTarget, DeformError> {
        let blocks = unit(self.tables.len())?;
        let is_dense = target.vertices().len() == vertices;
        if !is_dense {
            self.push_blocks(target, vertices);
        }
        let deltas = unit(self.tables.len())?;
        let mut flags = if is_dense { DELTA_DENSE } else { 0 };
        flags |= if target.normals().is_empty() { 0 } else { DELTA_NORMALS };
        flags |= if target.tangents().is_empty() { 0 } else { DELTA_TANGENTS };
        let mut steps = Steps::of(target);
        if precision == Precision::Packed && steps.are_fine(diagonal) {
            flags |= DELTA_SHORT;
            (0..target.vertices().len()).for_each(|i| self.push_shorts(flags, steps, target.delta(i)));
        } else {
            steps = Steps::WHOLE;
            (0..target.vertices().len()).for_each(|i| self.push_floats(flags, target.delta(i)));
        }
        unit(self.tables.len())?;
        Ok(PackedTarget { blocks, deltas, flags, steps })
    }

    fn push_blocks(&mut self, target: &MorphTarget, vertices: usize) {
        let start = self.tables.len();
        self.tables.resize(start + vertices.div_ceil(32) * 2, 0);
        for &vertex in target.vertices() {
            self.tables[start + (vertex as usize / 32) * 2] |= 1 << (vertex % 32);
        }
        let mut rank = 0;
        for pair in self.tables[start..].chunks_exact_mut(2) {
            pair[1] = rank;
            rank += pair[0].count_ones();
        }
    }

    fn push_floats(&mut self, flags: u32, delta: Delta) {
        let mut push = |v: Vec3| self.tables.extend(v.to_array().map(f32::to_bits));
        push(delta.position);
        if flags & DELTA_NORMALS != 0 {
            push(delta.normal);
        }
        if flags & DELTA_TANGENTS != 0 {
            push(delta.tangent);
        }
    }

    fn push_shorts(&mut self, flags: u32, steps: Steps, delta: Delta) {
        let mut shorts = [0u32; 10];
        let mut count = 0;
        let mut push = |v: Vec3, step: f32| {
            for c in (v / step).to_array() {
                shorts[count] = c.round().clamp(-MOST_STEPS, MOST_STEPS) as i32 as u32 & 0xffff;
                count += 1;
            }
        };
        push(delta.position, steps.position);
        if flags & DELTA_NORMALS != 0 {
            push(delta.normal, steps.normal);
        }
        if flags & DELTA_TANGENTS != 0 {
            push(delta.tangent, steps.tangent);
        }
        let words = count.div_ceil(2);
        self.tables.extend(shorts.chunks_exact(2).take(words).map(|pair| pair[0] | pair[1] << 16));
    }
}

fn diagonal(positions: &[Vec3]) -> f32 {
    let first = positions.first().copied().unwrap_or_default();
    let bounds = positions.iter().fold((first, first), |(low, high), p| (low.min(*p), high.max(*p)));
    bounds.0.distance(bounds.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Mesh, PrimitiveDesc, Topology};

    fn packed(target: MorphTarget, extent: f32) -> (Streams, PackedTarget) {
        let desc = PrimitiveDesc {
            topology: Topology::Points,
            positions: (0..40).map(|i| Vec3::X * extent * i as f32 / 39.0).collect(),
            targets: vec![target],
            ..Default::default()
        };
        let mesh = Mesh::new("", vec![desc], Vec::new()).expect("a mesh");
        let mut streams = Streams::default();
        let targets = streams.push_targets(&mesh.primitives()[0], Precision::Packed).expect("packs");
        (streams, targets[0])
    }

    fn row(vertex: u32, x: f32) -> (u32, Delta) {
        (vertex, Delta { position: Vec3::new(x, -x, 0.5 * x), ..Default::default() })
    }

    #[test]
    fn deltas_of_a_primitives_size_take_sixteen_bits_and_are_off_by_half_a_step_at_most() {
        let rows: Vec<_> = (0..40).map(|v| row(v, 0.01 + 0.007 * v as f32)).collect();
        let (streams, target) = packed(MorphTarget::from_rows(false, false, rows.clone()), 2.0);
        assert_eq!(target.flags, DELTA_DENSE | DELTA_SHORT);
        assert_eq!(streams.tables.len(), 40 * 2);
        for (vertex, delta) in rows {
            let at = target.deltas as usize + vertex as usize * 2;
            let [x, y] = super::super::codec::unpack_signed(streams.tables[at]);
            let [z, _] = super::super::codec::unpack_signed(streams.tables[at + 1]);
            let off = (Vec3::new(x, y, z) * target.steps.position - delta.position).abs().max_element();
            assert!(off <= target.steps.position * 0.501, "{vertex}: {off}");
        }
    }

    #[test]
    fn one_huge_delta_keeps_the_target_in_f32() {
        let (streams, target) =
            packed(MorphTarget::from_rows(false, false, [row(0, 1e-3), row(7, 1e6)]), 2.0);
        assert_eq!(target.flags, 0);
        // Two blocks of 32 vertices, two deltas of three words.
        assert_eq!(streams.tables.len(), 2 * 2 + 2 * 3);
        assert_eq!(target.steps, Steps::WHOLE);
    }

    #[test]
    fn a_target_that_moves_nothing_packs_to_nothing_but_its_blocks() {
        let (streams, target) = packed(MorphTarget::default(), 2.0);
        assert_eq!((streams.tables.len(), target.flags), (4, DELTA_SHORT));
    }
}
