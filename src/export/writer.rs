//! The binary chunk and the views and accessors into it.

use serde_json::{Value, json};

const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

#[derive(Default)]
pub(super) struct Writer {
    bin: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Writer {
    pub(super) fn finish(self) -> (Vec<u8>, Vec<Value>, Vec<Value>) {
        (self.bin, self.views, self.accessors)
    }

    /// A view of these bytes, aligned for every component type.
    pub(super) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() }));
        self.bin.extend(bytes);
        self.views.len() - 1
    }

    pub(super) fn floats(&mut self, values: &[f32], kind: &str) -> usize {
        let accessor = self.float_accessor(values, kind);
        self.push(accessor)
    }

    /// As [`Writer::floats`], with the bounds that glTF demands of positions and key times.
    pub(super) fn bounded(&mut self, values: &[f32], kind: &str) -> usize {
        let (min, max) = bounds(values, width(kind));
        let mut accessor = self.float_accessor(values, kind);
        accessor["min"] = json!(min);
        accessor["max"] = json!(max);
        self.push(accessor)
    }

    pub(super) fn shorts(&mut self, values: &[u16], kind: &str) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let view = self.view(&bytes);
        let count = values.len() / width(kind);
        self.push(
            json!({ "bufferView": view, "componentType": UNSIGNED_SHORT, "count": count, "type": kind }),
        )
    }

    pub(super) fn indices(&mut self, values: &[u32]) -> usize {
        let view = self.ints(values);
        let count = values.len();
        self.push(
            json!({ "bufferView": view, "componentType": UNSIGNED_INT, "count": count, "type": "SCALAR" }),
        )
    }

    /// Zeros but for `values` at the rising `indices`.
    pub(super) fn sparse_vec3(&mut self, count: usize, indices: &[u32], values: &[[f32; 3]]) -> usize {
        let flat = values.as_flattened();
        let (mut min, mut max) = bounds(flat, 3);
        if indices.len() < count {
            min.iter_mut().for_each(|v| *v = v.min(0.0));
            max.iter_mut().for_each(|v| *v = v.max(0.0));
        }
        let mut accessor =
            json!({ "componentType": FLOAT, "count": count, "type": "VEC3", "min": min, "max": max });
        if !indices.is_empty() {
            let of_indices = self.ints(indices);
            let of_values = self.float_view(flat);
            accessor["sparse"] = json!({
                "count": indices.len(),
                "indices": { "bufferView": of_indices, "componentType": UNSIGNED_INT },
                "values": { "bufferView": of_values },
            });
        }
        self.push(accessor)
    }

    fn push(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn float_accessor(&mut self, values: &[f32], kind: &str) -> Value {
        let view = self.float_view(values);
        let count = values.len() / width(kind);
        json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": kind })
    }

    fn float_view(&mut self, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.view(&bytes)
    }

    fn ints(&mut self, values: &[u32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.view(&bytes)
    }
}

fn width(kind: &str) -> usize {
    match kind {
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => 1,
    }
}

/// Least and greatest of every component; zeros where there are no values.
fn bounds(values: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let mut elements = values.chunks_exact(width);
    let first = elements.next().map_or_else(|| vec![0.0; width], <[f32]>::to_vec);
    let (mut min, mut max) = (first.clone(), first);
    for element in elements {
        for (i, &value) in element.iter().enumerate() {
            min[i] = min[i].min(value);
            max[i] = max[i].max(value);
        }
    }
    (min, max)
}
