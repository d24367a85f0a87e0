use glam::{Quat, Vec3};

use super::{
    math::{normalize, slerp},
    pose::{Pose, PoseMut},
};
use crate::model::{Channel, Clip, Interpolation, Model, Track};

/// The pose of `clip` at `time` seconds: rest pose, then channels. A pure function; nothing remembers
/// where the last sample was. Times clamp to each track's own first and last key. `clip` must be one of
/// `model`'s (its tracks are checked against the model's nodes when the model is built); another's may panic.
#[must_use]
pub fn sample(model: &Model, clip: &Clip, time: f32) -> Pose {
    let mut pose = Pose::rest(model);
    set_channels(model, clip, time, &mut pose.as_mut());
    pose
}

/// Stage `channels`: every track of `clip` replaces its node's component in `pose`; what no track
/// drives stays as it is. `clip` must be one of `model`'s. Rotations come out with unit length.
pub fn set_channels(model: &Model, clip: &Clip, time: f32, pose: &mut PoseMut<'_>) {
    drive(model, clip, time, pose);
}

/// Takes the value of each component that a clip drives.
pub(crate) trait Sink {
    fn translation(&mut self, node: usize, value: Vec3);
    fn rotation(&mut self, node: usize, value: Quat);
    fn scale(&mut self, node: usize, value: Vec3);
    /// `index` among the weights of all parts, `node` the one that carries the mesh.
    fn weight(&mut self, node: usize, index: usize, value: f32);
}

impl Sink for PoseMut<'_> {
    fn translation(&mut self, node: usize, value: Vec3) {
        self.translations[node] = value;
    }

    fn rotation(&mut self, node: usize, value: Quat) {
        self.rotations[node] = value;
    }

    fn scale(&mut self, node: usize, value: Vec3) {
        self.scales[node] = value;
    }

    fn weight(&mut self, _node: usize, index: usize, value: f32) {
        self.weights[index] = value;
    }
}

/// Samples every track of `clip`, in its order.
pub(crate) fn drive(model: &Model, clip: &Clip, time: f32, sink: &mut impl Sink) {
    for track in clip.tracks() {
        drive_track(model, track, time, sink);
    }
}

/// Samples one track.
pub(super) fn drive_track(model: &Model, track: &Track, time: f32, sink: &mut impl Sink) {
    let node = track.node as usize;
    match track.channel {
        Channel::Translation => sink.translation(node, Vec3::from_array(value(track, time))),
        Channel::Scale => sink.scale(node, Vec3::from_array(value(track, time))),
        Channel::Rotation => sink.rotation(node, rotation(track, time)),
        Channel::Weights => {
            if let Some(part) = model.part_of_node(track.node) {
                let at = Span::find(&track.times, time);
                for (i, index) in model.weight_range(part).enumerate() {
                    sink.weight(node, index, component(track, at, i));
                }
            }
        }
    }
}

/// Where a time lies among keys.
#[derive(Clone, Copy)]
struct Span {
    left: usize,
    right: usize,
    /// 0..=1 from left to right.
    t: f32,
    /// Seconds between the two.
    length: f32,
}

impl Span {
    /// Clamps to the first and last key. `times` is not empty and rises strictly.
    fn find(times: &[f32], time: f32) -> Self {
        let last = times.len() - 1;
        let after = times.partition_point(|&key| key <= time);
        // A NaN time is before every key.
        if after == 0 || last == 0 {
            return Self { left: 0, right: 0, t: 0.0, length: 0.0 };
        }
        if after > last {
            return Self { left: last, right: last, t: 0.0, length: 0.0 };
        }
        let (from, to) = (times[after - 1], times[after]);
        let length = to - from;
        Self { left: after - 1, right: after, t: (time - from) / length, length }
    }
}

pub(super) fn value(track: &Track, time: f32) -> [f32; 3] {
    let at = Span::find(&track.times, time);
    [0, 1, 2].map(|i| component(track, at, i))
}

pub(super) fn rotation(track: &Track, time: f32) -> Quat {
    let at = Span::find(&track.times, time);
    if track.interpolation == Interpolation::Linear && at.left != at.right {
        // Keys as they are: normalising comes after sampling, so rounded keys keep their share.
        let key = |k: usize| Quat::from_slice(&track.values[k * 4..k * 4 + 4]);
        return slerp(key(at.left), key(at.right), at.t);
    }
    let [x, y, z, w] = [0, 1, 2, 3].map(|i| component(track, at, i));
    normalize(Quat::from_xyzw(x, y, z, w))
}

/// Number `i` of the value at a span; not for LINEAR rotations.
fn component(track: &Track, at: Span, i: usize) -> f32 {
    let width = track.width as usize;
    match track.interpolation {
        Interpolation::Step => track.values[at.left * width + i],
        Interpolation::Linear => {
            let (a, b) = (track.values[at.left * width + i], track.values[at.right * width + i]);
            if at.left == at.right { a } else { a * (1.0 - at.t) + b * at.t }
        }
        Interpolation::CubicSpline => {
            // Each key: in-tangent, value, out-tangent.
            let number = |key: usize, which: usize| track.values[(key * 3 + which) * width + i];
            let (p0, p1) = (number(at.left, 1), number(at.right, 1));
            if at.left == at.right {
                return p0;
            }
            let (m0, m1) = (at.length * number(at.left, 2), at.length * number(at.right, 0));
            let (t, t2) = (at.t, at.t * at.t);
            let t3 = t2 * t;
            (2.0 * t3 - 3.0 * t2 + 1.0) * p0
                + (t3 - 2.0 * t2 + t) * m0
                + (3.0 * t2 - 2.0 * t3) * p1
                + (t3 - t2) * m1
        }
    }
}
