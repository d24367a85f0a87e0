//! Baked vertices as `FILE.json` with numbers beside it in `FILE.bin`, little-endian f32: the format
//! `sinew-oracle/1`.

use std::{fs, path::Path};

use serde_json::{Value, json};
use sinew::{Model, deform::BakedPrimitive};

use crate::{encode::cannot_write, failure::Failure};

/// Collects the entries of one model.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    entries: Vec<Value>,
    numbers: Vec<u8>,
}

impl Oracle {
    /// Adds one pose.
    pub(crate) fn push(&mut self, model: &Model, clip: Option<u32>, time: f64, baked: &[BakedPrimitive]) {
        let data = clip.and_then(|index| model.clips().get(index as usize));
        let primitives: Vec<_> = baked.iter().map(|primitive| self.primitive(primitive)).collect();
        self.entries.push(json!({
            "clip": clip,
            "clipName": data.map(|clip| clip.name()),
            "duration": data.map_or(0.0, |clip| clip.duration()),
            "time": time,
            "primitives": primitives,
        }));
    }

    /// Writes `base.json` and `base.bin`.
    pub(crate) fn write(self, base: &Path, file: &str) -> Result<(), Failure> {
        let with = |extension: &str| {
            let mut name = base.as_os_str().to_owned();
            name.push(extension);
            std::path::PathBuf::from(name)
        };
        let (json, bin) = (with(".json"), with(".bin"));
        if let Some(folder) = base.parent() {
            fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        }
        let bin_name = bin.file_name().map(|name| name.to_string_lossy().into_owned());
        let document = json!({
            "format": "sinew-oracle/1",
            "file": file,
            "generator": concat!("sinew ", env!("CARGO_PKG_VERSION")),
            "bin": bin_name,
            "entries": self.entries,
        });
        fs::write(&bin, &self.numbers).map_err(|error| cannot_write(&bin, &error))?;
        fs::write(&json, document.to_string()).map_err(|error| cannot_write(&json, &error))
    }

    fn primitive(&mut self, baked: &BakedPrimitive) -> Value {
        let vertices = &baked.vertices;
        let mut out = json!({
            "node": baked.node,
            "mesh": baked.mesh,
            "primitive": baked.primitive,
            "skinned": baked.skinned,
            "vertexCount": vertices.positions.len(),
            "stride": 1,
            "sampleCount": vertices.positions.len(),
            "positions": self.floats(vertices.positions.iter().flat_map(|v| v.to_array())),
        });
        if !vertices.normals.is_empty() {
            out["normals"] = self.floats(vertices.normals.iter().flat_map(|v| v.to_array()));
        }
        if !vertices.tangents.is_empty() {
            out["tangents"] = self.floats(vertices.tangents.iter().flat_map(|v| v.to_array()));
        }
        out
    }

    fn floats(&mut self, values: impl Iterator<Item = f32>) -> Value {
        let offset = self.numbers.len();
        values.for_each(|value| self.numbers.extend_from_slice(&value.to_le_bytes()));
        json!({ "offset": offset, "floats": (self.numbers.len() - offset) / 4 })
    }
}
