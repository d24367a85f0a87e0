//! Plain, immutable data: what a file holds once it has been checked. Everything here can also be
//! built by hand; constructors refuse what the rest of the library could not deform.

mod bounds;
mod chunk;
mod clip;
mod copy;
mod diagnostic;
mod influences;
mod material;
mod mesh;
mod mesh_check;
mod morph;
mod skeleton;
mod skin;
mod skinning;
mod split;
mod transform;
mod triangles;

use std::{ops::Range, sync::Arc};

pub use bounds::Bounds;
pub(crate) use chunk::chunks;
pub use chunk::{CHUNK_JOINTS, CHUNK_VERTICES, Chunk, InfluenceClass};
pub use clip::{Channel, Clip, ClipError, Interpolation, Track};
pub use copy::Copied;
pub(crate) use diagnostic::codes;
pub use diagnostic::{Code, Diagnostic, Severity};
pub use influences::{Influence, InfluenceError, Influences, normalize_weights};
pub use material::{AlphaMode, Image, Material, Sampler, Texture, TextureRef, UvTransform, Wrap};
pub use mesh::{Mesh, MeshError, Primitive, PrimitiveDesc, Topology};
pub use mesh_check::{MAX_COORDINATE, MAX_WEIGHT_SUM};
pub use morph::{Delta, MorphTarget};
pub use skeleton::{Node, Skeleton, SkeletonError};
pub use skin::{Skin, SkinError};
pub use skinning::Skinning;
#[cfg(feature = "gltf")]
pub(crate) use split::{Split, flat_normal, list_triangles};
pub use transform::Transform;
pub(crate) use transform::normal_matrix;

/// A mesh at a node: what is deformed and drawn as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The node that carries it; its transform is ignored when there is a skin.
    pub node: u32,
    /// Index into the meshes.
    pub mesh: u32,
    /// Index into the skins.
    pub skin: Option<u32>,
    /// Morph weights of this part at rest; one per target of the mesh.
    pub weights: Vec<f32>,
}

/// A set of root nodes that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// May be empty.
    pub name: String,
    /// Root nodes.
    pub roots: Vec<u32>,
}

/// Everything a [`Model`] is built from.
#[derive(Clone, Debug, Default)]
pub struct ModelDesc {
    /// May be empty.
    pub name: String,
    /// Nodes and their rest pose.
    pub skeleton: Skeleton,
    /// Skins on that skeleton.
    pub skins: Vec<Skin>,
    /// Meshes.
    pub meshes: Vec<Mesh>,
    /// Meshes at nodes, in ascending node order.
    pub parts: Vec<Part>,
    /// Scenes; without any, all parts are shown.
    pub scenes: Vec<Scene>,
    /// The scene that is shown.
    pub default_scene: Option<u32>,
    /// Animations.
    pub clips: Vec<Clip>,
    /// Materials.
    pub materials: Vec<Material>,
    /// Textures.
    pub textures: Vec<Texture>,
    /// Encoded images.
    pub images: Vec<Image>,
    /// What loading ignored or repaired.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why parts do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A reference points past its list.
    #[error("{place} refers to {kind} {index}, but there are {count}")]
    OutOfRange {
        /// Who refers.
        place: String,
        /// To what.
        kind: &'static str,
        /// Which.
        index: u32,
        /// How many exist.
        count: usize,
    },
    /// A skin deforms vertices only through influences.
    #[error("parts[{part}] has a skin, but primitive {primitive} of its mesh has no joints and weights")]
    SkinWithoutInfluences {
        /// Which part.
        part: usize,
        /// Which primitive.
        primitive: usize,
    },
    /// Influences that do not fit the skin.
    #[error("parts[{part}], primitive {primitive}: {source}")]
    Influences {
        /// Which part.
        part: usize,
        /// Which primitive.
        primitive: usize,
        /// What is wrong.
        source: InfluenceError,
    },
    /// One weight per target.
    #[error("{place} has {found} morph weights, its mesh has {expected} targets")]
    WeightCount {
        /// Who.
        place: String,
        /// Weights given.
        found: usize,
        /// Targets.
        expected: usize,
    },
    /// A weight that is no number.
    #[error("{place} has morph weight {weight}; weights must be finite")]
    Weight {
        /// Who.
        place: String,
        /// The weight.
        weight: f32,
    },
    /// Two parts at one node.
    #[error("node {node} carries two meshes")]
    TwoMeshes {
        /// Which node.
        node: u32,
    },
    /// A skin of the result.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

/// A validated, immutable character (or any animated scene). Cloning shares the data.
#[derive(Clone, Debug)]
pub struct Model {
    data: Arc<Data>,
}

#[derive(Clone, Debug)]
struct Data {
    desc: ModelDesc,
    /// Where each part's morph weights lie in a pose.
    weight_ranges: Vec<Range<usize>>,
    part_of_node: Vec<Option<u32>>,
    shown: Vec<u32>,
    weights: usize,
}

impl Model {
    /// Checks that everything fits together.
    pub fn new(desc: ModelDesc) -> Result<Self, ModelError> {
        check_references(&desc)?;
        let mut part_of_node = vec![None; desc.skeleton.len()];
        let mut weight_ranges = Vec::with_capacity(desc.parts.len());
        let mut weights = 0;
        // A mesh that fits a skin fits every larger one: parts that share a mesh do not check it again.
        let mut fits = vec![usize::MAX; desc.meshes.len()];
        for (index, part) in desc.parts.iter().enumerate() {
            check_part(&desc, index, part, &mut fits)?;
            if part_of_node[part.node as usize].replace(index as u32).is_some() {
                return Err(ModelError::TwoMeshes { node: part.node });
            }
            weight_ranges.push(weights..weights + part.weights.len());
            weights += part.weights.len();
        }
        check_tracks(&desc, &part_of_node)?;
        let shown = shown_parts(&desc);
        Ok(Self { data: Arc::new(Data { desc, weight_ranges, part_of_node, shown, weights }) })
    }

    /// The model's name; empty where the source had none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.data.desc.name
    }

    /// Nodes and their rest pose.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.data.desc.skeleton
    }

    /// Skins; parts that deform alike share one.
    #[must_use]
    pub fn skins(&self) -> &[Skin] {
        &self.data.desc.skins
    }

    /// Meshes.
    #[must_use]
    pub fn meshes(&self) -> &[Mesh] {
        &self.data.desc.meshes
    }

    /// Meshes at nodes, in ascending node order, of all scenes.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.data.desc.parts
    }

    /// Indices of the parts in the default scene (else the first scene, else all), ascending.
    #[must_use]
    pub fn shown_parts(&self) -> &[u32] {
        &self.data.shown
    }

    /// Scenes.
    #[must_use]
    pub fn scenes(&self) -> &[Scene] {
        &self.data.desc.scenes
    }

    /// The scene that is shown, when the source names one.
    #[must_use]
    pub fn default_scene(&self) -> Option<u32> {
        self.data.desc.default_scene
    }

    /// Animations.
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.data.desc.clips
    }

    /// The first clip with this name.
    #[must_use]
    pub fn find_clip(&self, name: &str) -> Option<u32> {
        self.clips().iter().position(|c| c.name() == name).map(|i| i as u32)
    }

    /// The same model with more clips, after its own. Shares nothing with `self`, unless there are none to add.
    pub fn with_clips(&self, clips: impl IntoIterator<Item = Clip>) -> Result<Self, ModelError> {
        let mut clips = clips.into_iter().peekable();
        if clips.peek().is_none() {
            return Ok(self.clone());
        }
        let mut desc = self.data.desc.clone();
        desc.clips.extend(clips);
        Self::new(desc)
    }

    /// Materials.
    #[must_use]
    pub fn materials(&self) -> &[Material] {
        &self.data.desc.materials
    }

    /// Textures.
    #[must_use]
    pub fn textures(&self) -> &[Texture] {
        &self.data.desc.textures
    }

    /// Encoded images.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.data.desc.images
    }

    /// What loading ignored or repaired.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.data.desc.diagnostics
    }

    /// The part at a node.
    #[must_use]
    pub fn part_of_node(&self, node: u32) -> Option<u32> {
        self.data.part_of_node.get(node as usize).copied().flatten()
    }

    /// Where a part's morph weights lie in a pose's weights.
    #[must_use]
    pub fn weight_range(&self, part: u32) -> Range<usize> {
        self.data.weight_ranges[part as usize].clone()
    }

    /// Morph weights of all parts together: the length of a pose's weights.
    #[must_use]
    pub fn weight_count(&self) -> usize {
        self.data.weights
    }

    /// Whether both are the same model (not merely equal ones).
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.data, &other.data)
    }
}

fn in_range(
    place: impl FnOnce() -> String,
    kind: &'static str,
    index: u32,
    count: usize,
) -> Result<(), ModelError> {
    if (index as usize) < count {
        return Ok(());
    }
    Err(ModelError::OutOfRange { place: place(), kind, index, count })
}

fn check_references(desc: &ModelDesc) -> Result<(), ModelError> {
    let nodes = desc.skeleton.len();
    for (i, skin) in desc.skins.iter().enumerate() {
        for &node in skin.joints() {
            in_range(|| format!("skins[{i}].joints"), "node", node, nodes)?;
        }
    }
    for (i, mesh) in desc.meshes.iter().enumerate() {
        for material in mesh.primitives().iter().filter_map(Primitive::material) {
            in_range(|| format!("meshes[{i}]"), "material", material, desc.materials.len())?;
        }
    }
    for (i, scene) in desc.scenes.iter().enumerate() {
        for &root in &scene.roots {
            in_range(|| format!("scenes[{i}].nodes"), "node", root, nodes)?;
        }
    }
    if let Some(scene) = desc.default_scene {
        in_range(|| "scene".into(), "scene", scene, desc.scenes.len())?;
    }
    for (i, material) in desc.materials.iter().enumerate() {
        let slots = [
            material.base_color_texture,
            material.metallic_roughness_texture,
            material.normal_texture,
            material.occlusion_texture,
            material.emissive_texture,
        ];
        for slot in slots.into_iter().flatten() {
            in_range(|| format!("materials[{i}]"), "texture", slot.texture, desc.textures.len())?;
        }
    }
    for (i, texture) in desc.textures.iter().enumerate() {
        in_range(|| format!("textures[{i}]"), "image", texture.image, desc.images.len())?;
    }
    Ok(())
}

fn check_part(desc: &ModelDesc, index: usize, part: &Part, fits: &mut [usize]) -> Result<(), ModelError> {
    let place = || format!("parts[{index}]");
    in_range(place, "node", part.node, desc.skeleton.len())?;
    in_range(place, "mesh", part.mesh, desc.meshes.len())?;
    let mesh = &desc.meshes[part.mesh as usize];
    if part.weights.len() != mesh.weights().len() {
        let (found, expected) = (part.weights.len(), mesh.weights().len());
        return Err(ModelError::WeightCount { place: place(), found, expected });
    }
    if let Some(&weight) = part.weights.iter().find(|w| !w.is_finite()) {
        return Err(ModelError::Weight { place: place(), weight });
    }
    let Some(skin) = part.skin else { return Ok(()) };
    in_range(place, "skin", skin, desc.skins.len())?;
    let joints = desc.skins[skin as usize].joints().len();
    if fits[part.mesh as usize] <= joints {
        return Ok(());
    }
    for (primitive, data) in mesh.primitives().iter().enumerate() {
        let Some(influences) = data.influences() else {
            return Err(ModelError::SkinWithoutInfluences { part: index, primitive });
        };
        influences.check(joints).map_err(|source| ModelError::Influences {
            part: index,
            primitive,
            source,
        })?;
    }
    fits[part.mesh as usize] = joints;
    Ok(())
}

fn check_tracks(desc: &ModelDesc, part_of_node: &[Option<u32>]) -> Result<(), ModelError> {
    for (i, clip) in desc.clips.iter().enumerate() {
        for (t, track) in clip.tracks().iter().enumerate() {
            let place = || format!("clips[{i}].tracks[{t}]");
            in_range(place, "node", track.node, part_of_node.len())?;
            if track.channel == Channel::Weights {
                let part = part_of_node[track.node as usize];
                let expected = part.map_or(0, |p| desc.parts[p as usize].weights.len());
                if track.width as usize != expected {
                    let found = track.width as usize;
                    return Err(ModelError::WeightCount { place: place(), found, expected });
                }
            }
        }
    }
    Ok(())
}

/// Parts whose root belongs to the scene that is shown.
fn shown_parts(desc: &ModelDesc) -> Vec<u32> {
    let scene = desc.scenes.get(desc.default_scene.unwrap_or(0) as usize);
    let mut inside = vec![scene.is_none(); desc.skeleton.len()];
    if let Some(scene) = scene {
        scene.roots.iter().for_each(|&root| inside[root as usize] = true);
        for &node in desc.skeleton.order() {
            let parent = desc.skeleton.parents()[node as usize];
            inside[node as usize] |= parent.is_some_and(|p| inside[p as usize]);
        }
    }
    (0u32..).zip(&desc.parts).filter(|(_, p)| inside[p.node as usize]).map(|(i, _)| i).collect()
}
