//! The typed parse: the JSON types of the `gltf` crate, one element at a time, so that an error names
//! its place. None of the crate's own validation or reading is used.

use gltf::json;
use serde_json::Value;

use super::{
    ImportError, extensions,
    images::Alternative,
    materials::Extended,
    meshopt::{self, Compressed},
    prune::Object,
};
use crate::model::Scene;

/// Everything of a file but its binary data.
pub(super) struct Document {
    pub(super) buffers: Vec<json::Buffer>,
    /// Buffers that only stand in where a decoder is missing.
    pub(super) fallback: Vec<bool>,
    pub(super) views: Vec<json::buffer::View>,
    pub(super) compressed: Vec<Option<Compressed>>,
    pub(super) accessors: Vec<json::Accessor>,
    pub(super) nodes: Vec<json::Node>,
    pub(super) raw_scenes: Vec<json::Scene>,
    pub(super) scene: Option<u32>,
    pub(super) skins: Vec<json::Skin>,
    pub(super) meshes: Vec<json::Mesh>,
    /// `extras.targetNames` of every mesh.
    pub(super) target_names: Vec<Vec<String>>,
    pub(super) animations: Vec<json::Animation>,
    pub(super) materials: Vec<json::Material>,
    /// What extensions say about each material.
    pub(super) extended: Vec<Extended>,
    pub(super) textures: Vec<json::Texture>,
    /// What extensions name for each texture.
    pub(super) alternatives: Vec<Option<Alternative>>,
    pub(super) samplers: Vec<json::texture::Sampler>,
    pub(super) images: Vec<json::Image>,
    /// Whether KHR_mesh_quantization is declared.
    pub(super) quantized: bool,
}

impl Document {
    pub(super) fn new(mut root: Object) -> Result<Self, ImportError> {
        let quantized = extensions::names(&root, "extensionsUsed")?.contains(&"KHR_mesh_quantization");
        let scene = match root.get("scene") {
            None => None,
            Some(scene) => Some(
                scene
                    .as_u64()
                    .and_then(|s| u32::try_from(s).ok())
                    .ok_or_else(|| ImportError::schema("scene", format!("{scene} is no index")))?,
            ),
        };
        let mut fallback = Vec::new();
        let buffers = list(&mut root, "buffers", |_, _, extensions, _| {
            let flag = meshopt::find(extensions).and_then(|(_, e)| e.get("fallback"));
            fallback.push(flag.and_then(Value::as_bool) == Some(true));
            Ok(())
        })?;
        let mut compressed = Vec::new();
        let views = list(&mut root, "bufferViews", |place, _, extensions, _| {
            let found = meshopt::find(extensions);
            compressed.push(found.map(|(name, e)| Compressed::parse(place, name, e)).transpose()?);
            Ok(())
        })?;
        let mut target_names = Vec::new();
        let meshes = list(&mut root, "meshes", |_, _, _, extras| {
            target_names.push(names_of_targets(extras));
            Ok(())
        })?;
        let mut extended = Vec::new();
        let materials = list(&mut root, "materials", |place, object, extensions, _| {
            extended.push(Extended::parse(place, object, extensions)?);
            Ok(())
        })?;
        let mut alternatives = Vec::new();
        let textures = list(&mut root, "textures", |_, _, extensions, _| {
            alternatives.push(Alternative::find(extensions));
            Ok(())
        })?;
        let accessors = list(&mut root, "accessors", |_, object, _, _| {
            // Bounds are computed from the data; the file's own cannot be relied on.
            object.remove("min");
            object.remove("max");
            Ok(())
        })?;
        Ok(Self {
            buffers,
            fallback,
            views,
            compressed,
            accessors,
            nodes: list(&mut root, "nodes", nothing)?,
            raw_scenes: list(&mut root, "scenes", nothing)?,
            scene,
            skins: list(&mut root, "skins", nothing)?,
            meshes,
            target_names,
            animations: list(&mut root, "animations", nothing)?,
            materials,
            extended,
            textures,
            alternatives,
            samplers: list(&mut root, "samplers", nothing)?,
            images: list(&mut root, "images", nothing)?,
            quantized,
        })
    }

    pub(super) fn scenes(&self) -> Vec<Scene> {
        let scene = |scene: &json::Scene| Scene {
            name: scene.name.clone().unwrap_or_default(),
            roots: scene.nodes.iter().map(|n| n.value() as u32).collect(),
        };
        self.raw_scenes.iter().map(scene).collect()
    }
}

fn nothing(_: &str, _: &mut Object, _: Option<&Value>, _: Option<&Value>) -> Result<(), ImportError> {
    Ok(())
}

/// Parses a top-level list. `extensions` and `extras` are taken out first and shown to `look`.
fn list<T: serde_json_de::Element>(
    root: &mut Object,
    key: &'static str,
    mut look: impl FnMut(&str, &mut Object, Option<&Value>, Option<&Value>) -> Result<(), ImportError>,
) -> Result<Vec<T>, ImportError> {
    let elements = match root.remove(key) {
        None => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(_) => return Err(ImportError::schema(key, "must be a list")),
    };
    let mut out = Vec::with_capacity(elements.len());
    for (index, element) in elements.into_iter().enumerate() {
        let Value::Object(mut object) = element else {
            return Err(ImportError::schema(format!("{key}[{index}]"), "must be an object"));
        };
        let (extensions, extras) = (object.remove("extensions"), object.remove("extras"));
        if extensions.is_some() || extras.is_some() || matches!(key, "accessors" | "materials") {
            look(&format!("{key}[{index}]"), &mut object, extensions.as_ref(), extras.as_ref())?;
        } else {
            look("", &mut object, None, None)?;
        }
        out.push(
            T::parse(Value::Object(object))
                .map_err(|e| ImportError::schema(format!("{key}[{index}]"), e.to_string()))?,
        );
    }
    Ok(out)
}

/// `serde_json::from_value` for the types used here, without naming serde as a dependency.
mod serde_json_de {
    use gltf::json;
    use serde_json::{Error, Value, from_value};

    pub(super) trait Element: Sized {
        fn parse(value: Value) -> Result<Self, Error>;
    }

    macro_rules! elements {
        ($($type:ty),*) => {
            $(impl Element for $type {
                fn parse(value: Value) -> Result<Self, Error> {
                    from_value(value)
                }
            })*
        };
    }

    elements!(
        json::Buffer,
        json::buffer::View,
        json::Accessor,
        json::Node,
        json::Scene,
        json::Skin,
        json::Mesh,
        json::Animation,
        json::Material,
        json::Texture,
        json::texture::Sampler,
        json::Image
    );
}

fn names_of_targets(extras: Option<&Value>) -> Vec<String> {
    let names = extras.and_then(|e| e.get("targetNames")).and_then(Value::as_array);
    let name = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    names.into_iter().flatten().map(name).collect()
}
