//! The conditional flags that modules name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every flag that an `@if(..)` or `@elif(..)` names in any module below `root`, or in `extra` texts.
///
/// Unreadable folders count as empty: composition reports them.
#[must_use]
pub fn flags<'a>(root: &Path, extra: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "wgsl" || ext == "wesl") {
                collect(&fs::read_to_string(path).unwrap_or_default(), &mut found);
            }
        }
    }
    extra.into_iter().for_each(|text| collect(text, &mut found));
    found
}

/// Adds the flags of one text; line comments do not count.
fn collect(text: &str, found: &mut BTreeSet<String>) {
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        for at in ["@if", "@elif"].iter().flat_map(|word| code.match_indices(word)) {
            let condition = &code[at.0 + at.1.len()..];
            let words =
                condition[..condition_end(condition)].split(|c: char| !c.is_alphanumeric() && c != '_');
            found.extend(words.filter(|word| !["", "true", "false"].contains(word)).map(str::to_owned));
        }
    }
}

/// The byte after the parenthesis that closes the one at the start.
fn condition_end(condition: &str) -> usize {
    let mut depth = 0;
    for (at, c) in condition.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return at + 1,
            ')' => depth -= 1,
            c if depth == 0 && !c.is_whitespace() => return 0,
            _ => {}
        }
    }
    condition.len()
}
