//! Twin of wgsl/codec.wgsl: octahedral unit vectors and 16-bit weights.

use glam::Vec3;

pub(crate) fn oct_decode(word: u32) -> Vec3 {
    let [fx, fy] = unpack_snorm(word);
    let z = 1.0 - fx.abs() - fy.abs();
    let fold = (-z).max(0.0);
    let x = fx - if fx >= 0.0 { fold } else { -fold };
    let y = fy - if fy >= 0.0 { fold } else { -fold };
    let length = (x * x + y * y + z * z).sqrt();
    Vec3::new(x / length, y / length, z / length)
}

/// Any length; a zero vector becomes +z.
pub(crate) fn oct_encode(v: Vec3) -> u32 {
    let sum = v.x.abs() + v.y.abs() + v.z.abs();
    let scale = 1.0 / sum.max(1e-30);
    let p = [v.x * scale, v.y * scale];
    let sign = |c: f32| if c >= 0.0 { 1.0 } else { -1.0 };
    let folded = [(1.0 - p[1].abs()) * sign(p[0]), (1.0 - p[0].abs()) * sign(p[1])];
    pack_snorm(if v.z < 0.0 { folded } else { p })
}

pub(crate) fn oct_encode_signed(v: Vec3, handedness: f32) -> u32 {
    (oct_encode(v) & 0xfffe_ffff) | if handedness < 0.0 { 0x1_0000 } else { 0 }
}

pub(crate) fn oct_sign(word: u32) -> f32 {
    if word & 0x1_0000 != 0 { -1.0 } else { 1.0 }
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

pub(crate) fn unpack_unorm(words: [u32; 2]) -> [f32; 4] {
    let [a, b] = words;
    [a & 0xffff, a >> 16, b & 0xffff, b >> 16].map(|q| q as f32 / 65535.0)
}

fn pack_snorm(f: [f32; 2]) -> u32 {
    let q = f.map(|c| (0.5 + 32767.0 * c.clamp(-1.0, 1.0)).floor() as i32 as u32 & 0xffff);
    q[0] | q[1] << 16
}

fn unpack_snorm(word: u32) -> [f32; 2] {
    [word as u16 as i16, (word >> 16) as u16 as i16].map(|q| (f32::from(q) / 32767.0).max(-1.0))
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
            let w = oct_decode(oct_encode(v));
            worst = worst.max(v.cross(w).length().atan2(v.dot(w)));
            let w = oct_decode(oct_encode_signed(v, -1.0));
            assert!(v.cross(w).length().atan2(v.dot(w)) < 1.5e-4);
        }
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn the_axes_survive_exactly() {
        for v in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z] {
            assert_eq!(oct_decode(oct_encode(v)), v);
        }
    }

    #[test]
    fn a_zero_vector_encodes_to_a_finite_direction() {
        assert_eq!(oct_decode(oct_encode(Vec3::ZERO)), Vec3::Z);
    }

    #[test]
    fn sixteen_bit_weights_are_off_by_less_than_a_step_and_keep_their_sum() {
        for i in 0..=1000u32 {
            let w = i as f32 / 1000.0;
            let rest = (1.0 - w) / 7.0;
            let steps = unorm16([w, rest, rest, rest, rest, rest, rest, rest]);
            assert_eq!(steps.iter().sum::<u32>(), 65535, "{w}");
            let back = unpack_unorm(pack_unorm(&steps[..4]));
            assert!((back[0] - w).abs() < 1.0 / 65535.0 && (back[1] - rest).abs() < 1.0 / 65535.0);
        }
    }
}
