//! The table of codes in the documentation, and what every code must have.
#![cfg(all(feature = "gltf", feature = "render"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fmt::Write, fs};

use sinew::{
    fix, import, lint,
    model::{Code, Severity},
    render,
};

fn tables() -> [(&'static str, &'static str, &'static [Code]); 4] {
    [
        ("Loading", "What `Model::load` ignores or repairs, in `Model::diagnostics`.", import::codes::ALL),
        ("Rig", "What `sinew::lint` finds; `sinew inspect` lists it with the above.", lint::codes::ALL),
        ("Repair", "What `sinew fix` changes beyond writing what loading repaired.", fix::codes::ALL),
        ("Pictures", "What the raster pass replaces.", render::codes::ALL),
    ]
}

fn page() -> String {
    let mut page = String::from(
        "# Codes of findings\n\nEvery finding has a code, a severity, a place in the document, a message with its numbers, the section of the\nglTF 2.0 specification it is about, and what to do. Codes are stable. `repaired` means that the file breaks the\nspecification and that loading repaired it: an error under `strict`. Exit codes of `sinew inspect`: 0 for a file that\nloads, even if repaired; 1 for one that is refused, and for findings under `--strict` (repairs,\nand required extensions that are not shown) or `--deny` (`info`, `warnings`, `repairs`: that severity or a higher one);\n2 for a wrong command line. `inspect.schema.json` describes `--json`.\n",
    );
    for (title, about, codes) in tables() {
        write!(page, "\n## {title}\n{about}\n\n| code | severity | section | what | what to do |\n|---|---|---|---|---|\n").unwrap();
        for code in codes {
            writeln!(
                page,
                "| `{}` | {} | {} | {} | {} |",
                code.name, code.severity, code.spec, code.about, code.fix
            )
            .unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_codes_is_up_to_date() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/codes.md");
    if std::env::var_os("SINEW_WRITE_DOCS").is_some() {
        fs::write(file, page()).unwrap();
    }
    assert!(fs::read_to_string(file).unwrap() == page(), "write it with SINEW_WRITE_DOCS=1");
}

#[test]
fn no_code_is_given_twice() {
    let all = tables().into_iter().flat_map(|(.., codes)| codes);
    let mut names = BTreeSet::new();
    for code in all {
        assert!(names.insert(code.name), "{} twice", code.name);
    }
}

#[test]
fn every_repair_of_a_file_says_where_the_rule_stands() {
    for (.., codes) in tables() {
        for code in codes.iter().filter(|code| code.severity == Severity::Repaired) {
            assert!(!code.spec.is_empty(), "{}", code.name);
        }
    }
}

#[test]
fn every_code_is_a_sentence_in_lower_case_words() {
    for (.., codes) in tables() {
        for code in codes {
            assert!(
                code.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                code.name
            );
            assert!(
                code.about.ends_with('.') && (code.fix.is_empty() || code.fix.ends_with('.')),
                "{}",
                code.name
            );
        }
    }
}
