//! Whole clips.

use glam::{Affine3A, Quat, Vec3};
use sinew::{
    Animator, Model,
    animate::{Pose, sample, set_world},
    model::Channel,
    retarget::{
        BakeOptions, Keep, Mode, RestRelative, Retarget, RetargetError, RetargetOptions, WorldCopy, hip_of,
        names_alike,
    },
};

use crate::bodies::{assert_turn, assert_vector, body, model, raise, relative, turn_z};

fn baked(options: &BakeOptions) -> (Model, Model) {
    let source = model(body(1.0)).with_clips([raise(1.0)]).unwrap();
    let target = model(body(2.0));
    let clip = Retarget::new(&source, &target, &relative()).unwrap().clip(0, options).unwrap();
    (source, target.with_clips([clip]).unwrap())
}

#[test]
fn a_baked_clip_moves_the_target_as_the_source_moves() {
    let (source, target) = baked(&BakeOptions { fps: Some(11.0), ..Default::default() });
    assert_eq!(
        (target.clips().len(), target.clips()[0].name(), target.clips()[0].duration()),
        (1, "raise", 1.0)
    );
    for time in [0.0, 0.3, 1.0] {
        let (from, to) =
            (sample(&source, &source.clips()[0], time), sample(&target, &target.clips()[0], time));
        assert_vector(to.translations[0], 2.0 * from.translations[0]);
        assert_turn(to.rotations[1], from.rotations[1]);
    }
}

#[test]
fn keys_are_as_many_as_rate_and_duration_give_or_as_the_longest_track_has() {
    for (fps, keys) in [(Some(30.0), 30), (Some(4.4), 4), (Some(0.1), 1), (None, 2)] {
        let (_, target) = baked(&BakeOptions { fps, ..Default::default() });
        assert!(target.clips()[0].tracks().iter().all(|track| track.times.len() == keys), "{fps:?}");
    }
}

#[test]
fn only_the_hip_moves_unless_all_is_kept() {
    let tracks = |keep| {
        let (_, target) = baked(&BakeOptions { keep, ..Default::default() });
        target.clips()[0].tracks().iter().map(|track| (track.node, track.channel)).collect::<Vec<_>>()
    };
    let (t, r, s) = (Channel::Translation, Channel::Rotation, Channel::Scale);
    assert_eq!(tracks(Keep::Hip), [(0, t), (0, r), (1, r), (2, r)]);
    let all: Vec<_> = (0..3).flat_map(|node| [(node, t), (node, r), (node, s)]).collect();
    assert_eq!(tracks(Keep::All), all);
}

#[test]
fn rotations_stay_in_one_hemisphere_through_a_whole_turn() {
    let quarter = |n: i32| turn_z(90.0 * n as f32).to_array();
    let values: Vec<f32> = (0..5).flat_map(quarter).collect();
    let turn = crate::bodies::track(0, Channel::Rotation, &[0.0, 1.0, 2.0, 3.0, 4.0], &values);
    let clip = sinew::model::Clip::new("turn", vec![turn]).unwrap();
    let source = model(body(1.0)).with_clips([clip]).unwrap();
    let options = BakeOptions { fps: Some(8.0), ..Default::default() };
    let clip = Retarget::new(&source, &model(body(1.0)), &relative()).unwrap().clip(0, &options).unwrap();
    let rotations = clip.tracks().iter().find(|t| (t.node, t.channel) == (0, Channel::Rotation)).unwrap();
    let keys: Vec<_> = rotations.values.chunks_exact(4).map(Quat::from_slice).collect();
    assert!(keys.windows(2).all(|pair| pair[0].dot(pair[1]) > 0.9), "{keys:?}");
}

#[test]
fn a_clip_without_duration_becomes_one_key() {
    let source = model(body(1.0));
    let lift = crate::bodies::track(0, Channel::Translation, &[0.0], &[0.0, 3.0, 0.0]);
    let source = source.with_clips([sinew::model::Clip::new("lift", vec![lift]).unwrap()]).unwrap();
    let target = model(body(2.0));
    let clip =
        Retarget::new(&source, &target, &relative()).unwrap().clip(0, &BakeOptions::default()).unwrap();
    assert_eq!(clip.tracks()[0].times, [0.0]);
    assert_eq!(clip.tracks()[0].values, [0.0, 6.0, 0.0]);
}

#[test]
fn adding_no_clips_shares_the_model() {
    let model = model(body(1.0));
    assert!(model.with_clips([]).unwrap().ptr_eq(&model));
}

#[test]
fn one_character_drives_another_from_frame_to_frame() {
    let source = model(body(1.0)).with_clips([raise(1.0)]).unwrap();
    let target = model(body(2.0));
    let mut retarget = Retarget::new(&source, &target, &relative()).unwrap();
    let mut animator = Animator::new();
    let (one, other) = (animator.add_model(&source), animator.add_model(&target));
    let (leader, follower) = (animator.spawn(one).unwrap(), animator.spawn(other).unwrap());
    animator.play(leader, "raise").unwrap();
    animator.advance(0.5);
    animator.evaluate();

    let (mut from, mut to) = (Pose::rest(&source), Pose::rest(&target));
    for node in 0..source.skeleton().len() {
        let local = animator.local(leader, node as u32).unwrap();
        (from.translations[node], from.rotations[node]) = (local.translation, local.rotation);
    }
    retarget.pose(from.as_ref(), &mut to.as_mut()).unwrap();
    let joints = retarget.report().mapped.iter().map(|joint| (joint.target, to.transform(joint.target)));
    animator.set_pose(follower, joints).unwrap();
    animator.refresh(follower).unwrap();
    assert_vector(animator.local(follower, 0).unwrap().translation, Vec3::new(0.0, 2.5, 0.0));
    assert_turn(animator.local(follower, 1).unwrap().rotation, turn_z(45.0));
}

#[test]
fn the_demo_character_takes_over_its_own_clips_unchanged_in_both_modes_unless_they_scale() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
    let model = Model::load(path).unwrap();
    let names = names_alike(&model, &model);
    let hip = hip_of(&model, &names);
    let hip_node = model.skeleton().find(hip.as_deref().unwrap()).unwrap();
    let mut world = vec![Affine3A::IDENTITY; model.skeleton().len()];
    let copy = WorldCopy { preserve_bone_positions: false, ..Default::default() };
    for mode in [Mode::RestRelative(RestRelative::default()), Mode::WorldCopy(copy)] {
        let options = RetargetOptions { mode, names: names.clone(), ..Default::default() };
        let mut retarget = Retarget::new(&model, &model, &options).unwrap();
        assert_eq!((retarget.report().mapped.len(), retarget.report().unmapped.len()), (42, 0));
        let refused = (0..).zip(model.clips()).filter(|(index, _)| {
            matches!(retarget.clip(*index, &BakeOptions::default()), Err(RetargetError::ScaleTrack { .. }))
        });
        assert_eq!(refused.map(|(_, clip)| clip.name()).collect::<Vec<_>>(), ["jump"]);
        // The jump squashes and stretches, which is not taken over.
        for clip in model.clips().iter().filter(|clip| clip.name() != "jump") {
            for time in [0.1, 0.4, 0.7] {
                let (mut pose, mut out) = (sample(&model, clip, time), Pose::rest(&model));
                retarget.pose(pose.as_ref(), &mut out.as_mut()).unwrap();
                for joint in &retarget.report().mapped {
                    let (found, wanted) = (out.transform(joint.target), pose.transform(joint.target));
                    let apart = |sign: f32| (found.rotation - wanted.rotation * sign).length();
                    assert!(apart(1.0).min(apart(-1.0)) < 1e-5, "{}: {found:?}, {wanted:?}", clip.name());
                }
                // Where the root moves too, the hip makes up for it.
                let mut place = |pose: &mut Pose| {
                    set_world(model.skeleton(), Affine3A::IDENTITY, &pose.as_mut(), &mut world);
                    world[hip_node as usize].translation
                };
                assert!((place(&mut out) - place(&mut pose)).length() < 1e-5, "{}", clip.name());
            }
        }
    }
}
