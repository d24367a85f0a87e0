use glam::{Affine3A, Quat, Vec4};

use super::{
    super::{
        hierarchy::set_world,
        lanes::{F8, Key, with_lanes},
        math::normalize,
        pose::Pose,
        rig::{Component, LanePose, LaneSink, Moving, NONE, constant, constant_rotation},
        sample::{Sink, rotation, set_channels, value},
        sampling::SampleTask,
    },
    CompressError, CompressOptions, CompressedClip, Keys, Section,
    section::Group,
};
use crate::model::{Channel, Clip, Interpolation, Model, Track};

/// Frames per second that animation is authored at.
const RATES: [f32; 9] = [24.0, 25.0, 30.0, 60.0, 48.0, 50.0, 15.0, 12.0, 120.0];
/// How far from a frame a key may lie, in frames, to count as on it.
const ON_FRAME: f32 = 1e-3;
/// Full scale of a rotation's component.
pub(crate) const UNIT: f32 = 32767.0;

impl CompressedClip {
    pub(super) fn new(
        model: &Model,
        moving: &Moving,
        clip: &Clip,
        options: &CompressOptions,
    ) -> Result<Self, CompressError> {
        let mut base = LanePose::rest(model, moving);
        let mut packed = [const { Vec::new() }; 3];
        let mut exact = Vec::new();
        for (index, track) in (0u32..).zip(clip.tracks()) {
            let node = track.node as usize;
            let mut sink = LaneSink { pose: &mut base, moving };
            let (channel, component, is_constant) = match track.channel {
                Channel::Weights => continue,
                Channel::Rotation => {
                    let constant = constant_rotation(track);
                    constant.into_iter().for_each(|value| sink.rotation(node, value));
                    (0, &moving.rotations, constant.is_some())
                }
                Channel::Translation => {
                    let constant = constant(track);
                    constant.into_iter().for_each(|value| sink.translation(node, value));
                    (1, &moving.translations, constant.is_some())
                }
                Channel::Scale => {
                    let constant = constant(track);
                    constant.into_iter().for_each(|value| sink.scale(node, value));
                    (2, &moving.scales, constant.is_some())
                }
            };
            if is_constant || component.places[node] == NONE {
                continue;
            }
            match track.interpolation {
                Interpolation::Linear => packed[channel].push((index, track)),
                Interpolation::Step | Interpolation::CubicSpline => exact.push(index),
            }
        }
        let (start, duration) = (clip.start(), clip.duration() - clip.start());
        let mut build = |channel: usize, component: &Component| {
            packed[channel].sort_by_key(|(_, track)| component.places[track.node as usize]);
            let mut tracks = Vec::with_capacity(packed[channel].len());
            let rate = frame_rate(start, packed[channel].iter().map(|(_, track)| *track));
            let clock = Clock::new(start, duration, rate);
            for &(index, track) in &packed[channel] {
                if clock.tells_apart(track) { tracks.push(track) } else { exact.push(index) }
            }
            section(&tracks, component, clock, duration)
        };
        let rotations = build(0, &moving.rotations);
        let translations = build(1, &moving.translations);
        let scales = build(2, &moving.scales);
        exact.sort_unstable();
        let base_bytes = size_of_val(&base.rotations[..])
            + size_of_val(&base.translations[..])
            + size_of_val(&base.scales[..]);
        let bytes = base_bytes + rotations.bytes() + translations.bytes() + scales.bytes();
        let mut packed =
            Self { start, base, rotations, translations, scales, exact, bytes, error: 0.0 };
        packed.measure(model, moving, clip, options)?;
        Ok(packed)
    }

    /// Sets `error`.
    fn measure(
        &mut self,
        model: &Model,
        moving: &Moving,
        clip: &Clip,
        options: &CompressOptions,
    ) -> Result<(), CompressError> {
        let skeleton = model.skeleton();
        let (mut source, mut own) = (Pose::rest(model), Pose::rest(model));
        let mut worlds = [(); 2].map(|()| vec![Affine3A::IDENTITY; skeleton.len()]);
        let mut lanes = self.base.clone();
        let mut worst = (0.0f32, 0u32, 0.0f32);
        for time in times(clip) {
            set_channels(model, clip, time, &mut source.as_mut());
            with_lanes(true, SampleTask { clip: self, time, pose: &mut lanes });
            self.drive_exact(model, clip, time, &mut LaneSink { pose: &mut lanes, moving });
            lanes.spread(moving, &mut own.as_mut());
            let [from, to] = &mut worlds;
            set_world(skeleton, Affine3A::IDENTITY, &source.as_mut(), from);
            set_world(skeleton, Affine3A::IDENTITY, &own.as_mut(), to);
            for ((node, from), to) in (0u32..).zip(&*from).zip(&*to) {
                let off = distance(from, to, options.tip);
                // A NaN is as bad as can be.
                if !(off <= worst.0) {
                    worst = (if off.is_nan() { f32::INFINITY } else { off }, node, time);
                }
            }
        }
        let (error, node, time) = (worst.0 * 1.25, worst.1, worst.2);
        if !(error <= options.tolerance) {
            return Err(CompressError::TooCoarse { error, tolerance: options.tolerance, node, time });
        }
        self.error = error;
        Ok(())
    }
}

/// How far apart two matrices put their origin, and points along their axes that lie `tip` from it.
fn distance(from: &Affine3A, to: &Affine3A, tip: f32) -> f32 {
    let mut most = (from.translation - to.translation).length();
    let columns = |m: &Affine3A| [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
    for (a, b) in columns(from).into_iter().zip(columns(to)) {
        let length = a.length();
        if length > 0.0 {
            let step = tip / length;
            most = most.max((from.translation - to.translation + (a - b) * step).length());
        }
    }
    most
}

/// Every time at which a track has a key, and three between each two.
fn times(clip: &Clip) -> Vec<f32> {
    let mut keys: Vec<f32> = clip.tracks().iter().flat_map(|track| track.times.iter().copied()).collect();
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let between = keys.windows(2).flat_map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        [0.0, 0.25, 0.5, 0.75].map(|share| from + (to - from) * share)
    });
    between.chain(keys.last().copied()).collect()
}

/// A rate whose frames hold every key, if there is one.
fn frame_rate<'a>(start: f32, tracks: impl Iterator<Item = &'a Track> + Clone) -> Option<f32> {
    let smallest = tracks.clone().flat_map(|track| track.times.windows(2)).map(|pair| pair[1] - pair[0]);
    let smallest = smallest.fold(f32::INFINITY, f32::min);
    RATES.into_iter().chain([1.0 / smallest]).filter(|rate| rate.is_finite()).find(|rate| {
        tracks.clone().flat_map(|track| &track.times).all(|time| {
            let frame = (time - start) * rate;
            (frame - frame.round()).abs() < ON_FRAME
        })
    })
}

/// How times are counted.
#[derive(Clone, Copy)]
struct Clock {
    start: f32,
    /// Ticks per second.
    rate: f32,
    /// Whether ticks are frames that hold every key.
    is_even: bool,
}

impl Clock {
    /// Frames where they are few enough for 16 bits, the finest 16 bits can count otherwise.
    fn new(start: f32, duration: f32, frames: Option<f32>) -> Self {
        let most = f32::from(u16::MAX);
        match frames.filter(|rate| rate * duration <= most) {
            Some(rate) => Self { start, rate, is_even: true },
            None => Self { start, rate: most / duration, is_even: false },
        }
    }

    fn tick(self, time: f32) -> u16 {
        ((time - self.start) * self.rate).round() as u16
    }

    /// Whether every key of a track has a tick of its own.
    fn tells_apart(self, track: &Track) -> bool {
        track.times.windows(2).all(|pair| self.tick(pair[0]) < self.tick(pair[1]))
    }
}

/// The smaller of both kinds of keys.
fn section(tracks: &[&Track], component: &Component, clock: Clock, duration: f32) -> Section {
    let targets: Vec<_> = tracks.iter().map(|track| component.places[track.node as usize]).collect();
    let groups = targets.chunks(8).map(|some| {
        let targets: [u32; 8] = std::array::from_fn(|lane| some.get(lane).copied().unwrap_or(component.nowhere()));
        let first = targets[0];
        let is_run = (first..).zip(targets).all(|(expected, target)| expected == target);
        Group { targets, fills: (is_run && first % 8 == 0).then_some(first / 8) }
    });
    let ranges: Vec<_> = tracks.iter().map(|track| Range::of(track)).collect();
    let is_rotation = tracks.first().is_some_and(|track| track.channel == Channel::Rotation);
    let spans = ranges.chunks(8).map(|some| {
        let lanes = |take: fn(&Range, usize) -> f32| {
            [0, 1, 2].map(|c| F8(std::array::from_fn(|lane| some.get(lane).map_or(0.0, |r| take(r, c)))))
        };
        [lanes(|r, c| r.middle[c]), lanes(|r, c| r.step[c])]
    });
    let spans = if is_rotation { Vec::new() } else { spans.collect() };
    let mut section = Section { groups: groups.collect(), spans, keys: Keys::default() };
    if tracks.is_empty() {
        return section;
    }
    section.keys = sparse(tracks, &ranges, clock, duration);
    if clock.is_even {
        let frames = (duration * clock.rate).round() as usize + 1;
        // Two keys would do for a clip of one frame, but no track changes in that.
        if frames >= 2 && frames * section.groups.len() * 64 <= section.bytes() {
            section.keys = even(tracks, &ranges, clock, frames);
        }
    }
    section
}

fn even(tracks: &[&Track], ranges: &[Range], clock: Clock, frames: usize) -> Keys {
    let mut rows = vec![[[0; 8]; 4]; frames * tracks.len().div_ceil(8)];
    let groups = tracks.len().div_ceil(8);
    for (t, (track, range)) in tracks.iter().zip(ranges).enumerate() {
        let mut before = Vec4::ZERO;
        for frame in 0..frames {
            let key = range.key(value_at(track, clock, frame), &mut before);
            for (c, component) in key.into_iter().enumerate() {
                rows[frame * groups + t / 8][c][t % 8] = component;
            }
        }
    }
    // Lanes of no use still have a length.
    for row in rows.iter_mut().skip(groups - 1).step_by(groups) {
        (tracks.len() % 8..8).filter(|_| tracks.len() % 8 != 0).for_each(|lane| row[3][lane] = UNIT as i16);
    }
    Keys::Frames { rate: clock.rate, frames: frames as u32, rows }
}

/// A track's value at a frame: the key that lies there, or what lies between two.
fn value_at(track: &Track, clock: Clock, frame: usize) -> Vec4 {
    let frame = frame as f32;
    let width = track.width as usize;
    let at = |key: usize| (track.times[key] - clock.start) * clock.rate;
    let near = track.times.partition_point(|time| (time - clock.start) * clock.rate < frame - 0.5);
    if near < track.times.len() && (at(near) - frame).abs() < ON_FRAME {
        return numbers(&track.values[near * width..(near + 1) * width]);
    }
    let time = clock.start + frame / clock.rate;
    match track.channel {
        Channel::Rotation => rotation(track, time).into(),
        _ => numbers(&value(track, time)),
    }
}

fn numbers(values: &[f32]) -> Vec4 {
    let number = |i: usize| values.get(i).copied().unwrap_or(0.0);
    Vec4::new(number(0), number(1), number(2), number(3))
}

fn sparse(tracks: &[&Track], ranges: &[Range], clock: Clock, duration: f32) -> Keys {
    let groups = tracks.len().div_ceil(8);
    let (mut times, mut keys) = (Vec::new(), Vec::<Key>::new());
    let mut bounds = vec![[[0; 8]; 2]; groups];
    for (t, (track, range)) in tracks.iter().zip(ranges).enumerate() {
        let width = track.width as usize;
        let first = keys.len();
        let mut before = Vec4::ZERO;
        for (time, values) in track.times.iter().zip(track.values.chunks_exact(width)) {
            times.push(clock.tick(*time));
            keys.push(range.key(numbers(values), &mut before));
        }
        bounds[t / 8][0][t % 8] = first as u32;
        bounds[t / 8][1][t % 8] = keys.len() as u32 - 2;
    }
    // Lanes of no use read the last two keys.
    let last = keys.len() as u32 - 2;
    let tail = &mut bounds[groups - 1];
    (tracks.len() % 8..8).filter(|_| tracks.len() % 8 != 0).for_each(|lane| {
        tail[0][lane] = last;
        tail[1][lane] = last;
    });
    // About two keys of a track in a bucket.
    let buckets = (keys.len() / tracks.len() / 2).clamp(1, usize::from(u16::MAX));
    let bucket_rate = if duration > 0.0 { buckets as f32 / duration } else { 0.0 };
    let mut index = Vec::with_capacity(buckets * groups);
    for bucket in 0..buckets {
        // A little early, so that rounding never skips a key.
        let tick = (bucket as f32 / bucket_rate * clock.rate - 1.0).max(0.0) as u16;
        for [first, last] in &bounds {
            index.push(std::array::from_fn(|lane| {
                let (first, last) = (first[lane] as usize, last[lane] as usize);
                let behind = &times[first + 1..=last.max(first)];
                behind.partition_point(|time| *time <= tick) as u16
            }));
        }
    }
    Keys::Sparse { rate: clock.rate, bucket_rate, buckets: buckets as u32, bounds, index, times, keys }
}

/// What 16 bits stand for in one track.
struct Range {
    is_rotation: bool,
    /// Of what a key of 0 stands for.
    middle: [f32; 3],
    step: [f32; 3],
}

impl Range {
    fn of(track: &Track) -> Self {
        let is_rotation = track.channel == Channel::Rotation;
        let (mut middle, mut step) = ([0.0; 3], [0.0; 3]);
        for c in (0..3).filter(|_| !is_rotation) {
            let values = track.values.iter().skip(c).step_by(3);
            let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| {
                (low.min(*v), high.max(*v))
            });
            // Halves first: the whole range may be more than f32 holds.
            middle[c] = low * 0.5 + high * 0.5;
            step[c] = (high * 0.5 - low * 0.5) / UNIT;
        }
        Self { is_rotation, middle, step }
    }

    /// Rotations in the hemisphere of the one before.
    fn key(&self, value: Vec4, before: &mut Vec4) -> Key {
        if self.is_rotation {
            let q = Vec4::from(normalize(Quat::from_vec4(value)));
            let q = if q.dot(*before) < 0.0 { -q } else { q };
            *before = q;
            return rotation_key(q);
        }
        let component = |c: usize| {
            let steps = (value[c] - self.middle[c]) / self.step[c];
            if steps.is_finite() { steps.round().clamp(-UNIT, UNIT) as i16 } else { 0 }
        };
        [component(0), component(1), component(2), 0]
    }
}

/// Only the direction counts: of some lengths close to the largest, the one whose rounded components point the
/// closest.
fn rotation_key(q: Vec4) -> Key {
    let candidates = (0..32).map(|shorter| {
        let key = (q * (UNIT - shorter as f32)).round();
        let off = (key.normalize() - q).length_squared();
        (key, off)
    });
    let best = candidates.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(q * UNIT, |(key, _)| key);
    best.to_array().map(|component| component as i16)
}

