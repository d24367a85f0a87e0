//! Another value for a property: mostly one that it may have.

use serde_json::{Value, json};

use super::random::Random;

/// How many elements the lists of a document have.
pub(super) struct Lists(Vec<(&'static str, usize)>);

impl Lists {
    pub(super) fn of(json: &Value) -> Self {
        const NAMES: [&str; 11] = [
            "accessors",
            "bufferViews",
            "buffers",
            "images",
            "materials",
            "meshes",
            "nodes",
            "samplers",
            "scenes",
            "skins",
            "textures",
        ];
        Self(NAMES.iter().map(|name| (*name, json[*name].as_array().map_or(0, Vec::len))).collect())
    }

    /// The list that a property's index points into.
    fn of_property(&self, key: &str) -> Option<usize> {
        let name = match key {
            "bufferView" => "bufferViews",
            "buffer" => "buffers",
            "source" => "images",
            "material" => "materials",
            "mesh" => "meshes",
            "node" | "children" | "joints" | "skeleton" | "nodes" => "nodes",
            "scene" => "scenes",
            "skin" => "skins",
            "index" => "textures",
            "sampler" => "samplers",
            "indices" | "input" | "output" | "inverseBindMatrices" => "accessors",
            key if key.starts_with(|c: char| c.is_ascii_uppercase()) => "accessors",
            _ => return None,
        };
        self.0.iter().find(|(list, _)| *list == name).map(|(_, count)| *count)
    }
}

pub(super) fn another(key: &str, old: &Value, lists: &Lists, random: &mut Random) -> Value {
    // Of another kind altogether.
    if random.one_in(40) {
        let odd =
            [json!(null), json!(true), json!(-1), json!(0.5), json!(""), json!([]), json!({}), json!([0])];
        return random.pick(&odd).clone();
    }
    if let Some(count) = lists.of_property(key) {
        return index(count, random);
    }
    match key {
        "count" | "byteLength" | "byteOffset" | "byteStride" => size(old.as_u64().unwrap_or(0), random),
        "componentType" => (*random.pick(&[5120, 5121, 5122, 5123, 5125, 5126, 5124])).into(),
        "type" => text(&["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4", "VEC5"], random),
        "interpolation" => text(&["LINEAR", "STEP", "CUBICSPLINE", "OTHER"], random),
        "path" => text(&["translation", "rotation", "scale", "weights", "pointer"], random),
        "alphaMode" => text(&["OPAQUE", "MASK", "BLEND", "HASHED"], random),
        "filter" => text(&["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"], random),
        "mode" if old.is_string() => text(&["ATTRIBUTES", "TRIANGLES", "INDICES"], random),
        "mode" => random.below(8).into(),
        "uri" => uri(old, random),
        "extensionsUsed" | "extensionsRequired" => text(
            &["KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_draco_mesh_compression", "X"],
            random,
        ),
        "magFilter" | "minFilter" | "wrapS" | "wrapT" => {
            (*random.pick(&[9728, 9729, 9984, 9985, 9986, 9987, 10497, 33071, 33648, 7])).into()
        }
        "version" | "minVersion" => text(&["2.0", "2.1", "1.0", "2", "2.00000000000000000000"], random),
        _ => match old {
            Value::Bool(old) => (!old).into(),
            Value::Number(_) => number(random),
            Value::String(old) => format!("{old}\u{0}{old}").into(),
            other => other.clone(),
        },
    }
}

fn text(choices: &[&str], random: &mut Random) -> Value {
    (*random.pick(choices)).into()
}

/// Mostly inside its list.
fn index(count: usize, random: &mut Random) -> Value {
    match random.below(16) {
        0 => count.into(),
        1 => (*random.pick(&[0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 0x1_0000_0000, u64::MAX])).into(),
        _ => random.below(count).into(),
    }
}

/// Sizes beside the one that fits, and claims of gigabytes.
fn size(old: u64, random: &mut Random) -> Value {
    let huge = [1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 4, 1 << 53, u64::MAX];
    match random.below(16) {
        0..3 => old.saturating_sub(1),
        3..5 => old.saturating_sub(4),
        5..7 => old.saturating_add(1),
        7..9 => old.saturating_add(4),
        9 => old.saturating_mul(2),
        10 => old / 2,
        11 => 0,
        12 => random.below(256) as u64,
        13 => 4 * random.below(64) as u64,
        _ => *random.pick(&huge),
    }
    .into()
}

fn number(random: &mut Random) -> Value {
    let odd = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e-38, 1e-20, 1e6, 1e12, -1e20, 3.4e38, 1e39, 1e300];
    json!(*random.pick(&odd))
}

pub(super) fn odd_float(random: &mut Random) -> f32 {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        -f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        -1e-45,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        1e6,
        -1e12,
        1e13,
        1e-20,
        f32::EPSILON,
    ];
    match random.one_in(4) {
        true => f32::from_bits(random.next() as u32),
        false => *random.pick(&odd),
    }
}

/// Names that must be refused, and data that is damaged but still base64.
fn uri(old: &Value, random: &mut Random) -> Value {
    const ODD: [&str; 18] = [
        "../secret.bin",
        "below/../../secret.bin",
        "%2e%2e/secret.bin",
        "%252e%252e/secret.bin",
        "..%2fsecret.bin",
        "..%5csecret.bin",
        "..\\secret.bin",
        "/etc/passwd",
        "//host/share",
        "file:///etc/passwd",
        "C:/secret.bin",
        "c%3a/secret.bin",
        "below//data.bin",
        "./below/data.bin",
        "below/data.bin%00",
        "missing.bin",
        "data:;base64,",
        "data:,",
    ];
    let Some(old) = old.as_str().filter(|old| old.starts_with("data:") && !random.one_in(4)) else {
        return text(&ODD, random);
    };
    let mut bytes = old.as_bytes().to_vec();
    let at = bytes.len() - 1 - random.below(bytes.len() / 2);
    bytes[at] = b"AZaz09+/="[random.below(9)];
    if random.one_in(4) {
        bytes.truncate(at);
    }
    String::from_utf8(bytes).unwrap().into()
}
