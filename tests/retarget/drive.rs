//! One instance driven by another, and what is no pose.

use glam::{Mat4, Quat, Vec3};
use sinew::{
    Animator, InstanceId,
    animate::Pose,
    model::Skin,
    retarget::{BakeOptions, Hip, Retarget, RetargetError, RetargetOptions, WorldCopy},
};

use crate::bodies::{assert_turn, assert_vector, body, model, raise, relative, turn_z, world_copy};

const HIP: u32 = 0;
const ARM: u32 = 1;

/// A body of height 1 that turns and walks, and one of height 2.
fn stage() -> (Animator, [InstanceId; 2], [sinew::Model; 2]) {
    let bodies = [model(body(1.0)), model(body(2.0))];
    let mut animator = Animator::new();
    let ids = bodies.each_ref().map(|body| {
        let id = animator.add_model(body);
        animator.spawn(id).unwrap()
    });
    animator.set_rotation(ids[0], ARM, turn_z(30.0)).unwrap();
    let hip = animator.local(ids[0], HIP).unwrap().translation;
    animator.set_translation(ids[0], HIP, hip + Vec3::X).unwrap();
    animator.evaluate();
    (animator, ids, bodies)
}

#[test]
fn a_driven_instance_stands_as_the_pose_says() {
    let copy = world_copy(WorldCopy { preserve_bone_positions: false, ..WorldCopy::default() });
    for options in [relative(), copy] {
        let (mut animator, [from, to], [source, target]) = stage();
        let mut retarget = Retarget::new(&source, &target, &options).unwrap();
        let (mut stands, mut wanted) = (Pose::rest(&source), Pose::rest(&target));
        for node in 0..source.skeleton().len() {
            let local = animator.local(from, node as u32).unwrap();
            (stands.translations[node], stands.rotations[node]) = (local.translation, local.rotation);
        }
        retarget.pose(stands.as_ref(), &mut wanted.as_mut()).unwrap();
        // More than once: what is read of the target is what was set before.
        for _ in 0..3 {
            retarget.drive(&mut animator, from, to).unwrap();
            animator.evaluate();
            for joint in &retarget.report().mapped {
                let local = animator.local(to, joint.target).unwrap();
                assert_turn(local.rotation, wanted.rotations[joint.target as usize]);
                assert_vector(local.translation, wanted.translations[joint.target as usize]);
            }
        }
        assert_turn(animator.local(to, ARM).unwrap().rotation, turn_z(30.0));
    }
}

#[test]
fn instances_of_other_models_are_not_driven() {
    let (mut animator, [from, to], [source, target]) = stage();
    let mut retarget = Retarget::new(&source, &target, &relative()).unwrap();
    let other = |which, instance| Err(RetargetError::OtherModel { which, instance });
    assert_eq!(retarget.drive(&mut animator, to, to), other("source", to));
    assert_eq!(retarget.drive(&mut animator, from, from), other("target", from));
    animator.despawn(from).unwrap();
    assert!(matches!(retarget.drive(&mut animator, from, to), Err(RetargetError::Animate(_))));
    assert_eq!(animator.local(to, ARM).unwrap().rotation, Quat::IDENTITY);
}

#[test]
fn a_pose_with_fewer_nodes_is_refused_and_changes_nothing() {
    let (source, target) = (model(body(1.0)), model(body(2.0)));
    let (mut from, mut to) = (Pose::rest(&source), Pose::rest(&target));
    from.rotations[1] = turn_z(30.0);
    for options in [relative(), world_copy(WorldCopy::default())] {
        let mut retarget = Retarget::new(&source, &target, &options).unwrap();
        let expected = source.skeleton().len();
        let size = |option, found| Err(RetargetError::PoseSize { option, found, expected });
        let mut short = from.clone();
        short.scales.pop();
        assert_eq!(retarget.pose(short.as_ref(), &mut to.as_mut()), size("source", expected - 1));
        let mut none = Pose::default();
        assert_eq!(retarget.pose(from.as_ref(), &mut none.as_mut()), size("target", 0));
        assert_eq!((&to, none), (&Pose::rest(&target), Pose::default()));
    }
}

#[test]
fn the_hip_is_found_where_none_is_named() {
    let (source, target) = (model(body(1.0)), model(body(2.0)));
    let hips = |hip: Hip| {
        let options = RetargetOptions { hip, ..relative() };
        let report = Retarget::new(&source, &target, &options).unwrap().report().clone();
        report.mapped.iter().filter(|joint| joint.is_hip).map(|joint| joint.source).collect::<Vec<_>>()
    };
    assert_eq!(RetargetOptions::default().hip, Hip::Auto);
    assert_eq!(
        (hips(Hip::Auto), hips(Hip::Named("arm".into())), hips(Hip::None)),
        (vec![HIP], vec![ARM], vec![])
    );
}

#[test]
fn a_joint_that_the_targets_skin_lists_twice_is_driven_once() {
    let source = model(body(1.0)).with_clips([raise(1.0)]).unwrap();
    let once = model(body(2.0));
    let twice = {
        let skin = &once.skins()[0];
        let joints: Vec<u32> = skin.joints().iter().chain(&[ARM, HIP]).copied().collect();
        let mut binds: Vec<Mat4> = skin.inverse_binds().iter().map(|bind| Mat4::from(*bind)).collect();
        binds.extend([Mat4::from_scale(Vec3::splat(3.0)); 2]);
        let mut desc = body(2.0);
        desc.skins = vec![Skin::accept_duplicates("skin", &desc.skeleton, joints, Some(&binds)).unwrap()];
        model(desc)
    };
    for options in [relative(), world_copy(WorldCopy::default())] {
        let clip = |target| {
            let mut retarget = Retarget::new(&source, target, &options).unwrap();
            (retarget.clip(0, &BakeOptions::default()).unwrap(), retarget.report().clone())
        };
        assert_eq!(clip(&twice), clip(&once));
    }
}
