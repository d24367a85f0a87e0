//! A [`Model`] to GLB. Reading the file back gives an equal model, except for what glTF cannot hold:
//! a mesh's bind matrix (it is already applied), its skinning where that is not linear, weights that do not sum to
//! one, skins that deform alike, and the model's name. Where a skin lists a node more than once, every further joint
//! becomes a child of that node, without a name, which stands where it does: glTF's joints are unique.

mod clip;
mod joints;
mod material;
mod mesh;
mod obj;
mod writer;

pub use obj::Obj;

use serde_json::{Map, Value, json};

use self::{joints::Joints, writer::Writer};
use crate::model::Model;

/// Why a model was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// GLB sizes are 32-bit.
    #[error("the file would have {bytes} bytes; GLB ends at 4 GiB")]
    TooLarge {
        /// Bytes needed.
        bytes: usize,
    },
    /// glTF stores joints in 16 bits.
    #[error("meshes[{mesh}].primitives[{primitive}] uses joint {joint}; glTF ends at 65535")]
    Joint {
        /// Which mesh.
        mesh: usize,
        /// Which primitive.
        primitive: usize,
        /// The joint.
        joint: u32,
    },
    /// glTF accessors hold at least one element.
    #[error("meshes[{mesh}].primitives[{primitive}] has no vertices or no indices")]
    Empty {
        /// Which mesh.
        mesh: usize,
        /// Which primitive.
        primitive: usize,
    },
}

impl Model {
    /// Writes the model as one GLB file, vertices in their source order.
    pub fn to_glb(&self) -> Result<Vec<u8>, ExportError> {
        let mut writer = Writer::default();
        let mut root = Map::new();
        root.insert("asset".into(), json!({ "version": "2.0", "generator": "sinew" }));
        let mut put = |key: &str, list: Vec<Value>| {
            if !list.is_empty() {
                root.insert(key.into(), Value::Array(list));
            }
        };
        put("meshes", mesh::meshes(self, &mut writer)?);
        let joints = Joints::of(self);
        put("skins", skins(self, &joints, &mut writer));
        put("animations", clip::animations(self, &mut writer));
        put("nodes", nodes(self, &joints));
        put("scenes", scenes(self));
        put("materials", material::materials(self));
        put("textures", material::textures(self));
        put("samplers", material::samplers(self));
        put("images", material::images(self, &mut writer));
        put("extensionsUsed", material::extensions(self));
        let (bin, views, accessors) = writer.finish();
        put("bufferViews", views);
        put("accessors", accessors);
        if !bin.is_empty() {
            put("buffers", vec![json!({ "byteLength": bin.len() })]);
        }
        if let Some(scene) = self.default_scene() {
            root.insert("scene".into(), scene.into());
        }
        container(Value::Object(root).to_string().into_bytes(), bin)
    }
}

fn container(mut json: Vec<u8>, mut bin: Vec<u8>) -> Result<Vec<u8>, ExportError> {
    json.resize(json.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let bin_chunk = if bin.is_empty() { 0 } else { 8 + bin.len() };
    let bytes = 12 + 8 + json.len() + bin_chunk;
    let Ok(length) = u32::try_from(bytes) else { return Err(ExportError::TooLarge { bytes }) };
    let mut out = Vec::with_capacity(bytes);
    out.extend(b"glTF");
    out.extend(2u32.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend((json.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(json);
    if !bin.is_empty() {
        out.extend((bin.len() as u32).to_le_bytes());
        out.extend(b"BIN\0");
        out.extend(bin);
    }
    Ok(out)
}

/// An object with a name, where there is one.
fn named(name: &str) -> Map<String, Value> {
    let mut object = Map::new();
    if !name.is_empty() {
        object.insert("name".into(), name.into());
    }
    object
}

fn nodes(model: &Model, joints: &Joints) -> Vec<Value> {
    let skeleton = model.skeleton();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); skeleton.len()];
    for (node, parent) in (0u32..).zip(skeleton.parents()) {
        if let Some(parent) = parent {
            children[*parent as usize].push(node);
        }
    }
    for (node, parent) in (skeleton.len() as u32..).zip(&joints.added) {
        children[*parent as usize].push(node);
    }
    let node = |(index, children): (usize, Vec<u32>)| {
        let mut node = named(&skeleton.names()[index]);
        let rest = skeleton.rest()[index];
        node.insert("translation".into(), json!(rest.translation.to_array()));
        node.insert("rotation".into(), json!(rest.rotation.to_array()));
        node.insert("scale".into(), json!(rest.scale.to_array()));
        if !children.is_empty() {
            node.insert("children".into(), json!(children));
        }
        if let Some(part) = model.part_of_node(index as u32) {
            let part = &model.parts()[part as usize];
            node.insert("mesh".into(), part.mesh.into());
            if let Some(skin) = part.skin {
                node.insert("skin".into(), skin.into());
            }
            if !part.weights.is_empty() {
                node.insert("weights".into(), json!(part.weights));
            }
        }
        Value::Object(node)
    };
    let own = children.into_iter().enumerate().map(node);
    own.chain(joints.added.iter().map(|_| json!({}))).collect()
}

fn skins(model: &Model, joints: &Joints, writer: &mut Writer) -> Vec<Value> {
    let mut skins = Vec::new();
    for (skin, joints) in model.skins().iter().zip(&joints.of_skins) {
        let matrices: Vec<f32> =
            skin.inverse_binds().iter().flat_map(|m| glam::Mat4::from(*m).to_cols_array()).collect();
        let mut object = named(skin.name());
        object.insert("joints".into(), json!(joints));
        object.insert("inverseBindMatrices".into(), writer.floats(&matrices, "MAT4").into());
        skins.push(Value::Object(object));
    }
    skins
}

fn scenes(model: &Model) -> Vec<Value> {
    let scene = |scene: &crate::model::Scene| {
        let mut object = named(&scene.name);
        if !scene.roots.is_empty() {
            object.insert("nodes".into(), json!(scene.roots));
        }
        Value::Object(object)
    };
    model.scenes().iter().map(scene).collect()
}
