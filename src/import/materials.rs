//! Materials: numbers and texture slots. References were checked before.

use glam::{Vec3, Vec4};
use gltf::json::{
    material::{AlphaMode as Mode, Material as Source},
    texture::Info,
    validation::Checked,
};

use super::{ImportError, document::Document};
use crate::model::{AlphaMode, Material, TextureRef};

pub(super) fn build(document: &Document) -> Result<Vec<Material>, ImportError> {
    let materials = document.materials.iter().zip(&document.unlit).enumerate();
    materials.map(|(i, (source, unlit))| material(i, source, *unlit)).collect()
}

fn material(index: usize, source: &Source, unlit: bool) -> Result<Material, ImportError> {
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
    let slot = |texture: usize, uv_set: u32| TextureRef { texture: texture as u32, uv_set };
    let info = |info: &Option<Info>| info.as_ref().map(|t| slot(t.index.value(), t.tex_coord));
    Ok(Material {
        name: source.name.clone().unwrap_or_default(),
        base_color: Vec4::from_array(pbr.base_color_factor.0),
        base_color_texture: info(&pbr.base_color_texture),
        metallic: pbr.metallic_factor.0,
        roughness: pbr.roughness_factor.0,
        metallic_roughness_texture: info(&pbr.metallic_roughness_texture),
        normal_texture: source.normal_texture.as_ref().map(|t| slot(t.index.value(), t.tex_coord)),
        normal_scale,
        occlusion_texture: source.occlusion_texture.as_ref().map(|t| slot(t.index.value(), t.tex_coord)),
        occlusion_strength,
        emissive: Vec3::from_array(source.emissive_factor.0),
        emissive_texture: info(&source.emissive_texture),
        alpha_mode,
        double_sided: source.double_sided,
        unlit,
    })
}
