//! Unit vectors as the library packs them, written apart from it to check it.

use glam::{DVec3, Vec3};

/// Octahedral coordinates in steps.
fn fold(v: Vec3) -> [f32; 2] {
    let p = v * (32767.0 / (v.x.abs() + v.y.abs() + v.z.abs()));
    if p.z < 0.0 {
        [(32767.0 - p.y.abs()).copysign(p.x), (32767.0 - p.x.abs()).copysign(p.y)]
    } else {
        [p.x, p.y]
    }
}

pub(crate) fn encode(v: Vec3) -> u32 {
    let [x, y] = fold(v).map(|c| c.round_ties_even() as i32 as u32 & 0xffff);
    x | y << 16
}

/// The lowest bit of y is the sign.
pub(crate) fn encode_signed(v: Vec3, is_negative: bool) -> u32 {
    let ([x, y], odd) = (fold(v), i32::from(is_negative));
    let y = ((y * 4.0).round_ties_even().min(131_067.0) as i32 + 4 - 4 * odd).div_euclid(8) * 2 + odd;
    x.round_ties_even() as i32 as u32 & 0xffff | (y as u32) << 16
}

pub(crate) fn decode(word: u32) -> DVec3 {
    let [x, y] = [word as u16 as i16, (word >> 16) as u16 as i16].map(f64::from);
    let z = 32767.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    DVec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize()
}
