//! Where in a text an error lies: module, declaration and a few numbered lines.

use std::fmt;
use std::ops::Range;

/// Lines shown before and after the marked one.
const CONTEXT: usize = 2;

/// The comment that composition writes before the declarations of each module.
pub(super) const MODULE_MARK: &str = "// module ";

/// Words that open a named declaration.
const DECLARE: [&str; 6] = ["fn", "struct", "var", "const", "override", "alias"];

/// The place of an error in a WGSL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The module that wrote the line.
    pub module: String,
    /// The declaration around it, where there is one.
    pub declaration: Option<String>,
    /// Numbered lines with the spot marked; empty where the error has no spot.
    pub excerpt: String,
}

impl Place {
    /// A place in a composed `text`; `shader` names the module of a text without module marks.
    pub(super) fn in_text(shader: &str, text: &str, span: Option<Range<usize>>, label: &str) -> Self {
        let Some(span) = span else {
            return Self { module: shader.into(), declaration: None, excerpt: String::new() };
        };
        let module = text[..span.start]
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(MODULE_MARK))
            .map_or_else(|| shader.into(), str::to_owned);
        let declaration = declaration_at(text, span.start).map(str::to_owned);
        Self { module, declaration, excerpt: excerpt(text, &span, label) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  in module `{}`", self.module)?;
        if let Some(declaration) = &self.declaration {
            write!(f, ", declaration `{declaration}`")?;
        }
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt)?;
        }
        Ok(())
    }
}

/// The name of the top-level declaration around a byte; top-level declarations start in column 0.
fn declaration_at(text: &str, at: usize) -> Option<&str> {
    let line_end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let opens = |line: &&str| line.starts_with(|c: char| c == '@' || c.is_ascii_alphabetic());
    let head = text[..line_end].lines().rev().find(opens)?;
    // An attribute may stand on a line of its own above the name.
    let from = head.as_ptr() as usize - text.as_ptr() as usize;
    text[from..].lines().take_while(|line| !line.is_empty()).find_map(declared_name)
}

/// `fn name(`, `struct name {`, `var<storage> name:` → `name`.
fn declared_name(line: &str) -> Option<&str> {
    let words = DECLARE.iter().filter_map(|word| {
        let at = line.match_indices(word).map(|(at, _)| at).find(|&at| is_whole(line, at, word))?;
        Some((at, &line[at + word.len()..]))
    });
    let (_, rest) = words.min_by_key(|&(at, _)| at)?;
    let rest = if rest.starts_with('<') { &rest[rest.find('>')? + 1..] } else { rest };
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// Whether the word at this byte is not part of a longer one.
pub(super) fn is_whole(text: &str, at: usize, word: &str) -> bool {
    let is_free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    is_free(text[..at].chars().next_back()) && is_free(text[at + word.len()..].chars().next())
}

/// The line of `span` with its neighbours, numbered from 1, and carets under the span's first line.
pub(super) fn excerpt(text: &str, span: &Range<usize>, label: &str) -> String {
    let start = span.start.min(text.len());
    let row = text[..start].matches('\n').count();
    let line_start = text[..start].rfind('\n').map_or(0, |n| n + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let column = text[line_start..start].chars().count();
    let end = span.end.clamp(start, line_start + line.len()).max(start);
    let carets = text[start..end].chars().count().max(1);

    let first = row.saturating_sub(CONTEXT);
    let width = (row + 1 + CONTEXT).to_string().len();
    let mut out = String::new();
    for (n, shown) in text.lines().enumerate().skip(first).take(row - first + 1 + CONTEXT) {
        out += format!("{:width$} | {shown}", n + 1).trim_end();
        out.push('\n');
        if n == row {
            let mark = "^".repeat(carets);
            out += format!("{:width$} | {:column$}{mark} {label}", "", "").trim_end();
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out
}
