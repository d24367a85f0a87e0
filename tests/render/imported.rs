//! Pictures of files, from their bytes on.

use serde_json::{Value, json};
use sinew::import::ImportOptions;

use super::*;

/// A quad that fills the middle half of the picture, upright uvs, with what `extra` puts into its document.
/// `files` are what its URIs name.
fn quad(extra: impl FnOnce(&mut Value), files: &[(&str, &[u8])]) -> Model {
    let positions = [[-1.0f32, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let uvs = [[0.0f32, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    let numbers = positions.as_flattened().iter().chain(uvs.as_flattened());
    let mut bytes: Vec<u8> = numbers.flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend([0, 1, 2, 0, 2, 3]);
    let mut document = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [
            { "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "indices": 2, "material": 0 }] }],
        "buffers": [{ "uri": "quad.bin", "byteLength": bytes.len() }],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 32 },
            { "buffer": 0, "byteOffset": 80, "byteLength": 6 }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2" },
            { "bufferView": 2, "componentType": 5121, "count": 6, "type": "SCALAR" }],
    });
    extra(&mut document);
    let resolver = |name: &str| {
        let file = files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.to_vec());
        Ok(if name == "quad.bin" { bytes.clone() } else { file.unwrap_or_default() })
    };
    let options = ImportOptions { resolver: Some(&resolver), ..Default::default() };
    Model::from_bytes(document.to_string().as_bytes(), &options).unwrap()
}

#[test]
fn a_normal_map_without_tangents_tilts_the_light_along_its_uvs() {
    // A normal of (0.6, 0, 0.8): 0.6 to the right of the image.
    let (_, images) = textured(&[204, 128, 230]);
    let model = |uv: Value| {
        let document = |document: &mut Value| {
            document["images"] = json!([{ "uri": "bumps.png" }]);
            document["textures"] = json!([{ "source": 0 }]);
            document["materials"] = json!([{
                "pbrMetallicRoughness": { "metallicFactor": 0 },
                "normalTexture": { "index": 0, "extensions": { "KHR_texture_transform": uv } } }]);
        };
        quad(document, &[("bumps.png", &images[0].bytes)])
    };
    let red = |model: &Model, direction: Vec3| {
        let light = Light { direction, color: Vec3::splat(0.5), sky: Vec3::ZERO, ground: Vec3::ZERO };
        draw_with(model, light, |_, _| ()).0.center()[0]
    };
    let (right, left) = (Vec3::new(1.0, 0.0, 1.0), Vec3::new(-1.0, 0.0, 1.0));
    let upright = model(json!({}));
    assert!(red(&upright, right) > 175 && red(&upright, left) < 90);
    let mirrored = model(json!({ "scale": [-1, 1] }));
    assert!(red(&mirrored, right) < 90 && red(&mirrored, left) > 175);
}

#[test]
fn a_texture_that_comes_only_as_webp_is_drawn_as_a_checker_of_magenta_and_grey() {
    let model = quad(
        |document| {
            document["extensionsUsed"] = json!(["EXT_texture_webp", "KHR_materials_unlit"]);
            document["extensionsRequired"] = json!(["EXT_texture_webp"]);
            document["images"] = json!([{ "uri": "fur.webp" }]);
            document["textures"] = json!([{ "extensions": { "EXT_texture_webp": { "source": 0 } } }]);
            document["materials"] = json!([{
                "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } },
                "extensions": { "KHR_materials_unlit": {} } }]);
        },
        &[("fur.webp", b"RIFF\x24\0\0\0WEBPVP8 ")],
    );
    let picture = draw(&model);
    // Eight squares along a side, four pixels each; the middle of each is one colour.
    for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
        let expected = if (i + j) % 2 == 0 { [255, 0, 255, 255] } else { [90, 90, 90, 255] };
        assert_near(picture.at(SIDE / 4 + i * 4 + 2, SIDE / 4 + j * 4 + 2), expected);
    }
}
