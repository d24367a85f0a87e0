//! Clips packed for evaluating many characters: 16-bit keys, found without any state per character.

mod build;
mod code;
mod error;
mod section;

use std::sync::Arc;

pub(super) use code::UNIT;
pub use error::{CompressError, CompressOptions};
pub(super) use section::{Keys, Section};

use super::{
    bind_space::ToLocal,
    lanes::with_lanes,
    moving::{LanePose, LaneSink, Moving, Still},
    sample::{Sink, drive_track},
    sampling::SampleTask,
};
use crate::model::{Clip, Model};

/// The clips of a model in compressed form. Cheap to clone; give it to
/// [`Animator::set_compressed`](super::Animator::set_compressed).
///
/// A clip whose error would exceed the tolerance is left as it is, and played exactly.
#[derive(Clone, Debug)]
pub struct CompressedClips {
    clips: Arc<[Result<CompressedClip, CompressError>]>,
    moving: Arc<Moving>,
    model: Model,
}

impl CompressedClips {
    /// Compresses every clip of `model` and measures what that costs.
    #[must_use]
    pub fn new(model: &Model, options: &CompressOptions) -> Self {
        let small = Still { turn: 1e-6, translation: options.tolerance.max(0.0) * 0.01 };
        let compress = |moving: &Moving| -> Vec<_> {
            let clips = model.clips().iter();
            clips.map(|clip| CompressedClip::new(model, moving, clip, options)).collect()
        };
        let mut moving = Moving::new(model, |_| small);
        let mut clips = compress(&moving);
        if clips.iter().any(Result::is_err) {
            // What is played exactly is left nothing out of.
            moving = Moving::new(model, |clip| if clips[clip].is_ok() { small } else { Still::default() });
            clips = compress(&moving);
        }
        if clips.iter().any(Result::is_err) {
            moving = Moving::exactly(model);
            clips = compress(&moving);
        }
        Self { clips: clips.into(), moving: Arc::new(moving), model: model.clone() }
    }

    /// Whether they are those of `model` itself, not of an equal one.
    pub(super) fn are_of(&self, model: &Model) -> bool {
        self.model.ptr_eq(model)
    }

    /// Clips, in the model's order.
    #[must_use]
    pub fn len(&self) -> usize {
        self.clips.len()
    }

    /// Whether the model has no clips.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clips.is_empty()
    }

    /// A clip, or why it was left as it is. `None` past the last one.
    #[must_use]
    pub fn get(&self, clip: u32) -> Option<Result<&CompressedClip, &CompressError>> {
        self.clips.get(clip as usize).map(Result::as_ref)
    }

    /// What moves in them.
    pub(super) fn moving(&self) -> &Moving {
        &self.moving
    }

    /// A clip, if it is compressed.
    pub(super) fn clip(&self, clip: u32) -> Option<&CompressedClip> {
        self.clips.get(clip as usize)?.as_ref().ok()
    }
}

/// One clip: tracks that never change are dropped into a base pose; the others have 16-bit keys, either one per
/// frame of an even rate, or those of the source with an index by time. Cubic splines, steps and morph weights
/// are sampled from the source.
#[derive(Clone, Debug)]
pub struct CompressedClip {
    /// Subtracted from the time.
    pub(super) start: f32,
    /// Rest pose and constant tracks; rotations in bind space, as the keys are.
    pub(super) base: LanePose,
    pub(super) rotations: Section,
    pub(super) translations: Section,
    pub(super) scales: Section,
    /// Tracks of the source that are sampled exactly.
    pub(super) exact: Vec<u32>,
    bytes: usize,
    error: f32,
}

impl CompressedClip {
    /// Memory in bytes, without tracks that are sampled from the source.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Largest distance in model space between where the clip puts a point at
    /// [`tip`](CompressOptions::tip) from a joint and where the source puts it: measured at every key and
    /// seven times between keys, and a quarter more.
    #[must_use]
    pub fn error(&self) -> f32 {
        self.error
    }

    /// How many tracks of nodes are sampled from the source.
    #[must_use]
    pub fn exact_tracks(&self) -> usize {
        self.exact.len()
    }

    /// Samples local transforms of what moves, of the clip itself and of the source's tracks.
    pub(super) fn sample_locals(
        &self,
        model: &Model,
        moving: &Moving,
        clip: &Clip,
        time: f32,
        simd: bool,
        pose: &mut LanePose,
    ) {
        with_lanes(simd, SampleTask { clip: self, time, pose });
        with_lanes(simd, ToLocal { locals: &moving.locals, pose });
        self.drive_exact(model, clip, time, &mut LaneSink { pose, moving, space: None });
    }

    /// Samples the source's tracks that are not compressed.
    pub(super) fn drive_exact(&self, model: &Model, clip: &Clip, time: f32, sink: &mut impl Sink) {
        for &track in &self.exact {
            drive_track(model, &clip.tracks()[track as usize], time, sink);
        }
    }
}
