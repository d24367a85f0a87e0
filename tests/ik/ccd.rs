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
