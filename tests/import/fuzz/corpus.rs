//! What is mutated: the small files of `tests/data/assets`, and documents that use every feature.

use std::{collections::BTreeMap, fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::glb::{FLOAT, Glb, UNSIGNED_BYTE, UNSIGNED_SHORT};

/// A document apart from its container.
#[derive(Clone)]
pub(super) struct Seed {
    pub(super) name: String,
    pub(super) json: Value,
    /// None: a `.gltf`.
    pub(super) bin: Option<Vec<u8>>,
    /// What a resolver gives.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// How often it is taken.
    pub(super) weight: usize,
}

impl Seed {
    fn new(name: &str, glb: Glb) -> Self {
        let mut json = glb.json;
        if json.get("buffers").is_none() {
            json["buffers"] = json!([{ "byteLength": glb.bin.len() }]);
        }
        Self { name: name.into(), json, bin: Some(glb.bin), files: BTreeMap::new(), weight: 64 }
    }

    /// With its data behind a URI.
    fn outside(mut self, name: &str, uri: &str) -> Self {
        let bin = self.bin.take().unwrap_or_default();
        self.json["buffers"] = json!([{ "byteLength": bin.len(), "uri": uri }]);
        self.files.insert(uri.into(), bin);
        self.name = name.into();
        self
    }

    /// With its data in the JSON.
    fn inside(mut self, name: &str) -> Self {
        let bin = self.bin.take().unwrap_or_default();
        let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&bin));
        self.json["buffers"] = json!([{ "byteLength": bin.len(), "uri": uri }]);
        self.name = name.into();
        self
    }

    /// The bytes that hold accessors, where they are not in the JSON.
    pub(super) fn payload(&mut self) -> Option<&mut Vec<u8>> {
        self.bin.as_mut().or_else(|| self.files.values_mut().next())
    }

    /// As a file; the container is whole.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match &self.bin {
            Some(bin) => Glb { json: self.json.clone(), bin: bin.clone() }.to_bytes(),
            None => self.json.to_string().into_bytes(),
        }
    }
}

pub(super) fn seeds() -> Vec<Seed> {
    let mut seeds = files();
    seeds.push(Seed::new("skin", Glb::triangle()));
    seeds.push(Seed::new("two sets", two_sets()));
    seeds.push(Seed::new("morph", morph()));
    seeds.push(Seed::new("splines", splines()));
    seeds.push(Seed::new("looks", looks()));
    seeds.push(Seed::new("quantized", quantized()));
    seeds.push(Seed::new("hierarchy", hierarchy()));
    seeds.push(Seed::new("morph", morph()).outside("morph outside", "below/data.bin"));
    seeds.push(Seed::new("two sets", two_sets()).inside("two sets in a data URI"));
    let mut outside = Seed::new("looks", looks());
    outside.json["images"][0] = json!({ "uri": "picture%20one.png" });
    outside.files.insert("picture one.png".into(), PNG.into());
    seeds.push(Seed { name: "picture outside".into(), ..outside });
    #[cfg(feature = "meshopt")]
    seeds.push(Seed::new("meshopt", meshopt()));
    seeds
}

/// Large files take long, so they are rare.
fn files() -> Vec<Seed> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/assets");
    let mut paths: Vec<_> = ["blender", "conf"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(assets.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "glb" || e == "gltf"))
        .collect();
    paths.sort();
    paths.iter().map(|path| file(path)).collect()
}

fn file(path: &Path) -> Seed {
    let bytes = fs::read(path).unwrap();
    let weight = 64 * 4096 / bytes.len().clamp(4096, 1 << 18);
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let files = BTreeMap::new();
    if !bytes.starts_with(b"glTF") {
        let mut seed = Seed { name, json: serde_json::from_slice(&bytes).unwrap(), bin: None, files, weight };
        if let Some(uri) = seed.json["buffers"][0]["uri"].as_str().filter(|uri| !uri.starts_with("data:")) {
            seed.files.insert(uri.into(), fs::read(path.with_file_name(uri)).unwrap());
        }
        return seed;
    }
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    Seed { name, json, bin: Some(bytes[20 + length + 8..].to_vec()), files, weight }
}

/// Enough of a PNG to be taken for one.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn two_sets() -> Glb {
    let mut glb = Glb::triangle();
    let joints = glb.bytes_of(UNSIGNED_SHORT, "VEC4", 3, &[0; 24]);
    let first = glb.view(&[128, 64, 0, 0, 255, 0, 0, 0, 0, 0, 0, 1]);
    let weights = glb.accessor(json!({ "bufferView": first, "componentType": UNSIGNED_BYTE, "count": 3,
        "type": "VEC4", "normalized": true }));
    glb.set_attribute("JOINTS_1", joints);
    glb.set_attribute("WEIGHTS_1", weights);
    let identity = glam::Mat4::IDENTITY.to_cols_array();
    let binds = glb.floats("MAT4", &[identity, identity].concat());
    glb.json["skins"][0]["inverseBindMatrices"] = binds.into();
    glb.json["skins"][0]["skeleton"] = 1.into();
    let skin = glb.json["skins"][0].clone();
    glb.json["skins"] = json!([skin, { "joints": [2, 1] }]);
    glb.json["nodes"].as_array_mut().unwrap().push(json!({ "mesh": 0, "skin": 1, "name": "twin" }));
    glb
}

fn morph() -> Glb {
    let mut glb = Glb::triangle();
    let dense = glb.floats("VEC3", &[0.5; 9]);
    let (at, of) = (glb.view(&[0, 2]), glb.view(bytemuck::cast_slice(&[1.0f32; 6])));
    let sparse = glb.accessor(json!({ "componentType": FLOAT, "count": 3, "type": "VEC3", "sparse": {
        "count": 2, "indices": { "bufferView": at, "componentType": UNSIGNED_BYTE, "byteOffset": 0 },
        "values": { "bufferView": of, "byteOffset": 0 } },
        "min": [0, 0, 0], "max": [1, 1, 1] }));
    let over = glb.accessor(json!({ "bufferView": 0, "componentType": FLOAT, "count": 3, "type": "VEC3",
        "sparse": { "count": 1, "indices": { "bufferView": at, "componentType": UNSIGNED_BYTE },
            "values": { "bufferView": of } } }));
    let zeros = glb.accessor(json!({ "componentType": FLOAT, "count": 3, "type": "VEC3" }));
    let tangents = glb.floats("VEC4", &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0]);
    glb.set_attribute("TANGENT", tangents);
    glb.primitive()["targets"] = json!([
        { "POSITION": dense, "NORMAL": zeros },
        { "POSITION": sparse, "NORMAL": sparse, "TANGENT": dense },
        { "POSITION": over },
    ]);
    glb.json["meshes"][0]["weights"] = json!([0.5, 0, 1]);
    glb.json["meshes"][0]["extras"] = json!({ "targetNames": ["smile", "blink"] });
    glb.json["nodes"][0]["weights"] = json!([0, 0.25, 1]);
    let times = glb.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let weights = glb.floats("SCALAR", &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.5, 0.5, 0.5]);
    glb.json["animations"].as_array_mut().unwrap().push(json!({ "name": "face",
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
        "samplers": [{ "input": times, "output": weights, "interpolation": "LINEAR" }] }));
    glb
}

fn splines() -> Glb {
    let mut glb = Glb::triangle();
    let times = glb.floats("SCALAR", &[0.0, 0.5, 2.0]);
    let threes = glb.floats("VEC3", &[0.25; 27]);
    let rotations = glb.floats("VEC4", &[0.5; 36]);
    let bytes = glb.view(&[0, 0, 0, 127, 0, 127, 0, 0, 129, 0, 0, 0]);
    let steps = glb.accessor(json!({ "bufferView": bytes, "componentType": 5120, "count": 3,
        "type": "VEC4", "normalized": true }));
    let late = glb.floats("SCALAR", &[3.0]);
    let one = glb.floats("VEC3", &[2.0; 3]);
    glb.json["animations"] = json!([
        { "name": "splines", "samplers": [
            { "input": times, "output": threes, "interpolation": "CUBICSPLINE" },
            { "input": times, "output": rotations, "interpolation": "CUBICSPLINE" },
            { "input": times, "output": steps, "interpolation": "STEP" },
        ], "channels": [
            { "sampler": 0, "target": { "node": 1, "path": "translation" } },
            { "sampler": 0, "target": { "node": 2, "path": "scale" } },
            { "sampler": 1, "target": { "node": 1, "path": "rotation" } },
            { "sampler": 2, "target": { "node": 2, "path": "rotation" } },
        ] },
        { "samplers": [{ "input": late, "output": one }],
          "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] },
    ]);
    glb
}

fn looks() -> Glb {
    let mut glb = Glb::triangle();
    let uvs = glb.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let colors = glb.floats("VEC3", &[1.0; 9]);
    let indices = glb.bytes_of(UNSIGNED_SHORT, "SCALAR", 6, &[0, 0, 1, 0, 2, 0, 2, 0, 1, 0, 0, 0]);
    glb.set_attribute("TEXCOORD_0", uvs);
    glb.set_attribute("TEXCOORD_1", uvs);
    glb.set_attribute("COLOR_0", colors);
    glb.primitive()["indices"] = indices.into();
    glb.primitive()["material"] = 0.into();
    let primitive = glb.primitive().clone();
    let modes = (0..7).map(|mode| {
        let mut primitive = primitive.clone();
        primitive["mode"] = mode.into();
        if mode % 2 == 0 {
            primitive["attributes"].as_object_mut().unwrap().remove("NORMAL");
        }
        primitive
    });
    glb.json["meshes"][0]["primitives"] = modes.collect();
    let view = glb.view(PNG);
    glb.json["images"] = json!([{ "bufferView": view, "mimeType": "image/png", "name": "picture" },
        { "uri": "data:image/png;base64,iVBORw0KGgo=" }]);
    glb.json["samplers"] = json!([{ "magFilter": 9728, "minFilter": 9987, "wrapS": 33071, "wrapT": 33648 }]);
    glb.json["textures"] = json!([{ "source": 0, "sampler": 0 }, { "source": 1 }]);
    let moved = json!({ "index": 0, "texCoord": 1, "extensions": { "KHR_texture_transform":
        { "offset": [0.5, 0], "rotation": 1.5, "scale": [2, 2], "texCoord": 0 } } });
    glb.json["materials"] = json!([{ "name": "all", "alphaMode": "MASK", "alphaCutoff": 0.25,
        "doubleSided": true, "emissiveFactor": [0, 1, 0], "emissiveTexture": { "index": 1 },
        "normalTexture": { "index": 1, "scale": 2 }, "occlusionTexture": { "index": 0, "strength": 0.5 },
        "pbrMetallicRoughness": { "baseColorTexture": moved, "metallicRoughnessTexture": { "index": 1 },
            "baseColorFactor": [1, 0, 0, 0.5], "metallicFactor": 0.5, "roughnessFactor": 0.5 } },
        { "extensions": { "KHR_materials_unlit": {} } }]);
    glb.json["extensionsUsed"] = json!(["KHR_texture_transform", "KHR_materials_unlit", "VENDOR_other"]);
    glb.json["scenes"] = json!([{ "nodes": [0], "name": "one" }, { "nodes": [1, 0] }]);
    glb.json["scene"] = 1.into();
    glb
}

/// Integer attributes, interleaved.
fn quantized() -> Glb {
    let mut glb = Glb::triangle();
    let vertex = [1u8, 0, 2, 0, 3, 0, 0, 0, 127, 0, 0, 0, 255, 0, 128, 255];
    let view = glb.view(&vertex.repeat(3));
    glb.json["bufferViews"][view]["byteStride"] = 16.into();
    let mut attribute = |name: &str, component: u32, kind: &str, offset: usize, normalized: bool| {
        let accessor = glb.accessor(json!({ "bufferView": view, "byteOffset": offset,
            "componentType": component, "count": 3, "type": kind, "normalized": normalized }));
        glb.set_attribute(name, accessor);
    };
    attribute("POSITION", 5122, "VEC3", 0, false);
    attribute("NORMAL", 5120, "VEC3", 8, true);
    attribute("TEXCOORD_0", 5123, "VEC2", 8, true);
    attribute("COLOR_0", 5121, "VEC4", 12, true);
    glb.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    glb.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    glb
}

fn hierarchy() -> Glb {
    let mut glb = Glb::triangle();
    let nodes = glb.json["nodes"].as_array_mut().unwrap();
    nodes[2]["children"] = json!([3, 4]);
    nodes.push(json!({ "matrix": [2, 0, 0, 0, 0, -2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1], "children": [5] }));
    nodes.push(json!({ "rotation": [0, 0.6, 0, 0.8], "scale": [1, 0, -1], "mesh": 0 }));
    nodes.push(json!({ "translation": [1e3, 0, 0], "name": "tip", "children": [6] }));
    nodes.extend((7..40).map(|child| json!({ "children": [child], "translation": [0, 0.1, 0] })));
    nodes.push(json!({ "name": "last" }));
    glb.json["skins"][0]["joints"] = (1..40).collect();
    glb
}

/// Positions, indices and octahedral normals in compressed views.
#[cfg(feature = "meshopt")]
fn meshopt() -> Glb {
    let mut glb = Glb::triangle();
    let positions = [[0.0f32, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]];
    let normals = meshopt::encode_filter_oct::<i8>(&[[0.0, 0.0, 1.0, 0.0]; 3], 8);
    let mut views = Vec::new();
    let mut add = |glb: &mut Glb, bytes: &[u8], stride: usize, count: usize, mode: &str, filter: &str| {
        let source = glb.view(bytes);
        let offset = glb.json["bufferViews"][source]["byteOffset"].clone();
        let mut view = json!({ "buffer": 1, "byteLength": stride * count, "extensions": {
            "EXT_meshopt_compression": { "buffer": 0, "byteOffset": offset, "byteLength": bytes.len(),
                "byteStride": stride, "count": count, "mode": mode, "filter": filter } } });
        if mode == "ATTRIBUTES" {
            view["byteStride"] = stride.into();
        }
        views.push(view);
    };
    let encoded = meshopt::encode_vertex_buffer(&positions).unwrap();
    add(&mut glb, &encoded, 16, 3, "ATTRIBUTES", "NONE");
    add(&mut glb, &meshopt::encode_vertex_buffer(&normals).unwrap(), 4, 3, "ATTRIBUTES", "OCTAHEDRAL");
    let indices: Vec<u32> = [0, 1, 2].repeat(4);
    add(&mut glb, &meshopt::encode_index_buffer(&indices, 3).unwrap(), 4, 12, "TRIANGLES", "NONE");
    let first = glb.json["bufferViews"].as_array().unwrap().len();
    glb.json["bufferViews"].as_array_mut().unwrap().extend(views);
    let position =
        glb.accessor(json!({ "bufferView": first, "componentType": FLOAT, "count": 3, "type": "VEC3" }));
    let normal = glb.accessor(json!({ "bufferView": first + 1, "componentType": 5120, "count": 3,
        "type": "VEC3", "normalized": true }));
    let index = glb
        .accessor(json!({ "bufferView": first + 2, "componentType": 5125, "count": 12, "type": "SCALAR" }));
    glb.set_attribute("POSITION", position);
    glb.set_attribute("NORMAL", normal);
    glb.primitive()["indices"] = index.into();
    let names = json!(["EXT_meshopt_compression", "KHR_mesh_quantization"]);
    glb.json["extensionsUsed"] = names.clone();
    glb.json["extensionsRequired"] = names;
    let fallback = json!({ "EXT_meshopt_compression": { "fallback": true } });
    glb.json["buffers"] =
        json!([{ "byteLength": glb.bin.len() }, { "byteLength": 128, "extensions": fallback }]);
    glb
}
