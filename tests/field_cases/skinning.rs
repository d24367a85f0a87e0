//! Palettes, weights and what becomes of normals.

use std::{collections::BTreeMap, f32::consts::FRAC_1_SQRT_2, num::NonZeroU32};

use glam::Vec3;
use serde_json::json;
use sinew::{Animator, Model, import::ImportOptions};

use crate::{
    EXACT, assert_near, at, at_rest,
    common::glb::{Glb, UNSIGNED_BYTE, UNSIGNED_SHORT},
    set_influences, set_tangents, set_vectors,
};

/// Everything on the first joint, whose node's transform is `rest`.
fn on_root(rest: serde_json::Value) -> Glb {
    let mut glb = Glb::triangle();
    set_influences(&mut glb, 0, [0; 4], [1.0, 0.0, 0.0, 0.0]);
    glb.json["nodes"][1] = rest;
    glb.json["nodes"][1]["children"] = json!([2]);
    glb
}

#[test]
fn a_normal_under_a_stretched_joint_stays_perpendicular_to_its_surface() {
    let mut glb = on_root(json!({ "scale": [1, 4, 1] }));
    set_vectors(&mut glb, "NORMAL", [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0]);
    set_tangents(&mut glb, [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0, 1.0]);
    for found in at_rest(&glb) {
        let (normal, tangent) = (found.first().normals[1], found.first().tangents[1]);
        assert_near(normal, [0.970_142_5, 0.242_535_63, 0.0], found.tolerance, &found.name);
        assert_near(tangent.truncate(), [0.242_535_63, -0.970_142_5, 0.0], found.tolerance, &found.name);
    }
}

#[test]
fn a_mirroring_joint_turns_normal_and_handedness() {
    let mut glb = on_root(json!({ "scale": [-1, 1, 1] }));
    set_vectors(&mut glb, "NORMAL", [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0]);
    set_tangents(&mut glb, [0.0, 0.0, 1.0, 1.0]);
    for found in at_rest(&glb) {
        let normal = found.first().normals[0];
        assert_near(normal, [-FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0], found.tolerance, &found.name);
        // Exact vertices carry the sign of the determinant beside the source's handedness.
        let sign = if found.tolerance == EXACT { 1.0 } else { -1.0 };
        assert_eq!(found.first().tangents[0].w, sign, "{}", found.name);
    }
}

#[test]
fn a_vertex_without_weight_is_counted_and_follows_its_first_joint() {
    let mut glb = on_root(json!({ "translation": [5, 0, 0] }));
    // The first vertex lists joint 0 first.
    let joints = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    let weights = glb.floats("VEC4", &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    glb.set_attribute("JOINTS_0", joints);
    glb.set_attribute("WEIGHTS_0", weights);
    let model = glb.model();
    let message = &model.diagnostics().iter().find(|d| d.code == "weights-zero").unwrap().message;
    assert!(message.starts_with("1 vertex without weights"), "{message}");
    for found in at_rest(&glb) {
        assert_near(found.first().positions[0], [5.0, 0.0, 0.0], EXACT, &found.name);
        assert!(found.first().normals[0].is_finite(), "{}", found.name);
    }
}

#[test]
fn rounded_integer_weights_leave_no_offset_a_hundred_metres_away() {
    // A quarter each, rounded: together 256 of 255, and 65536 of 65535.
    for (component, bytes) in [(UNSIGNED_BYTE, vec![64; 12]), (UNSIGNED_SHORT, [0, 64].repeat(12))] {
        let mut glb = on_root(json!({ "translation": [100, 0, 0] }));
        glb.json["nodes"][2] = json!({});
        glb.json["nodes"].as_array_mut().unwrap().extend([json!({}), json!({})]);
        glb.json["nodes"][1]["children"] = json!([2, 3, 4]);
        glb.json["skins"][0]["joints"] = json!([1, 2, 3, 4]);
        let joints = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[0, 1, 2, 3].repeat(3));
        let weights = glb.bytes_of(component, "VEC4", 3, &bytes);
        glb.json["accessors"][weights]["normalized"] = true.into();
        glb.set_attribute("JOINTS_0", joints);
        glb.set_attribute("WEIGHTS_0", weights);
        for found in at_rest(&glb) {
            // Half a step of f32 at a hundred metres, several times.
            assert_near(found.first().positions[0], [100.0, 0.0, 0.0], 2e-5, &found.name);
        }
    }
}

/// Nine joints in a row along x, a metre apart, without inverse binds.
fn row_of_joints() -> Glb {
    let mut glb = Glb::triangle();
    let nodes = (0..9).map(|joint| json!({ "translation": [joint, 0, 0] }));
    glb.json["nodes"] = json!([{ "mesh": 0, "skin": 0 }]);
    glb.json["nodes"].as_array_mut().unwrap().extend(nodes);
    glb.json["scenes"] = json!([{ "nodes": (0..10).collect::<Vec<_>>() }]);
    glb.json["skins"][0]["joints"] = (1..10).collect::<Vec<u32>>().into();
    glb.json["animations"] = json!([]);
    glb
}

#[test]
fn a_vertex_with_weights_only_in_its_third_set_follows_that_joint() {
    let mut glb = row_of_joints();
    set_influences(&mut glb, 0, [1, 0, 0, 0], [0.0; 4]);
    set_influences(&mut glb, 1, [2, 0, 0, 0], [0.0; 4]);
    set_influences(&mut glb, 2, [5, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]);
    for found in at_rest(&glb) {
        assert_near(found.first().positions[0], [5.0, 0.0, 0.0], EXACT, &found.name);
    }
}

#[test]
fn with_a_limit_of_influences_the_strongest_of_all_sets_are_kept() {
    let mut glb = row_of_joints();
    set_influences(&mut glb, 0, [1, 0, 0, 0], [0.0; 4]);
    set_influences(&mut glb, 1, [2, 3, 4, 0], [0.1, 0.2, 0.1, 0.0]);
    set_influences(&mut glb, 2, [5, 0, 0, 0], [0.6, 0.0, 0.0, 0.0]);
    let options = |most| ImportOptions { most_influences: NonZeroU32::new(most), ..Default::default() };
    let first = |most| {
        let model = Model::from_bytes(&glb.to_bytes(), &options(most)).unwrap();
        let primitive = &model.meshes()[0].primitives()[0];
        let row = primitive.influences().unwrap().row(primitive.deformed_vertices()[0] as usize).to_vec();
        let found: Vec<_> =
            model.diagnostics().iter().filter(|d| d.code == "influences-cut").cloned().collect();
        (row, found)
    };
    let (row, found) = first(2);
    assert_eq!(row.iter().map(|i| i.joint).collect::<Vec<_>>(), [5, 3]);
    assert!((row[0].weight - 0.75).abs() < 1e-6 && (row[1].weight - 0.25).abs() < 1e-6);
    let numbers: BTreeMap<_, _> = found[0].numbers.iter().copied().collect();
    assert_eq!((numbers["vertices"], numbers["influences"]), (3.0, 2.0));
    assert!((numbers["weight"] - 0.1).abs() < 1e-6, "the largest that was left out");
    for most in [0, 4, 8] {
        let (row, found) = first(most);
        assert!(row.len() == 4 && found.is_empty(), "{most}");
    }
}

#[test]
fn the_strongest_influences_count_in_whichever_set_they_are() {
    let mut glb = row_of_joints();
    set_influences(&mut glb, 0, [0, 1, 2, 3], [0.0625; 4]);
    set_influences(&mut glb, 1, [4, 5, 6, 7], [0.0625; 4]);
    set_influences(&mut glb, 2, [8, 0, 0, 0], [0.5, 0.0, 0.0, 0.0]);
    for found in at_rest(&glb) {
        // (0 + 1 + .. + 7) / 16 + 8 / 2; packed weights are off by less than a step of 1/65535 each.
        assert_near(found.first().positions[0], [5.75, 0.0, 0.0], found.tolerance, &found.name);
    }
}

#[test]
fn joints_outside_the_scene_animate_and_are_warned_of_once() {
    let mut glb = Glb::triangle();
    glb.json["scenes"][0]["nodes"] = json!([0]);
    assert_eq!(glb.codes(), ["joints-outside-scene"]);
    // Half a turn about z, a metre up.
    for found in at(&glb, 1.0) {
        let last = found.first().positions[2];
        assert_near(last, [0.0, 0.0, 0.0], EXACT, &found.name);
    }
}

#[test]
fn a_skinned_mesh_nodes_transform_and_a_wrong_skeleton_change_no_bit() {
    let plain = Glb::triangle();
    let mut moved = Glb::triangle();
    moved.json["nodes"][0]["translation"] = json!([100, 0, 0]);
    let nodes = moved.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "children": [0], "scale": [5, 5, 5] }));
    moved.json["scenes"][0]["nodes"] = json!([3, 1]);
    moved.json["skins"][0]["skeleton"] = 2.into();
    let palette = |glb: &Glb| {
        let mut animator = Animator::new();
        let id = animator.add_model(&glb.model());
        let id = animator.spawn(id).unwrap();
        animator.play(id, 0).unwrap().seek(0.4);
        animator.evaluate();
        animator.palette(id).unwrap().to_vec()
    };
    assert_eq!(palette(&plain), palette(&moved));
    for (plain, moved) in at(&plain, 0.4).iter().zip(at(&moved, 0.4)) {
        assert_eq!(plain.first(), moved.first(), "{}", plain.name);
    }
}

#[test]
fn the_last_of_600_and_of_1484_joints_moves_its_vertices() {
    for joints in [600u16, 1484] {
        let mut glb = Glb::triangle();
        let last = usize::from(joints);
        glb.json["nodes"] = json!([{ "mesh": 0, "skin": 0 }]);
        glb.json["nodes"].as_array_mut().unwrap().extend((0..joints).map(|_| json!({})));
        glb.json["nodes"][last]["translation"] = json!([0, 7, 0]);
        glb.json["scenes"] = json!([{ "nodes": (0..=last).collect::<Vec<_>>() }]);
        glb.json["skins"][0]["joints"] = (1..=last).collect::<Vec<_>>().into();
        glb.json["animations"] = json!([]);
        set_influences(&mut glb, 0, [joints - 1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]);
        for found in at_rest(&glb) {
            let expected = [Vec3::Y * 7.0, Vec3::new(1.0, 7.0, 0.0), Vec3::Y * 8.0];
            assert_eq!(found.first().positions, expected, "{joints} joints, {}", found.name);
        }
    }
}
