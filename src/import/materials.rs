//! Materials: numbers and texture slots. References were checked before.

use glam::{Vec3, Vec4};
use gltf::json::{
    material::{AlphaMode as Mode, Material as Source},
    texture::Info,
    validation::Checked,
};

use serde_json::Value;

use super::{
    ImportError,
    document::Document,
    prune::Object,
    uv_transform::{self, UvChange},
};
use crate::model::{AlphaMode, Material, TextureRef};

/// What extensions say about one material; read before the typed parse drops it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extended {
    /// Whether KHR_materials_unlit is there.
    unlit: bool,
    /// KHR_materials_emissive_strength.
    emissive_strength: f32,
    /// KHR_texture_transform of base colour, metallic-roughness, normal, occlusion, emissive.
    uv: [UvChange; 5],
}

impl Extended {
    pub(super) fn parse(
        place: &str,
        material: &Object,
        extensions: Option<&Value>,
    ) -> Result<Self, ImportError> {
        let extension = |name: &str| extensions.and_then(|e| e.get(name));
        Ok(Self {
            unlit: extension("KHR_materials_unlit").is_some(),
            emissive_strength: extension(EMISSIVE_STRENGTH)
                .and_then(|e| e.get("emissiveStrength"))
                .map_or(Ok(1.0), |value| emissive_strength(place, value))?,
            uv: uv_transform::of_material(place, material)?,
        })
    }
}

/// Place of the normal texture in [`Extended::uv`].
const NORMAL: usize = 2;

const EMISSIVE_STRENGTH: &str = "KHR_materials_emissive_strength";

fn emissive_strength(place: &str, value: &Value) -> Result<f32, ImportError> {
    let place = format!("{place}.extensions.{EMISSIVE_STRENGTH}.emissiveStrength");
    let Some(strength) = value.as_f64().map(|v| v as f32) else {
        return Err(ImportError::schema(place, "is no number"));
    };
    match strength {
        s if !s.is_finite() => Err(ImportError::value(place, format!("{s} does not fit a float"))),
        s if s < 0.0 => Err(ImportError::value(place, format!("is {s}, the least is 0"))),
        s => Ok(s),
    }
}

fn slot(texture: usize, uv_set: u32, change: UvChange) -> TextureRef {
    TextureRef {
        texture: texture as u32,
        uv_set: change.uv_set.unwrap_or(uv_set),
        transform: change.transform,
    }
}

impl Document {
    /// The normal texture that light falls on; none for unlit materials.
    pub(super) fn normal_texture(&self, material: u32) -> Option<TextureRef> {
        let (source, extended) = (&self.materials[material as usize], &self.extended[material as usize]);
        let texture = source.normal_texture.as_ref().filter(|_| !extended.unlit)?;
        Some(slot(texture.index.value(), texture.tex_coord, extended.uv[NORMAL]))
    }
}

pub(super) fn build(document: &Document) -> Result<Vec<Material>, ImportError> {
    let materials = document.materials.iter().zip(&document.extended).enumerate();
    materials.map(|(i, (source, extended))| material(i, source, extended)).collect()
}

fn material(index: usize, source: &Source, extended: &Extended) -> Result<Material, ImportError> {
    let place = |property: &str| format!("materials[{index}].{property}");
    let finite = |property: &str, values: &[f32]| match values.iter().find(|v| !v.is_finite()) {
        Some(value) => Err(ImportError::value(place(property), format!("{value} does not fit a float"))),
        None => Ok(()),
    };
    let pbr = &source.pbr_metallic_roughness;
    let normal_scale = source.normal_texture.as_ref().map_or(1.0, |t| t.scale);
    let occlusion_strength = source.occlusion_texture.as_ref().map_or(1.0, |t| t.strength.0);
    let cutoff = source.alpha_cutoff.unwrap_or_default().0;
    finite("pbrMetallicRoughness.baseColorFactor", &pbr.base_color_factor.0)?;
    finite("pbrMetallicRoughness.metallicFactor", &[pbr.metallic_factor.0])?;
    finite("pbrMetallicRoughness.roughnessFactor", &[pbr.roughness_factor.0])?;
    finite("normalTexture.scale", &[normal_scale])?;
    finite("occlusionTexture.strength", &[occlusion_strength])?;
    finite("emissiveFactor", &source.emissive_factor.0)?;
    finite("alphaCutoff", &[cutoff])?;
    let alpha_mode = match source.alpha_mode {
        Checked::Valid(Mode::Opaque) => AlphaMode::Opaque,
        Checked::Valid(Mode::Mask) => AlphaMode::Mask { cutoff },
        Checked::Valid(Mode::Blend) => AlphaMode::Blend,
        Checked::Invalid => {
            return Err(ImportError::schema(place("alphaMode"), "is none of OPAQUE, MASK, BLEND"));
        }
    };
    let info =
        |info: &Option<Info>, change| info.as_ref().map(|t| slot(t.index.value(), t.tex_coord, change));
    let [base_color, metallic_roughness, normal, occlusion, emissive] = extended.uv;
    Ok(Material {
        name: source.name.clone().unwrap_or_default(),
        base_color: Vec4::from_array(pbr.base_color_factor.0),
        base_color_texture: info(&pbr.base_color_texture, base_color),
        metallic: pbr.metallic_factor.0,
        roughness: pbr.roughness_factor.0,
        metallic_roughness_texture: info(&pbr.metallic_roughness_texture, metallic_roughness),
        normal_texture: source.normal_texture.as_ref().map(|t| slot(t.index.value(), t.tex_coord, normal)),
        normal_scale,
        occlusion_texture: source
            .occlusion_texture
            .as_ref()
            .map(|t| slot(t.index.value(), t.tex_coord, occlusion)),
        occlusion_strength,
        emissive: Vec3::from_array(source.emissive_factor.0),
        emissive_strength: extended.emissive_strength,
        emissive_texture: info(&source.emissive_texture, emissive),
        alpha_mode,
        double_sided: source.double_sided,
        unlit: extended.unlit,
    })
}
