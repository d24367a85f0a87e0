//! Morph targets and their weights.

use std::f32::consts::FRAC_1_SQRT_2;

use serde_json::json;

use crate::{
    EXACT, assert_near, at, at_rest, common::glb::Glb, set_channel, set_influences, set_tangents, set_vectors,
};

/// The triangle with one target that the node's weight holds at 1.
fn morphed(attributes: &[(&str, [f32; 3])]) -> Glb {
    let mut glb = Glb::triangle();
    set_tangents(&mut glb, [1.0, 0.0, 0.0, -1.0]);
    let mut target = json!({});
    for (name, delta) in attributes {
        target[*name] = glb.floats("VEC3", &delta.repeat(3)).into();
    }
    glb.primitive()["targets"] = json!([target]);
    glb.json["nodes"][0]["weights"] = json!([1.0]);
    glb
}

#[test]
fn an_instance_without_a_channel_keeps_the_weight_of_its_mesh() {
    let mut glb = morphed(&[("POSITION", [4.0, 0.0, 0.0])]);
    glb.json["meshes"][0]["weights"] = json!([0.25]);
    // A second primitive of the mesh, which the same weights drive.
    let second = glb.primitive().clone();
    glb.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(second);
    glb.json["nodes"][0].as_object_mut().unwrap().remove("skin");
    glb.json["nodes"][1]["mesh"] = 0.into();
    set_channel(&mut glb, 0, "weights", "SCALAR", &[0.0, 1.0], &[1.0, 0.5]);
    for (time, weight) in [(0.0, 1.0), (1.0, 0.5)] {
        for found in at(&glb, time) {
            let moved: Vec<_> =
                found.primitives.iter().map(|p| (p.node, p.vertices.positions[0].x)).collect();
            let expected = [(0, 4.0 * weight), (0, 4.0 * weight), (1, 1.0), (1, 1.0)];
            for (found, expected) in moved.iter().zip(expected) {
                assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-4, "{moved:?}");
            }
            assert_eq!(moved.len(), expected.len(), "{}", found.name);
        }
    }
}

#[test]
fn a_target_of_positions_leaves_normals_and_tangents() {
    let mut plain = Glb::triangle();
    set_tangents(&mut plain, [1.0, 0.0, 0.0, -1.0]);
    for (plain, morphed) in at_rest(&plain).iter().zip(at_rest(&morphed(&[("POSITION", [0.0, 0.0, 2.0])]))) {
        let (before, after) = (plain.first(), morphed.first());
        assert_near(after.positions[1] - before.positions[1], [0.0, 0.0, 2.0], 1e-5, &morphed.name);
        assert_near(after.normals[1], [0.0, 0.0, 1.0], plain.tolerance, &morphed.name);
        assert_eq!(
            (&after.normals, &after.tangents),
            (&before.normals, &before.tangents),
            "{}",
            morphed.name
        );
    }
}

#[test]
fn a_delta_tilts_a_normal_and_leaves_the_handedness() {
    let glb = morphed(&[("NORMAL", [0.0, 1.0, 0.0]), ("TANGENT", [0.0, 1.0, 0.0])]);
    for found in at_rest(&glb) {
        let vertices = found.first();
        assert_near(vertices.normals[0], [0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2], found.tolerance, &found.name);
        let tangent = vertices.tangents[0];
        let expected = [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0];
        assert_near(tangent.truncate(), expected, found.tolerance, &found.name);
        assert_eq!(tangent.w, -1.0, "{}", found.name);
    }
}

#[test]
fn a_normal_that_its_targets_cancel_stays_finite() {
    for found in at_rest(&morphed(&[("NORMAL", [0.0, 0.0, -1.0]), ("TANGENT", [-1.0, 0.0, 0.0])])) {
        let vertices = found.first();
        assert!(vertices.normals.iter().all(|normal| normal.is_finite()), "{}", found.name);
        assert!(vertices.tangents.iter().all(|tangent| tangent.is_finite()), "{}", found.name);
    }
}

#[test]
fn zero_deltas_at_full_weight_change_no_bit() {
    let plain = {
        let mut glb = Glb::triangle();
        set_tangents(&mut glb, [1.0, 0.0, 0.0, -1.0]);
        glb
    };
    let morphed = morphed(&[("POSITION", [0.0; 3]), ("NORMAL", [0.0; 3]), ("TANGENT", [0.0; 3])]);
    for (plain, morphed) in at(&plain, 0.3).iter().zip(at(&morphed, 0.3)) {
        assert_eq!(plain.first(), morphed.first(), "{}", plain.name);
    }
}

#[test]
fn a_delta_turns_with_its_joint() {
    let mut glb = morphed(&[("POSITION", [1.0, 0.0, 0.0])]);
    set_influences(&mut glb, 0, [0; 4], [1.0, 0.0, 0.0, 0.0]);
    set_vectors(&mut glb, "POSITION", [2.0, 0.0, 0.0]);
    glb.json["nodes"][1]["rotation"] = json!([0, 0, FRAC_1_SQRT_2, FRAC_1_SQRT_2]);
    for found in at_rest(&glb) {
        assert_near(found.first().positions[0], [0.0, 3.0, 0.0], 4.0 * EXACT, &found.name);
    }
}
