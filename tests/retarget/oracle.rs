//! Poses and clips against those that three.js 0.187 gives; tests/oracle/retarget.mjs made them.

use std::{collections::BTreeMap, path::Path};

use glam::{Mat4, Quat, Vec3};
use serde_json::Value;
use sinew::{
    Model,
    animate::Pose,
    model::{Channel, Clip, Skin, Transform},
    retarget::{BakeOptions, Hip, Mode, Retarget, RetargetOptions, TargetJoints, WorldCopy},
};

use crate::bodies::{model, node, skinned, track};

const TOLERANCE: f32 = 1e-5;

fn data() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/retarget.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn index(value: &Value) -> u32 {
    value.as_u64().unwrap() as u32
}

fn indices(value: &Value) -> Vec<u32> {
    list(value).iter().map(index).collect()
}

/// NaN where JavaScript had no number.
fn floats(value: &Value) -> Vec<f32> {
    list(value).iter().map(|number| number.as_f64().unwrap_or(f64::NAN) as f32).collect()
}

fn transform([t, r, s]: [&Value; 3]) -> Transform {
    Transform {
        translation: Vec3::from_slice(&floats(t)),
        rotation: Quat::from_slice(&floats(r)),
        scale: Vec3::from_slice(&floats(s)),
    }
}

fn body(data: &Value, name: &Value, clips: Vec<Clip>) -> Model {
    let body = &data["bodies"][name.as_str().unwrap()];
    let nodes = list(&body["nodes"]).iter().map(|n| {
        let parent = n[1].as_u64().map(|parent| parent as u32);
        node(n[0].as_str().unwrap(), parent, transform([&n[2], &n[3], &n[4]]))
    });
    let binds: Vec<Mat4> = list(&body["binds"]).iter().map(|m| Mat4::from_cols_slice(&floats(m))).collect();
    let mut desc = skinned(nodes.collect(), &indices(&body["joints"]), index(&body["mesh"]), Some(&binds));
    if !body["others"].is_null() {
        let others = Skin::bind_at_rest("others", &desc.skeleton, indices(&body["others"])).unwrap();
        desc.skins.push(others);
    }
    desc.clips = clips;
    model(desc)
}

fn pose(model: &Model, transforms: &Value) -> Pose {
    let mut pose = Pose::rest(model);
    for (node, value) in transforms.as_array().into_iter().flatten().enumerate() {
        let t = transform([&value[0], &value[1], &value[2]]);
        (pose.translations[node], pose.rotations[node], pose.scales[node]) =
            (t.translation, t.rotation, t.scale);
    }
    pose
}

fn options(value: &Value) -> RetargetOptions {
    let flag = |key: &str, default| value[key].as_bool().unwrap_or(default);
    let vector = |key: &str, default| {
        value[key].as_array().map_or(default, |_| Vec3::from_slice(&floats(&value[key])))
    };
    let entries = |key: &str| value[key].as_object().cloned().unwrap_or_default();
    let names: BTreeMap<_, _> =
        entries("names").iter().map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).collect();
    let hip = match value.get("hip") {
        Some(hip) => hip.as_str().map_or(Hip::None, |hip| Hip::Named(hip.into())),
        None => Hip::Named("hip".into()),
    };
    RetargetOptions {
        mode: Mode::WorldCopy(WorldCopy {
            preserve_bone_matrix: flag("preserveBoneMatrix", true),
            preserve_bone_positions: flag("preserveBonePositions", true),
            use_target_matrix: flag("useTargetMatrix", false),
        }),
        target: TargetJoints::Part(0),
        names,
        hip,
        hip_influence: vector("hipInfluence", Vec3::ONE),
        hip_position: vector("hipPosition", Vec3::ZERO),
        scale: value["scale"].as_f64().unwrap_or(1.0) as f32,
        local_offsets: entries("localOffsets")
            .iter()
            .map(|(k, v)| (k.clone(), Quat::from_slice(&floats(v))))
            .collect(),
    }
}

/// How far rotations are apart, component by component; lengths do not count, nor does the sign of all.
fn apart(found: Quat, wanted: Quat) -> f32 {
    let wanted = wanted.normalize();
    let largest = |q: Quat| q.to_array().into_iter().fold(0.0, |largest: f32, c| largest.max(c.abs()));
    largest(found - wanted).min(largest(found + wanted))
}

#[test]
fn every_pose_equals_three_js() {
    let data = data();
    let mut worst = 0.0f32;
    for (number, case) in list(&data["cases"]).iter().enumerate() {
        let source = body(&data, &case["source"], vec![]);
        let target = body(&data, &case["target"], vec![]);
        let stands =
            pose(&source, &data["poses"][case["source"].as_str().unwrap()][index(&case["pose"]) as usize]);
        let mut options = options(&case["options"]);
        if case["bare"] == true {
            options.target = TargetJoints::Skin(0);
        }
        let mut out = pose(&target, &case["start"]);
        let before = out.clone();
        let mut retarget = Retarget::new(&source, &target, &options).unwrap();
        retarget.pose(stands.as_ref(), &mut out.as_mut()).unwrap();

        let joints = target.skins()[0].joints();
        for (&joint, wanted) in joints.iter().zip(list(&case["joints"])) {
            let (wanted, found) = (floats(wanted), out.transform(joint));
            let place =
                || format!("case {number} {} {}: {found:?}, {wanted:?}", case["target"], case["options"]);
            let size = Vec3::from_slice(&wanted[7..]).abs().max_element().max(1.0);
            let length = Vec3::from_slice(&wanted[..3]).abs().max_element().max(1.0);
            let far = [
                (found.translation - Vec3::from_slice(&wanted[..3])).abs().max_element() / length,
                apart(found.rotation, Quat::from_slice(&wanted[3..7])),
                (found.scale - Vec3::from_slice(&wanted[7..])).abs().max_element() / size,
            ];
            for far in far {
                assert!(far < TOLERANCE, "{}", place());
                worst = worst.max(far);
            }
        }
        for node in (0..target.skeleton().len() as u32).filter(|node| !joints.contains(node)) {
            assert_eq!(out.transform(node), before.transform(node));
        }
    }
    println!("worst difference from three.js: {worst:e} in {} poses", list(&data["cases"]).len());
}

fn channel(name: &Value) -> Channel {
    match name.as_str().unwrap() {
        "translation" => Channel::Translation,
        _ => Channel::Rotation,
    }
}

#[test]
fn every_clip_equals_three_js() {
    let data = data();
    let clips = list(&data["clips"]).iter().map(|clip| {
        let tracks = list(&clip["tracks"]).iter();
        let tracks =
            tracks.map(|t| track(index(&t[0]), channel(&t[1]), &floats(&t[2]), &floats(&t[3]))).collect();
        Clip::new(clip["name"].as_str().unwrap(), tracks).unwrap()
    });
    let source = body(&data, &"walker".into(), clips.collect());
    for (number, case) in list(&data["clip_cases"]).iter().enumerate() {
        let target = body(&data, &case["target"], vec![]);
        let mut retarget = Retarget::new(&source, &target, &options(&case["options"])).unwrap();
        let fps = case["fps"].as_f64().map(|fps| fps as f32);
        let clip = retarget.clip(index(&case["clip"]), &BakeOptions { fps, ..Default::default() }).unwrap();
        assert_eq!(clip.name(), source.clips()[index(&case["clip"]) as usize].name());

        let wanted: BTreeMap<_, _> =
            list(&case["tracks"]).iter().map(|t| ((index(&t[0]), t[1].as_str()), t)).collect();
        assert_eq!(clip.tracks().len(), wanted.len(), "case {number}");
        for track in clip.tracks() {
            let name = if track.channel == Channel::Translation { "translation" } else { "rotation" };
            let wanted = wanted[&(track.node, Some(name))];
            let (times, values) = (floats(&wanted[2]), floats(&wanted[3]));
            assert_eq!(track.times.len(), times.len(), "case {number}");
            assert!(track.times.iter().zip(&times).all(|(a, b)| (a - b).abs() < 1e-6), "case {number}");
            let keys = track.values.chunks(track.width as usize).zip(values.chunks(track.width as usize));
            for (key, (found, wanted)) in keys.enumerate() {
                let far = match track.channel {
                    Channel::Translation => {
                        let wanted = Vec3::from_slice(wanted);
                        (Vec3::from_slice(found) - wanted).abs().max_element()
                            / wanted.abs().max_element().max(1.0)
                    }
                    _ => apart(Quat::from_slice(found), Quat::from_slice(wanted)),
                };
                assert!(
                    far < TOLERANCE,
                    "case {number}, node {}, key {key}: {found:?}, {wanted:?}",
                    track.node
                );
            }
        }
    }
}

/// What makes a comparison worth anything: no option may be without effect on its case's body.
#[test]
fn every_option_changes_a_pose_of_three_js() {
    let data = data();
    let cases = list(&data["cases"]);
    for key in [
        "preserveBoneMatrix",
        "preserveBonePositions",
        "useTargetMatrix",
        "hip",
        "hipInfluence",
        "hipPosition",
        "scale",
        "localOffsets",
    ] {
        let differs = |case: &Value| {
            let mut without = case["options"].clone();
            without.as_object_mut().unwrap().remove(key);
            let same = |other: &&Value| {
                ["source", "pose", "target", "bare"].iter().all(|k| other[k] == case[k])
                    && other["options"] == without
            };
            cases.iter().find(same).is_some_and(|other| other["joints"] != case["joints"])
        };
        assert!(cases.iter().filter(|case| !case["options"][key].is_null()).any(differs), "{key}");
    }
}
