use serde_json::json;
use sinew::model::Topology;

use crate::glb::{FLOAT, Glb, UNSIGNED_BYTE, UNSIGNED_SHORT};

#[test]
fn other_counts_than_the_positions_are_refused() {
    let mut glb = Glb::triangle();
    let two = glb.floats("VEC3", &[0.0; 6]);
    glb.set_attribute("NORMAL", two);
    assert_eq!(glb.error(), "meshes[0].primitives[0].attributes.NORMAL has 2 values, but 3 are needed");
}

#[test]
fn a_wrong_type_is_described() {
    let mut glb = Glb::triangle();
    let flat = glb.floats("VEC2", &[0.0; 6]);
    let accessor = flat;
    glb.set_attribute("NORMAL", flat);
    assert_eq!(
        glb.error(),
        format!(
            "meshes[0].primitives[0].attributes.NORMAL: accessor {accessor} is VEC2 of float; VEC3 of float, or of \
             normalized signed 8- or 16-bit integers is needed"
        )
    );
}

#[test]
fn infinite_positions_are_refused_and_infinite_normals_repaired() {
    let mut glb = Glb::triangle();
    let bad = glb.floats("VEC3", &[0.0, f32::INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    glb.set_attribute("NORMAL", bad);
    assert_eq!(glb.codes(), ["attribute-not-finite"]);
    glb.set_attribute("POSITION", bad);
    assert_eq!(glb.error(), "meshes[0].primitives[0].attributes.POSITION: element 0 holds inf");
}

#[test]
fn indices_out_of_range_and_restart_values_are_refused() {
    let mut glb = Glb::triangle();
    let far = glb.bytes_of(UNSIGNED_BYTE, "SCALAR", 3, &[0, 1, 3]);
    let restart = glb.bytes_of(UNSIGNED_BYTE, "SCALAR", 3, &[0, 1, 255]);
    glb.primitive()["indices"] = far.into();
    assert_eq!(glb.error(), "meshes[0].primitives[0].indices: index 2 is 3, but there are 3 vertices");
    glb.primitive()["indices"] = restart.into();
    assert_eq!(glb.error(), "meshes[0].primitives[0].indices: index 2 is 255, the primitive restart value");
}

#[test]
fn an_incomplete_triangle_is_dropped() {
    let mut glb = Glb::triangle();
    let indices = glb.bytes_of(UNSIGNED_BYTE, "SCALAR", 5, &[0, 1, 2, 0, 1]);
    glb.primitive()["indices"] = indices.into();
    assert_eq!(glb.codes(), ["indices-incomplete"]);
    assert_eq!(glb.model().meshes()[0].primitives()[0].indices().len(), 3);
}

#[test]
fn loops_become_strips_and_fans_triangles() {
    let indices_of = |mode: u32| {
        let mut glb = Glb::triangle();
        glb.json["nodes"][0] = json!({ "mesh": 0 });
        glb.primitive()["attributes"] = json!({ "POSITION": 0, "NORMAL": 1 });
        glb.primitive()["mode"] = mode.into();
        let model = glb.model();
        let primitive = &model.meshes()[0].primitives()[0];
        (primitive.topology(), primitive.indices().to_vec())
    };
    assert_eq!(indices_of(2), (Topology::LineStrip, vec![0, 1, 2, 0]));
    assert_eq!(indices_of(6), (Topology::Triangles, vec![1, 2, 0]));
}

#[test]
fn quantised_positions_are_decoded() {
    let mut glb = Glb::triangle();
    let values: Vec<u8> =
        [0u16, 65535, 0, 32768, 0, 0, 0, 0, 65535].iter().flat_map(|v| v.to_le_bytes()).collect();
    let accessor = glb.bytes_of(UNSIGNED_SHORT, "VEC3", 3, &values);
    glb.json["accessors"][accessor]["normalized"] = true.into();
    glb.set_attribute("POSITION", accessor);
    assert_eq!(glb.codes(), ["quantization-undeclared"]);
    glb.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    glb.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    assert!(glb.codes().is_empty());
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    let first = primitive.deformed_vertices()[0] as usize;
    assert_eq!(primitive.positions()[first].to_array(), [0.0, 1.0, 0.0]);
}

#[test]
fn sparse_values_lie_over_zeros_without_a_view() {
    let mut glb = Glb::triangle();
    let indices = glb.view(&[1]);
    let values: Vec<u8> = [5.0f32, 6.0, 7.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let values = glb.view(&values);
    let sparse = json!({ "count": 1, "indices": { "bufferView": indices, "componentType": UNSIGNED_BYTE },
        "values": { "bufferView": values } });
    let accessor =
        glb.accessor(json!({ "componentType": FLOAT, "count": 3, "type": "VEC3", "sparse": sparse }));
    glb.primitive()["targets"] = json!([{ "POSITION": accessor }]);
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    let target = &primitive.targets()[0];
    assert_eq!(target.vertices(), [primitive.deformed_vertices()[1]]);
    assert_eq!(target.positions()[0].to_array(), [5.0, 6.0, 7.0]);
}

#[test]
fn sparse_indices_must_rise() {
    let mut glb = Glb::triangle();
    let indices = glb.view(&[1, 1]);
    let values = glb.view(&[0; 24]);
    let sparse = json!({ "count": 2, "indices": { "bufferView": indices, "componentType": UNSIGNED_BYTE },
        "values": { "bufferView": values } });
    let accessor =
        glb.accessor(json!({ "componentType": FLOAT, "count": 3, "type": "VEC3", "sparse": sparse }));
    glb.primitive()["targets"] = json!([{ "POSITION": accessor }]);
    assert!(glb.error().ends_with("sparse.indices: index 1 must be below 3 and above the one before it"));
}

#[test]
fn a_target_without_a_view_moves_nothing() {
    let mut glb = Glb::triangle();
    let zeros = glb.accessor(json!({ "componentType": FLOAT, "count": 3, "type": "VEC3" }));
    glb.primitive()["targets"] = json!([{ "POSITION": zeros }]);
    assert!(glb.model().meshes()[0].primitives()[0].targets()[0].vertices().is_empty());
}

#[test]
fn targets_may_move_different_attributes() {
    let mut glb = Glb::triangle();
    let deltas = glb.floats("VEC3", &[1.0; 9]);
    glb.primitive()["targets"] = json!([{ "POSITION": deltas }, { "NORMAL": deltas }, { "TANGENT": deltas }]);
    glb.json["meshes"][0]["extras"] = json!({ "targetNames": ["up", "out"] });
    glb.json["meshes"][0]["weights"] = json!([0.5]);
    assert_eq!(glb.codes(), ["target-attribute-ignored", "morph-weight-count"]);
    let model = glb.model();
    let mesh = &model.meshes()[0];
    assert_eq!(mesh.target_names(), ["up", "out", ""]);
    assert_eq!(mesh.weights(), [0.5, 0.0, 0.0]);
    let [position, normal, tangent] = mesh.primitives()[0].targets() else { panic!() };
    assert!(position.normals().is_empty() && position.positions().len() == 3);
    assert_eq!(normal.normals().len(), 3);
    assert!(tangent.vertices().is_empty());
}

#[test]
fn the_weights_of_a_node_win_over_those_of_its_mesh() {
    let mut glb = Glb::triangle();
    let deltas = glb.floats("VEC3", &[1.0; 9]);
    glb.primitive()["targets"] = json!([{ "POSITION": deltas }]);
    glb.json["meshes"][0]["weights"] = json!([0.25]);
    glb.json["nodes"][0]["weights"] = json!([1.0]);
    glb.json["nodes"][1]["mesh"] = 0.into();
    let model = glb.model();
    assert_eq!(model.parts()[0].weights, [1.0]);
    assert_eq!(model.parts()[1].weights, [0.25]);
}

#[test]
fn sets_are_kept_in_order_and_a_gap_is_said() {
    let mut glb = Glb::triangle();
    let first = glb.floats("VEC2", &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    let rgb = glb.floats("VEC3", &[0.5; 9]);
    for (name, accessor) in
        [("TEXCOORD_0", first), ("TEXCOORD_1", first), ("TEXCOORD_4294967295", first), ("COLOR_0", rgb)]
    {
        glb.set_attribute(name, accessor);
    }
    assert_eq!(glb.codes(), ["attribute-ignored"]);
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    assert_eq!(primitive.uv_sets().len(), 2);
    assert_eq!(primitive.colors()[0][0].to_array(), [0.5, 0.5, 0.5, 1.0]);
}

#[test]
fn missing_normals_are_flat() {
    let mut glb = Glb::triangle();
    glb.primitive()["attributes"].as_object_mut().unwrap().remove("NORMAL");
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    assert!(primitive.has_flat_normals());
    assert!(primitive.normals().iter().all(|n| n.to_array() == [0.0, 0.0, 1.0]));
}

#[test]
fn a_primitive_without_positions_is_skipped() {
    let mut glb = Glb::triangle();
    glb.primitive()["attributes"].as_object_mut().unwrap().remove("POSITION");
    assert_eq!(glb.codes(), ["primitive-skipped"]);
}
