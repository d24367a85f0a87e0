//! [`Mode::RestRelative`](super::Mode::RestRelative): turns relative to a pose in which both bodies stand alike.

use glam::{DQuat, DVec3, Quat};

use super::{
    RestRelative, RetargetError, RetargetOptions,
    align::{Bodies, align},
    check_size,
    mapping::Report,
    matrix::{Worlds, finite, inverse},
};
use crate::{
    animate::{
        Pose, PoseMut,
        exact::{ExactLocal, unit},
        math::normalize,
    },
    model::Model,
};

/// What a frame needs, and where it works.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// From directions of the source to those of the target.
    turn: DQuat,
    influence: DVec3,
    /// What each node of the target takes over, by its place in the chain of `target`.
    joints: Vec<Option<Joint>>,
    target: Worlds,
}

#[derive(Clone, Copy, Debug)]
struct Joint {
    source: u32,
    /// The source's rest turn, undone.
    from_rest: DQuat,
    /// The target's rest turn, then its offset.
    to_rest: DQuat,
    hip: Option<Hip>,
}

/// In model space.
#[derive(Clone, Copy, Debug)]
struct Hip {
    source_rest: DVec3,
    /// With the caller's offset.
    target_rest: DVec3,
    ratio: f64,
}

impl Plan {
    pub(super) fn new(
        source: (&Model, &Worlds),
        target: &Model,
        report: &mut Report,
        options: &RetargetOptions,
        mode: &RestRelative,
    ) -> Result<Self, RetargetError> {
        let turn = mode.turn.as_dquat().normalize();
        let mut before = source.1.clone();
        before.set(reference(source.0, mode.source_rest.as_ref(), "source_rest")?.as_ref());
        let mut after = Worlds::above(target.skeleton(), report.mapped.iter().map(|joint| joint.target));
        let mut pose = reference(target, mode.target_rest.as_ref(), "target_rest")?;
        let bodies = Bodies { source: &before, turn, skeleton: target.skeleton(), mapped: &report.mapped };
        report.rest_angles = align(&bodies, &mode.align, &mut pose, &mut after);
        let mut joints = vec![None; after.chain().len()];
        let mut place = vec![0; target.skeleton().len()];
        after.chain().iter().enumerate().for_each(|(at, (node, _))| place[*node as usize] = at);
        for joint in &report.mapped {
            let name = &target.skeleton().names()[joint.target as usize];
            let offset =
                options.local_offsets.get(name).map_or(DQuat::IDENTITY, |q| q.as_dquat().normalize());
            let (source_rest, from) = before.at(Some(joint.source));
            let (target_rest, to) = after.at(Some(joint.target));
            let hip = || -> Result<_, RetargetError> {
                let (source_rest, target_rest) = (source_rest.translation, target_rest.translation);
                let ratio = ratio(mode.hip_ratio, source_rest.y, target_rest.y)? * f64::from(options.scale);
                let target_rest = target_rest + options.hip_position.as_dvec3() * ratio;
                Ok(Hip { source_rest, target_rest, ratio })
            };
            joints[place[joint.target as usize]] = Some(Joint {
                source: joint.source,
                from_rest: from.conjugate(),
                to_rest: to * offset,
                hip: joint.is_hip.then(hip).transpose()?,
            });
        }
        Ok(Self { turn, influence: options.hip_influence.as_dvec3(), joints, target: after })
    }

    pub(super) fn pose(&mut self, source: &Worlds, target: &mut PoseMut<'_>) {
        for at in 0..self.joints.len() {
            let (node, parent) = self.target.chain()[at];
            let n = node as usize;
            if let Some(joint) = self.joints[at] {
                let (matrix, rotation) = source.at(Some(joint.source));
                let (above, turn_above) = self.target.at(parent);
                let world = self.turn * rotation * joint.from_rest * self.turn.conjugate() * joint.to_rest;
                let local = unit(turn_above.conjugate() * world);
                target.rotations[n] = normalize(local.as_quat());
                if let Some(hip) = joint.hip {
                    let moved = self.turn * (matrix.translation - hip.source_rest);
                    let world = hip.target_rest + moved * self.influence * hip.ratio;
                    if let Some(local) = finite(inverse(above).transform_point3(world)) {
                        target.translations[n] = local;
                    }
                }
            }
            self.target.place(node, parent, ExactLocal::of(target.as_ref(), n));
        }
    }
}

/// A reference pose; without one, the rest pose.
fn reference(model: &Model, pose: Option<&Pose>, option: &'static str) -> Result<Pose, RetargetError> {
    let pose = pose.cloned().unwrap_or_else(|| Pose::rest(model));
    check_size(option, pose.as_ref(), model)?;
    let is_number = |q: &Quat| q.is_finite() && q.length_squared() > 0.0;
    let mut vectors = pose.translations.iter().chain(&pose.scales);
    if !pose.rotations.iter().all(is_number) || !vectors.all(|v| v.is_finite()) {
        return Err(RetargetError::NotFinite { option });
    }
    Ok(pose)
}

/// Of heights above y = 0, unless it is given.
fn ratio(given: Option<f32>, source: f64, target: f64) -> Result<f64, RetargetError> {
    /// Metres; less is no height.
    const LEAST: f64 = 1e-6;
    match given {
        Some(ratio) => Ok(f64::from(ratio)),
        None if source > LEAST && target > LEAST => Ok(target / source),
        None => Err(RetargetError::HipHeight { source_height: source as f32, target_height: target as f32 }),
    }
}
