use std::error::Error;

use glam::{DQuat, DVec3, Vec3};

use super::{IkError, error::path, rotation::across};
use crate::{
    animate::{
        Modifier, Posed,
        exact::{arc, direction, inverse},
        math::{exp, sin_cos},
    },
    model::{Model, Skeleton},
};

/// The longest step in seconds.
const STEP: f64 = 1.0 / 120.0;
/// What lies further back is forgotten.
const MOST_STEPS: f64 = 64.0;
/// Stiffness and damping below this count as none.
const LEAST: f64 = 1e-6;

/// How the end of a bone moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringJoint {
    /// Acceleration towards where the animation has the end of the bone, per distance from there: 1/s². The square of
    /// the frequency in radians a second, from 0 up.
    pub stiffness: f32,
    /// Deceleration per velocity in the scene: 1/s, from 0 up. Twice the root of the stiffness is the least that does
    /// not swing.
    pub damping: f32,
    /// Acceleration in the space of the scene: metres/s².
    pub gravity: Vec3,
}

impl Default for SpringJoint {
    /// Two swings a second that die down within one, without gravity.
    fn default() -> Self {
        Self { stiffness: 160.0, damping: 6.0, gravity: Vec3::ZERO }
    }
}

/// A chain of bones that swing after the animation: hair, tails, straps.
///
/// The end of every bone is a mass point in the scene, so the instance's transform moves it too. It is held by its
/// [`SpringJoint`] and by the bone's length; bones follow each other from the root to the tip.
///
/// A frame is cut into steps of at most 1/120 s, with what the animation does in it spread evenly over them. In each, the
/// point first moves freely, in closed form; then it is put back to the bone's length, and its velocity turns with the
/// bone. So the result hardly depends on the frame rate, and no stiffness, damping or frame makes it unstable. Without
/// gravity, a point at rest stays there bit for bit. Of frames longer than 64 steps only that much counts.
///
/// Starts at rest in the animated pose whenever [it is first](Posed::is_first): call
/// [`forget_previous`](crate::animate::Animator::forget_previous) after a teleport, which would otherwise be a
/// motion like any other. A bone without a length stays as it is.
#[derive(Clone, Debug)]
pub struct Spring {
    /// One more than there are bones.
    nodes: Vec<u32>,
    joints: Vec<SpringJoint>,
    points: Vec<Point>,
}

/// The end of a bone, in the scene.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    position: DVec3,
    velocity: DVec3,
    /// Where the bone began and where the animation had its end, in the evaluation before.
    head: DVec3,
    target: DVec3,
}

impl Spring {
    /// Bones from one node down to another below it. Every node between turns, and so does the first; the last is the tip.
    pub fn new(skeleton: &Skeleton, first: u32, last: u32, joint: SpringJoint) -> Result<Self, IkError> {
        let nodes = path(skeleton, first, last)?;
        let bones = nodes.len() - 1;
        Ok(Self { nodes, joints: vec![joint; bones], points: vec![Point::default(); bones] })
    }

    /// How each bone moves, from the first node on.
    #[must_use]
    pub fn joints(&self) -> &[SpringJoint] {
        &self.joints
    }

    /// The same, to be changed.
    pub fn joints_mut(&mut self) -> &mut [SpringJoint] {
        &mut self.joints
    }
}

impl Modifier for Spring {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        let (scene, seconds, is_first) = (posed.exact_transform(), posed.seconds(), posed.is_first());
        for ((ends, joint), point) in self.nodes.windows(2).zip(&self.joints).zip(&mut self.points) {
            let &[node, tail] = ends else { continue };
            let head = scene.transform_point3(posed.exact_world(node).translation);
            let target = scene.transform_point3(posed.exact_world(tail).translation);
            if is_first || !point.is_finite() {
                *point = Point { position: target, velocity: DVec3::ZERO, head, target };
                continue;
            }
            point.follow(head, target, &Motion::new(joint), seconds);
            if point.position == target {
                continue;
            }
            let Some(back) = inverse(scene * posed.exact_parent(node)) else { continue };
            let (begin, rotation) = {
                let local = posed.local(node);
                (local.translation.as_dvec3(), local.rotation.as_dquat())
            };
            let [from, to] = [target, point.position].map(|end| back.transform_point3(end) - begin);
            if let Some(turn) = arc(from, to).filter(|turn| turn.is_finite()) {
                posed.set_rotation(node, (turn * rotation).as_quat());
            }
        }
    }

    fn check(&self, model: &Model) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (Some(&first), Some(&last)) = (self.nodes.first(), self.nodes.last()) else { return Ok(()) };
        if path(model.skeleton(), first, last)? != self.nodes {
            return Err("it was made for another skeleton".into());
        }
        Ok(())
    }
}

impl Point {
    fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.is_finite()
    }

    /// Moves on to where the bone now begins and the animation now has its end.
    fn follow(&mut self, head: DVec3, target: DVec3, motion: &Motion, seconds: f64) {
        let length = head.distance(target);
        let seconds = seconds.min(STEP * MOST_STEPS);
        // A frame of exactly so many steps is not one more.
        let steps = (seconds / STEP - 1e-6).ceil().max(1.0);
        let step = Step::new(motion, seconds / steps);
        let [from_head, from_target] = [self.head, self.target];
        let [head_velocity, target_velocity] = match seconds > 0.0 {
            true => [(head - from_head) / seconds, (target - from_target) / seconds],
            false => [DVec3::ZERO; 2],
        };
        (self.head, self.target) = (head, target);
        let mut begin = if seconds > 0.0 { [from_head, from_target] } else { [head, target] };
        for number in 1..=steps as u32 {
            let share = f64::from(number) / steps;
            let is_last = f64::from(number) == steps;
            let along = |from: DVec3, to: DVec3| if is_last { to } else { from + (to - from) * share };
            let end = [along(from_head, head), along(from_target, target)];
            let before = self.position - begin[0];
            let (position, velocity) =
                step.free(self.position, self.velocity, begin[1], end[1], target_velocity);
            begin = end;
            if position == end[1] {
                // At rest, or as good as.
                (self.position, self.velocity) = (position, velocity);
                continue;
            }
            let after = direction(position - end[0]).or_else(|| direction(before)).unwrap_or(DVec3::ZERO);
            self.position = end[0] + after * length;
            // The velocity turns with the bone; what changed it did so half way on.
            let turn = arc(before, after).unwrap_or(DQuat::IDENTITY);
            let half_turn = arc(before, before.normalize_or_zero() + after).unwrap_or(DQuat::IDENTITY);
            let carried = turn * (self.velocity - head_velocity) + half_turn * (velocity - self.velocity);
            self.velocity = head_velocity + across(after, carried);
        }
        if !self.is_finite() || length == 0.0 {
            (self.position, self.velocity) = (target, DVec3::ZERO);
        }
    }
}

/// A joint's numbers, in order.
#[derive(Clone, Copy, Debug)]
struct Motion {
    stiffness: f64,
    damping: f64,
    gravity: DVec3,
}

impl Motion {
    fn new(joint: &SpringJoint) -> Self {
        // NaN counts as none.
        let usable = |number: f32| if f64::from(number) > LEAST { f64::from(number).min(1e12) } else { 0.0 };
        let gravity = joint.gravity.as_dvec3();
        Self {
            stiffness: usable(joint.stiffness),
            damping: usable(joint.damping),
            gravity: if gravity.is_finite() { gravity } else { DVec3::ZERO },
        }
    }
}

/// What a free point does in a step: the closed form of `x'' = k (t - x) - c x' + g`, with a target `t` that moves evenly.
#[derive(Clone, Copy, Debug)]
struct Step {
    motion: Motion,
    seconds: f64,
    /// `e^-at cos bt` and `e^-at sin bt / b`, where `a = c / 2` and `b² = k - a²`; hyperbolic where that is negative.
    swing: [f64; 2],
}

impl Step {
    fn new(motion: &Motion, seconds: f64) -> Self {
        let half = motion.damping / 2.0;
        let square = motion.stiffness - half * half;
        let rate = square.abs().sqrt();
        let decay = exp(-half * seconds);
        let swing = if rate * seconds < 1e-4 {
            let small = square * seconds * seconds;
            [decay * (1.0 - small / 2.0), decay * seconds * (1.0 - small / 6.0)]
        } else if square > 0.0 {
            let (sine, cosine) = sin_cos(rate * seconds);
            [decay * cosine, decay * sine / rate]
        } else {
            // The slower rate as a quotient: the difference would lose its digits.
            let slow = exp(-motion.stiffness / (half + rate) * seconds);
            let fast = exp(-(half + rate) * seconds);
            [(slow + fast) / 2.0, (slow - fast) / (2.0 * rate)]
        };
        Self { motion: *motion, seconds, swing }
    }

    /// Position and velocity after it.
    fn free(
        &self,
        position: DVec3,
        velocity: DVec3,
        target: DVec3,
        next_target: DVec3,
        target_velocity: DVec3,
    ) -> (DVec3, DVec3) {
        let Motion { stiffness, damping, gravity } = self.motion;
        let t = self.seconds;
        if stiffness > 0.0 {
            let [cosine, sine] = self.swing;
            // About where forces are even.
            let lag = (gravity - damping * target_velocity) / stiffness;
            let (offset, speed) = (position - target - lag, velocity - target_velocity);
            let half = damping / 2.0;
            let offset_after = offset * (cosine + half * sine) + speed * sine;
            let speed_after = speed * (cosine - half * sine) - offset * (stiffness * sine);
            return (next_target + lag + offset_after, target_velocity + speed_after);
        }
        if damping > 0.0 {
            let last = gravity / damping;
            let decay = exp(-damping * t);
            let moved = last * t + (velocity - last) * ((1.0 - decay) / damping);
            return (position + moved, last + (velocity - last) * decay);
        }
        (position + velocity * t + gravity * (t * t / 2.0), velocity + gravity * t)
    }
}
