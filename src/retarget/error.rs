use crate::{
    animate::{AnimateError, InstanceId},
    model::ClipError,
};

/// Why motion is not taken over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// No names were given.
    #[error(
        "no joints are mapped; `names` needs a source name for each target joint, and `names_alike` finds equal ones"
    )]
    NoNames,
    /// Names were given, but none of them fits.
    #[error(
        "none of {names} mapped names fits: {targets} are no joints of the target, {sources} no nodes of the source; first `{target}` from `{source_name}`"
    )]
    NothingMapped {
        /// Names given.
        names: usize,
        /// Of them unknown to the target.
        targets: usize,
        /// Of them unknown to the source.
        sources: usize,
        /// The first target name.
        target: String,
        /// The source name it stands for.
        source_name: String,
    },
    /// The hip takes part only through a mapped joint.
    #[error("no joint is mapped to the hip `{hip}`; name the source joint that carries the body, or none")]
    UnknownHip {
        /// The name given.
        hip: String,
    },
    /// Heights that give no ratio.
    #[error(
        "the hip rests at height {source_height} in the source and {target_height} in the target; both must be above 0, or give `hip_ratio`"
    )]
    HipHeight {
        /// Metres above y = 0.
        source_height: f32,
        /// Metres above y = 0.
        target_height: f32,
    },
    /// An option that is no number.
    #[error("{option} must be finite and, as a rotation, not zero")]
    NotFinite {
        /// Which.
        option: &'static str,
    },
    /// The target has no such part or skin, or the part has no skin.
    #[error("{what} {index} of the target has no joints; it has {count} of them, and parts need a skin")]
    NoJoints {
        /// `part` or `skin`.
        what: &'static str,
        /// The index given.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// A pose of another model.
    #[error("{option} has {found} nodes, the model {expected}")]
    PoseSize {
        /// `source_rest` or `target_rest` of the options, or `source` or `target` of [`Retarget::pose`](super::Retarget::pose).
        option: &'static str,
        /// Nodes of the shortest list of the pose.
        found: usize,
        /// Nodes of the model.
        expected: usize,
    },
    /// The source has no such clip.
    #[error("the source has {clips} clips, not clip {clip}")]
    UnknownClip {
        /// The index given.
        clip: u32,
        /// How many there are.
        clips: usize,
    },
    /// Nothing to sample.
    #[error("clip `{clip}` has no tracks")]
    NoTracks {
        /// Its name.
        clip: String,
    },
    /// Its tracks move other nodes.
    #[error("clip `{clip}` has {tracks} tracks, but none drives a mapped joint or a node above one")]
    NothingDriven {
        /// Its name.
        clip: String,
        /// Its tracks.
        tracks: usize,
    },
    /// Scale is not taken over.
    #[error(
        "clip `{clip}` scales node {node} `{name}`, which is not taken over; set `drop_scale` to go on without"
    )]
    ScaleTrack {
        /// Its name.
        clip: String,
        /// The node of the source.
        node: u32,
        /// That node's name.
        name: String,
    },
    /// A rate of nothing.
    #[error("{fps} keys a second; the rate must be above 0")]
    Fps {
        /// The rate given.
        fps: f32,
    },
    /// More keys than anyone wants.
    #[error("clip `{clip}` would have {frames} keys a track; the most are {most}: lower the rate")]
    TooManyFrames {
        /// Its name.
        clip: String,
        /// Keys needed.
        frames: u64,
        /// Keys allowed.
        most: u64,
    },
    /// An instance of another model.
    #[error("instance {instance:?} is of another model than the {which} that this was made for")]
    OtherModel {
        /// `source` or `target`.
        which: &'static str,
        /// The instance given.
        instance: InstanceId,
    },
    /// What the animator refused.
    #[error(transparent)]
    Animate(#[from] AnimateError),
    /// Keys that make no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}
