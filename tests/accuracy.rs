//! Evaluation against an independent one in f64: exact clips to the last digits, compressed ones within the bound
//! that they state. Every model of the repository, and larger sets beside the checkout where somebody put them.
#![cfg(feature = "gltf")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and prints what it measured"
)]

use std::path::{Path, PathBuf};

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, DVec4, Mat4, Quat, Vec3};
use sinew::{
    Animator, InstanceId, Model,
    animate::{CompressOptions, CompressedClips, LoopMode, PaletteLayout},
    model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Skin, Track, Transform},
};

/// All models there are.
fn models() -> Vec<(PathBuf, Model)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["assets", "tests/data/assets", "../shared/assets"] {
        find(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(!files.is_empty());
    files.into_iter().filter_map(|file| Some((file.clone(), Model::load(&file).ok()?))).collect()
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "glb" || kind == "gltf") {
            files.push(path);
        }
    }
}

fn value(track: &Track, key: usize) -> DVec4 {
    let width = track.width as usize;
    let parts = if track.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let from = (key * parts + parts / 2) * width;
    part(&track.values[from..from + width])
}

fn part(values: &[f32]) -> DVec4 {
    let number = |i: usize| values.get(i).map_or(0.0, |v| f64::from(*v));
    DVec4::new(number(0), number(1), number(2), number(3))
}

/// What glTF 2.0 says in appendix C, in f64.
fn sample(track: &Track, time: f32) -> DVec4 {
    let next = track.times.partition_point(|key| *key <= time);
    let unit = |v: DVec4| if track.channel == Channel::Rotation { v.normalize() } else { v };
    if next == 0 {
        return unit(value(track, 0));
    }
    if next == track.times.len() {
        return unit(value(track, next - 1));
    }
    let (from, to) = (f64::from(track.times[next - 1]), f64::from(track.times[next]));
    let t = (f64::from(time) - from) / (to - from);
    let (a, b) = (value(track, next - 1), value(track, next));
    match track.interpolation {
        Interpolation::Step => unit(a),
        Interpolation::Linear if track.channel == Channel::Rotation => slerp(a, b, t),
        Interpolation::Linear => a + (b - a) * t,
        Interpolation::CubicSpline => {
            let width = track.width as usize;
            let out = part(&track.values[((next - 1) * 3 + 2) * width..next * 3 * width]);
            let into = part(&track.values[next * 3 * width..(next * 3 + 1) * width]);
            let (t2, t3, span) = (t * t, t * t * t, to - from);
            unit(
                a * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + out * (span * (t3 - 2.0 * t2 + t))
                    + b * (-2.0 * t3 + 3.0 * t2)
                    + into * (span * (t3 - t2)),
            )
        }
    }
}

/// Keys that are not quite of unit length keep their share, as in the stored results of tests/data.
fn slerp(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let angle = 2.0 * (a - b).length().atan2((a + b).length());
    if angle < 1e-9 {
        return (a + (b - a) * t).normalize();
    }
    ((a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) / angle.sin()).normalize()
}

/// Model-space matrices of all nodes.
fn worlds(model: &Model, clip: &Clip, time: f32) -> Vec<DAffine3> {
    let skeleton = model.skeleton();
    let mut poses: Vec<_> = skeleton
        .rest()
        .iter()
        .map(|rest| (rest.translation.as_dvec3(), rest.rotation.as_dquat(), rest.scale.as_dvec3()))
        .collect();
    for track in clip.tracks() {
        let (pose, value) = (&mut poses[track.node as usize], sample(track, time));
        match track.channel {
            Channel::Translation => pose.0 = value.truncate(),
            Channel::Rotation => pose.1 = DQuat::from_vec4(value),
            Channel::Scale => pose.2 = value.truncate(),
            Channel::Weights => {}
        }
    }
    let mut worlds = vec![DAffine3::IDENTITY; skeleton.len()];
    for &node in skeleton.order() {
        let (translation, rotation, scale) = poses[node as usize];
        // As `Quat` does it: unit length is not asked for.
        let linear = DMat3::from_quat(rotation.normalize()) * DMat3::from_diagonal(scale);
        let own = DAffine3 { matrix3: linear, translation };
        let above = skeleton.parents()[node as usize].map_or(DAffine3::IDENTITY, |p| worlds[p as usize]);
        worlds[node as usize] = above * own;
    }
    worlds
}

fn wide(m: &Affine3A) -> DAffine3 {
    DAffine3 { matrix3: m.matrix3.as_dmat3(), translation: m.translation.as_dvec3() }
}

/// How far a node's origin is off, and points on its axes, `tip` away on the longest.
fn apart(exact: &DAffine3, own: &DAffine3, tip: f64) -> f64 {
    let origin = own.translation - exact.translation;
    let axes = |m: &DMat3| [m.x_axis, m.y_axis, m.z_axis];
    let longest = axes(&exact.matrix3).iter().fold(0.0f64, |longest, axis| longest.max(axis.length()));
    let step = if longest > 0.0 { tip / longest } else { 0.0 };
    let pairs = axes(&exact.matrix3).into_iter().zip(axes(&own.matrix3));
    pairs.map(|(a, b)| (origin + (b - a) * step).length()).fold(origin.length(), f64::max)
}

/// The diagonal of the box around all nodes and their tips, and two steps of f32 at its furthest corner.
fn size(worlds: &[DAffine3], tip: f64) -> (f64, f64) {
    let low = worlds.iter().fold(DVec3::INFINITY, |low, m| low.min(m.translation)) - tip;
    let high = worlds.iter().fold(DVec3::NEG_INFINITY, |high, m| high.max(m.translation)) + tip;
    let furthest = low.abs().max(high.abs()).max_element() as f32;
    ((high - low).length(), 2.0 * f64::from(furthest.next_up() - furthest))
}

/// Times in no order: the ends, a key here and there, and others.
fn times(clip: &Clip, count: u32) -> Vec<f32> {
    let mut seed = 12_345u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / f64::from(u32::MAX >> 1)
    };
    let keys: Vec<f32> = clip.tracks().iter().flat_map(|track| track.times.iter().copied()).collect();
    (0..count)
        .map(|i| match i {
            0 => clip.start(),
            1 => clip.duration(),
            i if i % 4 == 0 && !keys.is_empty() => keys[(random() * keys.len() as f64) as usize % keys.len()],
            _ => (random() * f64::from(clip.duration())) as f32,
        })
        .collect()
}

/// How far from a joint points are that it carries along.
const TIP: f64 = 0.1;

/// An instance of a model for each of some times of a clip, evaluated.
fn played(
    model: &Model,
    index: u32,
    clips: Option<&CompressedClips>,
    keeps_poses: bool,
) -> (Animator, Vec<(f32, InstanceId)>) {
    let mut animator = Animator::new();
    let handle = animator.add_model(model);
    animator.keep_poses(handle, keeps_poses).unwrap();
    animator.set_compressed(handle, clips.cloned()).unwrap();
    let instances = times(&model.clips()[index as usize], 24).into_iter().map(|time| {
        let id = animator.spawn(handle).unwrap();
        let player = animator.play(id, index).unwrap();
        player.set_mode(LoopMode::Once);
        player.seek(f64::from(time));
        (time, id)
    });
    let instances = instances.collect();
    animator.evaluate();
    (animator, instances)
}

/// The largest error of a clip, as a share of the allowed one, over some times.
fn worst(
    model: &Model,
    index: u32,
    clips: Option<&CompressedClips>,
    allowed: impl Fn(f64, f64) -> f64,
) -> f64 {
    let (animator, instances) = played(model, index, clips, true);
    let mut worst = 0.0f64;
    for (time, id) in instances {
        let exact = worlds(model, &model.clips()[index as usize], time);
        let (diagonal, two_ulp) = size(&exact, TIP);
        for (exact, own) in exact.iter().zip(animator.world(id).unwrap()) {
            let off = apart(exact, &wide(own), TIP) / allowed(diagonal, two_ulp);
            worst = if off <= worst { worst } else { off };
        }
    }
    worst
}

/// As [`worst`], of palettes without poses: where they put a joint's origin in the bind pose, and points around it.
fn worst_of_palettes(
    model: &Model,
    index: u32,
    clips: Option<&CompressedClips>,
    allowed: impl Fn(f64, f64) -> f64,
) -> f64 {
    let layout = PaletteLayout::new(model);
    let (animator, instances) = played(model, index, clips, false);
    let mut worst = 0.0f64;
    for (time, id) in instances {
        let exact = worlds(model, &model.clips()[index as usize], time);
        let (diagonal, two_ulp) = size(&exact, TIP);
        let palette = animator.palette(id).unwrap();
        for (index, skin) in (0u32..).zip(model.skins()) {
            let rows = &palette[layout.skin(index).unwrap()];
            for ((row, joint), bind) in rows.iter().zip(skin.joints()).zip(skin.inverse_binds()) {
                let inverse = wide(bind).inverse();
                if !inverse.is_finite() {
                    continue;
                }
                // What the row makes of the joint's own space in the bind pose.
                let rows = [row.x, row.y, row.z].map(|row| DVec4::from_array(row.map(f64::from)));
                let matrix3 = DMat3::from_cols_array_2d(&[0, 1, 2].map(|c| rows.map(|row| row[c])));
                let own = DAffine3 { matrix3, translation: rows.map(|row| row.w).into() } * inverse;
                // As many digits as the bind pose leaves.
                let place = inverse.translation.abs().max_element() as f32;
                let two_ulp = two_ulp.max(2.0 * f64::from(place.next_up() - place));
                let off = apart(&exact[*joint as usize], &own, TIP) / allowed(diagonal, two_ulp);
                worst = if off <= worst { worst } else { off };
            }
        }
    }
    worst
}

#[test]
fn exact_palettes_of_all_models_are_within_two_millionths_of_the_diagonal_without_poses() {
    let (mut count, mut most) = (0, 0.0f64);
    for (file, model) in models() {
        for index in 0..model.clips().len() as u32 {
            let share =
                worst_of_palettes(&model, index, None, |diagonal, two_ulp| (2e-6 * diagonal).max(two_ulp));
            assert!(share <= 1.0, "{}: clip {index} is off by {share} of the bound", file.display());
            (count, most) = (count + 1, most.max(share));
        }
    }
    println!("{count} clips, worst share of the bound {most:.3}");
}

#[test]
fn exact_clips_of_all_models_are_within_two_millionths_of_the_diagonal() {
    let (mut count, mut most) = (0, 0.0f64);
    for (file, model) in models() {
        for index in 0..model.clips().len() as u32 {
            let share = worst(&model, index, None, |diagonal, two_ulp| (2e-6 * diagonal).max(two_ulp));
            assert!(share <= 1.0, "{}: clip {index} is off by {share} of the bound", file.display());
            (count, most) = (count + 1, most.max(share));
        }
    }
    println!("{count} clips, worst share of the bound {most:.3}");
}

#[test]
fn compressed_clips_of_all_models_keep_the_bound_that_they_state() {
    let (mut count, mut refused, mut most) = (0, 0, 0.0f64);
    for (file, model) in models() {
        let clips = CompressedClips::new(&model, &CompressOptions::default());
        for index in 0..model.clips().len() as u32 {
            let Ok(packed) = clips.get(index).unwrap() else {
                refused += 1;
                continue;
            };
            let stated = f64::from(packed.error());
            let allowed = |diagonal: f64, two_ulp: f64| stated + (2e-6 * diagonal).max(two_ulp);
            let shares = [
                worst(&model, index, Some(&clips), allowed),
                worst_of_palettes(&model, index, Some(&clips), allowed),
            ];
            for share in shares {
                assert!(share <= 1.0, "{}: clip {index} is off by {share} of {stated}", file.display());
                most = most.max(share);
            }
            count += 1;
        }
    }
    println!("{count} clips, {refused} played exactly, worst share of the bound {most:.3}");
    assert!(count > 0);
}

#[test]
fn a_planted_error_is_seen() {
    let skeleton = Skeleton::new(vec![Node::default()]).unwrap();
    let skin = Skin::new("s", &skeleton, vec![0], Some(&[Mat4::IDENTITY])).unwrap();
    let track = |x: f32| Track {
        node: 0,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: [Quat::IDENTITY, Quat::from_rotation_x(x)].iter().flat_map(|q| q.to_array()).collect(),
        width: 4,
    };
    let clip = |x| Clip::new("c", vec![track(x)]).unwrap();
    let model =
        Model::new(ModelDesc { skeleton, skins: vec![skin], clips: vec![clip(1.0)], ..ModelDesc::default() });
    let exact = worlds(&model.unwrap(), &clip(1.0 + 1e-5), 1.0);
    let own = Affine3A::from_rotation_translation(Quat::from_rotation_x(1.0), Vec3::ZERO);
    let (diagonal, two_ulp) = size(&exact, 0.1);
    assert!(apart(&exact[0], &wide(&own), 0.1) > (2e-6 * diagonal).max(two_ulp));
}

#[test]
fn rounding_does_not_add_up_along_a_rope() {
    let node = |n: u32| Node {
        parent: n.checked_sub(1),
        rest: Transform::from_translation(Vec3::X * 0.1),
        ..Node::default()
    };
    let skeleton = Skeleton::new((0..300).map(node).collect()).unwrap();
    assert_eq!(skeleton.depth(), 300);
    let mut animator = Animator::new();
    let model = animator.add_model(&Model::new(ModelDesc { skeleton, ..ModelDesc::default() }).unwrap());
    let id = animator.spawn(model).unwrap();
    animator.evaluate();
    for (n, world) in animator.world(id).unwrap().iter().enumerate() {
        let exact = f64::from(0.1f32) * (n + 1) as f64;
        assert!((f64::from(world.translation.x) - exact).abs() < 2e-6, "{n}");
    }
}
