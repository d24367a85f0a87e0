use std::error::Error;

use glam::{DQuat, DVec3, Quat, Vec3};

use super::{
    IkError, Target,
    error::path,
    rotation::{across, angle_about, local_rotation},
};
use crate::{
    animate::{
        Modifier, Posed,
        exact::{about, arc, direction, inverse},
        math::{atan2, normalize},
    },
    model::{Model, Skeleton},
};

/// What is closer to an axis than this share of its distance has no side of it.
const NEAR: f64 = 1e-6;

/// A limb: the middle joint bends and the root turns so that the end is at a target, in closed form.
///
/// Nodes between the three, such as those that share a twist, stay as they are. Lengths are measured in the pose. The
/// end reaches every target between the difference and the sum of both lengths, exactly where the scales of the root and
/// of what is between it and the middle joint are even; what stands above the root may be scaled in any way. A target
/// out of reach is faced, and the limb stretched or folded towards it. Where a length is zero, nothing bends; where
/// the target is on the root, nothing turns towards it.
#[derive(Clone, Debug)]
pub struct TwoBone {
    /// Root, middle joint and end.
    nodes: [u32; 3],
    /// What the end reaches for; the origin of model space at first.
    pub target: Target,
    /// What the middle joint leans towards: the limb turns about the line from root to target until the middle joint is
    /// on this side. `None`, as at first, and a pole on that line leave the limb in the plane in which it is.
    pub pole: Option<Target>,
    /// The rotation of the end in model space; `None`, as at first, leaves its local rotation.
    pub end_rotation: Option<Quat>,
    /// The only axis about which the middle joint bends, in its own space and of any length; a positive turn opens the
    /// limb, as ozz-animation's `mid_axis` has it. `None`, as at first, for that of the bend in the pose, or for one
    /// that bends towards the pole where the limb is straight. Give it for limbs that are straight in some poses: they
    /// then bend to the same side in all.
    pub hinge: Option<Vec3>,
    /// From which share of its whole length on the limb stretches more slowly, 0 to 1; 1, as at first, for not at all.
    /// With `s` for this share times the length, `r` for the rest, and a target at `d > s`, the end goes to
    /// `s + r (1 - (1 + x / 4)^-4)` where `x = (d - s) / r`. That is soft IK with a power in the place of its exponential
    /// `1 - e^-x`, as in ozz-animation's `IKTwoBoneJob::soften`; the slope at `s` is 1 here, so the end does not jerk.
    pub soften: f32,
}

impl TwoBone {
    /// A limb of a root, a middle joint and an end, each somewhere below the one before.
    pub fn new(skeleton: &Skeleton, nodes: [u32; 3]) -> Result<Self, IkError> {
        let limb = Self {
            nodes,
            target: Target::Model(Vec3::ZERO),
            pole: None,
            end_rotation: None,
            hinge: None,
            soften: 1.0,
        };
        limb.check_on(skeleton)?;
        Ok(limb)
    }

    fn check_on(&self, skeleton: &Skeleton) -> Result<(), IkError> {
        let [root, mid, end] = self.nodes;
        path(skeleton, root, mid)?;
        path(skeleton, mid, end)?;
        self.target.check(skeleton)?;
        self.pole.map_or(Ok(()), |pole| pole.check(skeleton))
    }

    /// Bends the middle joint until the end is `reach` times the length of the upper bone away from the root. Returns
    /// in which direction of model space the middle joint leans, also where the limb is straight.
    fn bend(&self, posed: &mut Posed<'_>, reach: f64, pole: Option<DVec3>) -> Option<DVec3> {
        let [root, mid, end] = self.nodes;
        // In the space in which the middle joint turns, so that mirrors above it need no thought.
        let above = posed.exact_parent(mid);
        let back = inverse(above)?;
        let [a, b, c] =
            [root, mid, end].map(|node| back.transform_point3(posed.exact_world(node).translation));
        let (upper, lower) = (a - b, c - b);
        let rotation = posed.local(mid).rotation.as_dquat();
        let hinge = match self.hinge {
            Some(hinge) => direction(rotation * hinge.as_dvec3())?,
            None => opening(upper, lower, pole.map(|pole| back.transform_point3(pole) - b))?,
        };
        let (upper_flat, lower_flat) = (across(hinge, upper), across(hinge, lower));
        // The law of cosines; what lies along the hinge does not turn.
        let along = hinge.dot(upper - lower);
        let distance = reach * upper.length();
        let squares = upper_flat.length_squared() + lower_flat.length_squared() + along * along;
        let cosine = (squares - distance * distance) / (2.0 * upper_flat.length() * lower_flat.length());
        if cosine.is_finite() {
            let cosine = cosine.clamp(-1.0, 1.0);
            let angle = atan2(((1.0 - cosine) * (1.0 + cosine)).sqrt(), cosine);
            let turn = about(hinge, angle - angle_about(hinge, upper_flat, lower_flat));
            posed.set_rotation(mid, (turn * rotation).as_quat());
        }
        Some(above.transform_vector3(upper.cross(hinge)))
    }
}

impl Modifier for TwoBone {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        let [root, _, end] = self.nodes;
        let Some(target) = self.target.position(posed) else { return };
        let pole = self.pole.and_then(|pole| pole.position(posed));
        // In the space in which the root turns.
        let Some(back) = inverse(posed.exact_parent(root)) else { return };
        let place = |posed: &mut Posed<'_>| {
            self.nodes.map(|node| back.transform_point3(posed.exact_world(node).translation))
        };
        let [a, b, c] = place(posed);
        let target = back.transform_point3(target);
        let reach = softened(target.distance(a), a.distance(b) + b.distance(c), f64::from(self.soften));
        let lean = self.bend(posed, reach / a.distance(b), pole).map(|lean| back.transform_vector3(lean));
        let pole = pole.map(|pole| back.transform_point3(pole));
        let turn = turn(place(posed), target, pole, lean);
        if turn.is_finite() {
            let rotation = posed.local(root).rotation.as_dquat();
            posed.set_rotation(root, (turn * rotation).as_quat());
        }
        if let Some(rotation) = self.end_rotation {
            let above = posed.exact_parent(end).matrix3;
            posed.set_rotation(end, local_rotation(&above, normalize(rotation).as_dquat()).as_quat());
        }
    }

    fn check(&self, model: &Model) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.check_on(model.skeleton())?)
    }
}

/// How far the end goes for a target at a distance, with a limb of this length.
fn softened(distance: f64, length: f64, soften: f64) -> f64 {
    let start = length * soften.clamp(0.0, 1.0);
    let rest = length - start;
    if !(distance > start && rest > 0.0) {
        return distance;
    }
    let slower = 1.0 + (distance - start) / rest / 4.0;
    start + rest * (1.0 - 1.0 / (slower * slower * slower * slower))
}

/// The axis about which a positive turn opens a limb, of which the middle joint sees both ends and the pole: the normal
/// of the plane in which it is bent, or one that lets it bend towards the pole.
fn opening(upper: DVec3, lower: DVec3, pole: Option<DVec3>) -> Option<DVec3> {
    let normal = upper.cross(lower);
    // Less is taken for straight: the plane would be one of rounding.
    if normal.length() > 1e-3 * upper.length() * lower.length() {
        return direction(normal);
    }
    let limb = direction(-upper)?;
    let side = pole.map(|pole| across(limb, pole)).filter(|side| side.length() > NEAR * upper.length());
    direction(limb.cross(side.unwrap_or_else(|| limb.any_orthonormal_vector())))
}

/// The turn of the root `a` in the space of its parent: the end `c` towards the target, then the middle joint `b` to the
/// side of the pole. `lean` is where the middle joint would lean in a straight limb.
fn turn([a, b, c]: [DVec3; 3], target: DVec3, pole: Option<DVec3>, lean: Option<DVec3>) -> DQuat {
    let turn = arc(c - a, target - a).unwrap_or(DQuat::IDENTITY);
    let Some(pole) = pole else { return turn };
    let Some(axis) = direction(target - a).or_else(|| direction(c - a)) else {
        // Folded onto the root and the target there too: any turn will do.
        return arc(b - a, pole - a).unwrap_or(turn);
    };
    let mut side = across(axis, turn * (b - a));
    if side.length() < NEAR * b.distance(a) {
        side = across(axis, turn * lean.unwrap_or(DVec3::ZERO));
    }
    let wanted = across(axis, pole - a);
    if wanted.length() < NEAR * pole.distance(a) || direction(side).is_none() {
        return turn;
    }
    about(axis, angle_about(axis, side, wanted)) * turn
}
