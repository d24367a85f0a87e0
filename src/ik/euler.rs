use std::f64::consts::{PI, TAU};

use glam::{DMat3, DQuat, DVec3, Vec3};

use super::error::IkError;
use crate::animate::{
    exact::about,
    math::{asin, atan2},
};

/// In which order angles about the three axes make a rotation: `Xyz` turns about x, then about the turned y, then
/// about the twice turned z, as three.js's `XYZ` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EulerOrder {
    /// x, y, z.
    #[default]
    Xyz,
    /// y, z, x.
    Yzx,
    /// z, x, y.
    Zxy,
    /// x, z, y.
    Xzy,
    /// y, x, z.
    Yxz,
    /// z, y, x.
    Zyx,
}

/// Between which angles a joint may turn, in radians about its own three axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EulerBounds {
    /// What the angles are.
    pub order: EulerOrder,
    /// No less than these. Minus infinity for none.
    pub min: Option<Vec3>,
    /// No more than these.
    pub max: Option<Vec3>,
}

impl EulerOrder {
    /// The axes in order, and 1 if they follow each other as x, y and z do, otherwise -1.
    fn axes(self) -> ([usize; 3], f64) {
        match self {
            Self::Xyz => ([0, 1, 2], 1.0),
            Self::Yzx => ([1, 2, 0], 1.0),
            Self::Zxy => ([2, 0, 1], 1.0),
            Self::Xzy => ([0, 2, 1], -1.0),
            Self::Yxz => ([1, 0, 2], -1.0),
            Self::Zyx => ([2, 1, 0], -1.0),
        }
    }

    /// The angles of a rotation about x, y and z. Where the middle one is a quarter turn, the last is 0, and the first
    /// says both.
    pub(super) fn angles(self, rotation: DQuat) -> DVec3 {
        let ([i, j, k], sign) = self.axes();
        let matrix = DMat3::from_quat(rotation);
        let at = |row: usize, column: usize| matrix.col(column)[row];
        let mut angles = DVec3::ZERO;
        angles[j] = asin(sign * at(i, k));
        // The threshold of three.js's `Euler.setFromRotationMatrix`.
        if at(i, k).abs() < 0.999_999_9 {
            angles[i] = atan2(-sign * at(j, k), at(k, k));
            angles[k] = atan2(-sign * at(i, j), at(i, i));
        } else {
            angles[i] = atan2(sign * at(k, j), at(j, j));
        }
        angles
    }

    /// The rotation of three angles about x, y and z.
    pub(super) fn rotation(self, angles: DVec3) -> DQuat {
        let ([i, j, k], _) = self.axes();
        let turn = |axis: usize| about(DVec3::AXES[axis], angles[axis]);
        turn(i) * turn(j) * turn(k)
    }
}

impl EulerBounds {
    /// The rotation within the bounds. Angles are taken within half a turn of the middle of both bounds, so that
    /// bounds may lie across a half turn.
    pub(super) fn bounded(&self, rotation: DQuat) -> DQuat {
        let mut angles = self.order.angles(rotation);
        let (min, max) = (self.min.map(|v| v.as_dvec3()), self.max.map(|v| v.as_dvec3()));
        if let (Some(min), Some(max)) = (min, max) {
            let middle = (min + max) * 0.5;
            let wrap = |angle: f64, middle: f64| middle + (angle - middle + PI).rem_euclid(TAU) - PI;
            for axis in 0..3 {
                if middle[axis].is_finite() {
                    angles[axis] = wrap(angles[axis], middle[axis]);
                }
            }
        }
        angles = min.map_or(angles, |min| angles.max(min));
        angles = max.map_or(angles, |max| angles.min(max));
        self.order.rotation(angles)
    }

    /// Refuses NaN and a lower bound above the upper one.
    pub(super) fn check(&self, node: u32) -> Result<(), IkError> {
        let EulerBounds { min, max, .. } = *self;
        let low = min.unwrap_or(Vec3::NEG_INFINITY);
        let high = max.unwrap_or(Vec3::INFINITY);
        let is_open = low.cmple(high).all() && low.cmplt(Vec3::INFINITY).all();
        let is_open = is_open && high.cmpgt(Vec3::NEG_INFINITY).all();
        if is_open { Ok(()) } else { Err(IkError::BadBounds { node, min, max }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [EulerOrder; 6] = [
        EulerOrder::Xyz,
        EulerOrder::Yzx,
        EulerOrder::Zxy,
        EulerOrder::Xzy,
        EulerOrder::Yxz,
        EulerOrder::Zyx,
    ];

    #[test]
    fn angles_of_every_order_make_the_rotation_they_are_of() {
        for order in ORDERS {
            let ([_, middle, _], _) = order.axes();
            for seed in 0..500 {
                let at = |k: i32| (f64::from(seed * 7 + k * 13) * 0.61).sin();
                let mut angles = DVec3::new(at(0), at(1), at(2)) * PI;
                // Not quite to a quarter turn, where the first and the last are one.
                angles[middle] *= 0.49;
                let found = order.angles(order.rotation(angles));
                assert!(found.distance(angles) < 1e-9, "{order:?}: {found} for {angles}");
            }
        }
    }

    #[test]
    fn at_a_quarter_turn_of_the_middle_axis_the_last_angle_is_zero_and_the_rotation_the_same() {
        for order in ORDERS {
            let ([_, middle, last], _) = order.axes();
            for quarter in [PI / 2.0, -PI / 2.0] {
                let mut angles = DVec3::new(0.4, 0.7, -0.3);
                angles[middle] = quarter;
                let rotation = order.rotation(angles);
                let found = order.angles(rotation);
                assert!(found[last] == 0.0 && (found[middle] - quarter).abs() < 1e-7, "{order:?}: {found}");
                assert!(order.rotation(found).dot(rotation).abs() > 1.0 - 1e-12, "{order:?}");
            }
        }
    }
}
