use std::sync::Arc;

use super::{Mesh, Model, ModelError, in_range};

/// How a skinned vertex follows several joints. glTF has no word for it: loaded meshes are [`Skinning::Linear`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Skinning {
    /// The weighted mean of where the joints take the vertex, as glTF defines it. A limb that is twisted or sharply bent
    /// loses volume: between joints half a turn apart it shrinks to a point.
    #[default]
    Linear,
    /// Dual quaternions (Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008): the vertex
    /// goes from one joint's place to the other's on an arc, and a twisted limb keeps its volume. The outside of a sharp
    /// bend bulges.
    ///
    /// Each joint counts as the rigid motion that takes the vertex where the joint's matrix takes it and turns it by the
    /// rotation nearest to the matrix; these are blended and normalised, so the result does not depend on where the
    /// mesh's origin lies.
    ///
    /// - Scale and shear are blended with the places: joints of the same scale give the rigid result, scaled. A single
    ///   joint gives what its matrix does, sheared, mirrored or flat.
    /// - Rotations are blended the short way from the strongest influence. From exactly half a turn, which has no short
    ///   way, all vertices between the same two joints go the same way.
    /// - A joint that mirrors turns as its negative does; all joints mirrored give the mirrored result.
    /// - A joint flattened to a line or a point (two axes together less than about a seventeenth of the third) has no
    ///   rotation of its own and counts as not turned.
    /// - Weights are used as given, as in linear skinning; sums below 1e-15 count as none.
    DualQuaternion,
}

impl Mesh {
    /// Chooses how parts with a skin follow their joints; others have one joint, their node, and nothing to blend.
    #[must_use]
    pub fn with_skinning(mut self, skinning: Skinning) -> Self {
        self.skinning = skinning;
        self
    }

    /// How parts with a skin follow their joints.
    #[must_use]
    pub fn skinning(&self) -> Skinning {
        self.skinning
    }
}

impl Model {
    /// The same with another skinning of one mesh, for models from files. Copies the data where others share it.
    pub fn with_skinning(self, mesh: u32, skinning: Skinning) -> Result<Self, ModelError> {
        in_range(|| "skinning".into(), "mesh", mesh, self.meshes().len())?;
        let mut data = Arc::unwrap_or_clone(self.data);
        data.desc.meshes[mesh as usize].skinning = skinning;
        Ok(Self { data: Arc::new(data) })
    }
}
