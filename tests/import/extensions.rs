//! What a file may require, and what it is shown without.

use serde_json::{Value, json};
use sinew::{
    Model,
    import::{ImportError, ImportOptions},
    model::Channel,
};

use crate::glb::Glb;

/// The triangle with `name` in both lists.
fn requiring(name: &str) -> Glb {
    let mut glb = Glb::triangle();
    glb.json["extensionsUsed"] = json!([name]);
    glb.json["extensionsRequired"] = json!([name]);
    glb
}

fn strict(glb: &Glb) -> Result<Model, ImportError> {
    Model::from_bytes(&glb.to_bytes(), &ImportOptions { strict: true, ..Default::default() })
}

/// Adds a channel of KHR_animation_pointer.
fn point(glb: &mut Glb, pointer: Value) {
    let mut channel = json!({ "sampler": 0, "target": { "path": "pointer" } });
    channel["target"]["extensions"]["KHR_animation_pointer"]["pointer"] = pointer;
    glb.json["animations"][0]["channels"].as_array_mut().unwrap().push(channel);
}

#[test]
fn what_changes_geometry_is_refused_when_required() {
    for name in ["KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing", "VENDOR_magic"] {
        let glb = requiring(name);
        assert_eq!(glb.error(), format!("extensionsRequired: {name} is required, but not supported"));
        assert!(matches!(strict(&glb), Err(ImportError::Extension { .. })));
    }
}

#[test]
fn the_help_says_how_to_decode_draco() {
    let error = requiring("KHR_draco_mesh_compression").load().unwrap_err();
    assert_eq!(
        error.help(),
        "decode it first: `gltf-transform copy in.glb out.glb` writes the file without compression"
    );
}

#[test]
fn what_changes_only_the_look_loads_with_a_warning_and_is_refused_in_strict_mode() {
    for name in [
        "KHR_animation_pointer",
        "KHR_node_visibility",
        "KHR_materials_variants",
        "KHR_materials_clearcoat",
        "KHR_texture_basisu",
        "EXT_texture_webp",
        "KHR_lights_punctual",
        "KHR_xmp_json_ld",
    ] {
        let glb = requiring(name);
        assert_eq!(glb.codes(), ["extension-required-ignored"], "{name}");
        let error = strict(&glb).unwrap_err();
        assert_eq!(error.to_string(), format!("extensionsRequired: {name} is required, but not supported"));
        assert_eq!(error.help(), "load without `strict` to show the file without it");
    }
}

#[test]
fn what_is_used_but_not_required_is_named_also_in_strict_mode() {
    let mut glb = Glb::triangle();
    glb.json["extensionsUsed"] = json!(["KHR_materials_variants", "KHR_node_visibility"]);
    assert_eq!(glb.codes(), ["extension-ignored", "extension-ignored"]);
    assert!(strict(&glb).is_ok());
}

#[test]
fn draco_beside_plain_accessors_is_ignored() {
    let mut glb = Glb::triangle();
    glb.json["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
    glb.primitive()["extensions"] = json!({ "KHR_draco_mesh_compression": { "bufferView": 0 } });
    assert_eq!(glb.codes(), ["extension-ignored"]);
    assert_eq!(glb.model().meshes()[0].primitives()[0].positions().len(), 3);
}

#[test]
fn draco_without_plain_data_is_refused_even_where_it_is_not_required() {
    let mut glb = Glb::triangle();
    glb.primitive()["extensions"] = json!({ "KHR_draco_mesh_compression": { "bufferView": 0 } });
    glb.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    assert!(matches!(glb.load(), Err(ImportError::Extension { .. })));
}

#[test]
fn pointers_that_drive_no_node_are_dropped_and_named() {
    let mut glb = Glb::triangle();
    for pointer in ["/materials/0/emissiveFactor", "/nodes/4294967296/scale", "/nodes/1/skin", ""] {
        point(&mut glb, pointer.into());
    }
    point(&mut glb, "/materials/0/emissiveFactor".into());
    point(&mut glb, json!(7));
    assert_eq!(glb.codes(), ["channel-without-node", "channel-pointer-ignored"]);
    let model = glb.model();
    assert_eq!(model.clips()[0].tracks().len(), 1);
    let said = model.diagnostics().iter().find(|d| d.code == "channel-pointer-ignored").unwrap();
    assert_eq!(
        said.message,
        "5 channels were dropped, which drive /materials/0/emissiveFactor, /nodes/4294967296/scale, /nodes/1/skin, "
    );
}

#[test]
fn a_hostile_number_of_pointers_gives_one_short_diagnostic() {
    let mut glb = Glb::triangle();
    (0..1000).for_each(|i| point(&mut glb, format!("/materials/{i}/{}", "x".repeat(1000)).into()));
    let model = glb.model();
    let said = model.diagnostics().iter().find(|d| d.code == "channel-pointer-ignored").unwrap();
    assert!(said.message.len() < 1000 && said.message.ends_with(", and more"), "{}", said.message);
}

#[test]
fn a_pointer_to_a_nodes_transform_is_a_channel() {
    let mut glb = Glb::triangle();
    point(&mut glb, "/nodes/1/rotation".into());
    assert!(glb.codes().is_empty());
    let model = glb.model();
    let driven: Vec<_> = model.clips()[0].tracks().iter().map(|t| (t.node, t.channel)).collect();
    assert_eq!(driven, [(2, Channel::Rotation), (1, Channel::Rotation)]);
}
