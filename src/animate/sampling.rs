//! Sampling compressed clips, eight tracks at once.

use super::{
    compressed::{CompressedClip, Keys, Section, UNIT},
    lanes::{F8, Lanes, Task},
    rig::{LanePose, write},
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
    pose.copy_from(&clip.base);
    // A NaN time is before every key.
    let time = (time - clip.start).max(0.0);
    each_group::<L>(&clip.rotations, time, |group, left, right, t| {
        let q = rotate(left, right, t);
        put(q, &clip.rotations, group, &mut pose.rotations);
    });
    vectors::<L>(&clip.translations, time, &mut pose.translations);
    vectors::<L>(&clip.scales, time, &mut pose.scales);
}

#[inline(always)]
fn vectors<L: Lanes>(section: &Section, time: f32, out: &mut [[F8; 3]]) {
    each_group::<L>(section, time, |group, left, right, t| {
        let [middle, step] = &section.spans[group];
        let component = |c: usize| {
            let steps = left[c].add(right[c].sub(left[c]).mul(t));
            L::load(&middle[c]).add(steps.mul(L::load(&step[c])))
        };
        put([component(0), component(1), component(2)], section, group, out);
    });
}

/// To where a group's tracks belong.
#[inline(always)]
fn put<L: Lanes, const C: usize>(value: [L; C], section: &Section, group: usize, out: &mut [[F8; C]]) {
    let group = &section.groups[group];
    if let Some(fills) = group.fills {
        for (value, to) in value.into_iter().zip(&mut out[fills as usize]) {
            value.store(to);
        }
        return;
    }
    let mut lanes = [F8::default(); C];
    value.into_iter().zip(&mut lanes).for_each(|(value, to)| value.store(to));
    for (lane, &target) in group.targets.iter().enumerate() {
        write(out, target as usize, std::array::from_fn(|c| lanes[c].0[lane]));
    }
}

/// Calls `take` with every group's number, left and right keys, and where the time is between them.
#[inline(always)]
fn each_group<L: Lanes>(section: &Section, time: f32, mut take: impl FnMut(usize, [L; 4], [L; 4], L)) {
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
            for (group, (left, right)) in left.iter().zip(right).enumerate() {
                take(group, load(left), load(right), t);
            }
        }
        Keys::Sparse { rate, bucket_rate, buckets, bounds, index, times, keys } => {
            let at = (time * rate).min(f32::from(u16::MAX));
            let tick = at as u16;
            let at = L::splat(at);
            let bucket = ((time * bucket_rate) as usize).min(*buckets as usize - 1);
            let index = &index[bucket * groups..(bucket + 1) * groups];
            for (group, (index, [first, last])) in index.iter().zip(bounds).enumerate() {
                let (mut key, mut from, mut to) = ([0; 8], [0; 8], [0; 8]);
                for lane in 0..8 {
                    let mut k = first[lane] + u32::from(index[lane]);
                    let mut next = times[k as usize + 1];
                    while next <= tick && k < last[lane] {
                        k += 1;
                        next = times[k as usize + 1];
                    }
                    key[lane] = k;
                    from[lane] = times[k as usize];
                    to[lane] = next;
                }
                let (from, to) = (L::from_u16(&from), L::from_u16(&to));
                let t = at.sub(from).div(to.sub(from)).clamp01();
                let (left, right) = L::keys(keys, &key);
                take(group, left, right, t);
            }
        }
    }
}

#[inline(always)]
fn load<L: Lanes>(row: &[[i16; 8]; 4]) -> [L; 4] {
    [L::from_i16(&row[0]), L::from_i16(&row[1]), L::from_i16(&row[2]), L::from_i16(&row[3])]
}

/// Between two keys of one hemisphere: a straight line at a corrected parameter, normalised. The correction is
/// A. Kapoulkine's "Approximating slerp": within 0.04 degrees of slerp up to 179 degrees apart.
#[inline(always)]
fn rotate<L: Lanes>(left: [L; 4], right: [L; 4], t: L) -> [L; 4] {
    let number = |v: f32| L::splat(v);
    let d = dot(left, right).mul(number(1.0 / (UNIT * UNIT)));
    let k = number(1.0904).add(d.mul(number(-3.2452).add(d.mul(number(3.55645).sub(d.mul(number(1.43519)))))));
    let l = number(0.848013).add(d.mul(number(-1.06021).add(d.mul(number(0.215638)))));
    let half = t.sub(number(0.5));
    let bend = k.mul(half.mul(half)).add(l);
    let t = t.add(t.mul(half).mul(t.sub(number(1.0))).mul(bend));
    let line = |c: usize| left[c].add(right[c].sub(left[c]).mul(t));
    normalize([line(0), line(1), line(2), line(3)])
}

#[inline(always)]
pub(super) fn dot<L: Lanes>(a: [L; 4], b: [L; 4]) -> L {
    a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2])).add(a[3].mul(b[3]))
}

/// To unit length; the length must not be 0.
#[inline(always)]
pub(super) fn normalize<L: Lanes>(q: [L; 4]) -> [L; 4] {
    let inverse = L::splat(1.0).div(dot(q, q).sqrt());
    q.map(|component| component.mul(inverse))
}
