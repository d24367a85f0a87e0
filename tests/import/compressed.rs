//! EXT_meshopt_compression.
#![cfg(feature = "meshopt")]

use serde_json::json;
use sinew::import::ImportError;

use crate::glb::{FLOAT, Glb};

const POSITIONS: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]];

/// The triangle with its positions in a compressed view over a buffer without data.
fn compressed(encoded: &[u8]) -> Glb {
    let mut glb = Glb::triangle();
    let source = glb.view(encoded);
    let offset = glb.json["bufferViews"][source]["byteOffset"].clone();
    let view = json!({ "buffer": 1, "byteLength": 36, "byteStride": 12, "extensions": {
        "EXT_meshopt_compression": { "buffer": 0, "byteOffset": offset, "byteLength": encoded.len(),
            "byteStride": 12, "count": 3, "mode": "ATTRIBUTES" } } });
    glb.json["bufferViews"].as_array_mut().unwrap().push(view);
    let accessor =
        glb.accessor(json!({ "bufferView": source + 1, "componentType": FLOAT, "count": 3, "type": "VEC3" }));
    glb.set_attribute("POSITION", accessor);
    glb.json["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
    glb.json["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    let fallback = json!({ "EXT_meshopt_compression": { "fallback": true } });
    glb.json["buffers"] =
        json!([{ "byteLength": glb.bin.len() }, { "byteLength": 36, "extensions": fallback }]);
    glb
}

#[test]
fn a_compressed_view_is_decoded() {
    let glb = compressed(&meshopt::encode_vertex_buffer(&POSITIONS).unwrap());
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    for (source, position) in POSITIONS.iter().enumerate() {
        let deformed = primitive.deformed_vertices()[source] as usize;
        assert_eq!(primitive.positions()[deformed].to_array(), *position);
    }
}

#[test]
fn damaged_data_is_an_error() {
    let encoded = meshopt::encode_vertex_buffer(&POSITIONS).unwrap();
    for length in 0..encoded.len() {
        assert!(compressed(&encoded[..length]).load().is_err(), "{length}");
    }
    assert!(matches!(compressed(&[0; 40]).load(), Err(ImportError::Compressed { .. })));
}

#[test]
fn parameters_that_the_decoder_would_assert_are_refused() {
    let encoded = meshopt::encode_vertex_buffer(&POSITIONS).unwrap();
    for (property, value) in [
        ("byteStride", json!(13)),
        ("byteStride", json!(0)),
        ("byteStride", json!(260)),
        ("count", json!(u64::MAX)),
        ("count", json!(4)),
        ("mode", json!("TRIANGLES")),
        ("filter", json!("OCTAHEDRAL")),
        ("filter", json!("QUATERNION")),
        ("buffer", json!(9)),
        ("byteLength", json!(u64::MAX)),
        ("byteOffset", json!(-1)),
    ] {
        let mut glb = compressed(&encoded);
        let view = glb.json["bufferViews"].as_array_mut().unwrap().last_mut().unwrap();
        view["extensions"]["EXT_meshopt_compression"][property] = value;
        assert!(glb.load().is_err(), "{property}");
    }
}
