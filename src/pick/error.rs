use crate::{
    animate::{AnimateError, InstanceId},
    deform::DeformError,
};

/// Why nothing could be picked or attached.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PickError {
    /// A handle that does not exist, or something that is not kept.
    #[error(transparent)]
    Animate(#[from] AnimateError),
    /// Vertices that are not there.
    #[error(transparent)]
    Deform(#[from] DeformError),
    /// The instance has another model.
    #[error("instance {instance:?} is of another model than the picker; build a picker for each model")]
    OtherModel {
        /// The instance.
        instance: InstanceId,
    },
    /// No positions yet.
    #[error("the picker has no positions yet; call refit first")]
    NotPosed,
    /// Positions of another shape than the model's.
    #[error(
        "positions of {found} vertices are given for primitive {primitive} of part {part}, which has {expected}; give every shown part whole, as bake does"
    )]
    Vertices {
        /// The part.
        part: u32,
        /// The primitive in its mesh.
        primitive: u32,
        /// Positions given.
        found: usize,
        /// Vertices of the source.
        expected: usize,
    },
    /// 32-bit numbers reach no further.
    #[error(
        "{vertices} vertices and {triangles} triangles are as many as one picker can number; split the model"
    )]
    TooLarge {
        /// Vertices up to there.
        vertices: usize,
        /// Triangles up to there.
        triangles: usize,
    },
    /// A point on a triangle that does not exist.
    #[error("part {part} has no triangle {triangle} in primitive {primitive}; it has {triangles}")]
    UnknownTriangle {
        /// The part.
        part: u32,
        /// The primitive in its mesh.
        primitive: u32,
        /// What was asked for.
        triangle: u32,
        /// How many there are; 0 too where there is no such primitive.
        triangles: usize,
    },
}
