//! Modules use only what lies before them on the way from file to picture.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

use std::{fs, path::Path};

/// Each folder of src/ and what it may use.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("model", &[]),
    ("import", &["model"]),
    ("export", &["model"]),
    ("animate", &["model"]),
    ("ik", &["model", "animate"]),
    ("retarget", &["model", "animate"]),
    ("shader", &["shaders"]),
    ("shaders", &[]),
    ("gpu", &["shaders"]),
    ("deform", &["model", "animate", "gpu", "shaders"]),
    ("lint", &["model", "animate", "deform"]),
    ("fix", &["model", "lint"]),
    ("pick", &["model", "animate", "deform"]),
    ("render", &["model", "animate", "deform", "gpu", "shaders", "graph"]),
];

fn files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, out);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            out.push(entry);
        }
    }
}

/// Top-level modules that a text names after `crate::`, also inside `crate::{a::.., b::..}`.
fn used(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let name = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    // `$crate::` in a macro is whoever uses it.
    for (at, _) in text.match_indices("crate::").filter(|(at, _)| !text[..*at].ends_with('$')) {
        let rest = &text[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            out.push(name(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    out.push(name(group[start..i].trim()));
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    out.push(name(group[start..i].trim()));
                    start = i + 1;
                }
                _ => {}
            }
        }
    }
    out.retain(|n| !n.is_empty());
    out
}

fn upward(folder: &str, allowed: &[&str], text: &str) -> Vec<String> {
    let mut found = used(text);
    // Only folders: documentation also names items of the crate's root.
    found.retain(|n| ALLOWED.iter().any(|(known, _)| known == n));
    found.retain(|n| n != folder && !allowed.contains(&n.as_str()));
    found
}

#[test]
fn no_module_uses_one_that_comes_after_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (folder, allowed) in ALLOWED {
        let mut list = Vec::new();
        files(&src.join(folder), &mut list);
        for file in list {
            let found = upward(folder, allowed, &fs::read_to_string(&file).unwrap());
            assert!(found.is_empty(), "{} uses {found:?}", file.display());
        }
    }
}

#[test]
fn an_upward_edge_is_found_in_every_form() {
    let text = "use crate::deform::Cast;\nuse crate::{\n    animate::{Pose, Player},\n    render,\n};";
    assert_eq!(upward("model", &[], text), ["deform", "animate", "render"]);
    assert_eq!(upward("animate", &["model"], "use crate::{model::Model, animate::Pose};"), [""; 0]);
}

#[test]
fn every_kernel_module_has_a_twin_of_the_same_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for stage in ["blend", "deform", "morph", "output", "skin", "source"] {
        assert!(root.join(format!("wgsl/{stage}.wgsl")).exists(), "{stage}");
        assert!(root.join(format!("src/deform/cpu/{stage}.rs")).exists(), "{stage}");
    }
}
