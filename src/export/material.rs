//! Materials, textures, samplers and images.

use serde_json::{Map, Value, json};

use super::{named, writer::Writer};
use crate::model::{AlphaMode, Material, Model, Sampler, TextureRef, UvTransform, Wrap};

/// Names of the extensions that the materials need.
pub(super) fn extensions(model: &Model) -> Vec<Value> {
    let moved = |m: &Material| {
        let slots = [
            m.base_color_texture,
            m.metallic_roughness_texture,
            m.normal_texture,
            m.occlusion_texture,
            m.emissive_texture,
        ];
        slots.into_iter().flatten().any(|slot| slot.transform != UvTransform::default())
    };
    let mut names = Vec::new();
    if model.materials().iter().any(|m| m.unlit) {
        names.push("KHR_materials_unlit".into());
    }
    if model.materials().iter().any(|m| m.emissive_strength != 1.0) {
        names.push("KHR_materials_emissive_strength".into());
    }
    if model.materials().iter().any(moved) {
        names.push("KHR_texture_transform".into());
    }
    names
}

pub(super) fn materials(model: &Model) -> Vec<Value> {
    model.materials().iter().map(material).collect()
}

fn material(material: &Material) -> Value {
    let mut object = named(&material.name);
    let info = |slot: TextureRef| {
        let mut info = json!({ "index": slot.texture, "texCoord": slot.uv_set });
        if slot.transform != UvTransform::default() {
            let UvTransform { offset, rotation, scale } = slot.transform;
            info["extensions"] = json!({ "KHR_texture_transform": {
                "offset": offset.to_array(), "rotation": rotation, "scale": scale.to_array(),
            } });
        }
        info
    };
    let mut pbr = json!({
        "baseColorFactor": material.base_color.to_array(),
        "metallicFactor": material.metallic,
        "roughnessFactor": material.roughness,
    });
    if let Some(slot) = material.base_color_texture {
        pbr["baseColorTexture"] = info(slot);
    }
    if let Some(slot) = material.metallic_roughness_texture {
        pbr["metallicRoughnessTexture"] = info(slot);
    }
    object.insert("pbrMetallicRoughness".into(), pbr);
    if let Some(slot) = material.normal_texture {
        let mut info = info(slot);
        info["scale"] = material.normal_scale.into();
        object.insert("normalTexture".into(), info);
    }
    if let Some(slot) = material.occlusion_texture {
        let mut info = info(slot);
        info["strength"] = material.occlusion_strength.into();
        object.insert("occlusionTexture".into(), info);
    }
    if let Some(slot) = material.emissive_texture {
        object.insert("emissiveTexture".into(), info(slot));
    }
    object.insert("emissiveFactor".into(), json!(material.emissive.to_array()));
    match material.alpha_mode {
        AlphaMode::Opaque => {}
        AlphaMode::Mask { cutoff } => {
            object.insert("alphaMode".into(), "MASK".into());
            object.insert("alphaCutoff".into(), cutoff.into());
        }
        AlphaMode::Blend => {
            object.insert("alphaMode".into(), "BLEND".into());
        }
    }
    object.insert("doubleSided".into(), material.double_sided.into());
    let mut extensions = Map::new();
    if material.unlit {
        extensions.insert("KHR_materials_unlit".into(), json!({}));
    }
    if material.emissive_strength != 1.0 {
        let strength = json!({ "emissiveStrength": material.emissive_strength });
        extensions.insert("KHR_materials_emissive_strength".into(), strength);
    }
    if !extensions.is_empty() {
        object.insert("extensions".into(), extensions.into());
    }
    Value::Object(object)
}

/// Texture `i` uses sampler `i`.
pub(super) fn textures(model: &Model) -> Vec<Value> {
    let texture =
        |(i, texture): (usize, &crate::model::Texture)| json!({ "sampler": i, "source": texture.image });
    model.textures().iter().enumerate().map(texture).collect()
}

pub(super) fn samplers(model: &Model) -> Vec<Value> {
    model.textures().iter().map(|t| sampler(t.sampler)).collect()
}

fn sampler(sampler: Sampler) -> Value {
    let wrap = |wrap| match wrap {
        Wrap::Repeat => 10497,
        Wrap::Mirror => 33648,
        Wrap::Clamp => 33071,
    };
    let min = match (sampler.min_linear, sampler.mip_linear) {
        (false, None) => 9728,
        (true, None) => 9729,
        (false, Some(false)) => 9984,
        (true, Some(false)) => 9985,
        (false, Some(true)) => 9986,
        (true, Some(true)) => 9987,
    };
    json!({
        "magFilter": if sampler.mag_linear { 9729 } else { 9728 },
        "minFilter": min,
        "wrapS": wrap(sampler.wrap[0]),
        "wrapT": wrap(sampler.wrap[1]),
    })
}

pub(super) fn images(model: &Model, writer: &mut Writer) -> Vec<Value> {
    let mut images = Vec::new();
    for image in model.images() {
        let mut object = named(&image.name);
        if image.bytes.is_empty() {
            // An image that could not be read stays one.
            object.insert("uri".into(), "data:image/png;base64,".into());
        } else {
            object.insert("bufferView".into(), writer.view(&image.bytes).into());
            object.insert("mimeType".into(), image.mime_type.as_str().into());
        }
        images.push(Value::Object(object));
    }
    images
}
