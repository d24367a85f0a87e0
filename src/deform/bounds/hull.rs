//! A set of points, seen from 26 directions.

use glam::Vec3;

/// How far a set of points reaches towards the faces, edges and corners of a cube: `heights[d]` is the largest `d · p`,
/// where `d` has coordinates of -1, 0 and 1 and its place is its number in base three. The convex polytope between those
/// planes (a 26-DOP) holds all points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hull {
    heights: [f32; 27],
}

/// The place of no direction at all.
const NONE: isize = 13;
/// What a step along each axis adds to a place.
const STRIDES: [isize; 3] = [9, 3, 1];

impl Default for Hull {
    /// Of no points.
    fn default() -> Self {
        Self { heights: [f32::NEG_INFINITY; 27] }
    }
}

impl Hull {
    /// Grows to hold `point`.
    pub(super) fn add(&mut self, point: Vec3) {
        let signs = [-1.0, 0.0, 1.0];
        for (x, planes) in signs.into_iter().zip(self.heights.chunks_exact_mut(9)) {
            for (y, line) in signs.into_iter().zip(planes.chunks_exact_mut(3)) {
                for (z, height) in signs.into_iter().zip(line) {
                    *height = height.max(Vec3::new(x, y, z).dot(point));
                }
            }
        }
    }

    /// No less than `u · p` for any point, and no more than that for any: (least, greatest).
    ///
    /// A direction lies in the cone of a face, an edge and a corner of the cube, as a sum of multiples of those three;
    /// no point reaches further along it than the same multiples of their heights.
    pub(super) fn range(&self, u: Vec3) -> (f32, f32) {
        let size = u.abs();
        // From the longest coordinate to the shortest.
        let [mut i, mut j, mut k] = [0, 1, 2];
        if size[i] < size[j] {
            std::mem::swap(&mut i, &mut j);
        }
        if size[j] < size[k] {
            std::mem::swap(&mut j, &mut k);
        }
        if size[i] < size[j] {
            std::mem::swap(&mut i, &mut j);
        }
        let step = |axis: usize| if u[axis] < 0.0 { -STRIDES[axis] } else { STRIDES[axis] };
        let face = step(i);
        let edge = face + step(j);
        let corner = edge + step(k);
        let shares = [size[i] - size[j], size[j] - size[k], size[k]];
        let reach = |sign: isize| {
            let height = |direction: isize| self.heights[(NONE + sign * direction) as usize];
            shares[0] * height(face) + shares[1] * height(edge) + shares[2] * height(corner)
        };
        (-reach(-1), reach(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: &[Vec3]) -> Hull {
        let mut hull = Hull::default();
        points.iter().for_each(|p| hull.add(*p));
        hull
    }

    #[test]
    fn a_point_is_where_it_is_from_every_side() {
        let point = Vec3::new(0.3, -2.0, 1.1);
        let hull = of(&[point]);
        for u in [Vec3::X, Vec3::NEG_Y, Vec3::new(0.2, 0.7, -0.4), Vec3::new(-3.0, 0.1, 0.1)] {
            let (low, high) = hull.range(u);
            assert!((low - u.dot(point)).abs() < 1e-6 && (high - u.dot(point)).abs() < 1e-6, "{u}");
        }
    }

    #[test]
    fn a_box_is_a_box_from_every_side() {
        let corner = |i: u32| {
            let pick = |bit| if i & bit != 0 { 1.0 } else { -1.0 };
            Vec3::new(pick(1), 2.0 * pick(2), 3.0 * pick(4))
        };
        let hull = of(&(0..8).map(corner).collect::<Vec<_>>());
        for u in [Vec3::new(0.5, 0.6, 0.7), Vec3::new(-1.0, 0.0, 0.2), Vec3::new(0.1, -0.9, 0.3)] {
            let exact = u.abs().dot(Vec3::new(1.0, 2.0, 3.0));
            let (low, high) = hull.range(u);
            assert!((high - exact).abs() < 1e-5 && (low + exact).abs() < 1e-5, "{u}: {high} for {exact}");
        }
    }

    #[test]
    fn no_direction_reaches_nothing() {
        assert_eq!(of(&[Vec3::ONE, Vec3::X]).range(Vec3::ZERO), (0.0, 0.0));
    }
}
