//! The JSON before the typed parse: version and extensions are settled, and legal things that the typed
//! parse would refuse are taken out, with a diagnostic where that loses something.

use serde_json::{Map, Value};

use super::{
    ImportError,
    codes::{self, Report},
    extensions, pointers,
};

pub(super) type Object = Map<String, Value>;

/// The document's top object, ready for the typed parse.
pub(super) fn parse(json: &[u8], report: &mut Report) -> Result<Object, ImportError> {
    let text = std::str::from_utf8(json)
        .map_err(|e| ImportError::Json { problem: format!("byte {} is not UTF-8", e.valid_up_to()) })?;
    let value: Value =
        serde_json::from_str(text).map_err(|e| ImportError::Json { problem: e.to_string() })?;
    let Value::Object(mut root) = value else {
        return Err(ImportError::schema("JSON", "the top level must be an object"));
    };
    version(&root)?;
    extensions::check(&root, report)?;
    integers(&root, &mut String::new(), "")?;
    pointers::resolve(objects(&mut root, "animations"), report)?;
    for scene in objects(&mut root, "scenes") {
        scene.entry("nodes").or_insert_with(|| Value::Array(Vec::new()));
    }
    attributes(&mut root, report)?;
    Ok(root)
}

fn version(root: &Object) -> Result<(), ImportError> {
    let Some(asset) = root.get("asset").and_then(Value::as_object) else {
        return Err(ImportError::schema("asset", "is missing or no object"));
    };
    let Some(version) = asset.get("version").and_then(Value::as_str) else {
        return Err(ImportError::schema("asset.version", "is missing or no string"));
    };
    let fits = |version: &str| {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    if fits(version).is_none_or(|(major, _)| major != 2) {
        return Err(ImportError::Version { place: "asset.version", found: version.into() });
    }
    match asset.get("minVersion").and_then(Value::as_str) {
        Some(least) if fits(least).is_none_or(|least| least > (2, 0)) => {
            Err(ImportError::Version { place: "asset.minVersion", found: least.into() })
        }
        _ => Ok(()),
    }
}

/// Properties that hold 64-bit integers or floats, which may be larger than 32 bits, and foreign ones.
const WIDE: &[&str] = &["byteLength", "byteOffset", "count", "extras", "extensions", "asset", "min", "max"];
const FLOATS: &[&str] = &["translation", "rotation", "scale", "matrix", "weights", "strength", "alphaCutoff"];

/// The typed parse cuts indices and enumerations to 32 bits without a word, so larger ones are refused
/// here. Recursion is bounded: the container limits the depth.
fn integers(object: &Object, place: &mut String, parent: &str) -> Result<(), ImportError> {
    for (key, value) in object {
        let skipped =
            WIDE.contains(&key.as_str()) || FLOATS.contains(&key.as_str()) || key.ends_with("Factor");
        // Attribute names are the file's own choice, also such as `count`.
        if skipped && parent != "attributes" {
            continue;
        }
        let length = place.len();
        if length > 0 {
            place.push('.');
        }
        place.extend(key.chars().take(80));
        integer(value, place, key)?;
        place.truncate(length);
    }
    Ok(())
}

fn integer(value: &Value, place: &mut String, key: &str) -> Result<(), ImportError> {
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|n| n > u64::from(u32::MAX)) => {
            Err(ImportError::schema(place.clone(), format!("{number} does not fit 32 bits")))
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                // Plain numbers are the common case: no text for each of them.
                if value.as_u64().is_some_and(|n| n <= u64::from(u32::MAX)) {
                    continue;
                }
                let length = place.len();
                place.push_str(&format!("[{index}]"));
                integer(value, place, key)?;
                place.truncate(length);
            }
            Ok(())
        }
        Value::Object(object) => integers(object, place, key),
        _ => Ok(()),
    }
}

/// The objects of a top-level list; whatever else is in it is left to the typed parse.
fn objects<'a>(root: &'a mut Object, key: &str) -> impl Iterator<Item = &'a mut Object> {
    let list = root.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Attributes nobody reads: the file's own (`_NAME`, silently) and unknown ones.
fn attributes(root: &mut Object, report: &mut Report) -> Result<(), ImportError> {
    for (m, mesh) in objects(root, "meshes").enumerate() {
        let primitives = mesh.get_mut("primitives").and_then(Value::as_array_mut);
        for (p, primitive) in primitives.into_iter().flatten().enumerate() {
            let place = || format!("meshes[{m}].primitives[{p}]");
            let mut unknown = Vec::new();
            if let Some(attributes) = primitive.get_mut("attributes").and_then(Value::as_object_mut) {
                attributes.retain(|name, _| is_known(name) || note(&mut unknown, name));
            }
            let targets = primitive.get_mut("targets").and_then(Value::as_array_mut);
            for target in targets.into_iter().flatten().filter_map(Value::as_object_mut) {
                let moved = |name: &str| matches!(name, "POSITION" | "NORMAL" | "TANGENT");
                target.retain(|name, _| moved(name) || note(&mut unknown, name));
            }
            if !unknown.is_empty() {
                unknown.sort_unstable();
                unknown.dedup();
                let message = format!("{} not read", unknown.join(", "));
                report.add(codes::ATTRIBUTE_IGNORED, place(), message)?;
            }
        }
    }
    Ok(())
}

/// Remembers names that are worth a word; drops the attribute.
fn note(unknown: &mut Vec<String>, name: &str) -> bool {
    if !name.starts_with('_') && unknown.len() < 16 {
        unknown.push(name.chars().take(40).collect());
    }
    false
}

fn is_known(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|n| {
            !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) && (n == "0" || !n.starts_with('0'))
        })
    };
    matches!(name, "POSITION" | "NORMAL" | "TANGENT")
        || ["TEXCOORD_", "COLOR_", "JOINTS_", "WEIGHTS_"].into_iter().any(numbered)
}
