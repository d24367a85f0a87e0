use glam::{Affine3A, Vec4};

use super::{
    super::{
        hierarchy::set_world,
        lanes::Key,
        moving::{Component, LanePose, LaneSink, Moving, NONE, constant, constant_rotation},
        pose::Pose,
        sample::{Sink, rotation, set_channels, value},
    },
    CompressError, CompressOptions, CompressedClip, Keys, Section,
    code::{Chain, Range, UNIT, is_near},
    section::Group,
};
use crate::model::{Channel, Clip, Interpolation, Model, Track};

/// Frames per second that animation is authored at.
const RATES: [f32; 9] = [24.0, 25.0, 30.0, 60.0, 48.0, 50.0, 15.0, 12.0, 120.0];
/// How far from a frame a key may lie, in frames, to count as on it.
const ON_FRAME: f32 = 1e-3;

impl CompressedClip {
    pub(super) fn new(
        model: &Model,
        moving: &Moving,
        clip: &Clip,
        options: &CompressOptions,
    ) -> Result<Self, CompressError> {
        let space = Some(&moving.space);
        let mut base = LanePose::rest(model, moving, space);
        let mut packed = [const { Vec::new() }; 3];
        let mut exact = Vec::new();
        for (index, track) in (0u32..).zip(clip.tracks()) {
            let node = track.node as usize;
            let mut sink = LaneSink { pose: &mut base, moving, space };
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
        let mut chain = Chain::new(model, &moving.space, clip);
        let mut build = |channel: usize, component: &Component| {
            packed[channel].sort_by_key(|(_, track)| component.places[track.node as usize]);
            let mut tracks = Vec::with_capacity(packed[channel].len());
            let rate = frame_rate(start, &packed[channel]);
            let clock = Clock::new(start, duration, rate);
            for &(index, track) in &packed[channel] {
                if clock.tells_apart(track) { tracks.push(track) } else { exact.push(index) }
            }
            section(&tracks, component, clock, duration, &mut chain)
        };
        let rotations = build(0, &moving.rotations);
        let translations = build(1, &moving.translations);
        let scales = build(2, &moving.scales);
        exact.sort_unstable();
        let base_bytes = size_of_val(&base.rotations[..])
            + size_of_val(&base.translations[..])
            + size_of_val(&base.scales[..]);
        let bytes = base_bytes + rotations.bytes() + translations.bytes() + scales.bytes();
        let mut packed = Self { start, base, rotations, translations, scales, exact, bytes, error: 0.0 };
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
            self.sample_locals(model, moving, clip, time, true, &mut lanes);
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

/// How far apart two matrices put their origin, and points along their axes: `tip` from it on the longest one,
/// closer on those that are shorter in that pose.
fn distance(from: &Affine3A, to: &Affine3A, tip: f32) -> f32 {
    let apart = from.translation - to.translation;
    let columns = |m: &Affine3A| [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
    let longest = columns(from).iter().fold(0.0f32, |longest, axis| longest.max(axis.length()));
    let step = if longest > 0.0 { tip / longest } else { 0.0 };
    let tips = columns(from).into_iter().zip(columns(to)).map(|(a, b)| (apart + (a - b) * step).length());
    tips.fold(apart.length(), |most, off| if off <= most { most } else { off })
}

/// Every time at which a track has a key, and seven between each two.
fn times(clip: &Clip) -> Vec<f32> {
    let mut keys: Vec<f32> = clip.tracks().iter().flat_map(|track| track.times.iter().copied()).collect();
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let between = keys.windows(2).flat_map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        [0, 1, 2, 3, 4, 5, 6, 7].map(|eighth: u8| from + (to - from) * (f32::from(eighth) / 8.0))
    });
    between.chain(keys.last().copied()).collect()
}

/// A rate whose frames hold every key, if there is one.
fn frame_rate(start: f32, tracks: &[(u32, &Track)]) -> Option<f32> {
    let tracks = || tracks.iter().map(|(_, track)| *track);
    let smallest = tracks().flat_map(|track| track.times.windows(2)).map(|pair| pair[1] - pair[0]);
    let smallest = smallest.fold(f32::INFINITY, f32::min);
    RATES.into_iter().chain([1.0 / smallest]).filter(|rate| rate.is_finite()).find(|rate| {
        tracks().flat_map(|track| &track.times).all(|time| {
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

    /// Seconds at a frame.
    fn time(self, frame: usize) -> f32 {
        self.start + frame as f32 / self.rate
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
fn section(
    tracks: &[&Track],
    component: &Component,
    clock: Clock,
    duration: f32,
    chain: &mut Chain<'_>,
) -> Section {
    let places: Vec<_> = tracks.iter().map(|track| component.places[track.node as usize]).collect();
    let lanes = lanes(&places);
    let mut targets = vec![[NONE; 8]; lanes.last().map_or(0, |lane| lane / 8 + 1)];
    for (&lane, &place) in lanes.iter().zip(&places) {
        targets[lane / 8][lane % 8] = place;
    }
    let groups: Vec<_> =
        targets.into_iter().map(|targets| Group::new(targets, component.nowhere())).collect();
    if tracks.is_empty() {
        return Section { groups, ..Section::default() };
    }
    let count: usize = tracks.iter().map(|track| track.times.len()).sum();
    let sparse = Sparse { groups: groups.len(), buckets: (count / tracks.len()).clamp(1, 1 << 16) };
    let frames = (duration * clock.rate).round() as usize + 1;
    let is_even = clock.is_even && frames >= 2 && frames * groups.len() * 64 <= sparse.bytes(count);
    let ranges: Vec<_> = tracks.iter().map(|track| Range::of(track)).collect();
    let mut coded = vec![Vec::new(); tracks.len()];
    let mut parents_first: Vec<_> = (0..tracks.len()).collect();
    parents_first.sort_by_cached_key(|&at| chain.depth(tracks[at].node));
    for at in parents_first {
        let track = tracks[at];
        let width = track.width as usize;
        let samples: Vec<_> = if is_even {
            (0..frames).map(|frame| (clock.time(frame), value_at(track, clock, frame))).collect()
        } else {
            track.times.iter().copied().zip(track.values.chunks_exact(width).map(numbers)).collect()
        };
        coded[at] = match track.channel {
            Channel::Rotation => chain.rotations(track.node, &samples),
            _ => samples.iter().map(|(_, value)| ranges[at].key(*value)).collect(),
        };
    }
    let mut spans = Vec::new();
    if tracks[0].channel != Channel::Rotation {
        let mut eights = vec![<[Range; 8]>::default(); groups.len()];
        for (&lane, range) in lanes.iter().zip(ranges) {
            eights[lane / 8][lane % 8] = range;
        }
        spans = eights.iter().map(Range::lanes).collect();
    }
    let coded = Coded { keys: &coded, lanes: &lanes };
    let keys = if is_even {
        even(coded, clock, frames, groups.len())
    } else {
        sparse.keys(tracks, coded, clock, duration)
    };
    let is_near = coded.keys.iter().all(|keys| keys.windows(2).all(|pair| is_near(pair[0], pair[1])));
    Section { groups, spans, is_near, keys }
}

/// The lane of each of some rising places, counted through the groups: the lane of the pose's group that it is in,
/// unless that takes more groups than one lane after another.
fn lanes(places: &[u32]) -> Vec<usize> {
    let mut filled: Vec<_> = places.iter().map(|place| place / 8).collect();
    filled.dedup();
    if filled.len() > places.len().div_ceil(8) {
        return (0..places.len()).collect();
    }
    let lane = |place: u32| filled.partition_point(|group| *group < place / 8) * 8 + place as usize % 8;
    places.iter().map(|place| lane(*place)).collect()
}

/// The keys of each track, and its lane.
#[derive(Clone, Copy)]
struct Coded<'a> {
    keys: &'a [Vec<Key>],
    lanes: &'a [usize],
}

fn even(coded: Coded<'_>, clock: Clock, frames: usize, groups: usize) -> Keys {
    // Lanes of no use still have a length.
    let mut rows = vec![[[0; 8], [0; 8], [0; 8], [UNIT as i16; 8]]; frames * groups];
    for (keys, lane) in coded.keys.iter().zip(coded.lanes) {
        for (frame, key) in keys.iter().enumerate() {
            for (c, component) in key.iter().enumerate() {
                rows[frame * groups + lane / 8][c][lane % 8] = *component;
            }
        }
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

/// How keys are laid out that are not even.
struct Sparse {
    groups: usize,
    /// About one key of a track in each.
    buckets: usize,
}

impl Sparse {
    fn bytes(&self, keys: usize) -> usize {
        keys * 10 + self.groups * (64 + 16 * self.buckets)
    }

    fn keys(&self, tracks: &[&Track], coded: Coded<'_>, clock: Clock, duration: f32) -> Keys {
        let keys = coded.keys.concat();
        let times = tracks.iter().flat_map(|track| &track.times).map(|time| clock.tick(*time));
        // Four times are looked at from each key that has one behind it.
        let times: Vec<_> = times.chain([u16::MAX; 2]).collect();
        // Lanes of no use read the last two keys.
        let mut bounds = vec![[[keys.len() as u32 - 2; 8]; 2]; self.groups];
        let mut first = 0;
        for (keys, lane) in coded.keys.iter().zip(coded.lanes) {
            let [from, to] = &mut bounds[lane / 8];
            from[lane % 8] = first;
            first += keys.len() as u32;
            to[lane % 8] = first - 2;
        }
        let bucket_rate = self.buckets as f32 / duration;
        let mut index = Vec::with_capacity(self.buckets * self.groups);
        for bucket in 0..self.buckets {
            // A little early, so that rounding never skips a key.
            let tick = (bucket as f32 / bucket_rate * clock.rate - 1.0).max(0.0) as u16;
            for [first, last] in &bounds {
                index.push(std::array::from_fn(|lane| {
                    let (first, last) = (first[lane] as usize, last[lane] as usize);
                    times[first + 1..=last.max(first)].partition_point(|time| *time <= tick) as u16
                }));
            }
        }
        Keys::Sparse {
            rate: clock.rate,
            bucket_rate,
            buckets: self.buckets as u32,
            bounds,
            index,
            times,
            keys,
        }
    }
}
