//! EXT_meshopt_compression and KHR_meshopt_compression.
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

/// The same file under the newer name of the extension.
fn renamed(glb: &Glb) -> Glb {
    let json = glb.json.to_string().replace("EXT_meshopt_compression", "KHR_meshopt_compression");
    Glb { json: serde_json::from_str(&json).unwrap(), bin: glb.bin.clone() }
}

#[test]
fn the_newer_name_of_the_extension_is_decoded_too() {
    let glb = renamed(&compressed(&meshopt::encode_vertex_buffer(&POSITIONS).unwrap()));
    let model = glb.model();
    let primitive = &model.meshes()[0].primitives()[0];
    let last = primitive.deformed_vertices()[2] as usize;
    assert_eq!(primitive.positions()[last].to_array(), POSITIONS[2]);
}

#[test]
fn the_colour_filter_belongs_to_the_newer_name_alone() {
    // Four bytes: Y, Co, Cg and alpha, whose highest set bit tells the bits of each.
    let encoded = meshopt::encode_vertex_buffer(&[[255u8, 0, 0, 255]; 3]).unwrap();
    let mut glb = compressed(&encoded);
    let accessor = glb.json["accessors"].as_array_mut().unwrap().last_mut().unwrap();
    *accessor = json!({ "bufferView": accessor["bufferView"], "componentType": 5121, "normalized": true,
        "count": 3, "type": "VEC4" });
    let accessor = glb.json["accessors"].as_array().unwrap().len() - 1;
    glb.set_attribute("POSITION", 0);
    glb.set_attribute("COLOR_0", accessor);
    let view = glb.json["bufferViews"].as_array_mut().unwrap().last_mut().unwrap();
    (view["byteLength"], view["byteStride"]) = (12.into(), 4.into());
    let extension = &mut view["extensions"]["EXT_meshopt_compression"];
    (extension["byteStride"], extension["filter"]) = (4.into(), "COLOR".into());
    assert_eq!(glb.error(), "bufferViews[7].extensions.EXT_meshopt_compression.filter: is not known");
    let model = renamed(&glb).model();
    assert_eq!(model.meshes()[0].primitives()[0].colors()[0][0].to_array(), [1.0; 4]);
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
