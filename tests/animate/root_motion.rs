//! Root motion, and what it leaves of the clip.

use super::*;

/// A clip that walks along a quarter circle in one second: one metre forward (z), then turned to x.
fn walker(interpolation: Interpolation) -> Model {
    let way = [0.0, 0.5, 0.0, 0.0, 0.5, 1.0];
    let turns = [0.0, FRAC_PI_2].map(|angle| Quat::from_rotation_y(angle).to_array()).concat();
    let spline = |values: &[f32], width: usize| -> Vec<f32> {
        values
            .chunks(width)
            .flat_map(|key| [&vec![0.0; width][..], key, &vec![0.0; width][..]].concat())
            .collect()
    };
    let make = |channel, values: &[f32], width: u32| Track {
        interpolation,
        values: match interpolation {
            Interpolation::CubicSpline => spline(values, width as usize),
            _ => values.to_vec(),
        },
        width,
        times: vec![0.0, 1.0],
        ..track(ROOT, channel, values)
    };
    let clip =
        Clip::new("walk", vec![make(Channel::Translation, &way, 3), make(Channel::Rotation, &turns, 4)]);
    let skeleton = model().skeleton().clone();
    Model::new(ModelDesc { skeleton, clips: vec![clip.unwrap()], ..Default::default() }).unwrap()
}

fn way(from: f64, to: f64) -> Travel {
    Travel { from, to, with_start: false }
}

#[test]
fn root_motion_over_whole_rounds_goes_around_a_square() {
    let motion = RootMotion::new(&walker(Interpolation::Linear), 0, ROOT, true).unwrap();
    let ends =
        [(1.0, Vec3::Z), (2.0, Vec3::Z + Vec3::X), (3.0, Vec3::X), (4.0, Vec3::ZERO), (4000.0, Vec3::ZERO)];
    for (to, expected) in ends {
        let delta = motion.over(way(0.0, to), LoopMode::Repeat);
        assert!(delta.translation.distance(expected) < 1e-5, "{to}: {delta:?}");
    }
}

#[test]
fn root_motion_in_small_steps_adds_up_to_one_large_step() {
    let motion = RootMotion::new(&walker(Interpolation::Linear), 0, ROOT, true).unwrap();
    let whole = motion.over(way(0.3, 2.6), LoopMode::Repeat);
    let (mut place, mut heading) = (Vec3::ZERO, Quat::IDENTITY);
    for step in 0..23 {
        let (from, to) = (0.3 + 0.1 * f64::from(step), 0.3 + 0.1 * f64::from(step + 1));
        let delta = motion.over(way(from, to), LoopMode::Repeat);
        place += heading * delta.translation;
        heading *= delta.rotation;
    }
    assert!(place.distance(whole.translation) < 1e-5, "{place} {whole:?}");
    assert!(heading.dot(whole.rotation).abs() > 1.0 - 1e-6);
    let back = motion.over(way(2.6, 0.3), LoopMode::Repeat);
    assert!((whole.translation + whole.rotation * back.translation).length() < 1e-5);
}

#[test]
fn root_motion_that_turns_around_comes_back() {
    let motion = RootMotion::new(&walker(Interpolation::Linear), 0, ROOT, true).unwrap();
    assert!(motion.over(way(0.0, 2.0), LoopMode::PingPong).translation.length() < 1e-6);
    let once = motion.over(way(0.0, 9.0), LoopMode::Once);
    assert!(once.translation.distance(Vec3::Z) < 1e-6);
}

#[test]
fn what_is_left_of_the_clip_stays_in_one_place_and_faces_one_way() {
    for interpolation in [Interpolation::Linear, Interpolation::Step, Interpolation::CubicSpline] {
        let model = walker(interpolation);
        let left = RootMotion::new(&model, 0, ROOT, true).unwrap().in_place().unwrap();
        for time in [0.0, 0.3, 0.7, 1.0] {
            let pose = sample(&model, &left, time);
            assert!(pose.translations[0].distance(Vec3::Y * 0.5) < 1e-6, "{interpolation:?} {time}");
            assert!(pose.rotations[0].dot(Quat::IDENTITY).abs() > 1.0 - 1e-6, "{interpolation:?} {time}");
        }
    }
}

#[test]
fn without_the_turn_only_the_way_is_taken_out() {
    let model = walker(Interpolation::Linear);
    let motion = RootMotion::new(&model, 0, ROOT, false).unwrap();
    let delta = motion.over(way(0.0, 2.0), LoopMode::Repeat);
    assert!(delta.translation.distance(Vec3::Z * 2.0) < 1e-6 && delta.rotation == Quat::IDENTITY);
    let pose = sample(&model, &motion.in_place().unwrap(), 1.0);
    assert!((2.0 * pose.rotations[0].y.atan2(pose.rotations[0].w) - FRAC_PI_2).abs() < 1e-6);
}

#[test]
fn root_motion_of_what_does_not_exist_is_refused() {
    let model = walker(Interpolation::Linear);
    let clip = RootMotion::new(&model, 1, ROOT, true).unwrap_err();
    let node = RootMotion::new(&model, 0, 9, true).unwrap_err();
    let texts = [clip.to_string(), node.to_string()];
    assert_eq!(texts, ["there is no clip 1; the model has 1", "there is no node 9; the model has 4"]);
}
