use glam::{Affine3A, Mat4, Vec4};

use crate::model::Bounds;

/// A convex region of the world: what a camera or a shadow map sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    /// A point is inside where `plane · (point, 1)` is at least 0 for all of them.
    planes: [Vec4; 6],
}

impl Frustum {
    /// What a matrix from world to clip space maps into `-w ≤ x, y ≤ w` and `0 ≤ z ≤ w`: perspective or orthographic,
    /// with depth either way round, far plane finite or not. Planes by Gribb and Hartmann, "Fast Extraction of Viewing
    /// Frustum Planes from the World-View-Projection Matrix" (2001).
    #[must_use]
    pub fn from_view_projection(matrix: Mat4) -> Self {
        let [x, y, z, w] = [matrix.row(0), matrix.row(1), matrix.row(2), matrix.row(3)];
        Self { planes: [w + x, w - x, w + y, w - y, z, w - z] }
    }

    /// Whether a box, in the space that `transform` takes to the world, may be seen; never false where any of it is. An
    /// empty box is not seen. One beside an edge of the region may count as seen. What cannot be compared, because a number is
    /// not finite, counts as seen.
    #[must_use]
    pub fn meets(&self, bounds: Bounds, transform: Affine3A) -> bool {
        if (bounds.min.cmpgt(bounds.max)).any() {
            return false;
        }
        let half = bounds.max * 0.5 - bounds.min * 0.5;
        let to_world = Mat4::from(transform).transpose();
        self.planes.iter().all(|plane| {
            let plane = to_world * *plane;
            let normal = plane.truncate();
            // Grown by what rounding may take away.
            let size = normal.abs().dot(bounds.center().abs() + half) + plane.w.abs();
            let nearest = normal.dot(bounds.center()) + normal.abs().dot(half) + plane.w;
            !(nearest + size * (16.0 * f32::EPSILON) < 0.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::{Mat3A, Vec3, Vec3A};

    use super::*;

    fn at(center: Vec3, half: f32) -> Bounds {
        Bounds::new(center - half, center + half)
    }

    /// Looking along -Z from the origin, 90 degrees wide and high; depth is `(scale * -z + offset) / -z`.
    fn looking_with(scale: f32, offset: f32) -> Frustum {
        let depth = Vec4::new(0.0, 0.0, -scale, offset);
        let rows = [Vec4::X, Vec4::Y, depth, Vec4::NEG_Z];
        Frustum::from_view_projection(Mat4::from_cols_array_2d(&rows.map(|r| r.to_array())).transpose())
    }

    /// From 1 to 100 m.
    fn looking(reversed: bool) -> Frustum {
        if reversed {
            looking_with(-1.0 / 99.0, 100.0 / 99.0)
        } else {
            looking_with(100.0 / 99.0, -100.0 / 99.0)
        }
    }

    #[test]
    fn boxes_beyond_each_plane_are_not_seen() {
        for reversed in [false, true] {
            let frustum = looking(reversed);
            let sees = |center| frustum.meets(at(center, 0.5), Affine3A::IDENTITY);
            assert!(sees(Vec3::NEG_Z * 10.0), "in the middle");
            for out in [Vec3::X * 20.0, Vec3::NEG_X * 20.0, Vec3::Y * 20.0, Vec3::NEG_Y * 20.0] {
                assert!(!sees(Vec3::NEG_Z * 10.0 + out), "{out}");
            }
            assert!(!sees(Vec3::ZERO), "before the near plane");
            assert!(!sees(Vec3::NEG_Z * 101.0), "behind the far plane");
            assert!(!sees(Vec3::Z * 10.0), "behind the eye");
        }
    }

    #[test]
    fn a_box_that_reaches_in_from_outside_is_seen() {
        let frustum = looking(true);
        assert!(frustum.meets(at(Vec3::new(10.9, 0.0, -10.0), 1.0), Affine3A::IDENTITY));
        assert!(frustum.meets(at(Vec3::ZERO, 1000.0), Affine3A::IDENTITY), "one around the whole region");
    }

    #[test]
    fn an_infinite_far_plane_cuts_nothing() {
        let frustum = looking_with(0.0, 0.1);
        assert!(frustum.meets(at(Vec3::NEG_Z * 1e6, 0.5), Affine3A::IDENTITY));
        assert!(!frustum.meets(at(Vec3::Z, 0.5), Affine3A::IDENTITY));
    }

    #[test]
    fn the_transform_moves_the_box() {
        let frustum = looking(false);
        let transform = Affine3A::from_translation(Vec3::NEG_Z * 10.0)
            * Affine3A { matrix3: Mat3A::from_diagonal(Vec3::new(-1.0, 2.0, 0.1)), translation: Vec3A::ZERO };
        let seen = |x| frustum.meets(at(Vec3::X * x, 0.5), transform);
        assert!(seen(10.0) && !seen(-11.0) && !seen(11.0));
    }

    #[test]
    fn nothing_is_not_seen_and_nonsense_is() {
        assert!(!looking(false).meets(Bounds::EMPTY, Affine3A::IDENTITY));
        for bounds in [Bounds::new(Vec3::NEG_INFINITY, Vec3::INFINITY), Bounds::new(Vec3::NAN, Vec3::ONE)] {
            assert!(looking(false).meets(bounds, Affine3A::IDENTITY));
        }
        let nan = Affine3A::from_translation(Vec3::NAN);
        assert!(looking(false).meets(at(Vec3::ZERO, 1.0), nan));
    }
}
