//! Sampling compressed clips, eight tracks at once.

use glam::Quat;

use super::{
    compressed::{CompressedClip, Keys, Section, UNIT},
    lanes::{F8, Key, Lanes, Portable, Task, Tracks, load, store},
    moving::LanePose,
};

/// Samples a compressed clip on its own.
pub(super) struct SampleTask<'a> {
    pub(super) clip: &'a CompressedClip,
    pub(super) time: f32,
    pub(super) pose: &'a mut LanePose,
}

impl Task for SampleTask<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        sample_compressed::<L>(self.clip, self.time, self.pose);
    }
}

/// All that a compressed clip holds, without the tracks that are sampled from its source.
#[inline(always)]
pub(super) fn sample_compressed<L: Lanes>(clip: &CompressedClip, time: f32, pose: &mut LanePose) {
    copy::<L, 4>(&clip.base.rotations, &mut pose.rotations);
    copy::<L, 3>(&clip.base.translations, &mut pose.translations);
    copy::<L, 3>(&clip.base.scales, &mut pose.scales);
    // A NaN time is before every key.
    let time = (time - clip.start).max(0.0);
    each_group::<L, _>(
        &clip.rotations,
        time,
        Rotations { section: &clip.rotations, out: &mut pose.rotations },
    );
    vectors::<L>(&clip.translations, time, &mut pose.translations);
    vectors::<L>(&clip.scales, time, &mut pose.scales);
}

/// All but the last group, which takes what is of no use.
#[inline(always)]
fn copy<L: Lanes, const C: usize>(from: &[[F8; C]], to: &mut [[F8; C]]) {
    for group in 1..from.len() {
        let value: [L; C] = load(&from[group - 1]);
        store(value, &mut to[group - 1]);
    }
}

#[inline(always)]
fn vectors<L: Lanes>(section: &Section, time: f32, out: &mut [[F8; 3]]) {
    each_group::<L, _>(section, time, Vectors { section, out });
}

/// Takes the keys of one group after another: number, left and right ones, and where the time is between them.
trait Take {
    fn take<L: Lanes>(&mut self, group: usize, left: [L; 4], right: [L; 4], t: L);
}

struct Rotations<'a> {
    section: &'a Section,
    out: &'a mut [[F8; 4]],
}

impl Take for Rotations<'_> {
    #[inline(always)]
    fn take<L: Lanes>(&mut self, group: usize, left: [L; 4], right: [L; 4], t: L) {
        let value = if self.section.is_near { rotate_near(left, right, t) } else { rotate(left, right, t) };
        put(value, self.section, group, self.out);
    }
}

struct Vectors<'a> {
    section: &'a Section,
    out: &'a mut [[F8; 3]],
}

impl Take for Vectors<'_> {
    #[inline(always)]
    fn take<L: Lanes>(&mut self, group: usize, left: [L; 4], right: [L; 4], t: L) {
        let [middle, step, fine] = &self.section.spans[group];
        let steps = line(left, right, t);
        let mut value = [t; 3];
        for c in 0..3 {
            let coarse = L::load(&middle[c]).add(steps[c].mul(L::load(&step[c])));
            value[c] = coarse.add(steps[3].mul(L::load(&fine[c])));
        }
        put(value, self.section, group, self.out);
    }
}

/// To where a group's tracks belong.
#[inline(always)]
fn put<L: Lanes, const C: usize>(value: [L; C], section: &Section, group: usize, out: &mut [[F8; C]]) {
    let group = &section.groups[group];
    if let Some(fills) = group.fills {
        let to = &mut out[fills as usize];
        if group.is_full {
            return store(value, to);
        }
        for c in 0..C {
            value[c].or_where_none(L::load(&to[c]), &group.targets).store(&mut to[c]);
        }
        return;
    }
    let mut lanes = [F8::default(); C];
    store(value, &mut lanes);
    for lane in 0..8 {
        let target = group.targets[lane] as usize;
        let to = &mut out[target / 8];
        for c in 0..C {
            to[c].0[target % 8] = lanes[c].0[lane];
        }
    }
}

/// Finds the keys of every group.
#[inline(always)]
fn each_group<L: Lanes, T: Take>(section: &Section, time: f32, mut to: T) {
    let groups = section.groups.len();
    if groups == 0 {
        return;
    }
    match &section.keys {
        Keys::Frames { rate, frames, rows } => {
            let last = *frames as usize - 2;
            let at = time * rate;
            let frame = (at as usize).min(last);
            let t = L::splat((at - frame as f32).min(1.0));
            let left = &rows[frame * groups..(frame + 1) * groups];
            let right = &rows[(frame + 1) * groups..(frame + 2) * groups];
            for group in 0..groups {
                to.take(group, widen(&left[group]), widen(&right[group]), t);
            }
        }
        Keys::Sparse { rate, bucket_rate, buckets, bounds, index, times, keys } => {
            let at = (time * rate).min(f32::from(u16::MAX));
            let tick = at as u16;
            let at = L::splat(at);
            let bucket = ((time * bucket_rate) as usize).min(*buckets as usize - 1);
            let index = &index[bucket * groups..(bucket + 1) * groups];
            for group in 0..groups {
                let [first, last] = &bounds[group];
                let tracks = Tracks { first, last, skipped: &index[group] };
                let found = L::find(times, &tracks, tick);
                let t = at.sub(found.from).div(found.until.sub(found.from)).clamp01();
                let (left, right) = L::keys(keys, &found.at);
                to.take(group, left, right, t);
            }
        }
    }
}

#[inline(always)]
fn widen<L: Lanes>(row: &[[i16; 8]; 4]) -> [L; 4] {
    [L::from_i16(&row[0]), L::from_i16(&row[1]), L::from_i16(&row[2]), L::from_i16(&row[3])]
}

/// How far a straight line between two quaternions is ahead of the arc, over `t (t - 1/2) (t - 1)`: for each power
/// of `(t - 1/2)²` the coefficients of the powers of the cosine between them. Fitted by least squares, weighted
/// by the angle, to `sin(t·a) / (sin(t·a) + sin((1 - t)·a)) - t` for angles `a` up to a quarter turn. The form is
/// that of A. Kapoulkine's "Approximating slerp" with more terms.
const BEND: [[f32; 5]; 3] = [
    [0.8590486, -1.1439297, 0.42100275, -0.18218656, 0.046147056],
    [0.81776047, -2.0107112, 1.6464059, -0.53004956, 0.07665506],
    [1.1982546, -5.3656807, 10.019101, -9.047081, 3.2065973],
];

/// Between two keys of one hemisphere: a straight line at a corrected parameter, normalised. Within 0.002 degrees
/// of slerp for rotations up to 179 degrees apart.
#[inline(always)]
fn rotate<L: Lanes>(left: [L; 4], right: [L; 4], t: L) -> [L; 4] {
    let d = dot(left, right).mul(L::splat(1.0 / (UNIT * UNIT)));
    let half = t.sub(L::splat(0.5));
    let square = half.mul(half);
    let bend = polynomial(d, &BEND[1]).add(polynomial(d, &BEND[2]).mul(square));
    let bend = polynomial(d, &BEND[0]).add(bend.mul(square));
    normalize(line(left, right, t.add(t.mul(half).mul(t.sub(L::splat(1.0))).mul(bend))))
}

#[inline(always)]
fn line<L: Lanes, const C: usize>(left: [L; C], right: [L; C], t: L) -> [L; C] {
    let mut line = left;
    for c in 0..C {
        line[c] = left[c].add(right[c].sub(left[c]).mul(t));
    }
    line
}

/// The first terms of [`BEND`], fitted to angles up to an eighth of a turn between rotations.
const BEND_NEAR: [f32; 2] = [0.682_092_7, -0.682_355_76];
/// The middle of the squares of lengths on the way from one key to the next.
const MIDDLE: f32 = 0.98;

/// As [`rotate`] for rotations less than 45 degrees apart: within 0.0006 degrees of slerp.
#[inline(always)]
fn rotate_near<L: Lanes>(left: [L; 4], right: [L; 4], t: L) -> [L; 4] {
    let d = dot(left, right);
    let bend = L::splat(BEND_NEAR[0]).add(d.mul(L::splat(BEND_NEAR[1] / (UNIT * UNIT))));
    let bend = t.mul(t.sub(L::splat(0.5))).mul(t.sub(L::splat(1.0))).mul(bend);
    let q = line(left, right, t.add(bend));
    // The series of 1/sqrt(1 + x) for x up to 0.021: its next term is below 6e-8.
    let x = dot(q, q).mul(L::splat(1.0 / (UNIT * UNIT * MIDDLE))).sub(L::splat(1.0));
    let series = L::splat(0.375).sub(x.mul(L::splat(0.3125)));
    let series = L::splat(1.0).sub(x.mul(L::splat(0.5).sub(x.mul(series))));
    let inverse = series.mul(L::splat(INVERSE_ROOT));
    [q[0].mul(inverse), q[1].mul(inverse), q[2].mul(inverse), q[3].mul(inverse)]
}

/// One over [`UNIT`] and the root of [`MIDDLE`].
const INVERSE_ROOT: f32 = 1.010_152_5 / UNIT;

#[inline(always)]
fn polynomial<L: Lanes>(x: L, coefficients: &[f32; 5]) -> L {
    let [a, b, c, d, e] = *coefficients;
    let high = L::splat(d).add(x.mul(L::splat(e)));
    let high = L::splat(c).add(x.mul(high));
    L::splat(a).add(x.mul(L::splat(b).add(x.mul(high))))
}

/// The same for one pair of keys.
pub(super) fn rotate_one(left: Key, right: Key, t: f32) -> Quat {
    let lanes = |key: Key| key.map(|component| Portable::splat(f32::from(component)));
    let q = rotate(lanes(left), lanes(right), Portable::splat(t));
    Quat::from_array(Portable::rows(q)[0])
}

#[inline(always)]
pub(super) fn dot<L: Lanes>(a: [L; 4], b: [L; 4]) -> L {
    a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2])).add(a[3].mul(b[3]))
}

/// To unit length; the length must not be 0.
#[inline(always)]
pub(super) fn normalize<L: Lanes>(q: [L; 4]) -> [L; 4] {
    let inverse = L::splat(1.0).div(dot(q, q).sqrt());
    [q[0].mul(inverse), q[1].mul(inverse), q[2].mul(inverse), q[3].mul(inverse)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rotations_are_within_a_thousandth_of_a_degree_of_slerp_and_of_unit_length() {
        for degrees in 0..45 {
            // Half of the angle between rotations is between quaternions.
            let apart = f64::from(degrees).to_radians() / 2.0;
            let to = [0.0, 0.0, apart.sin(), apart.cos()].map(|c| (c * f64::from(UNIT)) as f32);
            for step in 0..=64 {
                let t = step as f32 / 64.0;
                let lanes = |q: [f32; 4]| q.map(Portable::splat);
                let q = rotate_near(lanes([0.0, 0.0, 0.0, UNIT]), lanes(to), Portable::splat(t));
                let [_, _, sine, cosine] = Portable::rows(q)[0].map(f64::from);
                let off = 2.0 * (sine.atan2(cosine) - f64::from(t) * apart).to_degrees();
                assert!(off.abs() < 1e-3, "{degrees} degrees, {t}: off by {off}");
                assert!((sine.hypot(cosine) - 1.0).abs() < 3e-7, "{degrees} degrees, {t}");
            }
        }
    }
}
