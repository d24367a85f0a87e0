//! What is not taken over, and what the error says.

use glam::{Quat, Vec3};
use sinew::{
    Model,
    animate::Pose,
    model::{Channel, Clip, ModelError},
    retarget::{
        BakeOptions, Hip, Mode, RestRelative, Retarget, RetargetError, RetargetOptions, TargetJoints,
    },
};

use crate::bodies::{alike, at, body, model, node, raise, relative, skinned, track};

fn error(options: &RetargetOptions) -> RetargetError {
    Retarget::new(&model(body(1.0)), &model(body(1.0)), options).unwrap_err()
}

fn rest_relative(mode: RestRelative) -> RetargetOptions {
    RetargetOptions { mode: Mode::RestRelative(mode), ..relative() }
}

/// What baking this clip says.
fn baked(clip: Clip, options: &BakeOptions) -> Result<Clip, RetargetError> {
    let source = model(body(1.0)).with_clips([clip]).unwrap();
    Retarget::new(&source, &model(body(1.0)), &relative()).unwrap().clip(0, options)
}

#[test]
fn no_names_are_refused() {
    assert_eq!(error(&RetargetOptions::default()), RetargetError::NoNames);
}

#[test]
fn names_that_all_fail_are_counted_by_side() {
    let names = [("hip", "pelvis"), ("tail", "hip")].map(|(t, s)| (t.to_owned(), s.to_owned())).into();
    let error = error(&RetargetOptions { names, ..Default::default() });
    let said = "none of 2 mapped names fits: 1 are no joints of the target, 1 no nodes of the source; first `hip` from `pelvis`";
    assert_eq!(error.to_string(), said);
}

#[test]
fn a_hip_that_no_joint_follows_is_refused_whether_it_exists_or_not() {
    for hip in ["pelvis", "hand", ""] {
        let options = RetargetOptions {
            names: alike(&["hip", "arm"]),
            hip: Hip::Named(hip.into()),
            ..Default::default()
        };
        assert_eq!(error(&options), RetargetError::UnknownHip { hip: hip.into() });
    }
}

#[test]
fn options_that_are_no_numbers_are_named() {
    let nan = Vec3::new(0.0, f32::NAN, 0.0);
    let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let cases = [
        ("hip_influence", RetargetOptions { hip_influence: nan, ..relative() }),
        ("hip_position", RetargetOptions { hip_position: nan, ..relative() }),
        ("scale", RetargetOptions { scale: f32::INFINITY, ..relative() }),
        ("local_offsets", RetargetOptions { local_offsets: [("arm".into(), zero)].into(), ..relative() }),
        ("turn", rest_relative(RestRelative { turn: zero, ..Default::default() })),
        ("hip_ratio", rest_relative(RestRelative { hip_ratio: Some(f32::NAN), ..Default::default() })),
    ];
    for (option, options) in cases {
        assert_eq!(error(&options), RetargetError::NotFinite { option });
    }
}

#[test]
fn a_reference_pose_of_another_model_is_refused() {
    let short = Pose { translations: vec![Vec3::ZERO; 2], ..Pose::rest(&model(body(1.0))) };
    let said = error(&rest_relative(RestRelative { target_rest: Some(short), ..Default::default() }));
    assert_eq!(said, RetargetError::PoseSize { option: "target_rest", found: 2, expected: 4 });
}

#[test]
fn a_hip_on_the_ground_has_no_height_to_compare() {
    let lying = model(skinned(vec![node("hip", None, at(0.0, 0.0, 1.0))], &[0], 0, None));
    let options = RetargetOptions { names: alike(&["hip"]), ..Default::default() };
    let said = Retarget::new(&lying, &model(body(2.0)), &options).unwrap_err();
    assert_eq!(said, RetargetError::HipHeight { source_height: 0.0, target_height: 2.0 });
    let given = RestRelative { hip_ratio: Some(1.0), ..Default::default() };
    let options = RetargetOptions { mode: Mode::RestRelative(given), ..options };
    assert!(Retarget::new(&lying, &model(body(2.0)), &options).is_ok());
}

#[test]
fn parts_and_skins_that_do_not_exist_are_refused() {
    let with = |target| RetargetOptions { target, ..relative() };
    let said = error(&with(TargetJoints::Part(1)));
    assert_eq!(said, RetargetError::NoJoints { what: "part", index: 1, count: 1 });
    let said = error(&with(TargetJoints::Skin(7)));
    assert_eq!(said, RetargetError::NoJoints { what: "skin", index: 7, count: 1 });
}

#[test]
fn a_clip_that_does_not_exist_is_refused() {
    let (source, target) = (model(body(1.0)), model(body(1.0)));
    let said = Retarget::new(&source, &target, &relative()).unwrap().clip(0, &BakeOptions::default());
    assert_eq!(said.unwrap_err(), RetargetError::UnknownClip { clip: 0, clips: 0 });
}

#[test]
fn a_clip_without_tracks_is_refused() {
    let said = baked(Clip::new("still", vec![]).unwrap(), &BakeOptions::default());
    assert_eq!(said.unwrap_err(), RetargetError::NoTracks { clip: "still".into() });
}

#[test]
fn a_clip_of_other_nodes_is_refused() {
    let tracks = vec![track(3, Channel::Translation, &[0.0], &[1.0, 0.0, 0.0])];
    let said = baked(Clip::new("slide", tracks).unwrap(), &BakeOptions::default());
    assert_eq!(said.unwrap_err(), RetargetError::NothingDriven { clip: "slide".into(), tracks: 1 });
}

#[test]
fn a_clip_that_scales_a_mapped_joint_is_refused_until_told_to_drop_it() {
    let grow = || track(1, Channel::Scale, &[0.0, 1.0], &[1.0, 1.0, 1.0, 1.0, 1.5, 1.0]);
    let mut tracks = raise(1.0).tracks().to_vec();
    tracks.push(grow());
    let said = baked(Clip::new("grow", tracks.clone()).unwrap(), &BakeOptions::default()).unwrap_err();
    assert_eq!(
        said.to_string(),
        "clip `grow` scales node 1 `arm`, which is not taken over; set `drop_scale` to go on without"
    );
    let drop = BakeOptions { drop_scale: true, ..Default::default() };
    assert_eq!(baked(Clip::new("grow", tracks).unwrap(), &drop).unwrap().tracks().len(), 4);
    let said = baked(Clip::new("only", vec![grow()]).unwrap(), &drop);
    assert_eq!(said.unwrap_err(), RetargetError::NothingDriven { clip: "only".into(), tracks: 1 });
}

#[test]
fn tracks_that_hold_the_scale_of_rest_are_no_scaling() {
    let mut tracks = raise(1.0).tracks().to_vec();
    tracks.push(track(1, Channel::Scale, &[0.0, 1.0], &[1.0, 1.0, 1.0, 1.0, 1.00001, 1.0]));
    assert!(baked(Clip::new("same", tracks).unwrap(), &BakeOptions::default()).is_ok());
}

#[test]
fn rates_of_nothing_and_of_too_much_are_refused() {
    for fps in [0.0, -30.0, f32::NAN, f32::INFINITY] {
        let said = baked(raise(1.0), &BakeOptions { fps: Some(fps), ..Default::default() }).unwrap_err();
        assert!(matches!(said, RetargetError::Fps { .. }), "{said}");
    }
    let said = baked(raise(1.0), &BakeOptions { fps: Some(2e6), ..Default::default() }).unwrap_err();
    let (clip, most) = ("raise".into(), 1_000_000);
    assert_eq!(said, RetargetError::TooManyFrames { clip, frames: 2_000_000, most });
}

#[test]
fn a_source_joint_without_size_leaves_the_target_finite() {
    let (source, target) = (model(body(1.0)), model(body(1.0)));
    let mut flat = Pose::rest(&source);
    flat.scales[0] = Vec3::ZERO;
    let modes = [rest_relative(RestRelative::default()), crate::bodies::world_copy(Default::default())];
    for options in modes {
        let mut out = Pose::rest(&target);
        Retarget::new(&source, &target, &options).unwrap().pose(flat.as_ref(), &mut out.as_mut()).unwrap();
        let finite =
            out.rotations.iter().all(|q| q.is_finite()) && out.translations.iter().all(|t| t.is_finite());
        assert!(finite, "{out:?}");
    }
}

#[test]
fn a_clip_for_another_skeleton_is_not_added() {
    let outside = Clip::new("far", vec![track(9, Channel::Translation, &[0.0], &[0.0; 3])]).unwrap();
    let said = model(body(1.0)).with_clips([outside]).unwrap_err();
    assert!(matches!(said, ModelError::OutOfRange { index: 9, count: 4, .. }), "{said}");
}

#[test]
fn what_does_not_fit_is_reported_on_both_sides_and_left_alone() {
    let names = [("hip", "hip"), ("arm", "wing"), ("tail", "hand")];
    let options = RetargetOptions {
        names: names.map(|(t, s)| (t.to_owned(), s.to_owned())).into(),
        local_offsets: [("arm".into(), Quat::IDENTITY), ("hip".into(), Quat::IDENTITY)].into(),
        ..Default::default()
    };
    let (source, target): (Model, Model) = (model(body(1.0)), model(body(1.0)));
    let mut retarget = Retarget::new(&source, &target, &options).unwrap();
    let report = retarget.report();
    assert_eq!(
        report.mapped.iter().map(|m| (m.target, m.source, m.is_hip)).collect::<Vec<_>>(),
        [(0, 0, true)]
    );
    assert_eq!(report.unmapped, [1, 2]);
    assert_eq!(report.unknown_sources, [("arm".to_owned(), "wing".to_owned())]);
    assert_eq!(report.unknown_targets, ["tail"]);
    assert_eq!(report.unused_offsets, ["arm"]);

    let mut bent = Pose::rest(&source);
    bent.rotations[1] = Quat::from_rotation_x(1.0);
    let mut out = Pose::rest(&target);
    out.rotations[1] = Quat::from_rotation_y(0.5);
    retarget.pose(bent.as_ref(), &mut out.as_mut()).unwrap();
    assert_eq!(out.rotations[1], Quat::from_rotation_y(0.5));
    assert_eq!(out.translations[2], Vec3::new(0.25, 0.0, 0.0));
}
