/// What compression may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompressOptions {
    /// How far from its joint a point is whose error is measured, in the model's unit, on the longest of the
    /// joint's axes in that pose; 0.1 at first.
    pub tip: f32,
    /// Largest error that is accepted, in the model's unit; 0.0001 at first: a tenth of a millimetre where the
    /// unit is a metre.
    pub tolerance: f32,
}

impl Default for CompressOptions {
    fn default() -> Self {
        Self { tip: 0.1, tolerance: 1e-4 }
    }
}

impl CompressOptions {
    /// With points at this distance from their joint.
    #[must_use]
    pub fn with_tip(mut self, tip: f32) -> Self {
        self.tip = tip;
        self
    }

    /// With this largest error.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: f32) -> Self {
        self.tolerance = tolerance;
        self
    }
}

/// Why a clip is not compressed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// It would be further off than allowed.
    #[error(
        "the clip would be off by {error} at node {node} and {time} s, more than the tolerance of {tolerance}; \
         raise the tolerance or play it as it is"
    )]
    TooCoarse {
        /// Largest error measured.
        error: f32,
        /// What was allowed.
        tolerance: f32,
        /// The node where it is largest.
        node: u32,
        /// Seconds.
        time: f32,
    },
}
