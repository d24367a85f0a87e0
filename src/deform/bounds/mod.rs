//! Boxes that hold every deformed vertex, without deforming any.
//!
//! A vertex deformed by weights that sum up to one lies between the places where each of its joints alone would take
//! it. So the box of a part is that of its joints' hulls, each moved by its row of the palette and grown
//! by what the active morph targets may add; it follows the pose in time that depends on joints, not on vertices.
//! Dual quaternions leave that region: see `arc`.

mod arc;
mod hull;

use std::collections::BTreeMap;

use glam::Vec3;
use smallvec::SmallVec;

use self::{arc::ArcReach, hull::Hull};
use super::{MORPH_TOLERANCE, frame::active_weight};
use crate::{
    animate::{JointMatrix, PaletteLayout},
    model::{Bounds, Influence, Model, Primitive, Skinning},
};

/// Share of the largest product that rounding in f32 may add, in the kernel and here.
const ROUNDING: f32 = 24.0 * f32::EPSILON;

/// What the bounds of a model's poses are computed from; made once, and shared by all of its instances.
#[derive(Clone, Debug)]
pub struct PoseBounds {
    /// One per shown part.
    parts: Vec<PartBounds>,
}

#[derive(Clone, Debug)]
struct PartBounds {
    /// First palette row.
    palette: u32,
    /// First morph weight.
    weight: usize,
    groups: Vec<Group>,
    targets: Vec<Reach>,
    /// Least and greatest sum of the weights of a vertex.
    sums: [f32; 2],
}

/// The vertices that a joint moves; or those that dual quaternions move by the same joints, this one the strongest.
#[derive(Clone, Debug, Default)]
struct Group {
    row: u32,
    arc: Option<ArcReach>,
    hull: Hull,
    /// Largest absolute coordinates.
    size: Vec3,
    /// The targets that move any of them.
    targets: std::ops::Range<u32>,
}

/// The joints of a group: one, or the strongest and then the others in order.
type Key = SmallVec<[u32; 4]>;

/// How far a morph target moves the vertices of a group; none that it leaves alone is outside.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    target: u32,
    low: Vec3,
    high: Vec3,
}

impl PoseBounds {
    /// Looks at every vertex of the shown parts.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let layout = PaletteLayout::new(model);
        let rows = layout.parts().iter().zip(model.shown_parts());
        Self { parts: rows.map(|(&row, &part)| PartBounds::new(model, part, row)).collect() }
    }

    /// The box of every shown part, in the instance's space, for an instance with these rows of palette and
    /// [weights](crate::Animator::weights) of all parts. Rows or weights that are missing count as the identity and 0.
    #[must_use]
    pub fn of(&self, palette: &[JointMatrix], weights: &[f32]) -> Bounds {
        self.parts.iter().fold(Bounds::EMPTY, |bounds, part| bounds.union(part.of(palette, weights)))
    }

    /// The box of one part, by its place among the [shown ones](Model::shown_parts); empty where there is none.
    #[must_use]
    pub fn of_part(&self, shown: usize, palette: &[JointMatrix], weights: &[f32]) -> Bounds {
        self.parts.get(shown).map_or(Bounds::EMPTY, |part| part.of(palette, weights))
    }
}

impl PartBounds {
    fn new(model: &Model, index: u32, row: u32) -> Self {
        let part = &model.parts()[index as usize];
        let mut this = Self {
            palette: row,
            weight: model.weight_range(index).start,
            groups: Vec::new(),
            targets: Vec::new(),
            sums: [f32::INFINITY, f32::NEG_INFINITY],
        };
        let mut groups = BTreeMap::new();
        let mesh = &model.meshes()[part.mesh as usize];
        let skinning = part.skin.map(|_| mesh.skinning());
        mesh.primitives().iter().for_each(|primitive| this.add(primitive, skinning, &mut groups));
        for (joints, (mut group, reaches)) in groups {
            let first = this.targets.len() as u32;
            this.targets.extend(reaches.into_iter().filter(|reach| reach.low != reach.high));
            (group.row, group.targets) = (joints[0], first..this.targets.len() as u32);
            this.groups.push(group);
        }
        this
    }

    fn add(
        &mut self,
        primitive: &Primitive,
        skinning: Option<Skinning>,
        groups: &mut BTreeMap<Key, (Group, Vec<Reach>)>,
    ) {
        let influences = primitive.influences().filter(|_| skinning.is_some());
        let mut vertices: Vec<(Key, u32)> = Vec::new();
        for vertex in 0..primitive.vertex_count() {
            let row = influences.map(|influences| influences.row(vertex));
            let sum = row.map_or(1.0, |row| row.iter().map(|i| f64::from(i.weight)).sum::<f64>());
            // Packed weights keep a sum of one; another is rounded to their steps.
            let off = if (sum - 1.0).abs() < 1e-6 { 1e-6 } else { 1e-5 };
            self.sums = [self.sums[0].min((sum - off) as f32), self.sums[1].max((sum + off) as f32)];
            match row {
                None => vertices.push((Key::from_slice(&[0]), vertex as u32)),
                Some([strongest, others @ ..]) if skinning == Some(Skinning::DualQuaternion) => {
                    let mut key = Key::from_slice(&[strongest.joint]);
                    key.extend(others.iter().map(|i| i.joint));
                    key[1..].sort_unstable();
                    vertices.push((key, vertex as u32));
                }
                Some(row) => {
                    vertices.extend(row.iter().map(|i| (Key::from_slice(&[i.joint]), vertex as u32)));
                }
            }
        }
        vertices.sort_unstable();
        let tolerance = Vec3::splat(MORPH_TOLERANCE * diagonal(primitive));
        for list in vertices.chunk_by(|a, b| a.0 == b.0) {
            let joints = &list[0].0;
            let (group, reaches) = groups.entry(joints.clone()).or_default();
            let points = || list.iter().map(|(_, vertex)| primitive.positions()[*vertex as usize]);
            for point in points() {
                group.hull.add(point);
                group.size = group.size.max(point.abs());
            }
            if let [_, others @ ..] = &joints[..]
                && !others.is_empty()
            {
                let row = |vertex: &(Key, u32)| {
                    influences.map_or::<&[Influence], _>(&[], |i| i.row(vertex.1 as usize))
                };
                let arc = group.arc.get_or_insert_with(|| ArcReach::new(others, points().collect()));
                points().zip(list.iter().map(row)).for_each(|(point, row)| arc.add(point, row));
            }
            reaches.resize(primitive.targets().len(), Reach::default());
            for ((target, data), reach) in (0u32..).zip(primitive.targets()).zip(reaches) {
                reach.target = target;
                let mut rows = data.vertices().iter().zip(data.positions()).peekable();
                for &(_, vertex) in list {
                    while rows.next_if(|(moved, _)| **moved < vertex).is_some() {}
                    if let Some((_, delta)) = rows.next_if(|(moved, _)| **moved == vertex) {
                        reach.low = reach.low.min(*delta - tolerance);
                        reach.high = reach.high.max(*delta + tolerance);
                    }
                }
            }
        }
    }

    fn of(&self, palette: &[JointMatrix], weights: &[f32]) -> Bounds {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut largest = Vec3::ZERO;
        for group in &self.groups {
            let matrix = palette.get((self.palette + group.row) as usize).unwrap_or(&JointMatrix::IDENTITY);
            let [less, more] = self.morphed(group, weights);
            let moved = less.abs().max(more.abs());
            let row_of =
                |joint: u32| palette.get((self.palette + joint) as usize).unwrap_or(&JointMatrix::IDENTITY);
            let grown = group.arc.as_ref().map_or(0.0, |arc| arc.growth(group.row, moved.length(), row_of));
            for (axis, row) in [matrix.x, matrix.y, matrix.z].into_iter().enumerate() {
                let (u, offset) = (Vec3::new(row[0], row[1], row[2]), row[3]);
                let (least, most) = group.hull.range(u);
                let (a, b) = (u * less, u * more);
                low[axis] = low[axis].min(least + a.min(b).element_sum() + offset - grown);
                high[axis] = high[axis].max(most + a.max(b).element_sum() + offset + grown);
                largest[axis] = largest[axis].max(u.abs().dot(group.size + moved) + offset.abs() + grown);
            }
        }
        if self.groups.is_empty() {
            // Vertices without any weight come out at the origin.
            return if self.sums[0] <= self.sums[1] {
                Bounds::new(Vec3::ZERO, Vec3::ZERO)
            } else {
                Bounds::EMPTY
            };
        }
        let [least, most] = self.sums;
        let margin = largest * (ROUNDING * most.max(1.0));
        Bounds::new((low * least).min(low * most) - margin, (high * least).max(high * most) + margin)
    }

    /// How far active morph targets may move the vertices of a group along each axis, down and up.
    fn morphed(&self, group: &Group, weights: &[f32]) -> [Vec3; 2] {
        let (mut less, mut more) = (Vec3::ZERO, Vec3::ZERO);
        for reach in &self.targets[group.targets.start as usize..group.targets.end as usize] {
            let weight = weights.get(self.weight + reach.target as usize).copied().unwrap_or_default();
            if let Some(weight) = active_weight(weight) {
                let (a, b) = (reach.low * weight, reach.high * weight);
                less += a.min(b);
                more += a.max(b);
            }
        }
        [less, more]
    }
}

fn diagonal(primitive: &Primitive) -> f32 {
    let bounds: Bounds = primitive.positions().iter().copied().collect();
    bounds.min.distance(bounds.max)
}
