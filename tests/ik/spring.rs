//! Springs: at rest, in closed form, at any frame rate.

use sinew::ik::{Spring, SpringJoint};

use super::*;

/// A rope of bones along x, each half a metre.
fn rope(bones: usize) -> Stage {
    Stage::new(chain(&[&[Vec3::Y * 2.0][..], &vec![Vec3::X * 0.5; bones]].concat()))
}

fn spring(stage: &mut Stage, joint: SpringJoint) -> ModifierId {
    let last = stage.model.skeleton().len() as u32 - 1;
    let spring = Spring::new(stage.model.skeleton(), 0, last, joint).unwrap();
    stage.add(spring)
}

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

#[test]
fn what_is_at_rest_stays_at_rest_bit_for_bit() {
    let joints = [
        SpringJoint::default(),
        SpringJoint { stiffness: 0.0, damping: 0.0, gravity: Vec3::ZERO },
        SpringJoint { stiffness: 1e9, damping: 1e3, gravity: Vec3::ZERO },
        SpringJoint { stiffness: 0.0, damping: 5.0, gravity: Vec3::ZERO },
    ];
    for joint in joints {
        let mut stage = rope(4);
        let mut random = noise(31);
        for node in 0..5 {
            let turn = Quat::from_xyzw(random(), random(), random(), random());
            stage.animator.set_rotation(stage.id, node, turn).unwrap();
        }
        let place =
            Affine3A::from_rotation_translation(Quat::from_rotation_y(0.7), Vec3::new(3.1, 0.2, -7.7));
        stage.animator.set_transform(stage.id, place).unwrap();
        stage.animator.evaluate();
        let before = stage.pose();
        spring(&mut stage, joint);
        for frame in 0..50 {
            stage.step([1.0 / 60.0, 1.0 / 144.0, 0.3, 0.0][frame % 4]);
            assert_eq!(stage.pose(), before, "{joint:?}, frame {frame}");
        }
    }
}

#[test]
fn under_gravity_it_comes_to_hang_where_all_forces_are_even() {
    for (stiffness, gravity) in [(0.0, GRAVITY), (30.0, GRAVITY), (5.0, Vec3::new(2.0, -1.0, 4.0))] {
        let mut stage = rope(3);
        spring(&mut stage, SpringJoint { stiffness, damping: 4.0, gravity });
        for _ in 0..3000 {
            stage.step(1.0 / 60.0);
        }
        // The pull of the spring, stiffness times half a metre towards the animated direction, and gravity together
        // point along the bone. That direction is the one before it, of which the bone is the straight continuation.
        let mut animated = Vec3::X;
        for node in 0..3 {
            let bone = (stage.place(node + 1) - stage.place(node)).normalize();
            let hang = (animated * 0.5 * stiffness + gravity).normalize();
            near(bone, hang, 2e-6);
            animated = bone;
        }
    }
}

#[test]
fn lengths_stay_however_it_swings() {
    let mut stage = rope(4);
    spring(&mut stage, SpringJoint { stiffness: 3.0, damping: 0.1, gravity: GRAVITY * 5.0 });
    let mut random = noise(2);
    for _ in 0..300 {
        let place = Affine3A::from_translation(Vec3::new(random(), random(), random()) * 3.0);
        stage.animator.set_transform(stage.id, place).unwrap();
        stage.step(f64::from(random().abs()) * 0.1);
        for node in 0..4 {
            let length = stage.place(node).distance(stage.place(node + 1));
            assert!((length - 0.5).abs() < 1e-6, "{length}");
        }
    }
}

/// Where the tip of a rope is after each sixth of a second.
fn tips(bones: usize, joint: SpringJoint, rate: u32) -> Vec<Vec3> {
    let mut stage = rope(bones);
    spring(&mut stage, joint);
    let mut tips = Vec::new();
    for frame in 0..=rate * 3 {
        // Its root goes round in the scene.
        let angle = frame as f32 / rate as f32 * 2.0;
        let place = Affine3A::from_translation(Vec3::new(angle.sin(), 0.0, angle.cos()) * 0.3);
        stage.animator.set_transform(stage.id, place).unwrap();
        stage.step(1.0 / f64::from(rate));
        if frame % (rate / 6) == 0 {
            tips.push(stage.place(bones as u32));
        }
    }
    tips
}

fn furthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn a_spring_at_30_frames_a_second_swings_as_at_960() {
    let joint = SpringJoint { stiffness: 60.0, damping: 3.0, gravity: GRAVITY };
    // One bone: only the way of its root between two frames differs, which is a line at 30 a second.
    // Three: also those of the bones, each the root of the next.
    for (bones, bound) in [(1, 3e-4), (3, 0.02)] {
        let reference = tips(bones, joint, 960);
        for rate in [30, 60, 120, 144] {
            let apart = furthest(&tips(bones, joint, rate), &reference);
            println!("{bones} bones of 0.5 m at {rate} frames a second: at most {apart} m from 960");
            assert!(apart < bound, "{bones} bones at {rate}: {apart}");
        }
        assert!(furthest(&tips(bones, joint, 30), &tips(bones, joint, 120)) < bound);
    }
}

/// Small swings of a single bone follow the closed form of a damped oscillator.
#[test]
fn small_swings_are_those_of_a_damped_oscillator() {
    for (stiffness, damping) in [(40.0f32, 1.0f32), (100.0, 20.0), (9.0, 12.0)] {
        let mut stage = rope(1);
        spring(&mut stage, SpringJoint { stiffness, damping, gravity: Vec3::ZERO });
        stage.step(0.0);
        // The animation turns by a hundredth at once; where the end was is then that far from its target.
        stage.animator.set_rotation(stage.id, 0, Quat::from_rotation_z(0.01)).unwrap();
        // The target takes a frame to get there.
        stage.step(1e-4);
        let half = f64::from(damping) / 2.0;
        let square = f64::from(stiffness) - half * half;
        for frame in 1..120 {
            stage.step(1.0 / 120.0);
            let t = f64::from(frame) / 120.0 + 0.5e-4;
            let swing = match square {
                s if s > 1e-9 => (s.sqrt() * t).cos() + half * (s.sqrt() * t).sin() / s.sqrt(),
                s if s < -1e-9 => {
                    let r = (-s).sqrt();
                    (r * t).cosh() + half * (r * t).sinh() / r
                }
                _ => 1.0 + half * t,
            };
            let expected = 0.01 - 0.01 * (-half * t).exp() * swing;
            let way = stage.place(1) - stage.place(0);
            let found = f64::from(way.y).atan2(f64::from(way.x));
            assert!(
                (found - expected).abs() < 1e-5,
                "{stiffness} {damping}, frame {frame}: {found}, {expected}"
            );
        }
    }
}

#[test]
fn an_undamped_pendulum_keeps_its_height_and_period() {
    // From the horizontal: the period of a mass point is 4 K(sin 45°) sqrt(l / g) with K = 1.8540746773.
    let mut stage = rope(1);
    spring(&mut stage, SpringJoint { stiffness: 0.0, damping: 0.0, gravity: GRAVITY });
    stage.step(0.0);
    let period = 4.0 * 1.854_074_677_3 * (0.5f64 / 9.81).sqrt();
    let frames = 1920;
    for swing in 1..=4 {
        for _ in 0..frames {
            stage.step(period / f64::from(frames));
        }
        near(stage.place(1), Vec3::new(0.5, 2.0, 0.0), 2e-4 * swing as f32);
    }
}

#[test]
fn it_starts_anew_when_told_to_forget_and_in_the_animated_pose() {
    let mut stage = rope(3);
    stage.animator.evaluate();
    let rest = stage.pose();
    spring(&mut stage, SpringJoint { stiffness: 20.0, damping: 1.0, gravity: GRAVITY });
    stage.step(1.0);
    assert_eq!(stage.pose(), rest, "the first evaluation");
    for _ in 0..20 {
        stage.step(1.0 / 60.0);
    }
    assert_ne!(stage.pose(), rest);
    stage.animator.set_transform(stage.id, Affine3A::from_translation(Vec3::X * 100.0)).unwrap();
    stage.animator.forget_previous(stage.id).unwrap();
    stage.step(1.0 / 60.0);
    assert_eq!(stage.pose(), rest, "after a teleport");
    stage.step(1.0 / 60.0);
    // A sixtieth of a second of gravity is a millimetre, not what a hundred metres would do.
    near(stage.place(3), Vec3::new(1.5, 2.0, 0.0), 0.01);
}

#[test]
fn refreshing_lets_no_time_pass() {
    let mut stage = rope(2);
    spring(&mut stage, SpringJoint { gravity: GRAVITY, ..Default::default() });
    for _ in 0..10 {
        stage.step(1.0 / 60.0);
    }
    let before = stage.place(2);
    for _ in 0..10 {
        stage.animator.advance(0.1);
        stage.animator.refresh(stage.id).unwrap();
        near(stage.place(2), before, 1e-6);
    }
}

#[test]
fn a_clone_swings_on_as_the_one_it_is_of() {
    let mut stage = rope(3);
    spring(&mut stage, SpringJoint { gravity: GRAVITY, ..Default::default() });
    for _ in 0..10 {
        stage.step(1.0 / 60.0);
    }
    let copy = stage.animator.clone_instance(stage.id).unwrap();
    for _ in 0..10 {
        stage.step(1.0 / 60.0);
        assert_eq!(stage.animator.world(copy).unwrap(), stage.animator.world(stage.id).unwrap());
    }
}

#[test]
fn no_numbers_make_it_unstable() {
    let numbers = [0.0, 1e-12, 1.0, 1e4, f32::MAX, f32::NAN, -5.0];
    let seconds = [0.0, 1e-9, 1.0 / 60.0, 0.5, 1e3, 1e300];
    for stiffness in numbers {
        for damping in numbers {
            for gravity in [GRAVITY, Vec3::splat(1e30), Vec3::NAN] {
                let mut stage = rope(3);
                spring(&mut stage, SpringJoint { stiffness, damping, gravity });
                for (frame, seconds) in seconds.into_iter().cycle().take(12).enumerate() {
                    let place = Affine3A::from_translation(Vec3::splat(frame as f32 * 1e3 + 0.1));
                    stage.animator.set_transform(stage.id, place).unwrap();
                    stage.step(seconds);
                    for node in 0..3 {
                        let length = stage.place(node).distance(stage.place(node + 1));
                        let what = (stiffness, damping, gravity, frame);
                        assert!((length - 0.5).abs() < 1e-5, "{what:?}: {length}");
                    }
                }
            }
        }
    }
}

#[test]
fn bones_without_a_length_and_scenes_without_a_volume_leave_the_pose_as_it_is() {
    let mut stage = Stage::new(chain(&[Vec3::Y, Vec3::ZERO, Vec3::ZERO]));
    stage.animator.evaluate();
    let rest = stage.pose();
    spring(&mut stage, SpringJoint { gravity: GRAVITY, ..Default::default() });
    for _ in 0..10 {
        stage.step(0.1);
        assert_eq!(stage.pose(), rest);
    }
    for scale in [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0)] {
        let mut stage = rope(3);
        stage.animator.evaluate();
        let rest = stage.pose();
        spring(&mut stage, SpringJoint { gravity: GRAVITY, ..Default::default() });
        stage.animator.set_transform(stage.id, Affine3A::from_scale(scale)).unwrap();
        for _ in 0..10 {
            stage.step(0.1);
        }
        assert_eq!(stage.pose(), rest, "{scale}");
        // And from where it has a volume again, it swings.
        stage.animator.set_transform(stage.id, Affine3A::IDENTITY).unwrap();
        for _ in 0..10 {
            stage.step(0.1);
        }
        assert!(stage.pose().iter().all(|local| local.is_finite()) && stage.pose() != rest);
    }
}

#[test]
fn in_a_steady_motion_it_lags_behind_by_its_damping() {
    let (stiffness, damping, velocity) = (50.0, 6.0, Vec3::new(0.0, 0.0, 2.0));
    let mut stage = rope(2);
    spring(&mut stage, SpringJoint { stiffness, damping, gravity: Vec3::ZERO });
    for frame in 0..1200 {
        let place = Affine3A::from_translation(velocity * (frame as f32 / 60.0));
        stage.animator.set_transform(stage.id, place).unwrap();
        stage.step(1.0 / 60.0);
    }
    let mut animated = Vec3::X;
    for node in 0..2 {
        let bone = (stage.place(node + 1) - stage.place(node)).normalize();
        near(bone, (animated * 0.5 * stiffness - velocity * damping).normalize(), 1e-4);
        animated = bone;
    }
}

#[test]
fn no_pose_makes_nan() {
    let sizes = [0.0, 1e-30, 1e-6, 1.0, -1.0, 1e6, 1e18];
    let mut random = noise(61);
    let mut size = move || sizes[((random() + 1.0) * 3.49) as usize];
    for _ in 0..100 {
        let mut stage = rope(3);
        spring(&mut stage, SpringJoint { stiffness: size(), damping: size(), gravity: Vec3::splat(size()) });
        for _ in 0..6 {
            for node in 0..4 {
                stage.animator.set_scale(stage.id, node, Vec3::new(size(), size(), size())).unwrap();
                stage.animator.set_translation(stage.id, node, Vec3::new(size(), size(), size())).unwrap();
            }
            stage.animator.set_transform(stage.id, Affine3A::from_scale(Vec3::splat(size()))).unwrap();
            stage.step(1.0 / 60.0);
            assert!(stage.pose().iter().all(|local| local.is_finite()), "{:?}", stage.pose());
        }
    }
}

/// Puts a node somewhere, before the springs.
#[derive(Clone, Debug)]
struct Throw(u32, Vec3);

impl Modifier for Throw {
    fn apply(&mut self, posed: &mut sinew::animate::Posed<'_>) {
        posed.set_translation(self.0, self.1);
    }
}

#[test]
fn a_spring_swings_again_after_frames_of_nan() {
    for what in [Vec3::NAN, Vec3::INFINITY, Vec3::NEG_INFINITY] {
        for (node, where_it_was) in [(0, Vec3::Y * 2.0), (1, Vec3::X * 0.5), (3, Vec3::X * 0.5)] {
            let mut stage = rope(3);
            let throw = stage.add(Throw(node, where_it_was));
            spring(&mut stage, SpringJoint { stiffness: 100.0, damping: 20.0, gravity: Vec3::ZERO });
            for _ in 0..3 {
                stage.step(1.0 / 60.0);
            }
            stage.animator.modifier_mut::<Throw>(stage.id, throw).unwrap().1 = what;
            for _ in 0..3 {
                stage.step(1.0 / 60.0);
            }
            stage.animator.modifier_mut::<Throw>(stage.id, throw).unwrap().1 = where_it_was;
            for _ in 0..300 {
                stage.step(1.0 / 60.0);
            }
            near(stage.place(3), Vec3::new(1.5, 2.0, 0.0), 1e-3);
        }
    }
}
