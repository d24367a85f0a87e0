//! A repaired model: what `sinew fix` writes. Loading has already repaired what breaks the specification (weights are
//! normalised and sorted, joints merged, rotations of unit length, normals and tangents there); this takes out what
//! costs and does nothing, and what other programs do not take.

pub mod codes;
mod draft;
mod influences;
mod joints;
mod targets;

use self::draft::Draft;
use crate::{
    lint::Uses,
    model::{ClipError, Diagnostic, MeshError, Model, ModelError, SkinError},
};

/// What a repaired model may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixOptions {
    /// Most influences of a vertex; at least 1.
    pub influences: usize,
}

impl Default for FixOptions {
    fn default() -> Self {
        Self { influences: 8 }
    }
}

/// A repaired model and what was changed.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// It deforms as the model that was given, but for cut influences.
    pub model: Model,
    /// Each with its numbers; empty where nothing had to be changed.
    pub changes: Vec<Diagnostic>,
}

/// Why a model could not be repaired: what was left breaks a rule that the model kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// A mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// A clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// How they fit together.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Repairs a model. Nodes, scenes, materials and images stay as they are, and so does every index of them.
pub fn fix(model: &Model, options: &FixOptions) -> Result<Fixed, FixError> {
    let mut draft = Draft::of(model);
    let uses = Uses::of(model);
    let mut changes = Vec::new();
    influences::reduce(model, &uses, &mut draft, options.influences.max(1), &mut changes);
    joints::drop_unused(model, &uses, &mut draft, &mut changes);
    targets::drop_dead(model, &mut draft, &mut changes);
    Ok(Fixed { model: draft.build(model)?, changes })
}
