//! What a model costs each frame.

use std::collections::BTreeSet;

use crate::{
    animate::{JointMatrix, PaletteLayout},
    deform::{Precision, Variant},
    model::{InfluenceClass, Model},
};

/// What one instance costs each frame, all parts shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Deformed vertices.
    pub vertices: u64,
    /// Palette rows.
    pub joints: u64,
    /// Bytes of palettes that the CPU sends.
    pub palette_bytes: u64,
    /// Bytes of deformed vertices that the kernel writes.
    pub output_bytes: u64,
    /// Work items: chunks of vertices.
    pub items: u64,
    /// Dispatches, however many instances there are: one for each kernel variant that has items.
    pub dispatches: u64,
}

/// What one instance of a model costs with vertices kept like this, on a device where everything fits one set of
/// bindings.
#[must_use]
pub fn cost(model: &Model, precision: Precision) -> Cost {
    let joints = PaletteLayout::new(model).len() as u64;
    let mut cost =
        Cost { joints, palette_bytes: joints * size_of::<JointMatrix>() as u64, ..Default::default() };
    let mut variants = BTreeSet::new();
    for &part in model.shown_parts() {
        let part = &model.parts()[part as usize];
        let mesh = &model.meshes()[part.mesh as usize];
        for primitive in mesh.primitives() {
            cost.vertices += primitive.vertex_count() as u64;
            for chunk in primitive.chunks() {
                let class = if part.skin.is_some() { chunk.class } else { InfluenceClass::One };
                let (skinning, morph) = (mesh.skinning(), !primitive.targets().is_empty());
                variants.insert(Variant { class, skinning, precision, morph }.index());
                cost.items += 1;
            }
        }
    }
    cost.output_bytes = cost.vertices * u64::from(16 + 4 * precision.words_b());
    cost.dispatches = variants.len() as u64;
    cost
}
