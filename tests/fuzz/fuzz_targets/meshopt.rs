//! Compressed views: mode, filter, stride and count from the input, the rest of it as compressed data.
#![no_main]

#[path = "../document.rs"]
mod document;
#[path = "../load.rs"]
mod load;

use document::Input;
use serde_json::json;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let mode = input.pick(&["ATTRIBUTES", "TRIANGLES", "INDICES"]);
    let filter = input.pick(&["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL"]);
    let (stride, count) = (input.pick(&[2u64, 4, 8, 12, 16, 64, 256]), input.size());
    let (component, kind) = match mode {
        "ATTRIBUTES" => {
            input.pick(&[(5126, "VEC3"), (5122, "VEC3"), (5120, "VEC3"), (5126, "VEC4"), (5126, "MAT4")])
        }
        _ => (if stride == 2 { 5123 } else { 5125 }, "SCALAR"),
    };
    let compressed =
        json!({ "buffer": 0, "byteStride": stride, "count": count, "mode": mode, "filter": filter });
    let accessor = json!({ "bufferView": 0, "componentType": component, "type": kind, "count": count,
        "normalized": component != 5126 });
    let other = json!({ "componentType": 5126, "type": "VEC3", "count": count });
    let views = vec![json!({ "buffer": 1, "byteLength": stride.saturating_mul(count),
        "extensions": { "EXT_meshopt_compression": compressed } })];
    let fallback = json!({ "EXT_meshopt_compression": { "fallback": true } });
    let buffers = vec![json!({ "byteLength": 1 }), json!({ "byteLength": 1, "extensions": fallback })];
    let mut json = document::with(vec![accessor, other], views, buffers, &mut input);
    if mode == "ATTRIBUTES" {
        json["bufferViews"][0]["byteStride"] = stride.into();
    } else {
        json["meshes"][0]["primitives"][0]["indices"] = 0.into();
        json["meshes"][0]["primitives"][0]["attributes"] = json!({ "POSITION": 1 });
    }
    let mut bin = input.0.to_vec();
    bin.resize(bin.len().next_multiple_of(4).max(4), 0);
    json["buffers"][0]["byteLength"] = bin.len().into();
    json["bufferViews"][0]["extensions"]["EXT_meshopt_compression"]["byteLength"] = bin.len().into();
    load::load(&document::glb(&json, &bin));
});
