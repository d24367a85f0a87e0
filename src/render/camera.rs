use glam::{Mat4, Vec3, Vec4};

use crate::model::Bounds;

/// Share of the picture's height and width that a framed box may fill.
const FILL: f32 = 0.96;

/// A perspective camera.
///
/// Depth is reversed: 1 at `near`, falling to 0 infinitely far away, so that f32 depth is evenly precise and
/// nothing is cut off behind. Clear depth to 0 and compare with `GreaterEqual`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// World space, metres.
    pub eye: Vec3,
    /// The point in the middle of the picture.
    pub target: Vec3,
    /// Upwards in the picture; need not be perpendicular to the view.
    pub up: Vec3,
    /// Angle from the lower to the upper edge, radians.
    pub fov_y: f32,
    /// Width over height.
    pub aspect: f32,
    /// Nothing closer is drawn, metres.
    pub near: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self::frame(Bounds::EMPTY, 1.0)
    }
}

impl Camera {
    /// From where [`Camera::frame`] looks at a character that faces +Z: from its left and a little above.
    pub const THREE_QUARTERS: Vec3 = Vec3::new(0.40, 0.20, 0.89);

    /// Fits a box into the picture, seen from [`Camera::THREE_QUARTERS`].
    #[must_use]
    pub fn frame(bounds: Bounds, aspect: f32) -> Self {
        Self::frame_from(bounds, aspect, Self::THREE_QUARTERS)
    }

    /// Fits a box into the picture, seen from `direction` (any length), +Y up. An empty box is taken for one
    /// of a metre around the origin, a point for a small box around it.
    #[must_use]
    pub fn frame_from(bounds: Bounds, aspect: f32, direction: Vec3) -> Self {
        let bounds = visible(bounds);
        let aspect = if aspect.is_finite() && aspect > 0.0 { aspect } else { 1.0 };
        let back = direction.try_normalize().unwrap_or(Vec3::Z);
        let up = if back.cross(Vec3::Y).length_squared() > 1e-6 { Vec3::Y } else { Vec3::NEG_Z };
        let right = up.cross(back).normalize();
        let above = back.cross(right);
        let fov_y = 30f32.to_radians();
        let slope_y = (fov_y * 0.5).tan() * FILL;
        let center = bounds.center();
        let corners = bounds.corners().map(|c| {
            let c = c - center;
            Vec3::new(c.dot(right), c.dot(above), c.dot(back))
        });
        let (x, distance_x) = fit(corners.map(|c| (c.x, c.z)), slope_y * aspect);
        let (y, distance_y) = fit(corners.map(|c| (c.y, c.z)), slope_y);
        let front = corners.iter().fold(f32::NEG_INFINITY, |most, c| most.max(c.z));
        let distance = distance_x.max(distance_y).max(front * 1.01);
        let target = center + right * x + above * y;
        let near = ((distance - front) * 0.25).max(distance * 1e-4);
        Self { eye: target + back * distance, target, up, fov_y, aspect, near }
    }

    /// World to view space: +X right, +Y up, -Z into the picture.
    #[must_use]
    pub fn view(&self) -> Mat4 {
        let back = (self.eye - self.target).try_normalize().unwrap_or(Vec3::Z);
        let right = self.up.cross(back).try_normalize().unwrap_or_else(|| back.any_orthonormal_vector());
        let up = back.cross(right);
        let row = |axis: Vec3| axis.extend(-axis.dot(self.eye));
        Mat4::from_cols(row(right), row(up), row(back), Vec4::W).transpose()
    }

    /// View to clip space.
    #[must_use]
    pub fn projection(&self) -> Mat4 {
        let focal = 1.0 / (self.fov_y * 0.5).tan();
        Mat4::from_cols(
            Vec4::new(focal / self.aspect, 0.0, 0.0, 0.0),
            Vec4::new(0.0, focal, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, self.near, 0.0),
        )
    }

    /// World to clip space.
    #[must_use]
    pub fn view_projection(&self) -> Mat4 {
        self.projection() * self.view()
    }
}

/// A box that can be looked at: not empty, and large enough against its distance from the origin that
/// subtracting its middle leaves something.
fn visible(bounds: Bounds) -> Bounds {
    if bounds.is_empty() {
        return Bounds::new(Vec3::splat(-0.5), Vec3::splat(0.5));
    }
    let center = bounds.center();
    let half = (bounds.max * 0.5 - bounds.min * 0.5).max_element();
    let least = (center.abs().max_element() * 1e-5).max(1e-6);
    if half >= least {
        return bounds;
    }
    Bounds::new(bounds.min - Vec3::splat(least), bounds.max + Vec3::splat(least))
}

/// Where the camera's axis passes, and from how far all points lie between two planes through the eye of
/// this slope. Each point is (sideways, towards the eye).
fn fit(points: [(f32, f32); 8], slope: f32) -> (f32, f32) {
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    for (side, depth) in points {
        least = least.min(side - depth * slope);
        most = most.max(side + depth * slope);
    }
    ((most + least) * 0.5, (most - least) / (2.0 * slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of `bounds` in normalised device coordinates.
    fn corners(camera: &Camera, bounds: Bounds) -> [Vec3; 8] {
        bounds.corners().map(|c| camera.view_projection().project_point3(c))
    }

    fn assert_inside(camera: &Camera, bounds: Bounds) {
        assert!(camera.near > 0.0 && camera.eye.is_finite(), "{camera:?}");
        for c in corners(camera, bounds) {
            assert!(c.is_finite() && c.x.abs() <= 1.0 && c.y.abs() <= 1.0, "{c} {bounds:?} {camera:?}");
            assert!(c.z > 0.0 && c.z < 1.0, "{c} {bounds:?} {camera:?}");
        }
    }

    /// A small generator, so that the boxes are the same on every machine.
    fn random(state: &mut u64) -> f32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as f32 / (1u64 << 24) as f32
    }

    #[test]
    fn a_framed_box_is_inside_the_picture_and_touches_the_margin() {
        let mut state = 1;
        for _ in 0..2000 {
            let mut vec = |scale: f32| Vec3::from_array([(); 3].map(|()| (random(&mut state) - 0.5) * scale));
            let (center, half) = (vec(100.0), vec(10.0).abs());
            let bounds = Bounds::new(center - half, center + half);
            let aspect = 0.3 + random(&mut state) * 3.0;
            let camera = Camera::frame(bounds, aspect);
            assert_inside(&camera, bounds);
            let most = corners(&camera, bounds).iter().fold(0f32, |m, c| m.max(c.x.abs()).max(c.y.abs()));
            assert!((0.92..=0.98).contains(&most), "{most} {bounds:?} {aspect}");
        }
    }

    #[test]
    fn flat_tiny_and_huge_boxes_are_framed() {
        for size in [1e-4f32, 1.0, 1e4] {
            for flat in [Vec3::ONE, Vec3::new(1.0, 1.0, 0.0), Vec3::new(1.0, 0.0, 1.0), Vec3::X, Vec3::Z] {
                let bounds = Bounds::new(-flat * size, flat * size);
                assert_inside(&Camera::frame(bounds, 16.0 / 9.0), bounds);
            }
        }
    }

    #[test]
    fn empty_and_broken_boxes_give_a_finite_camera() {
        let nan = Bounds::new(Vec3::NAN, Vec3::ONE);
        for bounds in [Bounds::EMPTY, nan, Bounds::new(Vec3::ONE, Vec3::ZERO)] {
            assert!(Camera::frame(bounds, 1.0).view_projection().is_finite());
        }
        assert!(Camera::frame(Bounds::EMPTY, f32::NAN).view_projection().is_finite());
    }

    #[test]
    fn a_point_far_from_the_origin_is_seen() {
        for at in [Vec3::ZERO, Vec3::splat(1e4)] {
            let bounds = Bounds::new(at, at);
            assert_inside(&Camera::frame(bounds, 1.0), bounds);
        }
    }

    #[test]
    fn looking_straight_down_has_an_up_direction() {
        let bounds = Bounds::new(-Vec3::ONE, Vec3::ONE);
        assert_inside(&Camera::frame_from(bounds, 1.0, Vec3::Y), bounds);
    }

    #[test]
    fn depth_is_one_at_the_near_plane_and_falls_with_distance() {
        let camera = Camera { eye: Vec3::Z * 5.0, target: Vec3::ZERO, near: 0.5, ..Camera::default() };
        let depth = |z: f32| camera.view_projection().project_point3(Vec3::Z * z).z;
        assert!((depth(4.5) - 1.0).abs() < 1e-6);
        assert!(depth(0.0) > depth(-100.0) && depth(-100.0) > 0.0);
    }

    #[test]
    fn the_left_of_a_character_is_on_the_right_of_its_picture() {
        let camera = Camera::frame(Bounds::new(-Vec3::ONE, Vec3::ONE), 1.0);
        let point = camera.view_projection().project_point3(Vec3::X);
        assert!(point.x > 0.3);
        assert!(camera.view_projection().project_point3(Vec3::Y).y > 0.3);
    }
}
