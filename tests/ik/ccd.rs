//! Chains against stored results of three.js; `tests/oracle/README.md` says how those are made.

use serde_json::Value;
use sinew::ik::{Ccd, Chain, EulerBounds, EulerOrder, Link, Target};

use super::*;

/// What components of rotations, and positions per metre, may be away from three.js.
const TOLERANCE: f32 = 1e-5;

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

fn vector(value: &Value) -> Option<Vec3> {
    value.as_array().map(|_| Vec3::from_slice(&numbers(value)))
}

fn number(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32)
}

fn node(value: &Value) -> (Option<u32>, Transform) {
    let [parent, t @ ..] = &numbers(value)[..] else { panic!("empty") };
    let rest = Transform {
        translation: Vec3::from_slice(t),
        rotation: Quat::from_slice(&t[3..]),
        scale: Vec3::from_slice(&t[7..]),
    };
    ((*parent >= 0.0).then_some(*parent as u32), rest)
}

fn link(value: &Value) -> Link {
    let order = match value["order"].as_str() {
        Some("YZX") => EulerOrder::Yzx,
        Some("ZXY") => EulerOrder::Zxy,
        Some("XZY") => EulerOrder::Xzy,
        Some("YXZ") => EulerOrder::Yxz,
        Some("ZYX") => EulerOrder::Zyx,
        _ => EulerOrder::Xyz,
    };
    Link {
        node: value["node"].as_u64().unwrap() as u32,
        enabled: value["enabled"].as_bool().unwrap_or(true),
        axis: vector(&value["axis"]),
        bounds: value["order"].as_str().map(|_| EulerBounds {
            order,
            min: vector(&value["min"]),
            max: vector(&value["max"]),
        }),
    }
}

fn chain_of(value: &Value) -> Chain {
    Chain {
        effector: value["effector"].as_u64().unwrap() as u32,
        links: value["links"].as_array().unwrap().iter().map(link).collect(),
        target: Target::Node(value["target"].as_u64().unwrap() as u32),
        iterations: value["iterations"].as_u64().unwrap() as u32,
        min_angle: number(&value["min_angle"]),
        max_angle: number(&value["max_angle"]),
        blend: number(&value["blend"]),
        enabled: true,
    }
}

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("../oracle/ccd.json")).unwrap()
}

#[test]
fn every_stored_case_comes_out_as_in_three_js() {
    let (mut worst, mut turned) = (0.0f32, 0);
    let cases = cases();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let model = model(case["nodes"].as_array().unwrap().iter().map(node));
        let chains: Vec<Chain> = case["chains"].as_array().unwrap().iter().map(chain_of).collect();
        let mut solver = Ccd::new(model.skeleton(), chains).unwrap();
        solver.set_blend(number(&case["blend"]).unwrap()).unwrap();
        if let Some(only) = case["only"].as_u64() {
            let count = solver.chains().len();
            (0..count).for_each(|i| solver.enable_chain(i, i as u64 == only).unwrap());
        }
        let rest = model.skeleton().rest().to_vec();
        let mut stage = Stage::new(model);
        stage.add(solver);
        stage.animator.evaluate();
        for (node, expected) in (0u32..).zip(case["rotations"].as_array().unwrap()) {
            let (expected, found) = (Quat::from_slice(&numbers(expected)), stage.rotation(node));
            let expected = if expected.dot(found) < 0.0 { -expected } else { expected };
            let error = (expected - found).to_array().into_iter().fold(0.0, |a: f32, b| a.max(b.abs()));
            worst = worst.max(error);
            turned += u32::from(found.angle_between(rest[node as usize].rotation) > 1e-3);
            assert!(error < TOLERANCE, "{name}: node {node} is {found}, not {expected}: {error}");
        }
    }
    println!("{} cases of three.js, {turned} joints turned: worst component {worst:e}", cases.len());
    assert!(cases.len() >= 20 && turned > 100);
}

/// A joint with an effector a metre along x, and a target at an angle from there.
fn at_an_angle(angle: f32) -> (Stage, Vec<Transform>) {
    let model = model([(None, Transform::IDENTITY), (Some(0), at(1.0, 0.0, 0.0))]);
    let target = Target::Model(Vec3::new(1.0, angle, 0.0));
    let solver = Ccd::new(model.skeleton(), [Chain::new(1, [0], target)]).unwrap();
    let mut stage = Stage::new(model);
    stage.animator.evaluate();
    let before = stage.pose();
    stage.add(solver);
    stage.animator.evaluate();
    (stage, before)
}

#[test]
fn a_turn_under_a_hundred_thousandth_is_left_out_to_the_bit() {
    let (stage, before) = at_an_angle(9.9e-6);
    assert_eq!(stage.pose(), before);
    let (stage, _) = at_an_angle(1.1e-5);
    assert!((stage.rotation(0).z - 5.5e-6).abs() < 1e-9, "{}", stage.rotation(0));
}

#[test]
fn where_the_target_is_on_a_link_or_straight_behind_it_the_pose_stays_finite() {
    // three.js leaves a rotation that is none in these cases.
    for (target, end) in [(Vec3::ZERO, Vec3::X), (Vec3::X * -3.0, Vec3::NEG_X), (Vec3::X, Vec3::X)] {
        let model = model([(None, Transform::IDENTITY), (Some(0), at(1.0, 0.0, 0.0))]);
        let chain = Chain { iterations: 3, ..Chain::new(1, [0], Target::Model(target)) };
        let solver = Ccd::new(model.skeleton(), [chain]).unwrap();
        let mut stage = Stage::new(model);
        stage.add(solver);
        stage.animator.evaluate();
        near(stage.place(1), end, 1e-6);
    }
}

#[test]
fn a_solver_solves_one_chain_when_a_modifier_asks_for_it() {
    #[derive(Clone, Debug)]
    struct Second(Ccd);
    impl Modifier for Second {
        fn apply(&mut self, posed: &mut sinew::animate::Posed<'_>) {
            self.0.solve(1, posed).unwrap();
            assert!(self.0.solve(2, posed).is_err());
        }
    }
    let model =
        model([(None, Transform::IDENTITY), (Some(0), at(1.0, 0.0, 0.0)), (Some(0), at(0.0, 1.0, 0.0))]);
    let chain = |effector, target| Chain::new(effector, [0], Target::Model(target));
    // The second is not enabled, which is no matter for whoever asks for it.
    let chains = [chain(1, Vec3::Z), Chain { enabled: false, ..chain(2, Vec3::X) }];
    let solver = Ccd::new(model.skeleton(), chains).unwrap();
    let mut stage = Stage::new(model);
    stage.add(Second(solver));
    stage.animator.evaluate();
    near(stage.place(2), Vec3::X, 1e-6);
}

#[test]
fn no_pose_and_no_limits_make_nan() {
    let sizes = [0.0, 1e-30, 1e-6, 1.0, -1.0, 1e6, 1e18];
    let mut random = noise(41);
    let mut size = move || sizes[((random() + 1.0) * 3.49) as usize];
    let mut other = noise(42);
    for _ in 0..500 {
        let mut stage =
            Stage::new(chain(&[Vec3::ZERO, Vec3::Y * size(), Vec3::X * size(), Vec3::Z * size()]));
        for node in 0..4 {
            stage.animator.set_scale(stage.id, node, Vec3::new(size(), size(), size())).unwrap();
        }
        let link = |node| Link {
            axis: Some(Vec3::new(1.0, other(), 0.0)),
            bounds: Some(EulerBounds {
                min: Some(Vec3::splat(-0.5)),
                max: Some(Vec3::splat(f32::MAX)),
                ..Default::default()
            }),
            ..Link::new(node)
        };
        let links = [2, 1, 0].map(link).to_vec();
        let target = Target::Model(Vec3::new(size(), size(), size()));
        let chain = Chain { links, iterations: 4, ..Chain::new(3, [0], target) };
        stage.add(Ccd::new(stage.model.skeleton(), [chain]).unwrap());
        stage.animator.evaluate();
        assert!(stage.pose().iter().all(|local| local.is_finite()), "{:?}", stage.pose());
    }
}
