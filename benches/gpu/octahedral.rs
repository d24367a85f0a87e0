//! Unit vectors as the library packs them, written apart from it to check it.

use glam::{DVec3, Vec3};

/// Octahedral coordinates in steps, rounded at every operation as the library rounds.
fn fold(v: Vec3, steps: f32) -> [f32; 2] {
    let scale = steps / (v.x.abs() + v.y.abs() + v.z.abs());
    let out = if v.z < 0.0 { -v.z } else { 0.0 };
    [v.x, v.y].map(|c| (c.abs() + out).copysign(c) * scale)
}

pub(crate) fn encode(v: Vec3) -> u32 {
    let [x, y] = fold(v, 32767.0).map(|c| c.round_ties_even() as i32 as u32 & 0xffff);
    x | y << 16
}

/// The lowest bit of y is the sign. A little less than 32767 steps, so that the even number next to it is below.
pub(crate) fn encode_signed(v: Vec3, is_negative: bool) -> u32 {
    let ([x, y], odd) = (fold(v, 32766.97), i32::from(is_negative));
    let y = ((y * 64.0).round_ties_even() as i32 + 64 - 64 * odd).div_euclid(128) * 2 + odd;
    x.round_ties_even() as i32 as u32 & 0xffff | (y as u32) << 16
}

pub(crate) fn decode(word: u32) -> DVec3 {
    let [x, y] = [word as u16 as i16, (word >> 16) as u16 as i16].map(f64::from);
    let z = 32767.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    DVec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize()
}
