//! Small GLB files, changed a little for each test.

use serde_json::{Value, json};
use sinew::{
    Model,
    import::{ImportError, ImportOptions},
};

pub(crate) const FLOAT: u32 = 5126;
pub(crate) const UNSIGNED_BYTE: u32 = 5121;
pub(crate) const UNSIGNED_SHORT: u32 = 5123;

pub(crate) struct Glb {
    pub(crate) json: Value,
    pub(crate) bin: Vec<u8>,
}

impl Glb {
    /// A triangle at node 0 with a skin of two joints (nodes 1 and 2), and a clip that turns node 2.
    pub(crate) fn triangle() -> Self {
        let mut glb = Self { json: json!({ "asset": { "version": "2.0" } }), bin: Vec::new() };
        let positions = glb.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let normals = glb.floats("VEC3", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        let joints = glb.bytes_of(UNSIGNED_BYTE, "VEC4", 3, &[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
        let weights = glb.floats("VEC4", &[0.5, 0.5, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let times = glb.floats("SCALAR", &[0.0, 1.0]);
        let turns = glb.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        let json = &mut glb.json;
        json["scene"] = 0.into();
        json["scenes"] = json!([{ "nodes": [0, 1] }]);
        json["nodes"] = json!([{ "mesh": 0, "skin": 0 }, { "children": [2] }, { "translation": [0, 1, 0] }]);
        json["skins"] = json!([{ "joints": [1, 2] }]);
        json["meshes"] = json!([{ "primitives": [{ "attributes": {
            "POSITION": positions, "NORMAL": normals, "JOINTS_0": joints, "WEIGHTS_0": weights,
        } }] }]);
        json["animations"] = json!([{
            "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } }],
            "samplers": [{ "input": times, "output": turns }],
        }]);
        glb
    }

    pub(crate) fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let width = match kind {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            _ => 1,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.bytes_of(FLOAT, kind, values.len() / width, &bytes)
    }

    pub(crate) fn bytes_of(&mut self, component: u32, kind: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.accessor(json!({ "bufferView": view, "componentType": component, "count": count, "type": kind }))
    }

    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend(bytes);
        push(&mut self.json["bufferViews"], view)
    }

    pub(crate) fn accessor(&mut self, accessor: Value) -> usize {
        push(&mut self.json["accessors"], accessor)
    }

    pub(crate) fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    pub(crate) fn set_attribute(&mut self, name: &str, accessor: usize) {
        self.primitive()["attributes"][name] = accessor.into();
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        if json.is_object() && json.get("buffers").is_none() {
            json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
        }
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bin = self.bin.clone();
        bin.resize(bin.len().next_multiple_of(4), 0);
        let mut out = b"glTF\x02\0\0\0".to_vec();
        out.extend(((12 + 8 + text.len() + 8 + bin.len()) as u32).to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(b"JSON");
        out.extend(text);
        out.extend((bin.len() as u32).to_le_bytes());
        out.extend(b"BIN\0");
        out.extend(bin);
        out
    }

    pub(crate) fn load(&self) -> Result<Model, ImportError> {
        Model::from_bytes(&self.to_bytes(), &ImportOptions::default())
    }

    pub(crate) fn model(&self) -> Model {
        self.load().unwrap()
    }

    pub(crate) fn error(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    /// Codes of the diagnostics, but for the missing inverse bind matrices that every file here has.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        let model = self.model();
        model.diagnostics().iter().map(|d| d.code).filter(|c| *c != "inverse-binds-missing").collect()
    }
}

fn push(list: &mut Value, value: Value) -> usize {
    if list.is_null() {
        *list = json!([]);
    }
    let list = list.as_array_mut().unwrap();
    list.push(value);
    list.len() - 1
}
