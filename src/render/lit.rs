use std::collections::HashMap;

use super::{
    RenderError,
    draw::{Draw, DrawList, DrawnPart},
    geometry::Geometry,
    material::{SurfaceKey, bind_groups},
    pipeline::{Layer, PipelineKey, PipelineSet, Pipelines},
    texture::Textures,
};
use crate::{
    animate::{Animator, InstanceId, ModelId},
    deform::{Precision, gpu::SkinnedPart},
    model::{Diagnostic, Material, Model, Primitive},
};

/// How a [`Renderer`] draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RendererOptions {
    /// Format of the colour target; it must encode sRGB.
    pub format: wgpu::TextureFormat,
    /// Samples per pixel, 1 or 4.
    pub samples: u32,
}

impl Default for RendererOptions {
    fn default() -> Self {
        Self { format: wgpu::TextureFormat::Rgba8UnormSrgb, samples: 4 }
    }
}

/// The standard raster pass: metallic-roughness materials under one light, over deformed vertices.
///
/// It holds what deformation does not change (indices, uvs, colours, textures), once per model.
pub struct Renderer {
    device: wgpu::Device,
    pub(super) pipelines: Pipelines,
    models: Vec<ModelResources>,
}

struct ModelResources {
    model: Model,
    geometry: Geometry,
    /// One list per mesh, one entry per primitive.
    primitives: Vec<Vec<PrimitiveResources>>,
}

struct PrimitiveResources {
    layer: Layer,
    pipelines: PipelineSet,
    material: wgpu::BindGroup,
}

impl std::fmt::Debug for Renderer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer").field("models", &self.models.len()).finish_non_exhaustive()
    }
}

impl Renderer {
    /// A renderer without models.
    pub fn new(device: &wgpu::Device, options: RendererOptions) -> Result<Self, RenderError> {
        let pipelines = Pipelines::new(device, options.format, options.samples)?;
        Ok(Self { device: device.clone(), pipelines, models: Vec::new() })
    }

    /// Uploads a model's indices, uvs, colours and textures, unless it was added before. An image that
    /// cannot be decoded is reported: a base colour is drawn as a checker, other maps are left out.
    pub fn add_model(&mut self, queue: &wgpu::Queue, model: &Model) -> Result<Vec<Diagnostic>, RenderError> {
        if self.find(model).is_some() {
            return Ok(Vec::new());
        }
        let _span = tracing::debug_span!("upload", model = model.name()).entered();
        let device = self.device.clone();
        let geometry = Geometry::new(&device, queue, model)?;
        let mut keys: Vec<SurfaceKey> = Vec::new();
        let mut key_of = HashMap::new();
        for primitive in model.meshes().iter().flat_map(|mesh| mesh.primitives()) {
            let key = SurfaceKey::of(primitive);
            key_of.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() - 1
            });
        }
        let mut textures = Textures::new(&device, queue, model);
        let layout = &self.pipelines.material_layout;
        let groups = bind_groups(&device, queue, layout, model, &mut textures, &keys)?;
        let default = Material::default();
        let mut primitives = Vec::with_capacity(model.meshes().len());
        for mesh in model.meshes() {
            let resources = mesh.primitives().iter().map(|primitive| {
                let material = primitive.material().and_then(|m| model.materials().get(m as usize));
                let material = material.unwrap_or(&default);
                let layer = Layer::of(material);
                let topology = primitive.topology();
                let double_sided = material.double_sided;
                let pipelines = self.pipelines.get(PipelineKey { topology, layer, double_sided });
                let material = groups[key_of[&SurfaceKey::of(primitive)]].clone();
                PrimitiveResources { layer, pipelines, material }
            });
            primitives.push(resources.collect());
        }
        let diagnostics = textures.diagnostics;
        self.models.push(ModelResources { model: model.clone(), geometry, primitives });
        Ok(diagnostics)
    }

    /// Gives a model's buffers and textures back. Passes that were declared with it keep their own handles.
    pub fn remove_model(&mut self, model: &Model) {
        self.models.retain(|known| !known.model.ptr_eq(model));
    }

    /// Moves to a new device, after the old one was lost: everything is built again from the models. Graphs must
    /// be declared again.
    pub fn rebuild(&mut self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<(), RenderError> {
        let options = RendererOptions { format: self.pipelines.format(), samples: self.pipelines.samples() };
        let mut rebuilt = Self::new(device, options)?;
        for known in &self.models {
            rebuilt.add_model(queue, &known.model)?;
        }
        *self = rebuilt;
        Ok(())
    }

    /// Resolves parts to draws.
    pub(super) fn draw_list(
        &self,
        animator: &Animator,
        parts: &[SkinnedPart],
    ) -> Result<DrawList, RenderError> {
        let mut list = DrawList::default();
        let mut slots: HashMap<InstanceId, u32> = HashMap::new();
        for part in parts {
            let unknown = || RenderError::UnknownModel { name: part.model.name().into() };
            let resources = self.find(&part.model).ok_or_else(unknown)?;
            let slot = *slots.entry(part.instance).or_insert_with(|| {
                list.instances.push(part.instance);
                list.instances.len() as u32 - 1
            });
            resources.push(animator.model_of(part.instance)?, part, slot, &mut list)?;
        }
        list.finish();
        Ok(list)
    }

    fn find(&self, model: &Model) -> Option<&ModelResources> {
        self.models.iter().find(|known| known.model.ptr_eq(model))
    }
}

impl ModelResources {
    fn push(
        &self,
        id: ModelId,
        part: &SkinnedPart,
        slot: u32,
        list: &mut DrawList,
    ) -> Result<(), RenderError> {
        if part.precision != Precision::Packed {
            return Err(RenderError::Precision { part: part.part });
        }
        let shown = self.model.shown_parts();
        let place = shown.iter().position(|&index| index == part.part);
        let place = place.ok_or(RenderError::UnknownPart { part: part.part, shown: shown.len() })?;
        let shown_part = &self.model.parts()[part.part as usize];
        let mesh = shown_part.mesh as usize;
        let geometry = &self.geometry.meshes[mesh];
        if part.first_vertices != geometry.first_vertices {
            let (found, expected) = (part.first_vertices.clone(), geometry.first_vertices.clone());
            return Err(RenderError::VertexOrder { part: part.part, found, expected });
        }
        let index = list.parts.len();
        list.parts.push(DrawnPart {
            instance: part.instance,
            model: id,
            shown: place,
            part: part.part,
            slot,
            center: geometry.center,
            attributes: self.geometry.attributes.clone(),
            attribute_bytes: geometry.attributes.clone(),
            indices: self.geometry.indices.clone(),
        });
        let primitives = self.model.meshes()[mesh].primitives();
        for (primitive, resources) in self.primitives[mesh].iter().enumerate() {
            list.draws.push(Draw {
                part: index,
                joints: if shown_part.skin.is_some() { joints_of(&primitives[primitive]) } else { vec![0] },
                is_warned: false,
                layer: resources.layer,
                pipelines: resources.pipelines.clone(),
                material: resources.material.clone(),
                indices: geometry.indices[primitive].clone(),
                base_vertex: geometry.first_vertices[primitive] as i32,
            });
        }
        Ok(())
    }
}

/// Every joint that some vertex follows.
fn joints_of(primitive: &Primitive) -> Vec<u32> {
    let rows = primitive.influences().into_iter().flat_map(|all| (0..all.vertices()).map(|v| all.row(v)));
    let mut joints: Vec<u32> = rows.flatten().map(|influence| influence.joint).collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}
