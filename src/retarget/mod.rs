//! One body takes over the motion of another: frame by frame
//! ([`Retarget::drive`], [`Retarget::pose`]), or as a clip of its own
//! ([`Retarget::clip`]).
//!
//! Joints are paired by name. Everything is measured in the model space of each body, parents first, in f64 with
//! IEEE operations alone; where an instance stands does not matter. With *W* the world rotation of a joint, *s* the
//! source, *t* the target:
//!
//! - [`Mode::RestRelative`]: `W_t = Q · W_s · W_s,rest⁻¹ · Q⁻¹ · W_t,rest · offset`. What the source turned since its
//!   rest pose, the target turns since its own, `Q` being [`RestRelative::turn`]. A target that rests differently
//!   would keep the difference: when a source that rests with its arms level (T) lets them hang, a target that rests
//!   with them lowered (A) would lower them as much again. So both are measured from a pose in which they stand alike:
//!   [`RestRelative::align`] makes one from the rest poses, or from [`RestRelative::target_rest`] and `source_rest`. The hip comes to
//!   `rest_t + (Q · (position_s − rest_s) · hip_influence + hip_position) · scale · ratio`, with the ratio of the two
//!   rest heights. World rotations are products of local ones: bodies that are mirrored by a negative scale are
//!   turned as if they were not. All that is not mapped stays as it is in the target's pose.
//! - [`Mode::WorldCopy`]: the steps of `SkeletonUtils.retarget` of three.js 0.187, equal to a hundred thousandth.
//!   Joints go to the bind pose of their skin; then each mapped one takes the world rotation and position of its
//!   source, the hip with `(position · hip_influence + hip_position) · scale`, and all but the hip return to their
//!   bind translations. Joints of the skin that are not mapped stand in the bind pose. It differs from three.js in
//!   that an unknown hip is refused, that a source joint without size is left out of the frame rather than giving
//!   NaN, that rotations have unit length in a sheared hierarchy too, and that clips have no tracks of joints that
//!   are not mapped (three.js writes constant ones where a source joint has the same name).
//!
//! ```no_run
//! use sinew::{Model, retarget::{BakeOptions, Retarget, RetargetOptions, names_alike}};
//!
//! let (source, target) = (Model::load("walk.glb")?, Model::load("hero.glb")?);
//! let names = names_alike(&source, &target);
//! let options = RetargetOptions { names, ..Default::default() };
//! let mut retarget = Retarget::new(&source, &target, &options)?;
//! let walk = retarget.clip(0, &BakeOptions::default())?;
//! let hero = target.with_clips([walk])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod align;
mod bake;
mod drive;
mod error;
mod mapping;
mod matrix;
mod names;
mod options;
mod rest_relative;
mod world_copy;

pub use error::RetargetError;
pub use mapping::{MappedJoint, Report, RestAngle};
pub use names::{hip_of, names_alike};
pub use options::{
    Align, BakeOptions, Hip, Keep, Mode, RestRelative, RetargetOptions, TargetJoints, WorldCopy,
};

use self::{
    mapping::{Joints, map},
    matrix::Worlds,
};
use crate::{
    animate::{Pose, PoseMut, PoseRef},
    model::Model,
};

/// How one model takes over the motion of another, ready for every frame.
#[derive(Clone, Debug)]
pub struct Retarget {
    source: Model,
    target: Model,
    report: Report,
    worlds: Worlds,
    plan: Plan,
    /// Of source and target, for [`Retarget::drive`].
    scratch: [Pose; 2],
}

#[derive(Clone, Debug)]
enum Plan {
    WorldCopy(world_copy::Plan),
    RestRelative(rest_relative::Plan),
}

impl Retarget {
    /// Pairs up the joints. Names that do not fit are no error as long as one pair and the hip remain:
    /// [`Retarget::report`] lists them.
    pub fn new(source: &Model, target: &Model, options: &RetargetOptions) -> Result<Self, RetargetError> {
        check_numbers(options)?;
        let joints = Joints::of(target, options)?;
        let hip = match &options.hip {
            Hip::Auto => hip_of(source, &options.names),
            Hip::Named(hip) => Some(hip.clone()),
            Hip::None => None,
        };
        let mut report = map(source, target, &joints, options, hip.as_deref())?;
        let worlds = Worlds::above(source.skeleton(), report.mapped.iter().map(|joint| joint.source));
        let plan = match &options.mode {
            Mode::WorldCopy(mode) => Plan::WorldCopy(world_copy::Plan::new(
                target,
                &joints,
                &report,
                options,
                hip.as_deref(),
                *mode,
            )),
            Mode::RestRelative(mode) => {
                let source = (source, &worlds);
                Plan::RestRelative(rest_relative::Plan::new(source, target, &mut report, options, mode)?)
            }
        };
        let scratch = [Pose::rest(source), Pose::rest(target)];
        Ok(Self { source: source.clone(), target: target.clone(), report, worlds, plan, scratch })
    }

    /// What was mapped and what was not.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The target as the source stands. `source` and `target` have as many nodes as their models, and are in the
    /// pose that the frame has given them so far; what is not mapped stays, but for [`Mode::WorldCopy`]'s bind
    /// pose. Morph weights are left alone. Rotations come out with unit length. Allocates nothing.
    ///
    /// Fails, and changes nothing, with [`RetargetError::PoseSize`] where a pose has fewer nodes.
    pub fn pose(&mut self, source: PoseRef<'_>, target: &mut PoseMut<'_>) -> Result<(), RetargetError> {
        check_size("source", source, &self.source)?;
        check_size("target", target.as_ref(), &self.target)?;
        self.worlds.set(source);
        match &mut self.plan {
            Plan::WorldCopy(plan) => plan.pose(&self.worlds, target),
            Plan::RestRelative(plan) => plan.pose(&self.worlds, target),
        }
        Ok(())
    }
}

/// Whether a pose has as many nodes as its model.
fn check_size(option: &'static str, pose: PoseRef<'_>, model: &Model) -> Result<(), RetargetError> {
    let (found, expected) = (pose.nodes(), model.skeleton().len());
    if found < expected { Err(RetargetError::PoseSize { option, found, expected }) } else { Ok(()) }
}

fn check_numbers(options: &RetargetOptions) -> Result<(), RetargetError> {
    let is_turn = |q: &glam::Quat| q.is_finite() && q.length_squared() > 0.0;
    let (turn, ratio) = match &options.mode {
        Mode::RestRelative(mode) => (mode.turn, mode.hip_ratio.unwrap_or(1.0)),
        Mode::WorldCopy(_) => (glam::Quat::IDENTITY, 1.0),
    };
    let checks = [
        ("hip_influence", options.hip_influence.is_finite()),
        ("hip_position", options.hip_position.is_finite()),
        ("scale", options.scale.is_finite()),
        ("local_offsets", options.local_offsets.values().all(is_turn)),
        ("turn", is_turn(&turn)),
        ("hip_ratio", ratio.is_finite()),
    ];
    match checks.into_iter().find(|(_, is_fine)| !is_fine) {
        Some((option, _)) => Err(RetargetError::NotFinite { option }),
        None => Ok(()),
    }
}
