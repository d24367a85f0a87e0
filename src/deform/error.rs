use crate::animate::{AnimateError, InstanceId};

/// Why deformation was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeformError {
    /// A handle or clip that does not exist.
    #[error(transparent)]
    Animate(#[from] AnimateError),
    /// Packed weights hold 0..=1.
    #[error("a vertex has weight {weight}; packed streams hold 0 to 1, use Precision::Exact for this model")]
    WeightAboveOne {
        /// The weight.
        weight: f32,
    },
    /// 32-bit offsets reach no further.
    #[error("a source stream would hold {units} units; 32-bit offsets reach 4294967295")]
    StreamTooLong {
        /// Units it would hold.
        units: usize,
    },
    /// One model or instance alone would pass one of the device's limits.
    #[error(
        "the {what} need {bytes} bytes in one binding, but the device allows {limit} ({name}); request a higher limit or split the model"
    )]
    OverLimit {
        /// Which buffer.
        what: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
        /// The limit's name in `wgpu::Limits`.
        name: &'static str,
    },
    /// The device offers less than the kernel needs for any model.
    #[error(
        "the kernel needs {needed} {what}, but the device allows {limit} ({name}); request WebGPU's default limits"
    )]
    UnderLimits {
        /// What there is too little of.
        what: &'static str,
        /// What every kernel variant needs.
        needed: u32,
        /// What the device allows.
        limit: u32,
        /// The limit's name in `wgpu::Limits`.
        name: &'static str,
    },
    /// The model shows no such part.
    #[error("the model does not show part {part}; it shows {shown:?}")]
    UnknownPart {
        /// What was asked for.
        part: u32,
        /// The shown parts.
        shown: Vec<u32>,
    },
    /// Only what is shown has a place among the outputs.
    #[error(
        "part {part} was not shown by the last record, so it has no vertices; show it, or turn compact_outputs off"
    )]
    NotShown {
        /// The part.
        part: u32,
    },
    /// Of what is hidden or out of view nothing is deformed.
    #[error(
        "instance {instance:?} was not deformed by the last run: it or all of its parts were hidden, or it was out of view; show it and run again"
    )]
    NotDeformed {
        /// The instance.
        instance: InstanceId,
    },
    /// Instances were spawned or removed after the vertices were laid out.
    #[error("instances changed since the last record; record again before reading vertices")]
    NotRecorded,
    /// A group is one pair of buffers.
    #[error(
        "these instances need {sets} sets of bindings, a group has one; declare fewer per group or request higher limits"
    )]
    GroupTooLarge {
        /// Sets of bindings that they need.
        sets: usize,
    },
    /// Vertices of a group have one format.
    #[error("a group holds packed and exact vertices; declare a group for each precision")]
    MixedPrecision,
    /// The read-back holds other instances.
    #[error("instance {instance:?} was not read back; read back all of them, or name it to read_back_of")]
    NotReadBack {
        /// The instance.
        instance: InstanceId,
    },
    /// Source buffers were replaced after `declare`.
    #[error(
        "source buffers were replaced since the graph was declared (a model was added or removed, or the device changed); declare and compile it again"
    )]
    StaleDeclaration,
    /// Memory for an upload or a read-back could not be mapped: the device is lost, or the encoder that
    /// should have filled it was dropped.
    #[error(
        "memory could not be mapped: the device was lost (call rebuild with a new one) or the encoder was dropped"
    )]
    Map,
}
