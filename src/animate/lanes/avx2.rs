//! One of the modules that may use `unsafe`. [`Avx2`] is named nowhere outside of this module, and here only
//! [`with_avx2`] runs anything with it, where the processor has AVX2. That is what every note below rests on.

#![allow(
    clippy::needless_range_loop,
    reason = "closures and iterators of lanes are not inlined into kernels"
)]

use std::arch::x86_64::*;

use super::{F8, Found, Key, Lanes, Parts, Places, Task, Tracks};

/// One register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(__m256);

/// Runs a task with [`Avx2`]; gives it back where the processor lacks that.
pub(super) fn with_avx2<T: Task>(task: T) -> Result<(), T> {
    #[target_feature(enable = "avx2")]
    fn run(task: impl Task) {
        task.run::<Avx2>();
    }
    if !is_x86_feature_detected!("avx2") {
        return Err(task);
    }
    // SAFETY: the processor has AVX2, as has just been seen.
    unsafe { run(task) };
    Ok(())
}

#[inline(always)]
fn load_places(from: &[u32; 8]) -> __m256i {
    // SAFETY: AVX2 is there (see above); 32 bytes are read where 32 are.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

/// Whether no place is above `limit`; a limit that has wrapped around or is too large for 32 bits is no limit that
/// anything keeps.
#[inline(always)]
fn none_above(places: __m256i, limit: usize) -> bool {
    let Ok(limit) = i32::try_from(limit) else { return false };
    // SAFETY: AVX2 is there (see above); registers only.
    unsafe {
        let limit = _mm256_set1_epi32(limit);
        let is_not = _mm256_cmpeq_epi32(_mm256_max_epu32(places, limit), limit);
        _mm256_movemask_epi8(is_not) == -1
    }
}

/// All bits set where the time is not behind the tick and there is more room than `room_above`.
#[inline(always)]
fn reached(times: __m128i, tick: __m128i, room: __m128i, room_above: i16) -> __m128i {
    // SAFETY: AVX2 is there (see above); registers only.
    unsafe {
        let is_reached = _mm_cmpeq_epi16(_mm_min_epu16(times, tick), times);
        _mm_and_si128(is_reached, _mm_cmpgt_epi16(room, _mm_set1_epi16(room_above)))
    }
}

/// Pairs of doubles, as registers of the same bits.
#[inline(always)]
fn low_pairs(a: __m256, b: __m256) -> __m256 {
    // SAFETY: AVX2 is there (see above); registers only.
    unsafe { _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))) }
}

#[inline(always)]
fn high_pairs(a: __m256, b: __m256) -> __m256 {
    // SAFETY: AVX2 is there (see above); registers only.
    unsafe { _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))) }
}

/// Four rows of eight to eight rows of four: the first four in the low halves, the others in the high ones.
#[inline(always)]
fn columns(rows: [Avx2; 4]) -> [__m256; 4] {
    let [Avx2(a), Avx2(b), Avx2(c), Avx2(d)] = rows;
    // SAFETY: AVX2 is there (see above); registers only.
    let (ab, ab_high, cd, cd_high) = unsafe {
        (
            _mm256_unpacklo_ps(a, b),
            _mm256_unpackhi_ps(a, b),
            _mm256_unpacklo_ps(c, d),
            _mm256_unpackhi_ps(c, d),
        )
    };
    [low_pairs(ab, cd), high_pairs(ab, cd), low_pairs(ab_high, cd_high), high_pairs(ab_high, cd_high)]
}

/// Eight 16-bit numbers to floats.
#[inline(always)]
fn widen(from: __m128i) -> Avx2 {
    // SAFETY: AVX2 is there (see above); registers only.
    unsafe { Avx2(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(from))) }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_set1_ps(value)) }
    }

    #[inline(always)]
    fn load(from: &F8) -> Self {
        // SAFETY: AVX2 is there (see above); `F8` is 32 bytes on a multiple of 32.
        unsafe { Self(_mm256_load_ps(from.0.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, to: &mut F8) {
        // SAFETY: AVX2 is there (see above); `F8` is 32 bytes on a multiple of 32.
        unsafe { _mm256_store_ps(to.0.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn from_i16(from: &[i16; 8]) -> Self {
        // SAFETY: AVX2 is there (see above); 16 bytes are read where 16 are.
        widen(unsafe { _mm_loadu_si128(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn from_u16(from: &[u16; 8]) -> Self {
        // SAFETY: AVX2 is there (see above); 16 bytes are read where 16 are.
        unsafe { Self(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().cast())))) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_add_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_sub_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_mul_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_div_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_sqrt_ps(self.0)) }
    }

    #[inline(always)]
    fn clamp01(self) -> Self {
        // The second operand comes out where one is NaN.
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_min_ps(_mm256_max_ps(self.0, _mm256_setzero_ps()), _mm256_set1_ps(1.0))) }
    }

    #[inline(always)]
    fn flip(self, other: Self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_xor_ps(self.0, _mm256_and_ps(other.0, _mm256_set1_ps(-0.0)))) }
    }

    #[inline(always)]
    fn or_where_none(self, other: Self, places: &[u32; 8]) -> Self {
        let places = load_places(places);
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_blendv_ps(self.0, other.0, _mm256_castsi256_ps(places))) }
    }

    #[inline(always)]
    fn any_not_above(self, limit: f32) -> bool {
        // SAFETY: AVX2 is there (see above).
        unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_set1_ps(limit));
            _mm256_movemask_ps(above) != 0xff
        }
    }

    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        let (left, right) = (columns([a, b, c, d]), columns([e, f, g, h]));
        let mut out = rows;
        for i in 0..4 {
            // SAFETY: AVX2 is there (see above).
            unsafe {
                out[i] = Self(_mm256_permute2f128_ps::<0x20>(left[i], right[i]));
                out[i + 4] = Self(_mm256_permute2f128_ps::<0x31>(left[i], right[i]));
            }
        }
        out
    }

    #[inline(always)]
    fn find(times: &[u16], tracks: &Tracks<'_>, tick: u16) -> Found<Self> {
        let (first, last) = (load_places(tracks.first), load_places(tracks.last));
        // SAFETY: AVX2 is there (see above); 16 bytes are read where 16 are.
        let mut begin = unsafe {
            let skipped = _mm_loadu_si128(tracks.skipped.as_ptr().cast());
            _mm256_add_epi32(first, _mm256_cvtepu16_epi32(skipped))
        };
        let mut at = [0; 8];
        loop {
            assert!(
                none_above(begin, times.len().wrapping_sub(4)),
                "three times lie behind the one where a search begins"
            );
            // SAFETY: AVX2 is there (see above). From each place four times, 8 bytes, are read, which exist, as has
            // just been checked; `at` has room for the 32 bytes that are written.
            unsafe {
                _mm256_storeu_si256(at.as_mut_ptr().cast(), begin);
                let mut own = [_mm_setzero_si128(); 8];
                for i in 0..8 {
                    own[i] = _mm_loadl_epi64(times.as_ptr().add(at[i] as usize).cast());
                }
                let [a, b, c, d, e, f, g, h] = own;
                let (ab, cd) = (_mm_unpacklo_epi16(a, b), _mm_unpacklo_epi16(c, d));
                let (ef, gh) = (_mm_unpacklo_epi16(e, f), _mm_unpacklo_epi16(g, h));
                let (low, high) = (_mm_unpacklo_epi32(ab, cd), _mm_unpacklo_epi32(ef, gh));
                let (low_2, high_2) = (_mm_unpackhi_epi32(ab, cd), _mm_unpackhi_epi32(ef, gh));
                let times_0 = _mm_unpacklo_epi64(low, high);
                let times_1 = _mm_unpackhi_epi64(low, high);
                let times_2 = _mm_unpacklo_epi64(low_2, high_2);
                let times_3 = _mm_unpackhi_epi64(low_2, high_2);
                // How far each may go; what lies behind the end of a track is another's.
                let room = _mm256_sub_epi32(last, begin);
                let room =
                    _mm_packus_epi32(_mm256_castsi256_si128(room), _mm256_extracti128_si256::<1>(room));
                let room = _mm_min_epu16(room, _mm_set1_epi16(3));
                let tick_lanes = _mm_set1_epi16(tick as i16);
                let is_1 = reached(times_1, tick_lanes, room, 0);
                let is_2 = reached(times_2, tick_lanes, room, 1);
                let is_3 = reached(times_3, tick_lanes, room, 2);
                let steps = _mm_add_epi16(_mm_add_epi16(is_1, is_2), is_3);
                begin = _mm256_sub_epi32(begin, _mm256_cvtepi16_epi32(steps));
                if _mm_movemask_epi8(is_3) != 0 {
                    // On from there; the key behind is not known yet.
                    continue;
                }
                let from = _mm_blendv_epi8(_mm_blendv_epi8(times_0, times_1, is_1), times_2, is_2);
                let until = _mm_blendv_epi8(_mm_blendv_epi8(times_1, times_2, is_1), times_3, is_2);
                _mm256_storeu_si256(at.as_mut_ptr().cast(), begin);
                let from = Self(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(from)));
                let until = Self(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(until)));
                return Found { at, from, until };
            }
        }
    }

    #[inline(always)]
    fn keys(keys: &[Key], at: &[u32; 8]) -> ([Self; 4], [Self; 4]) {
        assert!(none_above(load_places(at), keys.len().wrapping_sub(2)), "a key has one behind it");
        // SAFETY: AVX2 is there (see above). From each place two keys, 16 bytes, are read, and both exist, as
        // the last of them has just been compared with the length.
        unsafe {
            let mut pairs = [_mm_setzero_si128(); 8];
            for i in 0..8 {
                pairs[i] = _mm_loadu_si128(keys.as_ptr().add(at[i] as usize).cast());
            }
            let [a, b, c, d, e, f, g, h] = pairs;
            let (ab, cd) = (_mm_unpacklo_epi16(a, b), _mm_unpacklo_epi16(c, d));
            let (ef, gh) = (_mm_unpacklo_epi16(e, f), _mm_unpacklo_epi16(g, h));
            let left = [ab, cd, ef, gh];
            let (ab, cd) = (_mm_unpackhi_epi16(a, b), _mm_unpackhi_epi16(c, d));
            let (ef, gh) = (_mm_unpackhi_epi16(e, f), _mm_unpackhi_epi16(g, h));
            (components(left), components([ab, cd, ef, gh]))
        }
    }

    #[inline(always)]
    fn store_rows(rows: [Self; 4], to: &mut [f32], places: &Places, offset: usize) {
        let room = to.len().checked_sub(4).and_then(|room| room.checked_sub(offset));
        assert!(room.is_some_and(|room| places.last <= room), "every row has its place");
        let both = columns(rows);
        for i in 0..4 {
            // SAFETY: AVX2 is there (see above); no place lies behind `places.last`, whose row still fits.
            unsafe {
                let to = to.as_mut_ptr().add(offset);
                _mm_storeu_ps(to.add(places.at[i]), _mm256_castps256_ps128(both[i]));
                _mm_storeu_ps(to.add(places.at[i + 4]), _mm256_extractf128_ps::<1>(both[i]));
            }
        }
    }

    #[inline(always)]
    fn store_parts(rows: [Self; 4], to: &mut Parts<'_>, offset: usize) {
        assert!(offset + 4 <= to.width, "every row lies in its part");
        let both = columns(rows);
        for i in 0..4 {
            // SAFETY: AVX2 is there (see above); the list has eight parts, and the four numbers lie in each, as has
            // just been checked.
            unsafe {
                let to_low = to.list.as_mut_ptr().add(offset + i * to.width);
                let to_high = to.list.as_mut_ptr().add(offset + (i + 4) * to.width);
                _mm_storeu_ps(to_low, _mm256_castps256_ps128(both[i]));
                _mm_storeu_ps(to_high, _mm256_extractf128_ps::<1>(both[i]));
            }
        }
    }

    #[inline(always)]
    fn store_two_parts(first: [Self; 4], second: [Self; 4], to: &mut Parts<'_>, offset: usize) {
        assert!(offset + 8 <= to.width, "every row lies in its part");
        let (first, second) = (columns(first), columns(second));
        for i in 0..4 {
            // SAFETY: AVX2 is there (see above); the list has eight parts, and the eight numbers lie in each, as has
            // just been checked.
            unsafe {
                let to_low = to.list.as_mut_ptr().add(offset + i * to.width);
                let to_high = to.list.as_mut_ptr().add(offset + (i + 4) * to.width);
                _mm256_storeu_ps(to_low, _mm256_permute2f128_ps::<0x20>(first[i], second[i]));
                _mm256_storeu_ps(to_high, _mm256_permute2f128_ps::<0x31>(first[i], second[i]));
            }
        }
    }

    #[inline(always)]
    fn prefetch(to: &[f32]) {
        for at in (0..to.len()).step_by(16) {
            // SAFETY: AVX2 is there (see above); the number is in the list, and prefetching changes nothing.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(to.as_ptr().add(at).cast()) };
        }
    }

    #[inline(always)]
    fn stream(from: &[f32], to: &mut [f32]) {
        if from.len() != to.len() || !from.len().is_multiple_of(4) || !to.as_ptr().addr().is_multiple_of(16) {
            return to.copy_from_slice(from);
        }
        let mut at = 0;
        if !to.as_ptr().addr().is_multiple_of(32) && !from.is_empty() {
            // SAFETY: AVX2 is there (see above); both lists have four numbers, and those of `to` lie on a multiple
            // of 16 bytes.
            unsafe { _mm_stream_ps(to.as_mut_ptr(), _mm_loadu_ps(from.as_ptr())) };
            at = 4;
        }
        while at + 16 <= from.len() {
            // SAFETY: AVX2 is there (see above); both lists have sixteen numbers from `at` on, and those of `to` lie
            // on a multiple of 32 bytes.
            unsafe {
                let (from, to) = (from.as_ptr().add(at), to.as_mut_ptr().add(at));
                let (left, right) = (_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8)));
                _mm256_stream_ps(to, left);
                _mm256_stream_ps(to.add(8), right);
            }
            at += 16;
        }
        if at + 8 <= from.len() {
            // SAFETY: as above, with eight numbers.
            unsafe { _mm256_stream_ps(to.as_mut_ptr().add(at), _mm256_loadu_ps(from.as_ptr().add(at))) };
            at += 8;
        }
        if at < from.len() {
            // SAFETY: as above, with the four numbers that are left.
            unsafe { _mm_stream_ps(to.as_mut_ptr().add(at), _mm_loadu_ps(from.as_ptr().add(at))) };
        }
    }

    #[inline(always)]
    fn streamed() {
        // SAFETY: SSE is part of AVX2, which is there (see above).
        unsafe { _mm_sfence() };
    }

    #[inline(always)]
    fn halves(left: &[f32; 4], right: &[f32; 4]) -> Self {
        // SAFETY: AVX2 is there (see above); 16 bytes are read where 16 are.
        unsafe { Self(_mm256_set_m128(_mm_loadu_ps(right.as_ptr()), _mm_loadu_ps(left.as_ptr()))) }
    }

    #[inline(always)]
    fn spread<const QUARTERS: i32>(self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_permute_ps::<QUARTERS>(self.0)) }
    }

    #[inline(always)]
    fn lasts(self) -> Self {
        // SAFETY: AVX2 is there (see above).
        unsafe { Self(_mm256_blend_ps::<0b1000_1000>(_mm256_set1_ps(-0.0), self.0)) }
    }

    #[inline(always)]
    fn into_halves(self) -> [[f32; 4]; 2] {
        let mut halves = [[0.0; 4]; 2];
        // SAFETY: AVX2 is there (see above); each half is 16 bytes.
        unsafe {
            _mm_storeu_ps(halves[0].as_mut_ptr(), _mm256_castps256_ps128(self.0));
            _mm_storeu_ps(halves[1].as_mut_ptr(), _mm256_extractf128_ps::<1>(self.0));
        }
        halves
    }

    #[inline(always)]
    fn rows(rows: [Self; 4]) -> [[f32; 4]; 8] {
        let mut out = [[0.0; 4]; 8];
        let both = columns(rows);
        for i in 0..4 {
            // SAFETY: AVX2 is there (see above); each row is 16 bytes.
            unsafe {
                _mm_storeu_ps(out[i].as_mut_ptr(), _mm256_castps256_ps128(both[i]));
                _mm_storeu_ps(out[i + 4].as_mut_ptr(), _mm256_extractf128_ps::<1>(both[i]));
            }
        }
        out
    }
}

/// Pairs of keys' equal components, interleaved, to a component each.
#[inline(always)]
fn components([ab, cd, ef, gh]: [__m128i; 4]) -> [Avx2; 4] {
    // SAFETY: AVX2 is there (see above); registers only.
    unsafe {
        let (low, high) = (_mm_unpacklo_epi32(ab, cd), _mm_unpacklo_epi32(ef, gh));
        let (low_2, high_2) = (_mm_unpackhi_epi32(ab, cd), _mm_unpackhi_epi32(ef, gh));
        [
            widen(_mm_unpacklo_epi64(low, high)),
            widen(_mm_unpackhi_epi64(low, high)),
            widen(_mm_unpacklo_epi64(low_2, high_2)),
            widen(_mm_unpackhi_epi64(low_2, high_2)),
        ]
    }
}
