use serde_json::json;
use sinew::{
    Model,
    import::{ImportError, ImportOptions, Limits},
};

use crate::glb::Glb;

fn error_of(bytes: &[u8]) -> String {
    Model::from_bytes(bytes, &ImportOptions::default()).unwrap_err().to_string()
}

#[test]
fn every_truncation_of_a_file_is_an_error() {
    let bytes = Glb::triangle().to_bytes();
    for length in 0..bytes.len() {
        assert!(Model::from_bytes(&bytes[..length], &ImportOptions::default()).is_err(), "{length}");
    }
}

#[test]
fn an_empty_file_is_no_gltf() {
    assert_eq!(
        error_of(b""),
        "not a glTF file: it starts with neither the GLB magic `glTF` nor a JSON object"
    );
}

#[test]
fn a_chunk_longer_than_the_file_is_named() {
    let mut bytes = Glb::triangle().to_bytes();
    bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(error_of(&bytes).starts_with("not a glTF file: a GLB chunk of 4294967295 bytes, but only"));
}

#[test]
fn bytes_after_the_end_are_ignored_with_a_word() {
    let mut bytes = Glb::triangle().to_bytes();
    bytes.extend([0; 5]);
    let model = Model::from_bytes(&bytes, &ImportOptions::default()).unwrap();
    assert_eq!(model.diagnostics()[0].code, "glb-trailing-bytes");
}

#[test]
fn deep_json_is_refused_before_it_is_parsed() {
    let json = format!("{{\"a\":{}", "[".repeat(200_000));
    assert_eq!(error_of(json.as_bytes()), "JSON: 121 nested levels, but the limit is 120");
}

#[test]
fn brackets_in_strings_do_not_count_as_depth() {
    let mut glb = Glb::triangle();
    glb.json["asset"]["copyright"] = format!("\\\"{}", "[".repeat(1000)).into();
    glb.model();
}

#[test]
fn limits_are_named_with_both_numbers() {
    let mut options = ImportOptions::default();
    options.limits.decoded_bytes = 40;
    let error = Model::from_bytes(&Glb::triangle().to_bytes(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "meshes[0].primitives[0].attributes.POSITION: 48 decoded bytes, but the limit is 40"
    );
    assert!(error.help().contains("ImportOptions::limits"));
}

#[test]
fn flat_normals_pay_for_the_vertices_they_split() {
    let mut glb = Glb::triangle();
    let indices = glb.bytes_of(5121, "SCALAR", 3000, &[0; 3000]);
    let deltas = glb.floats("VEC3", &[1.0; 9]);
    let primitive = glb.primitive();
    primitive["indices"] = indices.into();
    primitive["targets"] = vec![json!({ "POSITION": deltas }); 2000].into();
    primitive["attributes"].as_object_mut().unwrap().remove("NORMAL");
    let mut options = ImportOptions::default();
    options.limits.decoded_bytes = 64 << 20;
    let loaded = Model::from_bytes(&glb.to_bytes(), &options);
    assert!(matches!(loaded, Err(ImportError::Limit { .. })));
}

#[test]
fn default_limits_are_finite() {
    let limits = Limits::default();
    assert!(limits.file_bytes <= 1 << 30 && limits.decoded_bytes <= 1 << 29);
}

#[test]
fn another_version_is_refused() {
    let mut glb = Glb::triangle();
    glb.json["asset"]["version"] = "1.0".into();
    assert_eq!(glb.error(), "asset.version is \"1.0\"; this library reads glTF 2.0");
}

#[test]
fn an_unknown_required_extension_is_named() {
    let mut glb = Glb::triangle();
    glb.json["extensionsUsed"] = json!(["VENDOR_magic"]);
    assert_eq!(glb.codes(), ["extension-ignored"]);
    glb.json["extensionsRequired"] = json!(["VENDOR_magic"]);
    assert_eq!(glb.error(), "extensionsRequired: VENDOR_magic is required, but not supported");
}

#[test]
fn a_required_extension_must_be_used() {
    let mut glb = Glb::triangle();
    glb.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    assert_eq!(glb.error(), "extensionsRequired: KHR_mesh_quantization is missing from extensionsUsed");
}

#[test]
fn an_index_past_its_list_is_named_with_both_numbers() {
    let mut glb = Glb::triangle();
    glb.set_attribute("POSITION", 999);
    assert_eq!(
        glb.error(),
        "meshes[0].primitives[0].attributes.POSITION refers to accessor 999, but there are 6"
    );
}

#[test]
fn integers_that_the_typed_parse_would_cut_are_refused() {
    let too_large = |change: fn(&mut Glb, serde_json::Value)| {
        let mut glb = Glb::triangle();
        change(&mut glb, json!((1u64 << 32) + 5126));
        glb.error()
    };
    assert_eq!(
        too_large(|glb, value| glb.json["nodes"][0]["mesh"] = value),
        "nodes[0].mesh: 4294972422 does not fit 32 bits"
    );
    assert_eq!(
        too_large(|glb, value| glb.json["accessors"][0]["componentType"] = value),
        "accessors[0].componentType: 4294972422 does not fit 32 bits"
    );
    assert_eq!(
        too_large(|glb, value| glb.json["skins"][0]["joints"][1] = value),
        "skins[0].joints[1]: 4294972422 does not fit 32 bits"
    );
    assert_eq!(
        too_large(|glb, value| glb.primitive()["attributes"]["NORMAL"] = value),
        "meshes[0].primitives[0].attributes.NORMAL: 4294972422 does not fit 32 bits"
    );
}

#[test]
fn an_accessor_longer_than_its_view_is_refused() {
    let mut glb = Glb::triangle();
    glb.json["accessors"][0]["count"] = 4.into();
    assert_eq!(glb.error(), "accessors[0].bufferView needs 48 bytes of bufferViews[0], which has 36");
}

#[test]
fn offsets_that_overflow_are_refused() {
    let mut glb = Glb::triangle();
    glb.json["accessors"][0]["byteOffset"] = json!(u64::MAX);
    assert!(matches!(glb.load(), Err(ImportError::Range { needed: u64::MAX, .. })));
    let mut glb = Glb::triangle();
    glb.json["bufferViews"][0]["byteOffset"] = json!(u64::MAX);
    assert!(matches!(glb.load(), Err(ImportError::Range { .. })));
}

#[test]
fn a_node_with_two_parents_is_refused() {
    let mut glb = Glb::triangle();
    glb.json["nodes"][0]["children"] = json!([2]);
    assert_eq!(glb.error(), "nodes[2] is a child of nodes[0] and of nodes[1]");
}

#[test]
fn a_cycle_is_refused() {
    let mut glb = Glb::triangle();
    glb.json["nodes"] = json!([{ "mesh": 0 }, { "children": [2] }, { "children": [1] }]);
    assert_eq!(glb.error(), "nodes: node 1 is its own ancestor; a hierarchy must be a forest");
}

#[test]
fn a_rest_pose_that_overflows_is_refused() {
    let mut glb = Glb::triangle();
    glb.json["nodes"][1]["scale"] = json!([1e30, 1, 1]);
    glb.json["nodes"][2]["scale"] = json!([1e30, 1, 1]);
    assert_eq!(glb.error(), "nodes[2]: the rest transform, together with its parents', overflows");
}

#[test]
fn a_number_too_large_for_a_float_is_refused() {
    let mut glb = Glb::triangle();
    glb.json["nodes"][1]["translation"] = json!([1e39, 0, 0]);
    assert_eq!(glb.error(), "nodes[1].translation: inf does not fit a float");
}

#[test]
fn a_zero_quaternion_becomes_the_identity() {
    let mut glb = Glb::triangle();
    glb.json["nodes"][1]["rotation"] = json!([0, 0, 0, 0]);
    assert_eq!(glb.codes(), ["node-rotation-zero"]);
}

#[test]
fn a_matrix_with_zero_scale_gives_finite_parts() {
    for zero in [[1.0, 0.0, 2.0], [0.0, 0.0, 2.0], [0.0; 3]] {
        let mut glb = Glb::triangle();
        let [x, y, z] = zero;
        glb.json["nodes"][1]["matrix"] = json!([x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1]);
        let rest = glb.model().skeleton().rest()[1];
        assert!(rest.is_finite() && rest.scale.to_array() == zero, "{rest:?}");
    }
}

#[test]
fn a_mirrored_matrix_keeps_its_determinant() {
    let mut glb = Glb::triangle();
    glb.json["nodes"][1]["matrix"] = json!([-2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1]);
    let model = glb.model();
    let matrix = model.skeleton().rest()[1].to_affine();
    assert!((matrix.matrix3.determinant() + 24.0).abs() < 1e-4);
    assert!(model.diagnostics().iter().all(|d| d.code != "node-matrix-sheared"));
}

#[test]
fn strict_refuses_what_is_otherwise_repaired() {
    let mut glb = Glb::triangle();
    glb.json["nodes"][1]["rotation"] = json!([0, 0, 0, 0]);
    let options = ImportOptions { strict: true, ..Default::default() };
    let error = Model::from_bytes(&glb.to_bytes(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "repaired[node-rotation-zero] nodes[1].rotation: the zero quaternion was replaced by the identity \
         (glTF 2.0, 5.25)"
    );
    Model::from_bytes(&Glb::triangle().to_bytes(), &options).unwrap();
}
