//! Numbers to 16 bits.

use std::iter::successors;

use glam::{Quat, Vec4};

use super::super::{
    bind_space::BindSpace,
    lanes::{F8, Key},
    math::normalize,
    sample::rotation,
    sampling::rotate_one,
};
use crate::model::{Channel, Clip, Model, Track};

/// Full scale of a component.
pub(crate) const UNIT: f32 = 32767.0;

/// What 16 bits stand for in a track of translations or scales. The axis with the longest way has 16 more, the
/// fourth component of the key.
#[derive(Clone, Default)]
pub(super) struct Range {
    /// What a key of 0 stands for.
    middle: [f32; 3],
    step: [f32; 3],
    /// Of the fourth component; 0 but for one axis.
    fine: [f32; 3],
}

impl Range {
    pub(super) fn of(track: &Track) -> Self {
        let (mut middle, mut step) = ([0.0; 3], [0.0; 3]);
        for c in 0..3 {
            let values = track.values.iter().skip(c).step_by(3);
            let (low, high) =
                values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
            // Halves first: the whole range may be more than f32 holds.
            middle[c] = low * 0.5 + high * 0.5;
            step[c] = (high * 0.5 - low * 0.5) / UNIT;
        }
        let longest = [0, 1, 2].into_iter().max_by(|a, b| step[*a].total_cmp(&step[*b])).unwrap_or(0);
        let mut fine = [0.0; 3];
        fine[longest] = step[longest] / (2.0 * UNIT);
        Self { middle, step, fine }
    }

    pub(super) fn key(&self, value: Vec4) -> Key {
        let whole = |steps: f32| if steps.is_finite() { steps.round().clamp(-UNIT, UNIT) } else { 0.0 };
        let (mut key, mut rest) = ([0; 4], 0.0);
        for c in 0..3 {
            let steps = whole((value[c] - self.middle[c]) / self.step[c]);
            key[c] = steps as i16;
            if self.fine[c] > 0.0 {
                let reached = f64::from(self.middle[c]) + f64::from(steps) * f64::from(self.step[c]);
                rest = (f64::from(value[c]) - reached) as f32 / self.fine[c];
            }
        }
        key[3] = whole(rest) as i16;
        key
    }

    /// Of eight tracks: middles, steps, fine steps.
    pub(super) fn lanes(eight: &[Self; 8]) -> [[F8; 3]; 3] {
        let lanes = |take: fn(&Self, usize) -> f32| {
            [0, 1, 2].map(|c| F8(std::array::from_fn(|lane| take(&eight[lane], c))))
        };
        [lanes(|r, c| r.middle[c]), lanes(|r, c| r.step[c]), lanes(|r, c| r.fine[c])]
    }
}

/// The rotations of a clip, as they are and as coded so far. Nodes are coded parents first, and each is turned so
/// that it faces in the model the way it should, whatever was lost above it: errors do not add up along a chain.
pub(super) struct Chain<'a> {
    model: &'a Model,
    space: &'a BindSpace,
    source: Vec<Option<&'a Track>>,
    coded: Vec<Option<Coded>>,
}

struct Coded {
    times: Vec<f32>,
    keys: Vec<Key>,
}

impl<'a> Chain<'a> {
    pub(super) fn new(model: &'a Model, space: &'a BindSpace, clip: &'a Clip) -> Self {
        let nodes = model.skeleton().len();
        let mut source = vec![None; nodes];
        for track in clip.tracks().iter().filter(|track| track.channel == Channel::Rotation) {
            source[track.node as usize] = Some(track);
        }
        Self { model, space, source, coded: (0..nodes).map(|_| None).collect() }
    }

    /// How many nodes are above one.
    pub(super) fn depth(&self, node: u32) -> usize {
        let parents = self.model.skeleton().parents();
        successors(parents[node as usize], |&parent| parents[parent as usize]).count()
    }

    /// Keys for a node's rotations at rising times, in bind space, neighbours in one hemisphere.
    pub(super) fn rotations(&mut self, node: u32, samples: &[(f32, Vec4)]) -> Vec<Key> {
        let mut before = Vec4::ZERO;
        let values = samples.iter().map(|&(time, value)| {
            let q = normalize(self.correction(node, time) * normalize(Quat::from_vec4(value)));
            let q = Vec4::from(self.space.rotation(node as usize, q));
            before = if q.dot(before) < 0.0 { -q } else { q };
            before
        });
        let values: Vec<_> = values.collect();
        let apart = |a: Option<&Vec4>, b: &Vec4| a.map_or(0.0, |a| (*a - *b).length());
        let keys = values.iter().enumerate().map(|(at, q)| {
            let before = at.checked_sub(1).and_then(|before| values.get(before));
            rotation_key(*q, apart(before, q).max(apart(values.get(at + 1), q)))
        });
        let keys: Vec<_> = keys.collect();
        let times = samples.iter().map(|(time, _)| *time).collect();
        self.coded[node as usize] = Some(Coded { times, keys: keys.clone() });
        keys
    }

    /// What takes back how far the nodes above are off.
    fn correction(&self, node: u32, time: f32) -> Quat {
        let parents = self.model.skeleton().parents();
        let (mut should, mut is) = (Quat::IDENTITY, Quat::IDENTITY);
        let mut above = parents[node as usize];
        while let Some(parent) = above {
            should = normalize(self.source(parent, time) * should);
            is = normalize(self.coded(parent, time) * is);
            above = parents[parent as usize];
        }
        is.conjugate() * should
    }

    fn source(&self, node: u32, time: f32) -> Quat {
        match self.source[node as usize] {
            Some(track) => rotation(track, time),
            None => normalize(self.model.skeleton().rest()[node as usize].rotation),
        }
    }

    fn coded(&self, node: u32, time: f32) -> Quat {
        let Some(coded) = &self.coded[node as usize] else { return self.source(node, time) };
        let last = coded.times.len() - 2;
        let left = coded.times.partition_point(|key| *key <= time).saturating_sub(1).min(last);
        let (from, until) = (coded.times[left], coded.times[left + 1]);
        let t = ((time - from) / (until - from)).clamp(0.0, 1.0);
        self.space.local_rotation(node as usize, rotate_one(coded.keys[left], coded.keys[left + 1], t))
    }
}

/// Whether rotations are less than 45 degrees apart.
pub(super) fn is_near(a: Key, b: Key) -> bool {
    let [a, b] = [a, b].map(|key| Vec4::from_array(key.map(f32::from)) / UNIT);
    // The cosine of half of that.
    a.dot(b) > 0.9239
}

/// Only the direction counts: of many lengths, the one whose rounded components point the closest. A shorter key
/// pulls less at what lies between it and its neighbours, up to `apart` away: halfway a quarter of that for each
/// share of the length, which counts twice, as it is seen for longer than the key is.
fn rotation_key(q: Vec4, apart: f32) -> Key {
    let candidates = (0..256).map(|eighths| {
        let shorter = eighths as f32 / 8.0;
        let key = (q * (UNIT - shorter)).round();
        let pull = apart * shorter / UNIT / 2.0;
        (key, (key.normalize() - q).length_squared() + pull * pull)
    });
    let best = candidates.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(q * UNIT, |(key, _)| key);
    best.to_array().map(|component| component as i16)
}
