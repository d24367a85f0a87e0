//! Keys and time.

use glam::{Quat, Vec3};
use serde_json::json;
use sinew::{
    Animator, InstanceId, Model,
    animate::{CompressOptions, CompressedClips, JointMatrix, LayerKind},
};

use crate::{EXACT, assert_near, at, common::glb::Glb, set_channel, set_influences};

/// The file's last joint, as the palette has it: there are no inverse binds.
fn joint(animator: &Animator, id: InstanceId) -> JointMatrix {
    animator.palette(id).unwrap()[1]
}

fn position(animator: &Animator, id: InstanceId) -> Vec3 {
    let joint = joint(animator, id);
    Vec3::new(joint.x[3], joint.y[3], joint.z[3])
}

fn spawn(model: &Model) -> (Animator, InstanceId) {
    let mut animator = Animator::new();
    let id = animator.add_model(model);
    let id = animator.spawn(id).unwrap();
    (animator, id)
}

#[test]
fn a_joint_scaled_to_zero_takes_its_vertices_to_itself() {
    let mut glb = Glb::triangle();
    set_influences(&mut glb, 0, [1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]);
    // A channel takes the place of this, and is not added to it.
    glb.json["nodes"][2]["scale"] = json!([2, 2, 2]);
    set_channel(&mut glb, 2, "scale", "VEC3", &[0.0, 1.0], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    for (time, x) in [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)] {
        for found in at(&glb, time) {
            let vertices = found.first();
            assert_near(vertices.positions[0], [0.0, 1.0, 0.0], EXACT, &found.name);
            assert_near(vertices.positions[1], [x, 1.0, 0.0], EXACT, &found.name);
            assert!(vertices.normals.iter().all(|normal| normal.is_finite()), "{}", found.name);
        }
    }
}

#[test]
fn rotations_of_opposite_sign_turn_the_short_way() {
    let mut glb = Glb::triangle();
    let there = -Quat::from_rotation_z(1.0);
    set_channel(
        &mut glb,
        2,
        "rotation",
        "VEC4",
        &[0.0, 1.0],
        &[Quat::IDENTITY.to_array(), there.to_array()].concat(),
    );
    let model = glb.model();
    let compressed = CompressedClips::new(&model, &CompressOptions::default());
    let angle = |animator: &Animator, id| {
        let joint = joint(animator, id);
        joint.y[0].atan2(joint.x[0])
    };
    for packed in [false, true] {
        let (mut animator, id) = spawn(&model);
        let handle = animator.model_of(id).unwrap();
        animator.set_compressed(handle, packed.then(|| compressed.clone())).unwrap();
        animator.play(id, 0).unwrap().seek(0.5);
        animator.evaluate();
        let found = angle(&animator, id);
        assert!((found - 0.5).abs() < 2e-4, "compressed: {packed}: {found}");
    }
    // Layers at both ends, which are summed and normalised.
    let (mut animator, id) = spawn(&model);
    for time in [0.0, 1.0] {
        animator.add_layer(id, 0, LayerKind::Blend).unwrap().player.seek(time);
    }
    animator.evaluate();
    let found = angle(&animator, id);
    assert!((found - 0.5).abs() < 1e-6, "layers: {found}");
}

#[test]
fn one_key_is_a_constant_in_every_interpolation() {
    for (interpolation, values) in [
        ("STEP", vec![3.0, 0.0, 0.0]),
        ("LINEAR", vec![3.0, 0.0, 0.0]),
        ("CUBICSPLINE", vec![9.0, 9.0, 9.0, 3.0, 0.0, 0.0, 8.0, 8.0, 8.0]),
    ] {
        let mut glb = Glb::triangle();
        set_channel(&mut glb, 2, "translation", "VEC3", &[0.5], &values);
        glb.json["animations"][0]["samplers"][0]["interpolation"] = interpolation.into();
        let (mut animator, id) = spawn(&glb.model());
        animator.play(id, 0).unwrap();
        for step in [0.0, 0.25, 0.25, 0.3, 17.0] {
            animator.advance(step);
            animator.evaluate();
            let translation = position(&animator, id);
            assert_eq!(translation, Vec3::X * 3.0, "{interpolation} after {step}");
        }
    }
}

#[test]
fn a_looping_clip_without_duration_stays_at_its_only_time() {
    let mut glb = Glb::triangle();
    set_channel(&mut glb, 2, "translation", "VEC3", &[0.0], &[3.0, 0.0, 0.0]);
    let (mut animator, id) = spawn(&glb.model());
    for speed in [1.0, -1.0] {
        animator.play(id, 0).unwrap().speed = speed;
        animator.advance(0.3);
        animator.evaluate();
        assert_eq!(animator.player(id).unwrap().unwrap().time(), 0.0);
        assert_eq!(position(&animator, id), Vec3::X * 3.0);
    }
}

#[test]
fn a_clip_played_backwards_wraps_and_steps_by_time() {
    let mut glb = Glb::triangle();
    let keys = [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    set_channel(&mut glb, 2, "translation", "VEC3", &[0.0, 0.5, 1.0], &keys);
    glb.json["animations"][0]["samplers"][0]["interpolation"] = "STEP".into();
    let (mut animator, id) = spawn(&glb.model());
    animator.play(id, 0).unwrap().speed = -1.0;
    // At 0 exactly it is the first key, not the last.
    for (step, time, x) in
        [(0.0, 0.0, 1.0), (0.25, 0.75, 2.0), (0.25, 0.5, 2.0), (0.25, 0.25, 1.0), (0.25, 0.0, 1.0)]
    {
        animator.advance(step);
        animator.evaluate();
        let found = position(&animator, id).x;
        assert_eq!((animator.player(id).unwrap().unwrap().time(), found), (time, x));
    }
}
