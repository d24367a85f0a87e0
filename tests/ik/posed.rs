//! What a modifier sees: matrices that follow every change, times, places.

use std::sync::{Arc, Mutex};

use glam::{DAffine3, DMat3, Mat3A};
use sinew::animate::Posed;

use super::*;

/// Calls a function of the test.
#[derive(Clone)]
struct Call<F>(F);

impl<F> std::fmt::Debug for Call<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Call")
    }
}

impl<F: FnMut(&mut Posed<'_>) + Clone + Send + Sync + 'static> Modifier for Call<F> {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        (self.0)(posed);
    }
}

fn call<F: FnMut(&mut Posed<'_>) + Clone + Send + Sync + 'static>(function: F) -> Call<F> {
    Call(function)
}

/// A node's matrix from local transforms alone, from the node to the root.
fn composed(posed: &Posed<'_>, node: u32, root: DAffine3) -> DAffine3 {
    let mut next = Some(node);
    let mut world = DAffine3::IDENTITY;
    while let Some(node) = next {
        let local = posed.local(node);
        let matrix3 =
            DMat3::from_quat(local.rotation.as_dquat()) * DMat3::from_diagonal(local.scale.as_dvec3());
        world = DAffine3 { matrix3, translation: local.translation.as_dvec3() } * world;
        next = posed.skeleton().parents()[node as usize];
    }
    root * world
}

/// Two trees, children partly before their parents.
fn forest() -> Model {
    let parents = [Some(3), Some(0), None, Some(2), Some(3), Some(4), None, Some(6), Some(7), Some(1)];
    model(parents.map(|parent| (parent, at(0.3, 1.0, -0.2))))
}

#[test]
fn matrices_follow_every_change_wherever_it_is_made() {
    let mut stage = Stage::new(forest());
    let conversion = Mat3A::from_quat(Quat::from_rotation_x(1.0));
    stage.animator.set_conversion(stage.id, conversion).unwrap();
    // Another instance whose matrices lie in the same memory.
    let other = stage.animator.spawn(stage.handle).unwrap();
    let checked = Arc::new(Mutex::new(0));
    for (id, seed) in [(stage.id, 1), (other, 2)] {
        let count = checked.clone();
        let root = if id == stage.id { conversion } else { Mat3A::IDENTITY };
        let root = DAffine3::from_mat3(root.as_dmat3());
        let mut random = noise(seed);
        let walk = call(move |posed| {
            for _ in 0..400 {
                let node = ((random() + 1.0) * 4.99) as u32;
                match ((random() + 1.0) * 3.0) as u32 {
                    0 => posed.set_rotation(node, Quat::from_xyzw(random(), random(), random(), 1.0)),
                    1 => posed.set_translation(node, Vec3::new(random(), random(), random())),
                    2 => posed.set_scale(node, Vec3::new(1.0 + random() * 0.3, 1.0, 0.9)),
                    _ => {
                        let (found, expected) = (posed.exact_world(node), composed(posed, node, root));
                        assert!(found.abs_diff_eq(expected, 1e-9), "{node}: {found} instead of {expected}");
                        let parent = posed.skeleton().parents()[node as usize];
                        let above = parent.map_or(root, |parent| composed(posed, parent, root));
                        assert!(posed.exact_parent(node).abs_diff_eq(above, 1e-9), "above {node}");
                        *count.lock().unwrap() += 1;
                    }
                }
            }
        });
        stage.animator.add_modifier(id, walk.clone()).unwrap();
        let second = stage.animator.add_modifier(id, walk).unwrap();
        stage.animator.set_modifier_weight(id, second, 0.5).unwrap();
    }
    for _ in 0..5 {
        stage.animator.evaluate();
    }
    assert!(*checked.lock().unwrap() > 2000);
}

#[test]
fn the_matrices_seen_are_those_of_the_hierarchy() {
    for levels in [4, 40] {
        let mut random = noise(7);
        let steps: Vec<_> = (0..levels).map(|_| Vec3::new(random(), 1.0, random()) * 0.3).collect();
        let mut stage = Stage::new(chain(&steps));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let out = seen.clone();
        stage.add(call(move |posed: &mut Posed<'_>| {
            posed.set_rotation(1, Quat::from_rotation_z(0.7));
            let nodes = 0..posed.skeleton().len() as u32;
            *out.lock().unwrap() = nodes.map(|node| posed.world(node)).collect();
        }));
        stage.animator.evaluate();
        for (seen, shown) in seen.lock().unwrap().iter().zip(stage.animator.world(stage.id).unwrap()) {
            assert!(seen.abs_diff_eq(*shown, 2e-6), "{seen} instead of {shown}");
        }
    }
}

#[test]
fn a_node_that_does_not_exist_reads_as_the_identity_and_takes_nothing() {
    let mut stage = Stage::new(chain(&[Vec3::ZERO, Vec3::Y]));
    stage.animator.evaluate();
    let before = stage.pose();
    stage.add(call(|posed: &mut Posed<'_>| {
        for node in [2, 99, u32::MAX] {
            posed.set_local(node, at(1.0, 2.0, 3.0));
            posed.set_translation(node, Vec3::X);
            posed.set_rotation(node, Quat::from_rotation_x(1.0));
            posed.set_scale(node, Vec3::ZERO);
            assert_eq!(posed.local(node), Transform::IDENTITY);
            assert_eq!(
                (posed.world(node), posed.exact_parent(node)),
                (Affine3A::IDENTITY, DAffine3::IDENTITY)
            );
        }
        posed.set_weight(1, 0.5);
        posed.set_weight(usize::MAX, 0.5);
    }));
    stage.animator.evaluate();
    assert_eq!(stage.pose(), before);
}

#[test]
fn morph_weights_can_be_driven() {
    let mut stage = Stage::new(chain(&[Vec3::ZERO, Vec3::Y]));
    let id = stage.add(call(|posed: &mut Posed<'_>| posed.set_weight(0, posed.weights()[0] + 0.5)));
    stage.animator.set_weight(stage.id, 0, 0, 0.25).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.animator.weights(stage.id).unwrap(), [0.75]);
    stage.animator.set_modifier_weight(stage.id, id, 0.5).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.animator.weights(stage.id).unwrap(), [0.5]);
}

#[test]
fn seconds_are_those_advanced_since_the_evaluation_before() {
    let mut stage = Stage::new(chain(&[Vec3::ZERO, Vec3::Y]));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let out = seen.clone();
    stage.add(call(move |posed: &mut Posed<'_>| {
        out.lock().unwrap().push((posed.is_first(), posed.seconds()));
    }));
    let id = stage.id;
    let animator = &mut stage.animator;
    animator.advance(0.5);
    animator.evaluate();
    animator.evaluate();
    animator.advance(0.25);
    animator.advance(0.5);
    animator.refresh(id).unwrap();
    animator.evaluate();
    animator.advance(-0.125);
    animator.advance(f64::NAN);
    animator
        .evaluate_into(&mut vec![sinew::animate::JointMatrix::IDENTITY; animator.palette_rows()])
        .unwrap();
    animator.forget_previous(id).unwrap();
    animator.advance(0.5);
    animator.evaluate();
    animator.advance(0.5);
    animator.evaluate();
    let expected = [
        (true, 0.0),
        (false, 0.0),
        (false, 0.0), // refresh
        (false, 0.75),
        (false, 0.125),
        (true, 0.0), // told to forget
        (false, 0.5),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn a_modifier_that_did_not_run_is_as_at_first() {
    let mut stage = Stage::new(chain(&[Vec3::ZERO, Vec3::Y]));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let out = seen.clone();
    let id = stage.add(call(move |posed: &mut Posed<'_>| out.lock().unwrap().push(posed.is_first())));
    for weight in [1.0, 0.5, 0.0, 0.0, 0.5, 1.0] {
        stage.animator.set_modifier_weight(stage.id, id, weight).unwrap();
        stage.step(0.1);
    }
    assert_eq!(*seen.lock().unwrap(), [true, false, true, false]);
}

#[test]
fn the_place_of_the_instance_is_known() {
    let mut stage = Stage::new(chain(&[Vec3::ZERO, Vec3::Y]));
    let other = stage.animator.spawn(stage.handle).unwrap();
    let place = |x: f32| Affine3A::from_rotation_translation(Quat::from_rotation_y(x), Vec3::X * x);
    for (x, id) in [(1.0, stage.id), (2.0, other)] {
        stage.animator.set_transform(id, place(x)).unwrap();
        let is_there = move |posed: &mut Posed<'_>| {
            assert_eq!(posed.transform(), place(x));
            posed.set_translation(0, Vec3::Z);
        };
        stage.animator.add_modifier(id, call(is_there)).unwrap();
    }
    stage.animator.evaluate();
    assert_eq!(stage.place(0), Vec3::Z);
}
