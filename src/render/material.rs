//! Materials as the shader binds them.

use glam::Vec3;

use super::{
    RenderError,
    geometry::upload,
    layout::{Surface, UvRows},
    texture::{Slot, Textures},
};
use crate::{
    model::{AlphaMode, Material, Model, Primitive, TextureRef, UvTransform},
    shaders,
};

/// The bind group of materials in wgsl/lit.wgsl.
pub(crate) const MATERIAL_GROUP: u32 = 1;

/// A material and what the primitives that use it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SurfaceKey {
    material: Option<u32>,
    normals: bool,
    tangents: bool,
}

impl SurfaceKey {
    pub(crate) fn of(primitive: &Primitive) -> Self {
        Self {
            material: primitive.material(),
            normals: !primitive.normals().is_empty(),
            tangents: !primitive.tangents().is_empty(),
        }
    }
}

/// The textures of a material, in the order of the shader's bindings.
fn maps(material: &Material) -> [(Option<TextureRef>, Slot); 5] {
    [
        (material.base_color_texture, Slot::BaseColor),
        (material.metallic_roughness_texture, Slot::MetallicRoughness),
        (material.normal_texture, Slot::Normal),
        (material.occlusion_texture, Slot::Occlusion),
        (material.emissive_texture, Slot::Emissive),
    ]
}

/// The two uv sets that a material's textures read; a third one reads as the first.
pub(crate) fn uv_sets(material: Option<&Material>) -> [u32; 2] {
    let mut used = material.into_iter().flat_map(maps).filter_map(|(map, _)| map).map(|map| map.uv_set);
    let first = used.next().unwrap_or(0);
    [first, used.find(|set| *set != first).unwrap_or(first)]
}

fn uv_rows(transform: UvTransform) -> UvRows {
    let [u, v] = transform.rows().map(|[a, b, c]| [a, b, c, 0.0]);
    UvRows { u, v }
}

/// What the shader multiplies, and which maps it reads. A normal map needs tangents, light needs normals
/// (glTF 2.0, 3.7.2.1: points and lines without them are unlit).
fn surface(model: &Model, key: SurfaceKey) -> Surface {
    let default = Material::default();
    let material = key.material.and_then(|m| model.materials().get(m as usize)).unwrap_or(&default);
    let sets = uv_sets(Some(material));
    let (mut present, mut second) = (0, 0);
    for (bit, (map, slot)) in maps(material).into_iter().enumerate() {
        let Some(map) = map else { continue };
        if slot != Slot::Normal || key.tangents {
            present |= 1 << bit;
        }
        if map.uv_set != sets[0] && map.uv_set == sets[1] {
            second |= 1 << bit;
        }
    }
    Surface {
        base_color: material.base_color.to_array(),
        // Infinity times a black texel would be NaN.
        emissive: (material.emissive * material.emissive_strength).min(Vec3::MAX).to_array(),
        cutoff: if let AlphaMode::Mask { cutoff } = material.alpha_mode { cutoff } else { 0.0 },
        metallic: material.metallic,
        roughness: material.roughness,
        normal_scale: material.normal_scale,
        occlusion_strength: material.occlusion_strength,
        lit: u32::from(!material.unlit && key.normals),
        maps: present,
        uv_sets: second,
        pad: 0,
        uv: maps(material).map(|(map, _)| uv_rows(map.map(|map| map.transform).unwrap_or_default())),
    }
}

/// A bind group for each of `keys`, all numbers in one buffer.
pub(crate) fn bind_groups(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    layout: &wgpu::BindGroupLayout,
    model: &Model,
    textures: &mut Textures<'_>,
    keys: &[SurfaceKey],
) -> Result<Vec<wgpu::BindGroup>, RenderError> {
    let size = size_of::<Surface>();
    let stride = size.next_multiple_of(device.limits().min_storage_buffer_offset_alignment as usize);
    let mut bytes = vec![0u8; stride * keys.len()];
    for (slot, &key) in bytes.chunks_exact_mut(stride).zip(keys) {
        slot[..size].copy_from_slice(bytemuck::bytes_of(&surface(model, key)));
    }
    let buffer = upload(device, queue, "materials", &bytes, wgpu::BufferUsages::STORAGE)?;
    let default = Material::default();
    let material_of =
        |key: &SurfaceKey| key.material.and_then(|m| model.materials().get(m as usize)).unwrap_or(&default);
    textures.prepare(keys.iter().flat_map(|key| maps(material_of(key))));
    let group = |(index, key): (usize, &SurfaceKey)| {
        let material = material_of(key);
        let maps = maps(material).map(|(map, slot)| textures.get(map, slot));
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: (index * stride) as u64,
                size: wgpu::BufferSize::new(size as u64),
            }),
        }];
        let views = maps.iter().map(|(view, _)| wgpu::BindingResource::TextureView(view));
        let samplers = maps.iter().map(|(_, sampler)| wgpu::BindingResource::Sampler(sampler));
        let resources = (1u32..).zip(views.chain(samplers));
        entries.extend(resources.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }));
        let label = Some(material.name.as_str());
        device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries })
    };
    Ok(keys.iter().enumerate().map(group).collect())
}

/// A layout as the shader declares it.
pub(crate) fn layout(device: &wgpu::Device, group: u32) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("lit"),
        entries: &crate::gpu::bind_group_layout_entries(&shaders::LIT, group),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelDesc;

    fn textured(uv: [u32; 3]) -> Material {
        let map = |uv_set| Some(TextureRef { uv_set, ..TextureRef::new(0) });
        Material {
            base_color_texture: map(uv[0]),
            normal_texture: map(uv[1]),
            emissive_texture: map(uv[2]),
            ..Material::default()
        }
    }

    fn model(material: Material) -> Model {
        Model::new(ModelDesc {
            materials: vec![material],
            textures: vec![crate::model::Texture { image: 0, sampler: Default::default() }],
            images: vec![crate::model::Image {
                name: String::new(),
                mime_type: String::new(),
                bytes: Vec::new(),
            }],
            ..ModelDesc::default()
        })
        .unwrap()
    }

    const FULL: SurfaceKey = SurfaceKey { material: Some(0), normals: true, tangents: true };

    #[test]
    fn a_material_reads_two_uv_sets_and_each_map_says_which() {
        assert_eq!(uv_sets(Some(&textured([2, 0, 2]))), [2, 0]);
        let surface = surface(&model(textured([2, 0, 2])), FULL);
        assert_eq!((surface.maps, surface.uv_sets), (0b10101, 0b00100));
    }

    #[test]
    fn without_tangents_there_is_no_normal_map_and_without_normals_no_light() {
        let model = model(textured([0, 0, 0]));
        assert_eq!(surface(&model, SurfaceKey { tangents: false, ..FULL }).maps, 0b10001);
        assert_eq!(surface(&model, SurfaceKey { normals: false, ..FULL }).lit, 0);
        assert_eq!(surface(&model, FULL).lit, 1);
    }
}
