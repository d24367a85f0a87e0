//! Eight numbers at once, twice: as plain arrays, and as AVX2 registers. Both do the same IEEE operations in
//! the same order, without fused multiply-add and without estimates, so that kernels written against [`Lanes`]
//! give the same bytes on every machine.

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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Whether any lane is not above `limit`.
    fn any_not_above(self, limit: f32) -> bool;
    /// Lane `i` of row `j` to lane `j` of row `i`.
    fn transpose(rows: [Self; 8]) -> [Self; 8];
    /// Keys `at[i]` and the ones behind them, a component per result: (left, right).
    fn keys(keys: &[Key], at: &[u32; 8]) -> ([Self; 4], [Self; 4]);
    /// Lane `i` of the four rows to `to[places[i] + offset..][..4]`.
    fn store_rows(rows: [Self; 4], to: &mut [f32], places: &Places, offset: usize);
    /// Copies to memory that is not read soon, past the caches where the processor can.
    fn stream(from: &[f32], to: &mut [f32]);
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
