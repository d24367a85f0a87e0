use super::{F8, Found, Key, Lanes, Parts, Places, Tracks, find_each};

/// Arrays, left to the compiler.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Portable([f32; 8]);

impl Portable {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self.0;
        for (a, b) in out.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        Self(out)
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 8])
    }

    #[inline(always)]
    fn load(from: &F8) -> Self {
        Self(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut F8) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn from_i16(from: &[i16; 8]) -> Self {
        Self(from.map(f32::from))
    }

    #[inline(always)]
    fn from_u16(from: &[u16; 8]) -> Self {
        Self(from.map(f32::from))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.each(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.each(other, |a, b| a / b)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    #[inline(always)]
    fn clamp01(self) -> Self {
        // As x86's maximum and minimum: the second one where they do not compare.
        Self(self.0.map(|v| if v > 0.0 { v } else { 0.0 }).map(|v| if v < 1.0 { v } else { 1.0 }))
    }

    #[inline(always)]
    fn flip(self, other: Self) -> Self {
        self.each(other, |a, b| f32::from_bits(a.to_bits() ^ (b.to_bits() & 0x8000_0000)))
    }

    #[inline(always)]
    fn or_where_none(self, other: Self, places: &[u32; 8]) -> Self {
        let mut out = self.0;
        for lane in 0..8 {
            out[lane] = if places[lane] >> 31 == 1 { other.0[lane] } else { out[lane] };
        }
        Self(out)
    }

    #[inline(always)]
    fn any_not_above(self, limit: f32) -> bool {
        self.0.iter().fold(false, |any, &v| any | !(v > limit))
    }

    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        std::array::from_fn(|i| Self(std::array::from_fn(|j| rows[j].0[i])))
    }

    #[inline(always)]
    fn halves(left: &[f32; 4], right: &[f32; 4]) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (*left, *right);
        Self([a, b, c, d, e, f, g, h])
    }

    #[inline(always)]
    fn spread<const QUARTERS: i32>(self) -> Self {
        let component = (QUARTERS & 3) as usize;
        let (left, right) = (self.0[component], self.0[component + 4]);
        Self::halves(&[left; 4], &[right; 4])
    }

    #[inline(always)]
    fn lasts(self) -> Self {
        Self::halves(&[-0.0, -0.0, -0.0, self.0[3]], &[-0.0, -0.0, -0.0, self.0[7]])
    }

    #[inline(always)]
    fn into_halves(self) -> [[f32; 4]; 2] {
        let [a, b, c, d, e, f, g, h] = self.0;
        [[a, b, c, d], [e, f, g, h]]
    }

    #[inline(always)]
    fn find(times: &[u16], tracks: &Tracks<'_>, tick: u16) -> Found<Self> {
        find_each(times, tracks, tick)
    }

    #[inline(always)]
    fn keys(keys: &[Key], at: &[u32; 8]) -> ([Self; 4], [Self; 4]) {
        let component = |c: usize, behind: usize| {
            Self(std::array::from_fn(|lane| f32::from(keys[at[lane] as usize + behind][c])))
        };
        (std::array::from_fn(|c| component(c, 0)), std::array::from_fn(|c| component(c, 1)))
    }

    #[inline(always)]
    fn store_rows(rows: [Self; 4], to: &mut [f32], places: &Places, offset: usize) {
        for (row, at) in Self::rows(rows).iter().zip(places.at) {
            to[at + offset..at + offset + 4].copy_from_slice(row);
        }
    }

    #[inline(always)]
    fn store_parts(rows: [Self; 4], to: &mut Parts<'_>, offset: usize) {
        for (row, part) in Self::rows(rows).iter().zip(to.list.chunks_exact_mut(to.width)) {
            part[offset..offset + 4].copy_from_slice(row);
        }
    }

    #[inline(always)]
    fn store_two_parts(first: [Self; 4], second: [Self; 4], to: &mut Parts<'_>, offset: usize) {
        Self::store_parts(first, to, offset);
        Self::store_parts(second, to, offset + 4);
    }

    #[inline(always)]
    fn prefetch(_to: &[f32]) {}

    #[inline(always)]
    fn stream(from: &[f32], to: &mut [f32]) {
        to.copy_from_slice(from);
    }

    #[inline(always)]
    fn streamed() {}

    #[inline(always)]
    fn rows(rows: [Self; 4]) -> [[f32; 4]; 8] {
        std::array::from_fn(|lane| std::array::from_fn(|c| rows[c].0[lane]))
    }
}
