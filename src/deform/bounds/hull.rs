//! A set of points, seen from 26 directions.

use glam::Vec3;

/// How far a set of points reaches towards the faces, edges and corners of a cube: `heights[d]` is the largest `d · p`,
/// where `d` has coordinates of -1, 0 and 1 and its place is its number in base three. The convex polytope between those
/// planes (a 26-DOP) holds all points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hull {
    heights: [f32; 27],
}

/// The places of the face, the edge and the corner of the cone that a direction lies in, by the order of its coordinates'
/// sizes (bits 0 to 2: x < y, y < z, x < z) and their signs (bits 3 to 5: x, y or z is negative).
const CONES: [[u8; 3]; 64] = cones();

const fn cones() -> [[u8; 3]; 64] {
    let mut all = [[0; 3]; 64];
    let mut key = 0;
    while key < all.len() {
        // From the longest coordinate to the shortest. The two orders that contradict themselves stand for NaN.
        let order: [usize; 3] = match key & 7 {
            0b000 => [0, 1, 2],
            0b001 => [1, 0, 2],
            0b010 => [0, 2, 1],
            0b101 => [1, 2, 0],
            0b110 => [2, 0, 1],
            _ => [2, 1, 0],
        };
        // The middle of 27 is no direction at all.
        let mut place = 13;
        let mut at = 0;
        while at < 3 {
            let stride = [9, 3, 1][order[at]];
            let is_negative = key >> (3 + order[at]) & 1 == 1;
            place = if is_negative { place - stride } else { place + stride };
            all[key][at] = place;
            at += 1;
        }
        key += 1;
    }
    all
}

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
        let [x, y, z] = u.abs().to_array();
        let order = usize::from(x < y) | usize::from(y < z) << 1 | usize::from(x < z) << 2;
        let signs = usize::from(u.x < 0.0) | usize::from(u.y < 0.0) << 1 | usize::from(u.z < 0.0) << 2;
        let [face, edge, corner] = CONES[order | signs << 3].map(usize::from);
        let (longest, shortest) = (x.max(y).max(z), x.min(y).min(z));
        let middle = x.min(y).max(x.max(y).min(z));
        let shares = [longest - middle, middle - shortest, shortest];
        let h = &self.heights;
        let reach = |face: usize, edge: usize, corner: usize| {
            shares[0] * h[face] + shares[1] * h[edge] + shares[2] * h[corner]
        };
        // Opposite directions lie opposite each other in the list too.
        (-reach(26 - face, 26 - edge, 26 - corner), reach(face, edge, corner))
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
    fn every_order_and_sign_of_coordinates_finds_the_corners_of_its_cone() {
        let hull = of(&[Vec3::new(0.4, -0.7, 0.2)]);
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for signs in 0..8 {
                let mut u = Vec3::ZERO;
                for (size, axis) in [3.0, 2.0, 1.0].into_iter().zip(order) {
                    u[axis] = if signs >> axis & 1 == 1 { -size } else { size };
                }
                let exact = u.dot(Vec3::new(0.4, -0.7, 0.2));
                let (low, high) = hull.range(u);
                assert!((low - exact).abs() < 1e-5 && (high - exact).abs() < 1e-5, "{u}: {low} {high}");
            }
        }
    }

    #[test]
    fn no_direction_reaches_nothing() {
        assert_eq!(of(&[Vec3::ONE, Vec3::X]).range(Vec3::ZERO), (0.0, 0.0));
    }
}
