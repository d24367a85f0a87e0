//! Instances that take over the motion of others.

use super::{Plan, Retarget, RetargetError};
use crate::{
    animate::{Animator, InstanceId, Pose, PoseMut},
    model::Model,
};

impl Retarget {
    /// One instance as another one stands: [`pose`](Self::pose) from what the last evaluation or
    /// [`refresh`](Animator::refresh) made of both, set as [overrides](Animator::set_rotation) of the target for the next
    /// one. [`Mode::RestRelative`](super::Mode::RestRelative) sets rotations of mapped joints and the translation of the
    /// hip, [`Mode::WorldCopy`](super::Mode::WorldCopy) all components of all joints. As with any override, what a
    /// clip of the target drives it keeps; [`Animator::clear_overrides`] takes all back. Allocates nothing once the
    /// overrides are there.
    ///
    /// Fails, and changes nothing, where an instance does not exist or is of another model than this was made for,
    /// and where its poses are not [kept](Animator::keep_poses).
    ///
    /// ```
    /// # use sinew::{Animator, model::{Model, ModelDesc, Node, Skeleton, Transform}};
    /// # use sinew::retarget::{Retarget, RetargetOptions, names_alike};
    /// # use glam::{Quat, Vec3};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let body = |height| -> Result<Model, Box<dyn std::error::Error>> {
    /// #     let rest = Transform::from_translation(Vec3::Y * height);
    /// #     let skeleton = Skeleton::new(vec![Node { name: "hips".into(), parent: None, rest }])?;
    /// #     Ok(Model::new(ModelDesc { skeleton, ..Default::default() })?)
    /// # };
    /// # let (actor, hero) = (body(1.0)?, body(0.5)?);
    /// let options = RetargetOptions { names: names_alike(&actor, &hero), ..Default::default() };
    /// let mut retarget = Retarget::new(&actor, &hero, &options)?;
    /// let mut animator = Animator::new();
    /// let (actor, hero) = (animator.add_model(&actor), animator.add_model(&hero));
    /// let (actor, hero) = (animator.spawn(actor)?, animator.spawn(hero)?);
    /// # animator.set_rotation(actor, 0, Quat::from_rotation_x(1.0))?;
    /// // In every frame:
    /// animator.advance(1.0 / 60.0);
    /// animator.refresh(actor)?;
    /// retarget.drive(&mut animator, actor, hero)?;
    /// animator.evaluate();
    /// # assert!(animator.local(hero, 0)?.rotation.abs_diff_eq(Quat::from_rotation_x(1.0), 1e-6));
    /// # Ok(())
    /// # }
    /// ```
    pub fn drive(
        &mut self,
        animator: &mut Animator,
        source: InstanceId,
        target: InstanceId,
    ) -> Result<(), RetargetError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let posed = self.pose_of(animator, source, target, &mut scratch);
        let [_, pose] = &scratch;
        let set = posed.and_then(|()| self.set_overrides(animator, target, pose));
        self.scratch = scratch;
        set
    }

    fn pose_of(
        &mut self,
        animator: &Animator,
        source: InstanceId,
        target: InstanceId,
        [from, to]: &mut [Pose; 2],
    ) -> Result<(), RetargetError> {
        read(animator, source, &self.source, "source", &mut from.as_mut())?;
        read(animator, target, &self.target, "target", &mut to.as_mut())?;
        self.pose(from.as_ref(), &mut to.as_mut())
    }

    fn set_overrides(
        &self,
        animator: &mut Animator,
        target: InstanceId,
        pose: &Pose,
    ) -> Result<(), RetargetError> {
        let mapped = self.report.mapped.iter();
        match &self.plan {
            Plan::WorldCopy(_) => {
                let joints = mapped.map(|joint| joint.target).chain(self.report.unmapped.iter().copied());
                animator.set_pose(target, joints.map(|node| (node, pose.transform(node))))?;
            }
            Plan::RestRelative(_) => {
                for joint in mapped {
                    let local = pose.transform(joint.target);
                    animator.set_rotation(target, joint.target, local.rotation)?;
                    if joint.is_hip {
                        animator.set_translation(target, joint.target, local.translation)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// An instance's pose as of its last evaluation.
fn read(
    animator: &Animator,
    instance: InstanceId,
    model: &Model,
    which: &'static str,
    pose: &mut PoseMut<'_>,
) -> Result<(), RetargetError> {
    if !animator.model(animator.model_of(instance)?)?.ptr_eq(model) {
        return Err(RetargetError::OtherModel { which, instance });
    }
    for node in 0..model.skeleton().len() {
        let local = animator.local(instance, node as u32)?;
        pose.translations[node] = local.translation;
        pose.rotations[node] = local.rotation;
        pose.scales[node] = local.scale;
    }
    Ok(())
}
