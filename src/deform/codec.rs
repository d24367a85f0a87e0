//! Twin of wgsl/codec.wgsl: unit vectors in 2×16 bits, stereographic in sources and octahedral in outputs, 16-bit
//! weights and 16-bit deltas.

use glam::{DVec3, Vec3};

/// Adding 1.5 · 2²³ leaves a float's nearest integer in the low bits of its significand.
const NEAREST: f32 = 12_582_912.0;

/// What steps of a coordinate reach, and steps of a delta.
pub(crate) const MOST_STEPS: f32 = 32767.0;

/// Both halves as integers from -32768 to 32767.
pub(crate) fn unpack_signed(word: u32) -> [f32; 2] {
    [word as u16 as i16, (word >> 16) as u16 as i16].map(f32::from)
}

/// A direction: where the line from the opposite pole meets the plane z = 0, in steps, and whether it lies below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stereo {
    pub(crate) word: u32,
    pub(crate) is_below: bool,
}

impl Stereo {
    /// Of any length. A vector that vanishes becomes +z.
    pub(crate) fn new(v: Vec3) -> Self {
        let ([x, y], is_below) = Self::coordinates(v);
        let [x, y] = [x, y].map(|c| c.round() as i32 as u32);
        Self { word: x & 0xffff | y << 16, is_below }
    }

    /// With a handedness: y is the nearest integer that is odd or even with it.
    pub(crate) fn signed(v: Vec3, is_negative: bool) -> Self {
        let ([x, y], is_below) = Self::coordinates(v);
        let odd = if is_negative { 1.0 } else { 0.0 };
        // The even number next to 32767 is below it.
        let y = ((y - odd) * 0.5).clamp(-16_383.4, 16_383.4).round() * 2.0 + odd;
        let [x, y] = [x.round(), y].map(|c| c as i32 as u32);
        Self { word: x & 0xffff | y << 16, is_below }
    }

    fn coordinates(v: Vec3) -> ([f64; 2], bool) {
        let v = v.as_dvec3().normalize_or(DVec3::Z);
        let scale = f64::from(MOST_STEPS) / (1.0 + v.z.abs());
        ([v.x * scale, v.y * scale], v.z < 0.0)
    }

    /// 16383.5 to 32767 long.
    pub(crate) fn unscaled(self) -> Vec3 {
        let [x, y] = unpack_signed(self.word);
        let z = 16_383.5 - (x * x + y * y) * (0.5 / MOST_STEPS);
        Vec3::new(x, y, if self.is_below { -z } else { z })
    }
}

pub(crate) fn oct_decode(word: u32) -> Vec3 {
    let [x, y] = unpack_signed(word);
    let z = MOST_STEPS - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    let v = Vec3::new(x - fold.copysign(x), y - fold.copysign(y), z);
    v / v.length()
}

/// Shorter than directions are. With it added to z, a vector that vanishes is encoded as +z.
pub(crate) const TINY: f32 = 1e-30;

fn oct_sum(v: Vec3) -> f32 {
    v.x.abs() + v.y.abs() + v.z.abs()
}

/// Coordinates of `v` times [`oct_sum`]. Below the plane z = 0 the corners are folded out: the sum less the one
/// magnitude is what the other and z leave.
fn oct_fold(v: Vec3) -> [f32; 2] {
    let fold = (-v.z).max(0.0);
    [v.x + fold.copysign(v.x), v.y + fold.copysign(v.y)]
}

/// Of any length but zero, and reversed where `sign` is negative.
pub(crate) fn oct_encode(v: Vec3, sign: f32) -> u32 {
    let scale = (MOST_STEPS / oct_sum(v)).copysign(sign);
    let z = if sign.is_sign_negative() { -v.z } else { v.z };
    let [x, y] = oct_fold(v.with_z(z)).map(|c| (c * scale + NEAREST).to_bits());
    x & 0xffff | y << 16
}

/// A tangent's handedness is the lowest bit of y, set for -1.
pub(crate) const HANDEDNESS: u32 = 0x1_0000;

/// Less than 32767 by more than rounding: the even number next to it is below it.
const SIGNED_STEPS: f32 = 32766.97;

/// Adding 1.5 · 2¹⁷ leaves the nearest 64th in the low bits.
const NEAREST_64TH: f32 = 196_608.0;

/// A direction and a handedness: y is the nearest integer that is odd or even with it.
pub(crate) fn oct_encode_signed(v: Vec3, is_negative: bool) -> u32 {
    let ([x, y], scale) = (oct_fold(v), SIGNED_STEPS / oct_sum(v));
    let odd = u32::from(is_negative) << 16;
    let y = ((y * scale + NEAREST_64TH).to_bits() << 10).wrapping_add(odd ^ HANDEDNESS) & 0xfffe_0000;
    (x * scale + NEAREST).to_bits() & 0xffff | odd | y
}

pub(crate) fn oct_sign(word: u32) -> f32 {
    if word & HANDEDNESS != 0 { -1.0 } else { 1.0 }
}

/// Eight weights in 0..=1, as steps of 1/65535. Together they keep their sum to half a step (the largest
/// remainders are rounded up), so a vertex far from the origin does not move.
pub(crate) fn unorm16(weights: [f32; 8]) -> [u32; 8] {
    let exact = weights.map(|w| f64::from(w.clamp(0.0, 1.0)) * 65535.0);
    let mut steps = exact.map(|e| e as u32);
    let wanted = exact.iter().sum::<f64>().round() as u32;
    let mut by_remainder = [0, 1, 2, 3, 4, 5, 6, 7];
    let remainder = |i: usize| exact[i] - exact[i].floor();
    by_remainder.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let missing = wanted.saturating_sub(steps.iter().sum());
    for &i in by_remainder.iter().take(missing as usize) {
        steps[i] = (steps[i] + 1).min(65535);
    }
    steps
}

/// Four of them in two words.
pub(crate) fn pack_unorm(steps: &[u32]) -> [u32; 2] {
    [steps[0] | steps[1] << 16, steps[2] | steps[3] << 16]
}

/// Both halves of both words as integers up to 65535.
pub(crate) fn unpack_unsigned(words: [u32; 2]) -> [f32; 4] {
    let [a, b] = words;
    [a & 0xffff, a >> 16, b & 0xffff, b >> 16].map(|q| q as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octahedral_vectors_stay_within_a_ten_thousandth_of_a_radian() {
        let mut worst = 0.0f32;
        for i in 0..20_000u32 {
            // A spiral over the sphere.
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / 20_000.0;
            let (s, c) = (i as f32 * 2.399_963).sin_cos();
            let r = (1.0 - z * z).sqrt();
            let v = Vec3::new(r * c, r * s, z);
            let w = oct_decode(oct_encode(v, 1.0));
            worst = worst.max(v.cross(w).length().atan2(v.dot(w)));
            for is_negative in [false, true] {
                let word = oct_encode_signed(v, is_negative);
                let w = oct_decode(word);
                assert!(v.cross(w).length().atan2(v.dot(w)) < 1.2e-4);
                assert_eq!(oct_sign(word) < 0.0, is_negative);
            }
        }
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn stereographic_vectors_stay_within_a_twenty_thousandth_of_a_radian() {
        let mut worst = [0.0f32; 2];
        for i in 0..20_000u32 {
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / 20_000.0;
            let (s, c) = (i as f32 * 2.399_963).sin_cos();
            let v = Vec3::new((1.0 - z * z).sqrt() * c, (1.0 - z * z).sqrt() * s, z);
            let off = |stereo: Stereo| {
                let w = stereo.unscaled();
                assert!((16_383.0..32_768.0).contains(&w.length()), "{v}");
                v.cross(w).length().atan2(v.dot(w))
            };
            worst[0] = worst[0].max(off(Stereo::new(v)));
            for is_negative in [false, true] {
                let stereo = Stereo::signed(v, is_negative);
                worst[1] = worst[1].max(off(stereo));
                assert_eq!(stereo.word & HANDEDNESS != 0, is_negative);
            }
        }
        assert!(worst[0] < 5e-5 && worst[1] < 7e-5, "{worst:?}");
    }

    #[test]
    fn stereographic_axes_and_the_ends_of_y_are_where_they_were() {
        for v in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z] {
            assert!(Stereo::new(v).unscaled().normalize().distance(v) < 1e-7, "{v}");
            for is_negative in [false, true] {
                let stereo = Stereo::signed(v, is_negative);
                assert!(stereo.unscaled().normalize().distance(v) < 7e-5, "{v}");
                assert_eq!(stereo.word & HANDEDNESS != 0, is_negative);
            }
        }
        assert_eq!(Stereo::new(Vec3::ZERO), Stereo::new(Vec3::Z));
    }

    #[test]
    fn the_axes_survive_exactly() {
        for v in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z] {
            assert_eq!(oct_decode(oct_encode(v, 1.0)), v);
        }
    }

    #[test]
    fn the_ends_of_y_hold_either_handedness() {
        for v in [Vec3::Y, Vec3::NEG_Y, Vec3::new(0.0, 1.0, -1e-7), Vec3::new(-1e-7, -1.0, 0.0)] {
            for is_negative in [false, true] {
                let word = oct_encode_signed(v, is_negative);
                assert!(oct_decode(word).distance(v) < 1e-4, "{v}");
                assert_eq!(oct_sign(word) < 0.0, is_negative, "{v}");
            }
        }
    }

    #[test]
    fn a_negative_sign_reverses() {
        for v in [Vec3::new(0.3, -0.5, 0.7), Vec3::new(-0.3, 0.5, -0.7), Vec3::new(0.9, 0.1, -0.2)] {
            let reversed = oct_decode(oct_encode(v, -1.0));
            assert!(reversed.distance(-v.normalize()) < 1e-4, "{v}");
        }
    }

    #[test]
    fn a_vector_that_vanishes_is_plus_z() {
        assert_eq!(oct_decode(oct_encode(Vec3::new(0.0, 0.0, TINY), 1.0)), Vec3::Z);
    }

    #[test]
    fn sixteen_bit_weights_are_off_by_less_than_a_step_and_keep_their_sum() {
        for i in 0..=1000u32 {
            let w = i as f32 / 1000.0;
            let rest = (1.0 - w) / 7.0;
            let steps = unorm16([w, rest, rest, rest, rest, rest, rest, rest]);
            assert_eq!(steps.iter().sum::<u32>(), 65535, "{w}");
            let back = unpack_unsigned(pack_unorm(&steps[..4])).map(|steps| steps / 65535.0);
            assert!((back[0] - w).abs() < 1.0 / 65535.0 && (back[1] - rest).abs() < 1.0 / 65535.0);
        }
    }
}
