use std::ops::Range;

use glam::Affine3A;

pub use super::joint_matrix::JointMatrix;
use crate::model::Model;

/// Largest magnitude of a morph weight while it is deformed; more counts as this much.
pub const MAX_MORPH_WEIGHT: f32 = 1e4;

impl JointMatrix {
    /// Largest magnitude of a coefficient in a palette. With [`MAX_COORDINATE`], [`MAX_WEIGHT_SUM`] and
    /// [`MAX_MORPH_WEIGHT`] it keeps every product and sum of the kernel inside f32.
    ///
    /// [`MAX_COORDINATE`]: crate::model::MAX_COORDINATE
    /// [`MAX_WEIGHT_SUM`]: crate::model::MAX_WEIGHT_SUM
    /// [`MAX_MORPH_WEIGHT`]: crate::animate::MAX_MORPH_WEIGHT
    pub const MAX: f32 = 1e12;

    /// Coefficients cut to ±[`JointMatrix::MAX`], and 0 for NaN: what overflowed up the chain stays finite.
    #[must_use]
    pub fn bounded(self) -> Self {
        // False for NaN too. Without short circuits, so that a row is one comparison.
        let is_inside = |row: [f32; 4]| row.iter().fold(true, |inside, v| inside & (v.abs() <= Self::MAX));
        if is_inside(self.x) & is_inside(self.y) & is_inside(self.z) {
            return self;
        }
        let bounded =
            |row: [f32; 4]| row.map(|v| if v.is_nan() { 0.0 } else { v.clamp(-Self::MAX, Self::MAX) });
        Self { x: bounded(self.x), y: bounded(self.y), z: bounded(self.z) }
    }
}

impl From<Affine3A> for JointMatrix {
    fn from(m: Affine3A) -> Self {
        let (x, y, z, t) = (m.x_axis, m.y_axis, m.z_axis, m.translation);
        Self { x: [x.x, y.x, z.x, t.x], y: [x.y, y.y, z.y, t.y], z: [x.z, y.z, z.z, t.z] }
    }
}

/// Which rows of an instance's palette belong to what: a range per skin, one row per rigid part that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteLayout {
    sources: Vec<(Source, Range<usize>)>,
    /// First row of each shown part.
    parts: Vec<u32>,
    len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Skin(u32),
    Node(u32),
}

impl PaletteLayout {
    /// Parts of one skin share one range. A part without a skin rides on its node: one row.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut layout = Self { sources: Vec::new(), parts: Vec::new(), len: 0 };
        for &index in model.shown_parts() {
            let part = &model.parts()[index as usize];
            let (source, rows) = match part.skin {
                Some(skin) => (Source::Skin(skin), model.skins()[skin as usize].joints().len()),
                None => (Source::Node(part.node), 1),
            };
            let known = layout.sources.iter().find(|(s, _)| *s == source).map(|(_, range)| range.start);
            let start = known.unwrap_or_else(|| {
                let start = layout.len;
                layout.sources.push((source, start..start + rows));
                layout.len += rows;
                start
            });
            layout.parts.push(start as u32);
        }
        // Skins without a mesh: for the caller's own shaders.
        for (skin, data) in (0u32..).zip(model.skins()) {
            if layout.skin(skin).is_none() {
                let start = layout.len;
                layout.len += data.joints().len();
                layout.sources.push((Source::Skin(skin), start..layout.len));
            }
        }
        layout
    }

    /// The rows of a skin, a joint each.
    #[must_use]
    pub fn skin(&self, skin: u32) -> Option<Range<usize>> {
        let mut sources = self.sources.iter();
        sources.find(|(source, _)| *source == Source::Skin(skin)).map(|(_, rows)| rows.clone())
    }

    /// Every row with its node and its inverse bind matrix, which rigid parts lack.
    pub(super) fn each_row(&self, model: &Model, mut take: impl FnMut(usize, u32, Option<Affine3A>)) {
        for (source, range) in &self.sources {
            match source {
                Source::Node(node) => take(range.start, *node, None),
                Source::Skin(skin) => {
                    let skin = &model.skins()[*skin as usize];
                    let joints = skin.joints().iter().zip(skin.inverse_binds());
                    joints.zip(range.clone()).for_each(|((&node, m), row)| take(row, node, Some(*m)));
                }
            }
        }
    }

    /// Rows of one instance.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// First row of each of [`Model::shown_parts`].
    #[must_use]
    pub fn parts(&self) -> &[u32] {
        &self.parts
    }
}

/// Stage `palette`: `palette[i] = joint_world[i] · inverse_bind[i]`, both relative to the instance's
/// root. `world` has a matrix per node, `palette` [`PaletteLayout::len`] rows. Nothing is inverted and
/// every coefficient is [bounded](JointMatrix::bounded), so the palette is finite whatever the pose.
pub fn set_palette(model: &Model, layout: &PaletteLayout, world: &[Affine3A], palette: &mut [JointMatrix]) {
    for (source, range) in &layout.sources {
        let rows = &mut palette[range.clone()];
        match source {
            Source::Node(node) => rows.fill(JointMatrix::from(world[*node as usize]).bounded()),
            Source::Skin(skin) => {
                let skin = &model.skins()[*skin as usize];
                for ((row, &node), inverse) in rows.iter_mut().zip(skin.joints()).zip(skin.inverse_binds()) {
                    *row = JointMatrix::from(world[node as usize] * *inverse).bounded();
                }
            }
        }
    }
}
