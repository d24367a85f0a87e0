//! Malformed files, where somebody put them beside the checkout, each with the outcomes that are acceptable.

use std::{fs, path::Path};

use serde_json::Value;
use sinew::{Model, model::Severity};

#[path = "../import/fuzz/usage.rs"]
mod usage;

/// What became of a file, in the words of the list.
fn outcome(path: &Path) -> Result<&'static str, String> {
    match Model::load(path) {
        Err(error) if error.to_string().is_empty() => Err("an error without a message".into()),
        Err(_) => Ok("error"),
        Ok(model) if model.diagnostics().iter().any(|d| d.severity == Severity::Repaired) => {
            Ok("ok with repair")
        }
        Ok(_) => Ok("ok"),
    }
}

/// A file that loads is fine where either way of loading is acceptable: what counts as a repair is the library's say.
fn is_acceptable(outcome: &str, acceptable: &[Value]) -> bool {
    acceptable.iter().filter_map(Value::as_str).any(|a| match outcome {
        "error" => a == "error",
        _ => a.starts_with("ok"),
    })
}

#[test]
fn malformed_files_end_in_an_acceptable_outcome() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bad");
    let list =
        fs::read(folder.join("bad.json")).map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
    let files = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut wrong = Vec::new();
    for file in files {
        let name = file["file"].as_str().unwrap();
        let fallback = [file["expected"].clone()];
        let acceptable = file["acceptable"].as_array().map_or(&fallback[..], Vec::as_slice);
        match outcome(&folder.join(name)) {
            Ok(found) if is_acceptable(found, acceptable) => {}
            found => wrong.push(format!("{name}: {found:?}, acceptable {acceptable:?}")),
        }
        // A loader that refuses everything would otherwise pass most of them.
        if name.starts_with("valid_control") {
            Model::load(folder.join(name)).unwrap();
        }
    }
    println!("{} malformed files seen", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn malformed_files_that_load_are_deformed_picked_and_written_without_a_number_that_is_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bad");
    let (mut used, mut wrong) = (0, Vec::new());
    for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let Ok(model) = Model::load(&path) else { continue };
        // Packed and exact, linear and dual.
        for number in [0, 1, 2, 3] {
            match usage::try_use(&model, number) {
                Ok(is_used) => used += usize::from(is_used),
                Err(problem) => wrong.push(format!("{} {number}: {problem}", path.display())),
            }
        }
    }
    println!("{used} uses of malformed files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_outcome_that_is_not_listed_is_found() {
    let only_error = [Value::from("error")];
    let any_load = [Value::from("ok with repair")];
    assert!(is_acceptable("error", &only_error) && is_acceptable("ok", &any_load));
    assert!(!is_acceptable("ok", &only_error) && !is_acceptable("error", &any_load));
}
