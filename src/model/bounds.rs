use glam::Vec3;

/// An axis-aligned box; empty until something is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least corner.
    pub min: Vec3,
    /// Greatest corner.
    pub max: Vec3,
}

impl Bounds {
    /// Holds nothing.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// A box from corner to corner.
    #[must_use]
    pub const fn new(min: Vec3, max: Vec3) -> Self {
        Self { min, max }
    }

    /// Grows to hold `point`; one that is not finite is left out.
    pub fn add(&mut self, point: Vec3) {
        if point.is_finite() {
            self.min = self.min.min(point);
            self.max = self.max.max(point);
        }
    }

    /// The box around both; an empty one adds nothing.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Whether it holds nothing, or is not a box of finite numbers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let ordered = self.min.cmple(self.max).all();
        !(ordered && self.min.is_finite() && self.max.is_finite())
    }

    /// The middle.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        self.min * 0.5 + self.max * 0.5
    }

    /// The eight corners.
    #[must_use]
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, axis: usize| if i & bit != 0 { self.max[axis] } else { self.min[axis] };
            Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2))
        })
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl FromIterator<Vec3> for Bounds {
    fn from_iter<I: IntoIterator<Item = Vec3>>(points: I) -> Self {
        let mut bounds = Self::EMPTY;
        points.into_iter().for_each(|point| bounds.add(point));
        bounds
    }
}
