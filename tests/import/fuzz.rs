//! Mutated files: whatever the outcome, no panic. Bounded, with a fixed seed.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
};

use serde_json::{Value, json};
use sinew::{
    Model,
    import::{ImportOptions, Limits},
};

use crate::glb::Glb;

/// xorshift64*.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }
}

fn file(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/data/assets/conf/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn try_load(bytes: &[u8], what: &str) {
    let mut limits = Limits::default();
    limits.decoded_bytes = 16 << 20;
    let options = ImportOptions { limits, ..Default::default() };
    let load = AssertUnwindSafe(|| drop(Model::from_bytes(bytes, &options)));
    let outcome = panic::catch_unwind(load);
    assert!(outcome.is_ok(), "{what} panicked");
}

#[test]
fn changed_bytes_never_panic() {
    for (seed, name) in [(1, "joints1_mixed_types.glb"), (2, "targets_different_attributes.glb")] {
        let original = file(name);
        let mut random = Random(seed);
        for round in 0..1500 {
            let mut bytes = original.clone();
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len());
                bytes[at] = match random.below(3) {
                    0 => random.below(256) as u8,
                    1 => bytes[at] ^ (1 << random.below(8)),
                    _ => [0, 0xFF, 0x7F, b'9', b'-', b'"'][random.below(6)],
                };
            }
            try_load(&bytes, &format!("{name} round {round}"));
        }
    }
}

/// Values that are wrong almost everywhere.
fn odd() -> Vec<Value> {
    [
        "null",
        "true",
        "-1",
        "0",
        "1",
        "3",
        "255",
        "65535",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "1e38",
        "1e300",
        "0.5",
        "\"\"",
        "\"VEC3\"",
        "\"MAT4\"",
        "[]",
        "{}",
        "[0]",
        "[0,0,0]",
        "[1,0,0,0]",
        "5120",
        "5121",
        "5123",
        "5125",
        "5126",
    ]
    .iter()
    .map(|text| serde_json::from_str(text).unwrap())
    .collect()
}

fn change_values(glb: &Glb, seed: u64, rounds: usize, what: &str) {
    let (odd, mut random) = (odd(), Random(seed));
    for round in 0..rounds {
        let mut json = glb.json.clone();
        for _ in 0..=random.below(3) {
            change(&mut json, &odd, &mut random);
        }
        let glb = Glb { json, bin: glb.bin.clone() };
        try_load(&glb.to_bytes(), &format!("{what} round {round}"));
    }
}

#[test]
fn changed_values_never_panic() {
    for (seed, name) in [(3, "joints1_mixed_types.glb"), (4, "targets_different_attributes.glb")] {
        let bytes = file(name);
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        change_values(&Glb { json, bin: bytes[20 + length + 8..].to_vec() }, seed, 1500, name);
    }
}

#[test]
fn changed_values_of_extensions_never_panic() {
    let mut glb = crate::tangents::quad(crate::tangents::UPRIGHT);
    glb.json["extensionsUsed"] =
        json!(["KHR_texture_transform", "KHR_animation_pointer", "EXT_texture_webp"]);
    glb.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    glb.json["textures"] = json!([{ "source": 0, "extensions": { "EXT_texture_webp": { "source": 0 } } }]);
    let transform = json!({ "offset": [0, 1], "rotation": 1, "scale": [1, 2], "texCoord": 0 });
    glb.json["materials"] = json!([{
        "normalTexture": { "index": 0, "extensions": { "KHR_texture_transform": transform } },
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 2 } } }]);
    let pointer = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": {
        "pointer": "/nodes/1/rotation" } } });
    glb.json["animations"][0]["channels"][0]["target"] = pointer;
    change_values(&glb, 5, 3000, "extensions");
}

/// Walks down at random and replaces, removes or copies what it ends at.
fn change(value: &mut Value, odd: &[Value], random: &mut Random) {
    let stop = random.below(6) == 0;
    match value {
        Value::Array(list) if !stop && !list.is_empty() => {
            let at = random.below(list.len());
            match random.below(12) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => change(&mut list[at], odd, random),
            }
        }
        Value::Object(map) if !stop && !map.is_empty() => {
            let key = map.keys().nth(random.below(map.len())).cloned().unwrap();
            match random.below(12) {
                0 => drop(map.remove(&key)),
                _ => change(&mut map[&key], odd, random),
            }
        }
        other => *other = odd[random.below(odd.len())].clone(),
    }
}
