//! `KHR_texture_transform`, read before the typed parse drops it.

use glam::Vec2;
use serde_json::{Map, Value};

use super::ImportError;
use crate::model::UvTransform;

/// What the extension changes about one texture of a material.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct UvChange {
    pub(super) transform: UvTransform,
    /// Instead of the texture's own set.
    pub(super) uv_set: Option<u32>,
}

/// In the order base colour, metallic-roughness, normal, occlusion, emissive.
pub(super) fn of_material(place: &str, material: &Map<String, Value>) -> Result<[UvChange; 5], ImportError> {
    let pbr = material.get("pbrMetallicRoughness");
    let slots = [
        ("pbrMetallicRoughness.baseColorTexture", pbr.and_then(|p| p.get("baseColorTexture"))),
        (
            "pbrMetallicRoughness.metallicRoughnessTexture",
            pbr.and_then(|p| p.get("metallicRoughnessTexture")),
        ),
        ("normalTexture", material.get("normalTexture")),
        ("occlusionTexture", material.get("occlusionTexture")),
        ("emissiveTexture", material.get("emissiveTexture")),
    ];
    let mut changes = [UvChange::default(); 5];
    for (change, (slot, info)) in changes.iter_mut().zip(slots) {
        let extension = info.and_then(|i| i.get("extensions")).and_then(|e| e.get("KHR_texture_transform"));
        if let Some(extension) = extension {
            *change = parse(&format!("{place}.{slot}.extensions.KHR_texture_transform"), extension)?;
        }
    }
    Ok(changes)
}

fn parse(place: &str, extension: &Value) -> Result<UvChange, ImportError> {
    let wrong = |what: &str| ImportError::schema(format!("{place}.{what}"), "has another type");
    let float = |value: &Value| value.as_f64().map(|f| f as f32).filter(|f| f.is_finite());
    let pair = |name: &str, or: Vec2| match extension.get(name) {
        None => Ok(or),
        Some(value) => match value.as_array().map(Vec::as_slice) {
            Some([x, y]) => float(x).zip(float(y)).map(Vec2::from).ok_or_else(|| wrong(name)),
            _ => Err(wrong(name)),
        },
    };
    let rotation = match extension.get("rotation") {
        None => 0.0,
        Some(value) => float(value).ok_or_else(|| wrong("rotation"))?,
    };
    let uv_set = match extension.get("texCoord") {
        None => None,
        Some(value) => {
            let set = value.as_u64().and_then(|set| u32::try_from(set).ok());
            Some(set.ok_or_else(|| wrong("texCoord"))?)
        }
    };
    let transform =
        UvTransform { offset: pair("offset", Vec2::ZERO)?, rotation, scale: pair("scale", Vec2::ONE)? };
    Ok(UvChange { transform, uv_set })
}
