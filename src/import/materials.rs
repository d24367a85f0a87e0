//! Materials: numbers and texture slots. References were checked before.

use glam::{Vec3, Vec4};
use gltf::json::{
    material::{AlphaMode as Mode, Material as Source},
    texture::Info,
    validation::Checked,
};

use super::{ImportError, document::Document, uv_transform::UvChange};
use crate::model::{AlphaMode, Material, TextureRef};

pub(super) fn build(document: &Document) -> Result<Vec<Material>, ImportError> {
    let materials = document.materials.iter().zip(&document.unlit).zip(&document.uv).enumerate();
    materials.map(|(i, ((source, unlit), uv))| material(i, source, *unlit, uv)).collect()
}

fn material(index: usize, source: &Source, unlit: bool, uv: &[UvChange; 5]) -> Result<Material, ImportError> {
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
    let slot = |texture: usize, uv_set: u32, change: UvChange| TextureRef {
        texture: texture as u32,
        uv_set: change.uv_set.unwrap_or(uv_set),
        transform: change.transform,
    };
    let info =
        |info: &Option<Info>, change| info.as_ref().map(|t| slot(t.index.value(), t.tex_coord, change));
    let [base_color, metallic_roughness, normal, occlusion, emissive] = *uv;
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
        emissive_texture: info(&source.emissive_texture, emissive),
        alpha_mode,
        double_sided: source.double_sided,
        unlit,
    })
}
