//! How far from its strongest joint's place dual quaternions may take a vertex.
//!
//! With weights `w` that sum up to one, unit quaternions `q` of the joints' rotations, `B = Σ w q` and `M v` the place where a joint
//! alone takes the vertex, the blended place is the vector in `Σ w (M v) q B* / |B|²` (src/deform/cpu/dual.rs). It is as far
//! from any point `c` as the vector in `Σ w (M v - c) q B* / |B|²`, at most `Σ w |M v - c| / |B|`. With `c` where the
//! strongest joint takes the vertex, that joint adds nothing; and `|B|` is no less than its weight, because all others
//! are within half a turn of it. So the vertex is within `Σ w |M v - M₀ v| / w₀` of `M₀ v`. Around the middle `m` of vertices near a joint, where rotations hardly move
//! them apart, `|M v - M₀ v|` is at most `|M m - M₀ m|` and the difference of the linear parts times the distance from `m`.

use glam::Vec3;

use crate::{
    animate::JointMatrix,
    model::{Bounds, Influence},
};

/// Vertices that follow the same joints.
#[derive(Clone, Debug)]
pub(super) struct ArcReach {
    /// All but the strongest, in order, and the most that the weight of each comes to, out of the strongest one's.
    others: Vec<(u32, f32)>,
    middle: Vec3,
    radius: f32,
}

impl ArcReach {
    /// Of vertices that are yet to be added, about here.
    pub(super) fn new(others: &[u32], around: Bounds) -> Self {
        let others = others.iter().map(|joint| (*joint, 0.0)).collect();
        Self { others, middle: around.center(), radius: 0.0 }
    }

    /// Takes in a vertex with these influences, strongest first.
    pub(super) fn add(&mut self, point: Vec3, row: &[Influence]) {
        self.radius = self.radius.max(point.distance(self.middle));
        if let [strongest, others @ ..] = row {
            // Packed weights are rounded, and quaternions just past half a turn are not turned around.
            let all: f32 = others.iter().map(|i| i.weight).sum();
            let least = (strongest.weight - 2e-4 * all - 3e-5).max(1e-6);
            for influence in others {
                if let Ok(at) = self.others.binary_search_by_key(&influence.joint, |other| other.0) {
                    let share = &mut self.others[at].1;
                    *share = share.max((influence.weight + 3e-5) / least);
                }
            }
        }
    }

    /// Metres by which what `strongest` makes of the vertices has to grow, where morph targets move them by `moved` at most.
    pub(super) fn growth<'p>(
        &self,
        strongest: u32,
        moved: f32,
        row_of: impl Fn(u32) -> &'p JointMatrix,
    ) -> f32 {
        /// Beyond anything that is deformed, and finite.
        const MOST: f64 = 1e30;
        let own = row_of(strongest);
        let apart = self.others.iter().map(|(joint, share)| {
            let other = row_of(*joint);
            let (mut linear, mut place) = (0.0f64, 0.0f64);
            for (a, b) in [(own.x, other.x), (own.y, other.y), (own.z, other.z)] {
                let u = Vec3::new(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
                let offset = u.dot(self.middle) + (b[3] - a[3]);
                linear += u.as_dvec3().length_squared();
                place += f64::from(offset) * f64::from(offset);
            }
            f64::from(*share) * (place.sqrt() + linear.sqrt() * f64::from(self.radius + moved))
        });
        apart.sum::<f64>().min(MOST) as f32
    }
}
