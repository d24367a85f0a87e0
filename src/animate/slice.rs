//! Poses that are evaluated every few frames and interpolated in between.

use glam::Quat;

use super::{
    math::normalize,
    moving::LanePose,
    pose::{Pose, PoseMut},
};
use crate::model::Model;

/// Two poses of one instance and where it is between them.
#[derive(Debug)]
pub(super) struct Slice {
    /// Orders those that are due at the same time.
    number: u64,
    /// Counts those of one rate, to spread them over its frames.
    phase: u32,
    /// Frames from one evaluation to the next.
    every: u32,
    /// Frames since the last evaluation.
    age: u32,
    /// Over how many frames the older pose becomes the newer one.
    span: u32,
    is_due: bool,
    /// Neither pose is of use.
    is_fresh: bool,
    /// The older one is of no use.
    is_first: bool,
    /// The older and the newer pose of what moves, where only clips shape the instance.
    lanes: [LanePose; 2],
    /// The same of all nodes where more does, without nodes until then; morph weights in either case.
    poses: [Pose; 2],
    /// Which of both is in use.
    are_lanes: bool,
}

/// Where a slice stands among the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Of all.
    pub(super) number: u64,
    /// Of those with its rate.
    pub(super) phase: u32,
}

/// Whether a slice is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum Age {
    /// It must be evaluated.
    WithoutPose,
    /// It should be, for so many frames already.
    Due { late: u32 },
    /// Not yet.
    Fresh,
}

/// What an instance is put together from in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Share {
    /// The newer pose alone.
    Newer,
    /// So much of it, above 0 and below 1.
    Of(f32),
}

impl Slice {
    pub(super) fn new(model: &Model, rest: &LanePose, turn: Turn, every: u32) -> Self {
        let weights = || Pose { weights: vec![0.0; model.weight_count()], ..Pose::default() };
        Self {
            number: turn.number,
            phase: turn.phase,
            every,
            age: 0,
            span: every,
            is_due: true,
            is_fresh: true,
            is_first: true,
            lanes: [rest.clone(), rest.clone()],
            poses: [weights(), weights()],
            are_lanes: true,
        }
    }

    pub(super) fn every(&self) -> u32 {
        self.every
    }

    pub(super) fn set_every(&mut self, every: u32) {
        self.every = every;
        self.span = self.span.min(every);
    }

    /// Forgets both poses: the next frame evaluates and interpolates nothing.
    pub(super) fn forget(&mut self) {
        (self.is_fresh, self.is_due) = (true, true);
    }

    /// The same for poses of other components.
    pub(super) fn reshape(&mut self, rest: &LanePose) {
        self.lanes = [rest.clone(), rest.clone()];
        self.forget();
    }

    /// A frame passes.
    pub(super) fn age(&mut self) -> Age {
        self.age = self.age.saturating_add(1);
        self.is_due = self.is_fresh;
        match self.age.checked_sub(self.span) {
            _ if self.is_fresh => Age::WithoutPose,
            Some(late) => Age::Due { late },
            None => Age::Fresh,
        }
    }

    /// What orders it among those that are equally late.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn set_due(&mut self) {
        self.is_due = true;
    }

    /// Whether to evaluate now, into the newer of the poses that [`turn`](Self::turn) gives.
    pub(super) fn must_evaluate(&self, in_lanes: bool) -> bool {
        self.is_due || self.is_fresh || self.are_lanes != in_lanes
    }

    fn share(&self) -> Share {
        let next = self.age.saturating_add(1);
        if !self.is_first && next < self.span {
            Share::Of(next as f32 / self.span as f32)
        } else {
            Share::Newer
        }
    }

    /// The newer pose becomes the older one, before an evaluation.
    fn turn(&mut self, in_lanes: bool) {
        self.is_first = self.is_fresh || self.are_lanes != in_lanes;
        self.are_lanes = in_lanes;
        (self.is_fresh, self.is_due, self.age) = (false, false, 0);
        // At first a part of the time, so that instances that come together part.
        self.span = if self.is_first { 1 + self.phase % self.every } else { self.every };
        self.poses.swap(0, 1);
        self.lanes.swap(0, 1);
    }

    /// The poses of what moves and the morph weights, to be written by an evaluation.
    pub(super) fn turn_lanes(&mut self) -> (&mut LanePose, &mut [f32]) {
        self.turn(true);
        (&mut self.lanes[1], &mut self.poses[1].weights)
    }

    /// Both poses of what moves, the older one first, and what to make of them.
    pub(super) fn lanes(&self) -> (&[LanePose; 2], Share) {
        (&self.lanes, self.share())
    }

    /// Morph weights between both poses.
    pub(super) fn set_weights(&self, weights: &mut [f32]) {
        mix_weights(&self.poses, self.share(), weights);
    }

    /// Keeps a pose that has been evaluated as the newer one.
    pub(super) fn keep(&mut self, pose: &PoseMut<'_>) {
        self.turn(false);
        let newer = &mut self.poses[1];
        newer.translations.clear();
        newer.translations.extend_from_slice(pose.translations);
        newer.rotations.clear();
        newer.rotations.extend_from_slice(pose.rotations);
        newer.scales.clear();
        newer.scales.extend_from_slice(pose.scales);
        newer.weights.copy_from_slice(pose.weights);
    }

    /// Sets a pose between both.
    pub(super) fn set_pose(&self, pose: &mut PoseMut<'_>) {
        let ([from, to], share) = (&self.poses, self.share());
        let Share::Of(t) = share else {
            pose.translations.copy_from_slice(&to.translations);
            pose.rotations.copy_from_slice(&to.rotations);
            pose.scales.copy_from_slice(&to.scales);
            pose.weights.copy_from_slice(&to.weights);
            return;
        };
        for node in 0..pose.rotations.len() {
            pose.translations[node] = from.translations[node].lerp(to.translations[node], t);
            pose.rotations[node] = between(from.rotations[node], to.rotations[node], t);
            pose.scales[node] = from.scales[node].lerp(to.scales[node], t);
        }
        mix_weights(&self.poses, share, pose.weights);
    }
}

/// On a straight line to the nearer of a rotation's two quaternions, as where only clips shape an instance.
fn between(from: Quat, to: Quat, t: f32) -> Quat {
    let share = if from.dot(to) < 0.0 { -t } else { t };
    normalize(from * (1.0 - t) + to * share)
}

fn mix_weights([from, to]: &[Pose; 2], share: Share, weights: &mut [f32]) {
    for ((weight, from), to) in weights.iter_mut().zip(&from.weights).zip(&to.weights) {
        *weight = match share {
            Share::Newer => *to,
            Share::Of(t) => from + (to - from) * t,
        };
    }
}
