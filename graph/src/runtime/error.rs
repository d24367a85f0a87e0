use crate::{error::Shape, handle::Label};

/// Why a frame could not be recorded. Nothing of it was recorded, except where a variant says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A target that the plan draws into or reads has no view for this run.
    #[error("target `{target}` has no view; call `bind_target` before every run")]
    TargetNotBound {
        /// The target.
        target: Label,
    },
    /// The view of a target is of another size or sample count than was declared.
    #[error(
        "target `{target}` is bound to a texture of {found}, but was declared as {expected}; declare the graph anew when a target changes"
    )]
    TargetMismatch {
        /// The target.
        target: Label,
        /// Of the texture that was bound.
        found: Shape,
        /// As declared.
        expected: Shape,
    },
    /// The plan was compiled from another graph.
    #[error("the plan was compiled from another graph; run it with the graph that it came from")]
    ForeignPlan,
    /// The graph was changed after the plan was compiled.
    #[error("the graph changed after the plan was compiled; compile it again")]
    StalePlan,
    /// A record closure resolved an access or group that its pass did not declare, and was given an empty
    /// stand-in. The whole frame was recorded; do not submit it.
    #[error("pass `{pass}` resolved {kind} that it did not declare; declare it in that pass")]
    Undeclared {
        /// The pass.
        pass: Label,
        /// What kind of key it resolved.
        kind: &'static str,
    },
    /// A host pass could not do its work ([`Host::fail`](crate::Host::fail)). The whole frame was recorded;
    /// do not submit it.
    #[error("host pass `{pass}` failed: {reason}")]
    HostFailed {
        /// The pass.
        pass: Label,
        /// What it said.
        reason: String,
    },
    /// The watched device was lost.
    #[error(
        "the device was lost ({reason:?}: {message}); make a runtime on a new one and declare the graph again"
    )]
    DeviceLost {
        /// What kind of loss it is.
        reason: wgpu::DeviceLostReason,
        /// What the driver says.
        message: String,
    },
    /// The device gave no mapped memory to upload from, as after it was lost.
    #[error(
        "no mapped memory for {bytes} bytes of uploads; the device is lost or out of memory: rebuild on a new one, or upload less"
    )]
    NoUploadMemory {
        /// Bytes of all upload blocks of the plan.
        bytes: u64,
    },
    /// Two transients share bytes while both are alive: a fault of this crate, caught in debug builds.
    #[error(
        "`{first}` and `{second}` share bytes while both are alive; this is a fault of the compiler: please report it with `plan.report().text()`"
    )]
    DoubleBooked {
        /// One transient.
        first: Label,
        /// The other.
        second: Label,
    },
}

impl RunError {
    /// Stable code, for tests, logs and documentation.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TargetNotBound { .. } => "R001",
            Self::ForeignPlan => "R002",
            Self::StalePlan => "R003",
            Self::Undeclared { .. } => "R004",
            Self::NoUploadMemory { .. } => "R005",
            Self::DoubleBooked { .. } => "R006",
            Self::HostFailed { .. } => "R007",
            Self::DeviceLost { .. } => "R008",
            Self::TargetMismatch { .. } => "R009",
        }
    }
}
