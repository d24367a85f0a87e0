use glam::{DVec3, Vec3};

/// A ray in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: Vec3,
    direction: Vec3,
}

/// Why numbers are no ray.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RayError {
    /// NaN or infinity.
    #[error("a ray from {origin} along {direction} is not finite; both need finite numbers")]
    NotFinite {
        /// As given.
        origin: Vec3,
        /// As given.
        direction: Vec3,
    },
    /// A direction of zero length.
    #[error("a ray has the direction zero; it needs one of any length above it")]
    NoDirection,
}

impl Ray {
    /// From `origin`, in metres, along `direction` of any length but zero.
    pub fn new(origin: Vec3, direction: Vec3) -> Result<Self, RayError> {
        if !origin.is_finite() || !direction.is_finite() {
            return Err(RayError::NotFinite { origin, direction });
        }
        // f64: the square of an f32 neither vanishes nor overflows there.
        let unit = direction.as_dvec3().try_normalize().ok_or(RayError::NoDirection)?;
        Ok(Self { origin, direction: unit.as_vec3() })
    }

    /// From one point towards another.
    pub fn towards(origin: Vec3, target: Vec3) -> Result<Self, RayError> {
        Self::new(origin, target - origin)
    }

    /// Where it starts.
    #[must_use]
    pub fn origin(self) -> Vec3 {
        self.origin
    }

    /// Where it goes; unit length.
    #[must_use]
    pub fn direction(self) -> Vec3 {
        self.direction
    }
}

/// A ray made ready for triangles: turned and sheared so that it runs along z.
///
/// Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", JCGT 2013. Everything is f64: what the paper does in
/// f32 with a second try is then one try, and neighbours still see the same two points of their common edge, so
/// that a ray through an edge or a vertex hits at least one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sheared {
    origin: DVec3,
    /// Axes, the one along which the ray goes furthest last.
    axes: [usize; 3],
    shear: DVec3,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meeting {
    /// Metres from the origin.
    pub(super) distance: f32,
    /// Shares of the corners; not negative, their sum 1.
    pub(super) barycentrics: Vec3,
}

impl Sheared {
    pub(super) fn new(ray: Ray) -> Self {
        let d = ray.direction.as_dvec3();
        let z = main_axis(ray.direction);
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if d[z] < 0.0 {
            std::mem::swap(&mut x, &mut y);
        }
        let shear = DVec3::new(d[x] / d[z], d[y] / d[z], 1.0 / d[z]);
        Self { origin: ray.origin.as_dvec3(), axes: [x, y, z], shear }
    }

    /// The triangle's plane seen edge-on is no meeting, nor is a triangle without an area, or what lies behind the origin
    /// or is not finite. Both sides count.
    pub(super) fn meet(&self, triangle: [Vec3; 3]) -> Option<Meeting> {
        let [x, y, z] = self.axes;
        let [a, b, c] = triangle.map(|corner| {
            let p = corner.as_dvec3() - self.origin;
            DVec3::new(p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z], self.shear.z * p[z])
        });
        let edge = |p: DVec3, q: DVec3| p.x * q.y - p.y * q.x;
        let (u, v, w) = (edge(c, b), edge(a, c), edge(b, a));
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        let distance = ((u * a.z + v * b.z + w * c.z) / sum) as f32;
        // False for NaN, which is also what a sum of zero leaves.
        let is_met = (0.0..f32::INFINITY).contains(&distance);
        // Rounding lets some rays meet corners on a line.
        let is_met = is_met && normal(triangle).is_some();
        is_met.then(|| Meeting { distance, barycentrics: (DVec3::new(u, v, w) / sum).as_vec3() })
    }
}

/// The side from which a triangle's corners run counter-clockwise, of unit length; `None` where it has no area. In f64:
/// small triangles have products that vanish in f32.
pub(super) fn normal([a, b, c]: [Vec3; 3]) -> Option<DVec3> {
    (b.as_dvec3() - a.as_dvec3()).cross(c.as_dvec3() - a.as_dvec3()).try_normalize()
}

/// The axis along which a direction goes furthest.
pub(super) fn main_axis(direction: Vec3) -> usize {
    direction.abs().max_position()
}
