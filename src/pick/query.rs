use glam::{Affine3A, Mat3A, Vec3, Vec3A};

use super::{
    Ray,
    ray::{Meeting, Sheared, main_axis},
};
use crate::model::Bounds;

/// A ray against what is drawn under one transform. Boxes and triangles are brought into the world, not the ray out of
/// it, so that transforms without an inverse are nothing special and distances are those of the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    sheared: Sheared,
    transform: Affine3A,
    origin: Vec3A,
    direction: Vec3,
    inverse: Vec3A,
    axis: usize,
    /// The transform's coefficients without their signs, and the largest sum of a row of them.
    size: Mat3A,
    largest: f32,
    /// Coordinates of the origin and the transform's translation at most.
    offset: f32,
}

/// What rounding in f32 adds to a coordinate, as a share of the largest number on the way: a matrix, a sum and a
/// difference take less than eight roundings.
const SLACK: f32 = 8.0 * f32::EPSILON;

impl Query {
    pub(super) fn new(ray: Ray, transform: Affine3A) -> Self {
        let m = transform.matrix3;
        let size = Mat3A::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs());
        let (origin, direction) = (Vec3A::from(ray.origin()), Vec3A::from(ray.direction()));
        // Along an axis that the ray does not move on, everything is far away on one side or the other.
        let finite = |d: f32| if d.abs() > 1e-30 { 1.0 / d } else { 1e30f32.copysign(d) };
        Self {
            sheared: Sheared::new(ray),
            transform,
            origin,
            direction: ray.direction(),
            inverse: Vec3A::from_array(direction.to_array().map(finite)),
            axis: main_axis(ray.direction()),
            size,
            largest: (size * Vec3A::ONE).max_element(),
            offset: origin.abs().max_element() + transform.translation.abs().max_element(),
        }
    }

    /// A distance before which the ray meets nothing in a box; `None` where it meets nothing there at all. Whatever
    /// cannot be compared counts as met.
    ///
    /// The distance is that along the ray's main axis alone: a computed meeting lies between the corners of its triangle
    /// there, however thin the triangle is, which cannot be said of the other two.
    pub(super) fn enter(&self, own: &Bounds) -> Option<f32> {
        // Nothing is in it: hidden parts, or corners that are not finite.
        if own.min.x > own.max.x {
            return None;
        }
        let (min, max) = (Vec3A::from(own.min), Vec3A::from(own.max));
        let (middle, half) = ((min + max) * 0.5, (max - min) * 0.5);
        let reach = self.largest * (middle.abs() + half).max_element() + self.offset;
        let half = self.size * half + Vec3A::splat(reach * SLACK);
        let middle = self.transform.transform_point3a(middle) - self.origin;
        let (a, b) = ((middle - half) * self.inverse, (middle + half) * self.inverse);
        let (near, far) = (a.min(b), a.max(b));
        let is_missed = near.max_element() > far.min_element() || far.min_element() < 0.0;
        (!is_missed).then(|| near[self.axis])
    }

    pub(super) fn direction(&self) -> Vec3 {
        self.direction
    }

    /// Whether the transform reverses windings.
    pub(super) fn is_mirrored(&self) -> bool {
        self.transform.matrix3.determinant() < 0.0
    }

    /// A triangle in the world.
    pub(super) fn place(&self, corners: [Vec3; 3]) -> [Vec3; 3] {
        corners.map(|corner| self.transform.transform_point3(corner))
    }

    pub(super) fn meet(&self, corners: [Vec3; 3]) -> Option<Meeting> {
        self.sheared.meet(self.place(corners))
    }
}
