//! Changes of one thing at a time, most of which leave a file that looks valid.

use serde_json::{Map, Value, json};

use super::{corpus::Seed, places::Places, random::Random, values};

/// A few changes to a seed.
pub(super) fn mutate(seed: &mut Seed, places: &Places, random: &mut Random) {
    for _ in 0..1 + random.below(3) * random.below(2) {
        match random.below(32) {
            0..12 => change_value(seed, places, random),
            12..15 => change_list(seed, places, random),
            15..20 => change_number_in_payload(seed, random),
            20..22 => change_key_times(seed, random),
            22..24 => exchange(seed, places, random),
            24 => connect_nodes(seed, random),
            25..27 => remove_property(seed, places, random),
            27..31 => add_feature(seed, random),
            _ => resize_payload(seed, random),
        }
    }
}

/// Damage to the bytes of a file.
pub(super) fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    match random.below(4) {
        // The header and both chunk headers of a GLB.
        0 if bytes.len() > 20 => {
            let bin = 20 + u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
            let at = [4, 8, 12, 16, bin, bin.saturating_add(4)][random.below(6)];
            let odd = [0, 1, 3, 0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, random.next() as u32];
            if let Some(word) = bytes.get_mut(at..at.saturating_add(4)) {
                word.copy_from_slice(&random.pick(&odd).to_le_bytes());
            }
        }
        1 => bytes.truncate(random.below(bytes.len())),
        2 => bytes.extend([b' ', 0, 0xFF].repeat(1 + random.below(8))),
        _ => {
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                let odd = [0, 0xFF, b'9', b'-', b'"', b'[', bytes[at] ^ (1 << random.below(8))];
                bytes[at] = *random.pick(&odd);
            }
        }
    }
}

fn change_value(seed: &mut Seed, places: &Places, random: &mut Random) {
    let Some((key, pointer)) = places.value(random) else { return };
    let lists = values::Lists::of(&seed.json);
    let Some(value) = seed.json.pointer_mut(pointer) else { return };
    let next = values::another(key, value, &lists, random);
    *value = next;
}

fn change_list(seed: &mut Seed, places: &Places, random: &mut Random) {
    let Some(pointer) = places.list(random) else { return };
    let Some(list) = seed.json.pointer_mut(pointer).and_then(Value::as_array_mut) else { return };
    if list.is_empty() {
        return;
    }
    let (a, b) = (random.below(list.len()), random.below(list.len()));
    match random.below(16) {
        0..5 => list.swap(a, b),
        5..9 => list.push(list[a].clone()),
        9..12 => drop(list.remove(a)),
        12 => list.insert(b, list[a].clone()),
        13 => list.truncate(a),
        14 => list[a] = list[b].clone(),
        _ => list.extend(vec![list[a].clone(); 1 + random.below(300)]),
    }
}

/// Two values of the same property change places.
fn exchange(seed: &mut Seed, places: &Places, random: &mut Random) {
    let Some((a, b)) = places.pair(random) else { return };
    let (Some(of_a), Some(of_b)) = (seed.json.pointer(a).cloned(), seed.json.pointer(b).cloned()) else {
        return;
    };
    for (place, value) in [(a, of_b), (b, of_a)] {
        if let Some(old) = seed.json.pointer_mut(place) {
            *old = value;
        }
    }
}

/// The object at a pointer, if one is there.
fn object<'a>(json: &'a mut Value, pointer: &str) -> Option<&'a mut Map<String, Value>> {
    json.pointer_mut(pointer)?.as_object_mut()
}

/// Appends to a list of an object's, which may be missing.
fn append(object: &mut Map<String, Value>, key: &str, value: Value) {
    match object.get_mut(key) {
        Some(Value::Array(list)) => list.push(value),
        _ => drop(object.insert(key.into(), json!([value]))),
    }
}

/// Often a cycle or a second parent.
fn connect_nodes(seed: &mut Seed, random: &mut Random) {
    let nodes = seed.json["nodes"].as_array().map_or(0, Vec::len);
    let (parent, child) = (random.below(nodes), random.below(nodes));
    if let Some(node) = object(&mut seed.json, &format!("/nodes/{parent}")) {
        append(node, "children", child.into());
    }
}

fn remove_property(seed: &mut Seed, places: &Places, random: &mut Random) {
    let Some((_, pointer)) = places.value(random) else { return };
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    if let Some(object) = seed.json.pointer_mut(parent).and_then(Value::as_object_mut) {
        object.remove(key);
    }
}

fn add_feature(seed: &mut Seed, random: &mut Random) {
    let count = |list: &str| seed.json[list].as_array().map_or(0, Vec::len);
    let (accessors, views) = (count("accessors"), count("bufferViews"));
    let mesh = random.below(count("meshes"));
    let accessor = random.below(accessors);
    let pointer = match random.below(9) {
        0..2 => {
            let component = *random.pick(&[5121, 5123, 5125]);
            let sparse = json!({ "count": 1 + random.below(3),
                "indices": { "bufferView": random.below(views), "componentType": component },
                "values": { "bufferView": random.below(views), "byteOffset": 4 * random.below(4) } });
            let Some(accessor) = object(&mut seed.json, &format!("/accessors/{accessor}")) else { return };
            accessor.insert("sparse".into(), sparse);
            return;
        }
        2 => {
            let Some(skin) = object(&mut seed.json, "/skins/0") else { return };
            skin.insert("inverseBindMatrices".into(), accessor.into());
            return;
        }
        _ => format!("/meshes/{mesh}/primitives/0"),
    };
    let Some(primitive) = object(&mut seed.json, &pointer) else { return };
    match random.below(6) {
        0 => drop(primitive.insert("indices".into(), accessor.into())),
        1 => drop(primitive.insert("mode".into(), random.below(8).into())),
        2 => {
            let name = *random.pick(&["POSITION", "NORMAL", "TANGENT"]);
            append(primitive, "targets", json!({ name: accessor }));
        }
        _ => {
            let attributes = primitive.get_mut("attributes").and_then(Value::as_object_mut);
            let name = *random.pick(&ATTRIBUTES);
            attributes.map(|list| list.insert(name.into(), accessor.into()));
        }
    }
}

const ATTRIBUTES: [&str; 14] = [
    "POSITION",
    "NORMAL",
    "TANGENT",
    "TEXCOORD_0",
    "TEXCOORD_1",
    "TEXCOORD_3",
    "COLOR_0",
    "COLOR_1",
    "JOINTS_0",
    "WEIGHTS_0",
    "JOINTS_1",
    "WEIGHTS_1",
    "JOINTS_7",
    "_OWN",
];

/// Where an accessor's elements lie, as far as the file says so.
struct Span {
    start: usize,
    component: usize,
    width: usize,
    count: usize,
    float: bool,
}

fn span(json: &Value, accessor: &Value) -> Option<Span> {
    let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    let view = &json["bufferViews"][number(&accessor["bufferView"])?];
    let offset = |value: &Value| number(&value["byteOffset"]).unwrap_or(0);
    let component = match number(&accessor["componentType"])? {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        _ => 4,
    };
    let width = match accessor["type"].as_str()? {
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => 1,
    };
    let start = offset(view).checked_add(offset(accessor))?;
    let count = number(&accessor["count"])?;
    Some(Span { start, component, width, count, float: accessor["componentType"] == 5126 })
}

fn change_number_in_payload(seed: &mut Seed, random: &mut Random) {
    let Some(accessors) = seed.json["accessors"].as_array().filter(|list| !list.is_empty()) else { return };
    let Some(span) = span(&seed.json, random.pick(accessors)) else { return };
    let Some(payload) = seed.payload() else { return };
    for _ in 0..=random.below(3) {
        let at = random.below(span.count.saturating_mul(span.width).min(payload.len()));
        let Some(start) = span.start.checked_add(at * span.component) else { return };
        let Some(bytes) = payload.get_mut(start..start + span.component) else { return };
        if span.float {
            bytes.copy_from_slice(&values::odd_float(random).to_le_bytes());
        } else {
            let odd = [0, 1, 2, 0x7F, 0x80, 0xFF, random.next() as u8];
            bytes.iter_mut().for_each(|byte| *byte = *random.pick(&odd));
        }
    }
}

fn change_key_times(seed: &mut Seed, random: &mut Random) {
    let samplers: Vec<&Value> = seed.json["animations"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|animation| animation["samplers"].as_array().into_iter().flatten())
        .collect();
    if samplers.is_empty() {
        return;
    }
    let Some(input) = random.pick(&samplers)["input"].as_u64() else { return };
    let Some(span) = span(&seed.json, &seed.json["accessors"][input as usize]) else { return };
    let Some(payload) = seed.payload() else { return };
    let Some(bytes) = payload.get_mut(span.start..span.start.saturating_add(span.count.min(1 << 20) * 4))
    else {
        return;
    };
    let (keys, _) = bytes.as_chunks_mut::<4>();
    if keys.is_empty() {
        return;
    }
    let (a, b) = (random.below(keys.len()), random.below(keys.len()));
    match random.below(4) {
        0 => keys.swap(a, b),
        1 => keys[a] = keys[b],
        2 => keys[a] = values::odd_float(random).to_le_bytes(),
        // Still rising: all later, or closer together.
        _ => {
            let (scale, shift) =
                (*random.pick(&[1.0, 1e-7, 1e20, 0.5]), *random.pick(&[0.0, 0.25, 1e7, 1e30]));
            keys.iter_mut().for_each(|key| *key = (f32::from_le_bytes(*key) * scale + shift).to_le_bytes());
        }
    }
}

fn resize_payload(seed: &mut Seed, random: &mut Random) {
    let cut = random.below(64);
    let Some(payload) = seed.payload() else { return };
    let length = match cut {
        0..32 => payload.len().saturating_sub(1 + cut),
        32..60 => payload.len() + cut,
        _ => random.below(payload.len()),
    };
    payload.resize(length, 0xFF);
    if random.one_in(2)
        && let Some(buffer) = object(&mut seed.json, "/buffers/0")
    {
        buffer.insert("byteLength".into(), length.into());
    }
}
