//! `sinew inspect` and `sinew fix` from outside: exit codes, the described data, repaired files.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sinew")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let (code, stdout, stderr) = run(arguments);
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-inspect-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn conf(name: &str) -> String {
    format!("{}/tests/data/assets/conf/{name}", env!("CARGO_MANIFEST_DIR"))
}

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");

/// A file with a rotation twice as long as it should be: repaired when it is loaded.
fn in_need_of_repair(folder: &std::path::Path) -> String {
    let bytes = fs::read(conf("joints1_mixed_types.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let bin = &bytes[20 + length + 8..];
    document["nodes"][0]["rotation"] = serde_json::json!([0.0, 0.0, 0.0, 2.0]);
    document["nodes"][0].as_object_mut().unwrap().remove("matrix");
    write(&folder.join("repaired.glb"), &document, bin)
}

fn write(file: &std::path::Path, document: &Value, bin: &[u8]) -> String {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = Vec::new();
    let total = 12 + 8 + text.len() + 8 + bin.len();
    out.extend(b"glTF");
    out.extend([2u32, total as u32, text.len() as u32, 0x4E4F_534A].iter().flat_map(|w| w.to_le_bytes()));
    out.extend(&text);
    out.extend([bin.len() as u32, 0x004E_4942].iter().flat_map(|w| w.to_le_bytes()));
    out.extend(bin);
    fs::write(file, out).unwrap();
    file.to_str().unwrap().into()
}

#[test]
fn a_file_that_is_repaired_loads_and_fails_only_where_that_is_asked_for() {
    let folder = folder("repaired");
    let file = in_need_of_repair(&folder);
    let (code, report) = json(&["inspect", "--json", &file]);
    assert_eq!(code, 0);
    let findings = report["findings"].as_array().unwrap();
    let repaired = findings.iter().find(|f| f["code"] == "node-rotation-normalized").expect("a finding");
    assert_eq!((&repaired["numbers"]["length"], &repaired["spec"]), (&2.0.into(), &"5.25".into()));
    assert_eq!(repaired["fix"], "`sinew fix` writes unit quaternions.");
    for denied in [&["--strict"][..], &["--deny", "warnings"], &["--deny", "repairs"], &["--deny", "info"]] {
        let (code, stdout, stderr) = run(&[&["inspect", &file], denied].concat());
        assert_eq!(code, 1, "{denied:?}");
        assert!(stdout.contains("node-rotation-normalized"), "the report is printed all the same: {stdout}");
        assert!(stderr.contains("not allowed"), "{stderr}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_strict_loading_refuses_fails_under_strict_even_where_it_is_a_warning() {
    let folder = folder("required");
    let document = serde_json::json!({ "asset": { "version": "2.0" }, "extensionsUsed": ["KHR_materials_sheen"],
        "extensionsRequired": ["KHR_materials_sheen"] });
    let file = write(&folder.join("sheen.glb"), &document, &[0; 4]);
    assert_eq!(run(&["inspect", &file]).0, 0);
    let (code, stdout, _) = run(&["inspect", "--strict", &file]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("extension-required-ignored"), "{stdout}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn warnings_fail_under_deny_and_not_under_strict() {
    assert_eq!(run(&["inspect", "--strict", DEMO]).0, 0);
    let (code, _, stderr) = run(&["inspect", "--deny", "warnings", DEMO]);
    assert_eq!(code, 1);
    assert!(stderr.contains("5 findings are not allowed"), "{stderr}");
    assert_eq!(run(&["inspect", "--deny", "nothing", DEMO]).0, 2);
}

#[test]
fn a_refused_file_is_data_too_and_exits_with_1() {
    let folder = folder("refused");
    let file = folder.join("odd.glb");
    fs::write(&file, b"glTF").unwrap();
    let (code, report) = json(&["inspect", "--json", file.to_str().unwrap()]);
    assert_eq!(code, 1);
    check(&report, &schema(), &schema(), "");
    assert!(report["refused"]["message"].as_str().unwrap().contains("not a glTF file"), "{report}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_data_is_what_its_schema_says() {
    let schema = schema();
    for file in [DEMO.to_owned(), conf("joints1_mixed_types.glb"), conf("targets_different_attributes.glb")] {
        let (code, report) = json(&["inspect", "--json", &file]);
        assert_eq!(code, 0, "{file}");
        check(&report, &schema, &schema, "");
        assert!(report.get("findings").is_some() && report.get("refused").is_none());
    }
}

#[test]
fn the_check_of_the_schema_finds_a_missing_and_an_unknown_property() {
    let schema = schema();
    let (_, report) = json(&["inspect", "--json", DEMO]);
    let mut missing = report.clone();
    missing["cost"]["packed"].as_object_mut().unwrap().remove("items");
    let mut unknown = report.clone();
    unknown["cost"]["packed"]["time"] = 1.into();
    let mut other = report;
    other["nodes"] = "45".into();
    for wrong in [missing, unknown, other] {
        assert!(std::panic::catch_unwind(|| check(&wrong, &schema, &schema, "")).is_err());
    }
}

fn schema() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/inspect.schema.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// As much of JSON Schema as the file uses.
fn check(value: &Value, schema: &Value, root: &Value, place: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return check(value, root.pointer(&reference[1..]).unwrap(), root, place);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |wanted: &Value| wanted == kind || wanted == "number" && kind == "integer";
    let fits = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        one => is(one),
    };
    assert!(fits, "{place} is {kind}, the schema says {}", schema["type"]);
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        assert!(allowed.contains(value), "{place} is {value}, the schema says {allowed:?}");
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check(item, &schema["items"], root, &format!("{place}[{at}]"));
    }
    let Some(object) = value.as_object() else { return };
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        assert!(object.contains_key(required.as_str().unwrap()), "{place} lacks {required}");
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, value) in object {
        let schema = properties.get(name).unwrap_or_else(|| panic!("{place}.{name} is not in the schema"));
        check(value, schema, root, &format!("{place}.{name}"));
    }
}

#[test]
fn a_fixed_file_has_no_warnings_left_and_says_what_changed() {
    let folder = folder("fixed");
    let out = folder.join("fixed.glb");
    let out = out.to_str().unwrap();
    let (code, report) = json(&["fix", DEMO, "-o", out, "--influences", "4", "--json"]);
    assert_eq!(code, 0);
    let changes: Vec<&str> =
        report["changes"].as_array().unwrap().iter().map(|c| c["code"].as_str().unwrap()).collect();
    assert_eq!(
        changes,
        ["influences-reduced", "influences-reduced", "joints-dropped", "targets-dropped", "targets-dropped"]
    );
    assert!(report["changes"][0]["numbers"]["displacement"].as_f64().unwrap() > 0.01);
    assert_eq!(run(&["inspect", "--deny", "warnings", out]).0, 0);
    let (code, again) = json(&["fix", out, "-o", folder.join("again.glb").to_str().unwrap(), "--json"]);
    assert_eq!((code, again["changes"].as_array().unwrap().len()), (0, 0));
    assert_eq!(fs::read(out).unwrap(), fs::read(folder.join("again.glb")).unwrap());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_file_itself_is_never_written_over_nor_another_kind_of_file() {
    let folder = folder("itself");
    let file = folder.join("mascot.glb");
    fs::copy(DEMO, &file).unwrap();
    let file = file.to_str().unwrap();
    let (code, _, stderr) = run(&["fix", file, "-o", file]);
    assert_eq!(code, 2);
    assert!(stderr.contains("` is the file itself"), "{stderr}");
    assert_eq!(run(&["fix", file, "-o", folder.join("out.gltf").to_str().unwrap()]).0, 2);
    assert_eq!(fs::read(file).unwrap(), fs::read(DEMO).unwrap());
    let (code, _, stderr) = run(&["fix", file, "-o", folder.join("missing/out.glb").to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(stderr.contains("cannot write"), "{stderr}");
    fs::remove_dir_all(folder).unwrap();
}
