use glam::{DQuat, DVec3, Quat, Vec3};

use super::{LoopMode, Travel, math::normalize, sample::sample};
use crate::model::{Channel, Clip, ClipError, Interpolation, Model, Track};

/// Samples of a spline a second, where its turn has to be taken out between keys.
const RATE: f32 = 60.0;

/// How a clip carries its root over the ground: along x and z and around y. The rest of it stays in the clip.
#[derive(Clone, Debug)]
pub struct RootMotion {
    model: Model,
    clip: u32,
    node: u32,
    with_turn: bool,
}

/// A way over the ground, in the frame that the character stood in at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootDelta {
    /// Metres; y is 0.
    pub translation: Vec3,
    /// About y.
    pub rotation: Quat,
}

/// Why root motion cannot be taken out of a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RootMotionError {
    /// The model has no such clip.
    #[error("there is no clip {clip}; the model has {clips}")]
    UnknownClip {
        /// What was asked for.
        clip: u32,
        /// How many there are.
        clips: usize,
    },
    /// The model has no such node.
    #[error("there is no node {node}; the model has {nodes}")]
    UnknownNode {
        /// What was asked for.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// The clip that is left over cannot be built.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// Where the root stands on the ground.
#[derive(Clone, Copy)]
struct Ground {
    translation: DVec3,
    rotation: DQuat,
}

impl Ground {
    const START: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    fn then(self, next: Self) -> Self {
        Self {
            translation: self.translation + self.rotation * next.translation,
            rotation: (self.rotation * next.rotation).normalize(),
        }
    }

    fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { translation: rotation * -self.translation, rotation }
    }

    /// So many times, by squaring.
    fn times(self, count: u64) -> Self {
        let (mut result, mut power, mut left) = (Self::START, self, count);
        while left > 0 {
            if left & 1 == 1 {
                result = result.then(power);
            }
            power = power.then(power);
            left >>= 1;
        }
        result
    }
}

impl RootMotion {
    /// The motion of `node`, a root of the skeleton, in a clip; with its turn about y or without.
    pub fn new(model: &Model, clip: u32, node: u32, with_turn: bool) -> Result<Self, RootMotionError> {
        let (clips, nodes) = (model.clips().len(), model.skeleton().len());
        if clip as usize >= clips {
            return Err(RootMotionError::UnknownClip { clip, clips });
        }
        if node as usize >= nodes {
            return Err(RootMotionError::UnknownNode { node, nodes });
        }
        Ok(Self { model: model.clone(), clip, node, with_turn })
    }

    /// The way over a stretch of [positions](super::Player::position) of the clip played as `mode` says:
    /// over any number of rounds, and back again.
    #[must_use]
    pub fn over(&self, travel: Travel, mode: LoopMode) -> RootDelta {
        let duration = f64::from(self.clip().duration());
        let (from, to) = (travel.from, travel.to);
        let delta = match mode {
            LoopMode::Repeat if duration > 0.0 => {
                let ((round, phase), (last, end)) = (split(from, duration), split(to, duration));
                let whole = self.ground(0.0).inverse().then(self.ground(duration));
                let count = last - round;
                let rounds = whole.times(count.unsigned_abs());
                let rounds = if count < 0 { rounds.inverse() } else { rounds };
                // Back to the start of the first round, over whole ones, into the last.
                let back = self.ground(phase).inverse().then(self.ground(0.0));
                back.then(rounds).then(self.ground(0.0).inverse().then(self.ground(end)))
            }
            LoopMode::PingPong if duration > 0.0 => {
                let fold = |position: f64| {
                    let (_, phase) = split(position, 2.0 * duration);
                    if phase > duration { 2.0 * duration - phase } else { phase }
                };
                self.ground(fold(from)).inverse().then(self.ground(fold(to)))
            }
            LoopMode::Once | LoopMode::Repeat | LoopMode::PingPong => {
                let inside = |position: f64| position.clamp(0.0, duration);
                self.ground(inside(from)).inverse().then(self.ground(inside(to)))
            }
        };
        RootDelta {
            translation: delta.translation.as_vec3(),
            rotation: if self.with_turn { delta.rotation.as_quat() } else { Quat::IDENTITY },
        }
    }

    /// The clip with its root in one place: what is over the ground stays as it is in the first key. Exact at
    /// the keys; the turn of a spline is taken out 60 times a second.
    pub fn in_place(&self) -> Result<Clip, RootMotionError> {
        let start = self.ground(f64::from(self.clip().start()));
        let tracks = self.clip().tracks().iter().map(|track| match track.channel {
            _ if track.node != self.node => track.clone(),
            Channel::Translation => self.without_way(track, start),
            Channel::Rotation if self.with_turn => self.without_turn(track, start),
            _ => track.clone(),
        });
        Ok(Clip::new(self.clip().name(), tracks.collect())?)
    }

    fn clip(&self) -> &Clip {
        &self.model.clips()[self.clip as usize]
    }

    /// Where the root stands at a time of the clip.
    fn ground(&self, time: f64) -> Ground {
        let pose = sample(&self.model, self.clip(), time as f32);
        let (translation, rotation) =
            (pose.translations[self.node as usize], pose.rotations[self.node as usize]);
        Ground {
            translation: DVec3::new(translation.x.into(), 0.0, translation.z.into()),
            rotation: if self.with_turn { turn(rotation).as_dquat().normalize() } else { DQuat::IDENTITY },
        }
    }

    fn without_way(&self, track: &Track, start: Ground) -> Track {
        let mut track = track.clone();
        let start = start.translation.as_vec3();
        let is_spline = track.interpolation == Interpolation::CubicSpline;
        for (index, value) in track.values.chunks_exact_mut(3).enumerate() {
            // Of a spline only the middle one of three is a place; the others are slopes.
            let is_slope = is_spline && index % 3 != 1;
            [value[0], value[2]] = if is_slope { [0.0, 0.0] } else { [start.x, start.z] };
        }
        track
    }

    fn without_turn(&self, track: &Track, start: Ground) -> Track {
        let (times, interpolation) = match track.interpolation {
            Interpolation::CubicSpline => (dense(&track.times), Interpolation::Linear),
            other => (track.times.clone(), other),
        };
        let key = |&time: &f32| {
            let rotation = sample(&self.model, self.clip(), time).rotations[self.node as usize];
            let without = turn(rotation).conjugate() * rotation;
            normalize(start.rotation.as_quat() * without).to_array()
        };
        let values = times.iter().flat_map(key).collect();
        Track { times, values, interpolation, ..track.clone() }
    }
}

/// The part of a rotation that is about y; none where it turns y upside down.
fn turn(rotation: Quat) -> Quat {
    let square = rotation.y * rotation.y + rotation.w * rotation.w;
    if square > 1e-12 { normalize(Quat::from_xyzw(0.0, rotation.y, 0.0, rotation.w)) } else { Quat::IDENTITY }
}

/// The round that a position lies in, and seconds into it.
fn split(position: f64, round: f64) -> (i64, f64) {
    let number = (position / round).floor();
    (number as i64, (position - number * round).clamp(0.0, round))
}

/// The times of the keys, and between them as many as [`RATE`] asks for.
fn dense(keys: &[f32]) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    for pair in keys.windows(2) {
        let steps = ((pair[1] - pair[0]) * RATE).ceil().max(1.0);
        // A key may be as late as it likes: no more than a hundred minutes of steps between two.
        for step in 0..(steps as u32).min(360_000) {
            let time = pair[0] + (pair[1] - pair[0]) * (step as f32 / steps);
            if times.last().is_none_or(|last| time > *last) {
                times.push(time);
            }
        }
    }
    times.extend(keys.last().copied().filter(|last| times.last().is_none_or(|before| last > before)));
    times
}
