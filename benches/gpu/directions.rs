//! Unit vectors as the library packs them, stereographic going in and octahedral coming out, written apart from it to
//! check it.

use glam::{DVec3, Vec3, Vec4};

/// Octahedral coordinates in steps.
fn fold(v: Vec3) -> [f32; 2] {
    let scale = 32767.0 / (v.x.abs() + v.y.abs() + v.z.abs());
    let out = if v.z < 0.0 { -v.z } else { 0.0 };
    [v.x, v.y].map(|c| (c.abs() + out).copysign(c) * scale)
}

pub(crate) fn encode(v: Vec3) -> u32 {
    let [x, y] = fold(v).map(|c| c.round_ties_even() as i32 as u32 & 0xffff);
    x | y << 16
}

/// What a packed source keeps of a normal.
pub(crate) fn kept_normal(v: Vec3) -> DVec3 {
    kept(v, |y| y.round())
}

/// What it keeps of a tangent: the lowest bit of y is the sign.
pub(crate) fn kept_tangent(v: Vec4) -> DVec3 {
    let odd = if v.w < 0.0 { 1.0 } else { 0.0 };
    kept(v.truncate(), |y| (((y - odd) / 2.0).round() * 2.0 + odd).clamp(-32767.0, 32766.0 + odd))
}

/// Projected from the pole that is farther away.
fn kept(v: Vec3, round: impl Fn(f64) -> f64) -> DVec3 {
    let v = v.as_dvec3().normalize();
    let [x, y] = [v.x, v.y].map(|c| c * 32767.0 / (1.0 + v.z.abs()));
    let [x, y] = [x.round(), round(y)].map(|c| c / 32767.0);
    let z = 1.0 - x * x - y * y;
    DVec3::new(2.0 * x, 2.0 * y, if v.z < 0.0 { -z } else { z }).normalize()
}

pub(crate) fn decode(word: u32) -> DVec3 {
    let [x, y] = [word as u16 as i16, (word >> 16) as u16 as i16].map(f64::from);
    let z = 32767.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    DVec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize()
}
