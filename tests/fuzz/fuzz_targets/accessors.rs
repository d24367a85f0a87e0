//! The accessor reader: types, offsets, strides and sparse parts from the input, the rest of it as data.
#![no_main]

#[path = "../document.rs"]
mod document;
#[path = "../load.rs"]
mod load;

use document::Input;
use serde_json::{Value, json};

const COMPONENTS: [u32; 6] = [5120, 5121, 5122, 5123, 5125, 5126];
const TYPES: [&str; 5] = ["SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let views: Vec<Value> = (0..3).map(|_| view(&mut input)).collect();
    let accessors: Vec<Value> = (0..4).map(|_| accessor(&mut input)).collect();
    let buffers = vec![json!({ "byteLength": 256 })];
    let json = document::with(accessors, views, buffers, &mut input);
    let mut bin = input.0.to_vec();
    bin.resize(256, 0);
    load::load(&document::glb(&json, &bin));
});

fn view(input: &mut Input<'_>) -> Value {
    let mut view = json!({ "buffer": 0, "byteOffset": input.size(), "byteLength": input.size() });
    match input.byte() {
        0..128 => {}
        stride => view["byteStride"] = (stride - 128).into(),
    }
    view
}

fn accessor(input: &mut Input<'_>) -> Value {
    let mut accessor = json!({ "componentType": input.pick(&COMPONENTS), "type": input.pick(&TYPES),
        "count": input.size(), "normalized": input.byte() % 2 == 1 });
    if input.byte() % 8 != 0 {
        accessor["bufferView"] = (input.byte() % 3).into();
        accessor["byteOffset"] = input.size().into();
    }
    if input.byte() % 4 == 0 {
        accessor["sparse"] = json!({ "count": input.size(),
            "indices": { "bufferView": input.byte() % 3, "byteOffset": input.size(),
                "componentType": input.pick(&[5121, 5123, 5125]) },
            "values": { "bufferView": input.byte() % 3, "byteOffset": input.size() } });
    }
    accessor
}
