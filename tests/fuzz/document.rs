//! A document of one triangle around accessors and views that the input describes.

use serde_json::{Value, json};

/// Takes small numbers from the front of the input.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl Input<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::from(self.byte()) % list.len()]
    }

    /// Mostly small, at times anything.
    pub(crate) fn size(&mut self) -> u64 {
        match self.byte() {
            255 => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
            small => u64::from(small),
        }
    }
}

/// As a GLB whose binary chunk is `bin`.
pub(crate) fn glb(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(((28 + text.len() + bin.len()) as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", &text[..]), (b"BIN\0", bin)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    out
}

/// Every use of an accessor, so that each format is tried.
pub(crate) fn with(
    accessors: Vec<Value>,
    views: Vec<Value>,
    buffers: Vec<Value>,
    input: &mut Input<'_>,
) -> Value {
    let count = accessors.len() as u8;
    let mut pick = || input.byte() % count.max(1);
    let mut attributes = json!({ "POSITION": pick() });
    let names = ["NORMAL", "TANGENT", "TEXCOORD_0", "COLOR_0"];
    names.iter().filter(|_| pick() == 0).collect::<Vec<_>>().into_iter().for_each(|name| {
        attributes[*name] = pick().into();
    });
    if pick() == 0 {
        attributes["JOINTS_0"] = pick().into();
        attributes["WEIGHTS_0"] = pick().into();
    }
    let mut primitive = json!({ "attributes": attributes, "targets": [{ "POSITION": pick() }] });
    if pick() == 0 {
        primitive["indices"] = pick().into();
    }
    let mut skin = json!({ "joints": [1, 2] });
    if pick() == 0 {
        skin["inverseBindMatrices"] = pick().into();
    }
    let sampler = json!({ "input": pick(), "output": pick(), "interpolation": "LINEAR" });
    let channel = json!({ "sampler": 0, "target": { "node": 1, "path": "rotation" } });
    json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_mesh_quantization", "EXT_meshopt_compression"],
        "nodes": [{ "mesh": 0, "skin": 0 }, { "children": [2] }, {}],
        "meshes": [{ "primitives": [primitive] }],
        "skins": [skin],
        "animations": [{ "samplers": [sampler], "channels": [channel] }],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": buffers,
    })
}
