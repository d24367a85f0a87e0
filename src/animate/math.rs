//! Rotation arithmetic with own polynomials: only IEEE operations in a fixed order, no `std`
//! transcendentals and no fused multiply-add, so that every machine and the web give the same bytes.
//!
//! Poses are f32. What takes many steps from one pose to the next, such as inverse kinematics, computes in f64 and
//! rounds once: [`sin_cos`], [`atan2`], [`asin`] and [`exp`] are for that.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, LOG2_E, PI, TAU};

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

/// Sine and cosine of a finite angle in radians (error under 1e-15 up to a million; NaN where it is not finite).
#[must_use]
pub fn sin_cos(angle: f64) -> (f64, f64) {
    // The last number is what pi / 2 is beyond its own f64.
    const QUARTER: (f64, f64) = split(FRAC_PI_2, 6.123_233_995_736_766e-17);
    let angle = if angle.abs() > 1e6 { angle % TAU } else { angle };
    let quarters = (angle * FRAC_2_PI).round();
    let x = (angle - quarters * QUARTER.0) - quarters * QUARTER.1;
    // Taylor series, -pi/4..=pi/4.
    let s = x * x;
    let sine = x * series(s, &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]);
    let cosine = series(s, &[1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]);
    match quarters.rem_euclid(4.0) {
        1.0 => (cosine, -sine),
        2.0 => (-sine, -cosine),
        3.0 => (-cosine, sine),
        _ => (sine, cosine),
    }
}

/// A number in two parts, so that up to 2^21 times the first is exact; `rest` is what it has beyond its own f64.
const fn split(number: f64, rest: f64) -> (f64, f64) {
    let high = f64::from_bits(number.to_bits() & !0x1F_FFFF);
    (high, (number - high) + rest)
}

/// `1 - s / (n (n + 1)) (1 - ...)` for every `n` of a list.
fn series(s: f64, list: &[f64]) -> f64 {
    list.iter().rev().fold(1.0, |inner, n| 1.0 - s / (n * (n + 1.0)) * inner)
}

/// The angle of a point with finite coordinates seen from the origin, -pi..=pi (error under 1e-15); 0 at the origin.
/// `atan2(|a x b|, a . b)` is the angle between two vectors of any length, exact for small and large ones alike, which
/// the arc cosine of their product is not.
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (tall, wide) = (y.abs(), x.abs());
    let (small, large) = if tall > wide { (wide, tall) } else { (tall, wide) };
    if large == 0.0 {
        return 0.0;
    }
    let slope = small / large;
    // Two halvings of the angle, then the Taylor series.
    let half = slope / (1.0 + (1.0 + slope * slope).sqrt());
    let quarter = half / (1.0 + (1.0 + half * half).sqrt());
    let s = quarter * quarter;
    let mut sum = 0.0;
    for n in [23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = 1.0 / n - s * sum;
    }
    let angle = 4.0 * quarter * sum;
    let angle = if tall > wide { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    angle.copysign(y)
}

/// Arc sine, -pi/2..=pi/2; a sine beyond 1 counts as 1.
#[must_use]
pub fn asin(sine: f64) -> f64 {
    let sine = sine.clamp(-1.0, 1.0);
    atan2(sine, ((1.0 - sine) * (1.0 + sine)).sqrt())
}

/// The exponential function (relative error under 1e-15); 0 below -700, infinite above 700.
#[must_use]
pub fn exp(x: f64) -> f64 {
    // The last number is what ln 2 is beyond its own f64.
    const DOUBLING: (f64, f64) = split(LN_2, 2.319_046_813_846_299_6e-17);
    if !(x > -700.0) {
        return if x.is_nan() { x } else { 0.0 };
    }
    if x > 700.0 {
        return f64::INFINITY;
    }
    let doublings = (x * LOG2_E).round();
    let r = (x - doublings * DOUBLING.0) - doublings * DOUBLING.1;
    let mut sum = 1.0;
    for n in [13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        sum = 1.0 + r / n * sum;
    }
    sum * f64::from_bits(((1023 + doublings as i64) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ours, so many from `from` to `to`, from those of `std`, relative where they are large.
    fn worst(from: f64, to: f64, error: impl Fn(f64) -> f64) -> f64 {
        (0..=100_000).map(|i| error(from + (to - from) * f64::from(i) / 1e5)).fold(0.0, f64::max)
    }

    #[test]
    fn sine_and_cosine_are_those_of_std_to_the_last_digits() {
        let error = |x: f64| {
            let (sine, cosine) = sin_cos(x);
            (sine - x.sin()).abs().max((cosine - x.cos()).abs())
        };
        assert!(worst(-7.0, 7.0, error) < 4e-16, "{}", worst(-7.0, 7.0, error));
        assert!(worst(-1e6, 1e6, error) < 1e-15, "{}", worst(-1e6, 1e6, error));
        assert!(worst(1e6, 1e12, error) < 1e-3 && sin_cos(1e300).0.abs() <= 1.0);
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        assert!(sin_cos(f64::INFINITY).0.is_nan() && sin_cos(f64::NAN).1.is_nan());
    }

    #[test]
    fn the_arc_tangent_is_that_of_std_in_every_direction_and_at_any_length() {
        for length in [1e-150, 1e-5, 1.0, 1e150] {
            let error = |x: f64| {
                let (y, x) = (x.sin() * length, x.cos() * length);
                (atan2(y, x) - y.atan2(x)).abs()
            };
            assert!(worst(-3.2, 3.2, error) < 1e-15, "{length}: {}", worst(-3.2, 3.2, error));
        }
        assert!(worst(-1e-3, 1e-3, |x| (atan2(x, 1.0) - x.atan()).abs()) < 1e-18);
        assert_eq!((atan2(0.0, 0.0), atan2(0.0, 1.0), atan2(0.0, -1.0)), (0.0, 0.0, PI));
        assert_eq!((atan2(1.0, 0.0), atan2(-1.0, 0.0)), (FRAC_PI_2, -FRAC_PI_2));
    }

    #[test]
    fn the_arc_sine_is_that_of_std_and_ends_at_a_quarter() {
        assert!(worst(-1.0, 1.0, |x| (asin(x) - x.asin()).abs()) < 1e-15);
        assert_eq!((asin(1.5), asin(-2.0)), (FRAC_PI_2, -FRAC_PI_2));
    }

    #[test]
    fn the_exponential_is_that_of_std_and_stays_finite_below_zero() {
        let error = |x: f64| (exp(x) / x.exp() - 1.0).abs();
        assert!(worst(-699.0, 699.0, error) < 1e-15, "{}", worst(-699.0, 699.0, error));
        assert!(worst(-1.0, 1.0, error) < 5e-16, "{}", worst(-1.0, 1.0, error));
        assert_eq!((exp(0.0), exp(-1e9), exp(f64::NEG_INFINITY), exp(1e9)), (1.0, 0.0, 0.0, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan());
    }

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
