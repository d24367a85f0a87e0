//! Eight numbers at once, twice: as plain arrays, and as AVX2 registers. Both do the same IEEE operations in
//! the same order, without fused multiply-add and without estimates, so that kernels written against [`Lanes`]
//! give the same bytes on every machine.

use bytemuck::{Pod, Zeroable};

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

pub(super) use portable::Portable;

/// Work on lanes; all of it is compiled once for each kind, so what it calls must be `#[inline(always)]`. That
/// cannot be said of closures nor of what the standard library does with them: lanes go through plain loops.
pub(super) trait Task {
    fn run<L: Lanes>(self);
}

/// Runs a task with the widest lanes there are, or with the portable ones. The results are the same.
pub(super) fn with_lanes(simd: bool, task: impl Task) {
    if !simd {
        return task.run::<Portable>();
    }
    #[cfg(target_arch = "x86_64")]
    if let Err(task) = avx2::with_avx2(task) {
        task.run::<Portable>();
    }
    #[cfg(not(target_arch = "x86_64"))]
    task.run::<Portable>();
}

/// Eight numbers in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub(super) struct F8(pub(super) [f32; 8]);

/// Four signed 16-bit components of one key.
pub(super) type Key = [i16; 4];

/// Eight numbers that are worked on.
pub(super) trait Lanes: Copy {
    fn splat(value: f32) -> Self;
    fn load(from: &F8) -> Self;
    fn store(self, to: &mut F8);
    fn from_i16(from: &[i16; 8]) -> Self;
    fn from_u16(from: &[u16; 8]) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// Into 0..=1; NaN becomes 0.
    fn clamp01(self) -> Self;
    /// Negated where `other` has its sign bit set.
    fn flip(self, other: Self) -> Self;
    /// `other` where `places` has its highest bit set, as no place has.
    fn or_where_none(self, other: Self, places: &[u32; 8]) -> Self;
    /// Whether any lane is not above `limit`.
    fn any_not_above(self, limit: f32) -> bool;
    /// Lane `i` of row `j` to lane `j` of row `i`.
    fn transpose(rows: [Self; 8]) -> [Self; 8];
    /// The keys of eight tracks that the tick lies behind.
    fn find(times: &[u16], tracks: &Tracks<'_>, tick: u16) -> Found<Self>;
    /// Keys `at[i]` and the ones behind them, a component per result: (left, right).
    fn keys(keys: &[Key], at: &[u32; 8]) -> ([Self; 4], [Self; 4]);
    /// Lane `i` of the four rows to `to[places[i] + offset..][..4]`.
    fn store_rows(rows: [Self; 4], to: &mut [f32], places: &Places, offset: usize);
    /// Lane `i` of the four rows to number `offset` of part `i`.
    fn store_parts(rows: [Self; 4], to: &mut Parts<'_>, offset: usize);
    /// The same of eight rows: the last four behind the first four.
    fn store_two_parts(first: [Self; 4], second: [Self; 4], to: &mut Parts<'_>, offset: usize);
    /// Fetches memory that is written soon.
    fn prefetch(to: &[f32]);
    /// Copies past the caches, where the processor and the address allow.
    fn stream(from: &[f32], to: &mut [f32]);
    /// What was streamed is visible before anything that is written later.
    fn streamed();
    /// Four numbers next to four others.
    fn halves(left: &[f32; 4], right: &[f32; 4]) -> Self;
    /// One of four numbers in each half to all of the half; `QUARTERS` is its place times 0x55.
    fn spread<const QUARTERS: i32>(self) -> Self;
    /// Negative zeros but for the last number of each half.
    fn lasts(self) -> Self;
    /// The two halves.
    fn into_halves(self) -> [[f32; 4]; 2];
    /// Lane `i` of the four rows as one array.
    fn rows(rows: [Self; 4]) -> [[f32; 4]; 8];
}

/// Where eight lanes go in one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    at: [usize; 8],
    last: usize,
}

impl Places {
    pub(super) fn new(at: [usize; 8]) -> Self {
        Self { at, last: at.into_iter().max().unwrap_or(0) }
    }
}

/// Eight parts of a list, one right behind the other.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    list: &'a mut [f32],
    width: usize,
}

impl<'a> Parts<'a> {
    /// The parts are as wide as an eighth of the list.
    pub(super) fn new(list: &'a mut [f32]) -> Self {
        let width = list.len() / 8;
        Self { list, width }
    }
}

/// Eight tracks whose keys are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracks<'a> {
    /// Places of their first keys.
    pub(super) first: &'a [u32; 8],
    /// Places of the last keys with one behind them.
    pub(super) last: &'a [u32; 8],
    /// How many keys behind the first the search begins.
    pub(super) skipped: &'a [u16; 8],
}

/// What was found: places, ticks there, and ticks of the keys behind.
pub(super) struct Found<L> {
    pub(super) at: [u32; 8],
    pub(super) from: L,
    pub(super) until: L,
}

/// One track after another.
#[inline(always)]
fn find_each<L: Lanes>(times: &[u16], tracks: &Tracks<'_>, tick: u16) -> Found<L> {
    let (mut at, mut from, mut until) = ([0; 8], [0; 8], [0; 8]);
    for lane in 0..8 {
        let mut k = tracks.first[lane] + u32::from(tracks.skipped[lane]);
        let mut next = times[k as usize + 1];
        while next <= tick && k < tracks.last[lane] {
            k += 1;
            next = times[k as usize + 1];
        }
        at[lane] = k;
        from[lane] = times[k as usize];
        until[lane] = next;
    }
    Found { at, from: L::from_u16(&from), until: L::from_u16(&until) }
}

/// Several lanes from memory.
#[inline(always)]
pub(super) fn load<L: Lanes, const C: usize>(from: &[F8; C]) -> [L; C] {
    let mut lanes = [L::splat(0.0); C];
    for c in 0..C {
        lanes[c] = L::load(&from[c]);
    }
    lanes
}

/// Several lanes to memory.
#[inline(always)]
pub(super) fn store<L: Lanes, const C: usize>(lanes: [L; C], to: &mut [F8; C]) {
    for c in 0..C {
        lanes[c].store(&mut to[c]);
    }
}

/// The same numbers in all lanes.
#[inline(always)]
pub(super) fn splat<L: Lanes, const C: usize>(values: [f32; C]) -> [L; C] {
    let mut lanes = [L::splat(0.0); C];
    for c in 0..C {
        lanes[c] = L::splat(values[c]);
    }
    lanes
}
