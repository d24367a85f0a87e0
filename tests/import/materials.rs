//! Materials and what extensions add to them.

use glam::Vec2;
use serde_json::{Value, json};
use sinew::model::{Material, UvTransform};

use crate::glb::Glb;

/// The triangle with one material and one texture without an image.
fn with_material(material: Value) -> Glb {
    let mut glb = Glb::triangle();
    glb.json["materials"] = vec![material].into();
    glb.json["textures"] = json!([{}]);
    glb.primitive()["material"] = 0.into();
    glb
}

fn emissive_strength(value: Value) -> Glb {
    let mut material = json!({ "emissiveFactor": [1, 1, 1] });
    material["extensions"]["KHR_materials_emissive_strength"]["emissiveStrength"] = value;
    with_material(material)
}

fn moved(extension: Value) -> Glb {
    let mut texture = json!({ "index": 0, "texCoord": 3 });
    texture["extensions"]["KHR_texture_transform"] = extension;
    with_material(json!({ "normalTexture": texture }))
}

fn material(glb: &Glb) -> Material {
    glb.model().materials()[0].clone()
}

#[test]
fn an_emissive_strength_that_is_negative_or_no_float_is_an_error_with_its_place() {
    let place = "materials[0].extensions.KHR_materials_emissive_strength.emissiveStrength";
    for (value, problem) in [
        (json!(-1), "is -1, the least is 0"),
        (json!(1e39), "inf does not fit a float"),
        (json!("5"), "is no number"),
    ] {
        assert_eq!(emissive_strength(value).error(), format!("{place}: {problem}"));
    }
}

#[test]
fn an_emissive_strength_is_kept_beside_its_factor() {
    let found = material(&emissive_strength(json!(5.5)));
    assert_eq!((found.emissive.to_array(), found.emissive_strength), ([1.0; 3], 5.5));
    assert_eq!(material(&emissive_strength(json!(0))).emissive_strength, 0.0);
}

#[test]
fn without_the_extension_or_its_value_the_strength_is_one() {
    assert_eq!(material(&with_material(json!({}))).emissive_strength, 1.0);
    let empty = json!({ "extensions": { "KHR_materials_emissive_strength": {} } });
    assert_eq!(material(&with_material(empty)).emissive_strength, 1.0);
}

#[test]
fn unlit_is_read() {
    assert!(!material(&with_material(json!({}))).unlit);
    assert!(material(&with_material(json!({ "extensions": { "KHR_materials_unlit": {} } }))).unlit);
}

#[test]
fn a_texture_transform_of_another_type_is_an_error_with_its_place() {
    for (property, value) in [
        ("offset", json!([1])),
        ("offset", json!([1, 1e39])),
        ("rotation", json!("half")),
        ("scale", json!([1, 2, 3])),
        ("texCoord", json!(-1)),
        ("texCoord", json!(1u64 << 32)),
    ] {
        let place = format!("materials[0].normalTexture.extensions.KHR_texture_transform.{property}");
        assert_eq!(moved(json!({ (property): value })).error(), format!("{place}: has another type"));
    }
}

#[test]
fn a_texture_transform_moves_one_texture_and_may_choose_its_uv_set() {
    let all = json!({ "offset": [0.5, 0.25], "rotation": 0.75, "scale": [2, -1], "texCoord": 1 });
    let found = material(&moved(all)).normal_texture.unwrap();
    let (offset, scale) = (Vec2::new(0.5, 0.25), Vec2::new(2.0, -1.0));
    assert_eq!((found.uv_set, found.transform), (1, UvTransform { offset, rotation: 0.75, scale }));
    let found = material(&moved(json!({}))).normal_texture.unwrap();
    assert_eq!((found.uv_set, found.transform), (3, UvTransform::default()));
}

#[test]
fn coordinates_are_scaled_then_turned_then_moved() {
    // The extension's matrices: translation * rotation * scale, turning u towards -v.
    let transform = UvTransform {
        offset: Vec2::new(10.0, 20.0),
        rotation: std::f32::consts::FRAC_PI_2,
        scale: Vec2::new(2.0, 3.0),
    };
    let at = |u: f32, v: f32| transform.rows().map(|[a, b, c]| a * u + b * v + c);
    for (uv, expected) in [((0.0, 0.0), [10.0, 20.0]), ((1.0, 0.0), [10.0, 18.0]), ((0.0, 1.0), [13.0, 20.0])]
    {
        let found = at(uv.0, uv.1);
        assert!((found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-5, "{found:?}");
    }
}
