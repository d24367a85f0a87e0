//! Rotation arithmetic with own polynomials: only IEEE operations in a fixed order, no `std`
//! transcendentals and no fused multiply-add, so that every machine and the web give the same bytes.

use glam::Quat;

/// Unit length; the identity for a quaternion too short to have a direction.
#[must_use]
pub fn normalize(q: Quat) -> Quat {
    let [x, y, z, w] = q.to_array();
    let square = x * x + y * y + z * z + w * w;
    // Neither overflow nor lost digits: what almost every quaternion is like.
    if square > 1e-12 && square < 1e12 {
        let inverse = 1.0 / square.sqrt();
        return Quat::from_xyzw(x * inverse, y * inverse, z * inverse, w * inverse);
    }
    let largest = x.abs().max(y.abs()).max(z.abs()).max(w.abs());
    if !(largest > f32::MIN_POSITIVE && largest.is_finite()) {
        return Quat::IDENTITY;
    }
    let [x, y, z, w] = [x / largest, y / largest, z / largest, w / largest];
    let length = (x * x + y * y + z * z + w * w).sqrt();
    // At least 1, unless a component is NaN.
    if length.is_nan() {
        return Quat::IDENTITY;
    }
    Quat::from_xyzw(x / length, y / length, z / length, w / length)
}

/// Spherical interpolation along the shorter arc (glTF 2.0, appendix C.3), `t` in 0..=1; unit length comes
/// out. `a` and `b` should have unit length themselves; rounded ones keep their share. The half angle comes
/// from `|a - b|` and `|a + b|`, which stays exact for small angles.
#[must_use]
pub fn slerp(a: Quat, b: Quat, t: f32) -> Quat {
    let (a, b) = (a.to_array(), b.to_array());
    let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    let b = if dot < 0.0 { b.map(|c| -c) } else { b };
    let (mut apart, mut together) = (0.0f32, 0.0f32);
    for i in 0..4 {
        apart += (a[i] - b[i]) * (a[i] - b[i]);
        together += (a[i] + b[i]) * (a[i] + b[i]);
    }
    // 0..=1, since b lies on a's side.
    let half_tangent = (apart / together).sqrt();
    let angle = 2.0 * atan(half_tangent);
    let sine = sin(angle);
    let (from, to) = if sine > 1e-3 {
        (sin((1.0 - t) * angle) / sine, sin(t * angle) / sine)
    } else {
        // Below a thousandth of a radian slerp and lerp agree to the last bit.
        (1.0 - t, t)
    };
    let mix = |i: usize| a[i] * from + b[i] * to;
    normalize(Quat::from_xyzw(mix(0), mix(1), mix(2), mix(3)))
}

/// Arc tangent for `x` in 0..=1: one halving of the angle, then its Taylor series (error under 1e-8).
fn atan(x: f32) -> f32 {
    let h = x / (1.0 + (1.0 + x * x).sqrt());
    let s = h * h;
    let series = 1.0
        - s * (1.0 / 3.0
            - s * (1.0 / 5.0
                - s * (1.0 / 7.0 - s * (1.0 / 9.0 - s * (1.0 / 11.0 - s * (1.0 / 13.0 - s / 15.0))))));
    2.0 * h * series
}

/// Sine for `x` in 0..=pi/2: Taylor series to the 13th power (error under 1e-9).
fn sin(x: f32) -> f32 {
    let s = x * x;
    x * (1.0
        - s / 6.0
            * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0 * (1.0 - s / 156.0))))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Quat, b: Quat) -> bool {
        // q and -q are one rotation.
        let d = a.dot(b).abs();
        (1.0 - d).abs() < 3e-7
    }

    #[test]
    fn slerp_equals_the_closed_form_at_every_angle() {
        for degrees in [0.0f64, 1e-4, 0.01, 1.0, 45.0, 90.0, 179.0, 180.0] {
            let whole = degrees.to_radians();
            let b = Quat::from_xyzw(0.0, 0.0, (whole / 2.0).sin() as f32, (whole / 2.0).cos() as f32);
            for t in [0.0f32, 0.1, 0.5, 0.9, 1.0] {
                let half = whole / 2.0 * f64::from(t);
                let q = slerp(Quat::IDENTITY, b, t);
                assert!((f64::from(q.z) - half.sin()).abs() < 2e-7, "{degrees} {t}: {q}");
                assert!((f64::from(q.w) - half.cos()).abs() < 2e-7, "{degrees} {t}: {q}");
            }
        }
    }

    #[test]
    fn slerp_takes_the_shorter_arc_between_opposite_signs() {
        let b = Quat::from_xyzw(0.0, 0.0, -(0.5f32.sin()), -(0.5f32.cos()));
        let q = slerp(Quat::IDENTITY, b, 0.5);
        assert!(close(q, Quat::from_rotation_z(0.5)), "{q}");
    }

    #[test]
    fn a_zero_or_nan_quaternion_becomes_the_identity() {
        assert_eq!(normalize(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)), Quat::IDENTITY);
        assert_eq!(normalize(Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)), Quat::IDENTITY);
        assert_eq!(normalize(Quat::from_xyzw(0.0, f32::INFINITY, 0.0, 1.0)), Quat::IDENTITY);
    }

    #[test]
    fn a_tiny_or_huge_quaternion_keeps_its_direction() {
        for scale in [1e-30f32, 1e30] {
            let q = normalize(Quat::from_xyzw(0.0, 3.0 * scale, 0.0, 4.0 * scale));
            assert!((q.y - 0.6).abs() < 1e-6 && (q.w - 0.8).abs() < 1e-6, "{q}");
        }
    }
}
