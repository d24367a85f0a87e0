use serde_json::json;

use crate::glb::{FLOAT, Glb, UNSIGNED_BYTE, UNSIGNED_SHORT};

/// Influences of the file's vertex `vertex`, as pairs.
fn row(glb: &Glb, vertex: usize) -> Vec<(u32, f32)> {
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    let deformed = primitive.deformed_vertices()[vertex] as usize;
    primitive.influences().unwrap().row(deformed).iter().map(|i| (i.joint, i.weight)).collect()
}

fn set_weights(glb: &mut Glb, first: [f32; 4]) {
    let mut values = first.to_vec();
    values.extend([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let weights = glb.floats("VEC4", &values);
    glb.set_attribute("WEIGHTS_0", weights);
}

#[test]
fn a_node_that_a_skin_lists_twice_is_two_joints() {
    let mut glb = Glb::triangle();
    glb.json["skins"] = json!([{ "joints": [1, 1] }]);
    assert_eq!(glb.codes(), ["joint-twice"]);
    assert_eq!(glb.model().skins()[0].joints(), [1, 1]);
    assert_eq!(row(&glb, 0), [(0, 0.5), (1, 0.5)]);
}

#[test]
fn influences_are_sorted_strongest_first_without_zeros() {
    assert_eq!(row(&Glb::triangle(), 1), [(1, 0.75), (0, 0.25)]);
    assert_eq!(row(&Glb::triangle(), 2), [(1, 1.0)]);
}

#[test]
fn a_vertex_without_weight_follows_its_first_joint() {
    let mut glb = Glb::triangle();
    set_weights(&mut glb, [0.0; 4]);
    assert_eq!(row(&glb, 0), [(0, 1.0)]);
    let model = glb.model();
    let found = model.diagnostics().iter().find(|d| d.code == "weights-zero").unwrap();
    assert_eq!(found.message, "1 vertex without weights, bound to the first joint");
}

#[test]
fn odd_weights_become_zero_before_the_sum_is_taken() {
    for odd in [f32::NAN, f32::INFINITY, -1.0] {
        let mut glb = Glb::triangle();
        set_weights(&mut glb, [odd, 0.5, 0.0, 0.0]);
        assert_eq!(row(&glb, 0), [(1, 1.0)]);
        assert!(glb.codes().contains(&"weights-not-finite"));
    }
}

#[test]
fn huge_weights_keep_their_proportions() {
    let mut glb = Glb::triangle();
    set_weights(&mut glb, [f32::MAX, f32::MAX, 0.0, 0.0]);
    assert_eq!(row(&glb, 0), [(0, 0.5), (1, 0.5)]);
}

#[test]
fn weights_are_normalised_over_all_sets() {
    let mut glb = Glb::triangle();
    set_weights(&mut glb, [0.5, 0.0, 0.0, 0.0]);
    let joints: Vec<u8> = [1u16, 0, 0, 0].repeat(3).iter().flat_map(|j| j.to_le_bytes()).collect();
    let joints = glb.bytes_of(UNSIGNED_SHORT, "VEC4", 3, &joints);
    let weights = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    glb.json["accessors"][weights]["normalized"] = true.into();
    glb.set_attribute("JOINTS_2", joints);
    glb.set_attribute("WEIGHTS_2", weights);
    let row = row(&glb, 0);
    assert_eq!(row.iter().map(|r| r.0).collect::<Vec<_>>(), [1, 0]);
    assert!((row[0].1 - 2.0 / 3.0).abs() < 1e-7 && (row[1].1 - 1.0 / 3.0).abs() < 1e-7);
}

#[test]
fn rounded_8_bit_weights_sum_to_one_again() {
    let mut glb = Glb::triangle();
    let weights = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[64, 64, 64, 64, 255, 0, 0, 0, 255, 0, 0, 0]);
    glb.json["accessors"][weights]["normalized"] = true.into();
    let joints = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]);
    glb.set_attribute("WEIGHTS_0", weights);
    glb.set_attribute("JOINTS_0", joints);
    assert_eq!(row(&glb, 0), [(0, 0.5), (1, 0.5)]);
}

#[test]
fn integer_weights_without_normalized_keep_their_proportions() {
    let mut glb = Glb::triangle();
    let weights = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[51, 204, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0]);
    glb.set_attribute("WEIGHTS_0", weights);
    assert_eq!(glb.codes(), ["weights-integer"]);
    assert_eq!(row(&glb, 0), [(1, 0.8), (0, 0.2)]);
}

#[test]
fn a_joint_past_the_skin_is_refused_unless_its_weight_is_zero() {
    let mut glb = Glb::triangle();
    let joints = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[0, 1, 9, 9, 0, 1, 0, 0, 1, 0, 0, 0]);
    glb.set_attribute("JOINTS_0", joints);
    assert_eq!(glb.codes(), ["joints-unused-out-of-range"]);
    let joints = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[0, 7, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
    glb.set_attribute("JOINTS_0", joints);
    assert_eq!(
        glb.error(),
        "meshes[0].primitives[0].attributes.JOINTS_n: vertex 0 uses joint 7, but the skin has 2 joints"
    );
}

#[test]
fn joints_and_weights_come_in_pairs() {
    let mut glb = Glb::triangle();
    glb.set_attribute("JOINTS_1", 2);
    assert_eq!(glb.error(), "meshes[0].primitives[0].attributes: has JOINTS_1 without WEIGHTS_1");
}

#[test]
fn skins_that_deform_alike_are_one() {
    let mut glb = Glb::triangle();
    glb.json["skins"] =
        json!([{ "joints": [1, 2], "name": "a" }, { "joints": [1, 2], "name": "b" }, { "joints": [2, 1] }]);
    glb.json["nodes"][0]["skin"] = 1.into();
    let model = glb.model();
    assert_eq!(model.skins().len(), 2);
    assert_eq!(model.parts()[0].skin, Some(0));
}

#[test]
fn inverse_binds_must_suffice_and_may_be_more() {
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let mut glb = Glb::triangle();
    let one = glb.floats("MAT4", &identity);
    glb.json["skins"][0]["inverseBindMatrices"] = one.into();
    assert_eq!(glb.error(), "skins[0].inverseBindMatrices has 1 matrices, but 2 are needed");
    let three = glb.floats("MAT4", &identity.repeat(3));
    glb.json["skins"][0]["inverseBindMatrices"] = three.into();
    assert_eq!(glb.codes(), ["inverse-binds-extra"]);
}

#[test]
fn a_singular_inverse_bind_is_kept_with_a_word() {
    let mut glb = Glb::triangle();
    let flat = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let matrices = glb.floats("MAT4", &flat.repeat(2));
    glb.json["skins"][0]["inverseBindMatrices"] = matrices.into();
    assert_eq!(glb.codes(), ["inverse-bind-singular"]);
}

#[test]
fn a_skin_without_influences_or_mesh_is_ignored() {
    let mut glb = Glb::triangle();
    glb.primitive()["attributes"] = json!({ "POSITION": 0 });
    glb.json["nodes"][2]["skin"] = 0.into();
    assert_eq!(glb.codes(), ["skin-ignored", "skin-without-mesh"]);
    assert_eq!(glb.model().parts()[0].skin, None);
}

#[test]
fn joints_outside_the_scene_give_one_warning() {
    let mut glb = Glb::triangle();
    glb.json["scenes"][0]["nodes"] = json!([0]);
    assert_eq!(glb.codes(), ["joints-outside-scene"]);
    assert_eq!(glb.model().clips()[0].tracks().len(), 1);
}

#[test]
fn joint_600_is_kept() {
    let mut glb = Glb::triangle();
    let nodes = glb.json["nodes"].as_array_mut().unwrap();
    nodes.extend((3..602).map(|_| json!({})));
    glb.json["skins"][0]["joints"] = (1..602).collect::<Vec<u32>>().into();
    let joints: Vec<u8> = [600u16, 0, 0, 0].repeat(3).iter().flat_map(|j| j.to_le_bytes()).collect();
    let joints = glb.bytes_of(UNSIGNED_SHORT, "VEC4", 3, &joints);
    glb.set_attribute("JOINTS_0", joints);
    assert_eq!(row(&glb, 2), [(600, 1.0)]);
}

#[test]
fn float_joints_are_refused() {
    let mut glb = Glb::triangle();
    glb.json["accessors"][2]["componentType"] = FLOAT.into();
    assert!(glb.error().contains("VEC4 of unsigned byte or unsigned short is needed"));
}
