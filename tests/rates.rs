//! Instances that are evaluated every few frames: poses between evaluations, and the budget of a frame.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::crowd::{Crowd, LOOSE, PLAIN, Rig, Ways, all_ways, angle_about_z, bytes, furthest, rig, turning};
use glam::{Quat, Vec3};
use sinew::{
    InstanceId, Model,
    model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Track},
};

/// The arm's angle in degrees.
fn angle(crowd: &Crowd, id: InstanceId) -> f64 {
    angle_about_z(&crowd.animator.world(id).unwrap()[1])
}

/// Arms that turn a degree per frame, and a function that advances by a frame.
fn arms(count: u32, rate: u32) -> (Crowd, impl Fn(&mut Crowd)) {
    let crowd = Crowd::new(&turning(100.0), (0..count).map(|_| 0), Ways { keep_poses: true, rate, ..PLAIN });
    let step = |crowd: &mut Crowd| {
        crowd.animator.evaluate();
        crowd.animator.advance(0.01);
    };
    (crowd, step)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-3
}

#[test]
fn between_evaluations_local_poses_are_interpolated() {
    let (mut crowd, step) = arms(1, 4);
    let id = crowd.ids[0];
    let mut shown = Vec::new();
    for _ in 0..14 {
        step(&mut crowd);
        shown.push(angle(&crowd, id).round());
    }
    // Evaluated at 0 (its share of the first four frames is one), 1, 5, 9 and 13, and reached three later.
    assert_eq!(shown, [0., 0.25, 0.5, 0.75, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.].map(f64::round));
    assert_eq!(crowd.animator.rate(id).unwrap(), 4);
}

#[test]
fn a_rate_of_one_is_every_frame() {
    for rate in [0, 1] {
        let (mut crowd, step) = arms(1, 7);
        let id = crowd.ids[0];
        crowd.animator.set_rate(id, rate).unwrap();
        assert_eq!(crowd.animator.rate(id).unwrap(), 1);
        for frame in 0..9 {
            step(&mut crowd);
            assert!(near(angle(&crowd, id), f64::from(frame)), "{frame}");
        }
    }
}

#[test]
fn instances_of_one_rate_are_spread_over_its_frames() {
    let (mut crowd, step) = arms(8, 4);
    crowd.animator.set_frame_budget(Some(2));
    for _ in 0..3 {
        step(&mut crowd);
    }
    for _ in 0..20 {
        step(&mut crowd);
        assert!(crowd.animator.budget_satisfied(), "two of eight in each of four frames");
    }
}

#[test]
fn those_that_are_latest_come_first_when_the_budget_is_short() {
    let (mut crowd, step) = arms(4, 2);
    crowd.animator.set_frame_budget(Some(1));
    step(&mut crowd);
    assert!(crowd.animator.budget_satisfied(), "without a pose nobody waits");
    let mut last = vec![0; 4];
    for frame in 1..40 {
        let before: Vec<_> = crowd.ids.iter().map(|id| angle(&crowd, *id)).collect();
        step(&mut crowd);
        assert!(!crowd.animator.budget_satisfied() || frame < 3, "{frame}");
        let moved = crowd.ids.iter().zip(before).map(|(id, before)| !near(angle(&crowd, *id), before));
        for (last, _) in last.iter_mut().zip(moved).filter(|(_, moved)| *moved) {
            *last = frame;
        }
        assert!(last.iter().all(|last| frame < 8 || frame - last <= 4), "{frame}: {last:?}");
    }
    crowd.animator.set_frame_budget(None);
    step(&mut crowd);
    assert!(crowd.animator.budget_satisfied());
}

#[test]
fn a_budget_is_kept_the_same_way_on_every_run() {
    let model = rig(12);
    let run = || {
        let mut crowd = Crowd::new(&model, 0..40, Ways { rate: 3, ..PLAIN });
        crowd.animator.set_frame_budget(Some(5));
        crowd.after(17)
    };
    assert!(bytes(&run()) == bytes(&run()));
}

#[test]
fn a_cut_is_shown_at_once() {
    let (mut crowd, step) = arms(1, 50);
    let id = crowd.ids[0];
    for _ in 0..10 {
        step(&mut crowd);
    }
    crowd.animator.player_mut(id).unwrap().unwrap().seek(0.9);
    step(&mut crowd);
    assert!(angle(&crowd, id) < 10.0, "between two poses");
    crowd.animator.player_mut(id).unwrap().unwrap().seek(0.9);
    crowd.animator.refresh(id).unwrap();
    assert!(near(angle(&crowd, id), 90.0));
    crowd.animator.player_mut(id).unwrap().unwrap().seek(0.3);
    crowd.animator.forget_previous(id).unwrap();
    step(&mut crowd);
    assert!(near(angle(&crowd, id), 30.0));
}

#[test]
fn what_is_hidden_disappears_at_once_whatever_the_rate() {
    let (mut crowd, step) = arms(2, 40);
    let id = crowd.ids[0];
    for _ in 0..3 {
        step(&mut crowd);
    }
    crowd.animator.show_node(id, 1, false).unwrap();
    step(&mut crowd);
    assert_eq!(crowd.animator.world(id).unwrap()[1].matrix3.determinant(), 0.0);
    crowd.animator.show_node(id, 1, true).unwrap();
    step(&mut crowd);
    assert!(near(crowd.animator.world(id).unwrap()[1].matrix3.determinant().into(), 1.0));
}

#[test]
fn an_instance_that_is_told_more_is_interpolated_alike() {
    let model = rig(20);
    for ways in all_ways() {
        let plain = Crowd::new(&model, 0..9, Ways { rate: 4, ..ways }).after(11);
        let mut told = Crowd::new(&model, 0..9, Ways { rate: 4, ..ways });
        for &id in &told.ids {
            told.animator.show_node(id, LOOSE, false).unwrap();
        }
        let off = furthest(&told.after(11), &plain);
        assert!(off < 2e-5, "{off}");
    }
}

#[test]
fn rates_outlive_other_clips_and_instances_that_go() {
    let model = rig(20);
    let mut crowd = Crowd::new(&model, 0..9, Ways { rate: 4, ..PLAIN });
    crowd.frame();
    crowd.animator.despawn(crowd.ids.remove(2)).unwrap();
    crowd.frame();
    crowd.animator.set_compressed(crowd.model, Some(model.compressed.clone())).unwrap();
    crowd.animator.keep_poses(crowd.model, true).unwrap();
    crowd.frame();
    let ways = Ways { compressed: true, keep_poses: true, ..PLAIN };
    let expected = Crowd::new(&model, [0, 1, 3, 4, 5, 6, 7, 8], ways).after(3);
    assert!(bytes(&crowd.palettes()) == bytes(&expected), "evaluated anew");
    assert!(crowd.ids.iter().all(|id| crowd.animator.rate(*id).unwrap() == 4));
}

#[test]
fn a_first_frame_shows_what_an_evaluation_makes_whatever_the_rate() {
    let model = rig(20);
    for ways in all_ways() {
        let every = Crowd::new(&model, 0..9, ways).after(1);
        let seldom = Crowd::new(&model, 0..9, Ways { rate: 9, ..ways }).after(1);
        assert!(bytes(&every) == bytes(&seldom));
    }
}

#[test]
fn between_two_signs_of_a_rotation_the_shorter_arc_is_taken() {
    let skeleton = Skeleton::new(vec![Node::default(), Node { parent: Some(0), ..Node::default() }]).unwrap();
    let [from, to] = [0.0, 20.0f32].map(|angle| Quat::from_rotation_z(angle.to_radians()));
    let step = Track {
        node: 1,
        channel: Channel::Rotation,
        interpolation: Interpolation::Step,
        times: vec![0.0, 0.005, 1.0],
        values: [from, -to, -to].map(|q| q.to_array()).concat(),
        width: 4,
    };
    let clips = vec![Clip::new("step", vec![step]).unwrap()];
    let model = Rig::new(Model::new(ModelDesc { skeleton, clips, ..ModelDesc::default() }).unwrap());
    for told_more in [false, true] {
        let mut crowd = Crowd::new(&model, [0, 0], Ways { keep_poses: true, rate: 4, ..PLAIN });
        let id = crowd.ids[0];
        if told_more {
            crowd.animator.set_translation(id, 1, Vec3::ZERO).unwrap();
        }
        let shown = [(); 5].map(|()| {
            crowd.animator.evaluate();
            crowd.animator.advance(0.01);
            angle(&crowd, id)
        });
        // The second evaluation comes with the second frame; a line between both is a little off the arc.
        let expected = [0.0, 5.0, 10.0, 15.0, 20.0];
        assert!(shown.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.1), "{told_more}: {shown:?}");
    }
}

#[test]
fn those_of_one_rate_are_spread_even_when_other_rates_come_between() {
    let (mut crowd, step) = arms(8, 1);
    for (i, &id) in crowd.ids.iter().enumerate() {
        crowd.animator.set_rate(id, if i % 2 == 0 { 2 } else { 4 }).unwrap();
    }
    // Two of the four with rate 2 and one of the others in each frame.
    crowd.animator.set_frame_budget(Some(3));
    for _ in 0..3 {
        step(&mut crowd);
    }
    for frame in 0..20 {
        step(&mut crowd);
        assert!(crowd.animator.budget_satisfied(), "{frame}");
    }
}
