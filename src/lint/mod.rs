//! What a rig costs and where it will not do elsewhere: findings about a model that loading alone does not make.
//!
//! ```no_run
//! use sinew::{Model, lint};
//!
//! let model = Model::load("fox.glb")?;
//! for finding in model.diagnostics().iter().chain(&lint::lint(&model, &lint::LintOptions::default())) {
//!     eprintln!("{finding}");
//! }
//! # Ok::<(), sinew::import::ImportError>(())
//! ```

pub mod codes;
mod cost;
mod cut;
mod joints;
mod poses;
mod targets;
mod uses;
mod vertices;

pub use cost::{Cost, cost};
pub use cut::{Cut, worst_cut};
pub(crate) use cut::{where_to, worst_cut_of};
pub use poses::Poses;
pub(crate) use targets::is_dead;
pub(crate) use uses::Uses;

use std::collections::BTreeMap;

use crate::model::{Diagnostic, Model};

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintOptions {
    /// Times of each clip at which cut influences are compared, evenly spread; at least 2.
    pub times: usize,
}

impl Default for LintOptions {
    fn default() -> Self {
        Self { times: 48 }
    }
}

/// All findings about a model, in the order of the document. What loading found is in
/// [`Model::diagnostics`] and not repeated here.
#[must_use]
pub fn lint(model: &Model, options: &LintOptions) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let uses = Uses::of(model);
    joints::check(model, &uses, &mut found);
    vertices::check(model, &mut found);
    cut::check(model, &uses, options.times, &mut found);
    targets::check(model, &uses, &mut found);
    cut_long(found)
}

/// Findings of one kind that are listed one by one.
const LISTED: usize = 100;

/// The first of each kind, and how many more there are.
fn cut_long(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: Vec<Diagnostic> = Vec::new();
    for finding in all {
        let count = counts.entry(finding.code).or_default();
        *count += 1;
        if *count <= LISTED {
            kept.push(finding);
        }
    }
    for (code, more) in
        counts.into_iter().filter_map(|(code, count)| Some((code, count.checked_sub(LISTED)?)))
    {
        if more > 0 {
            let finding = codes::FINDINGS_CUT.at("", format!("{more} more of {code}"));
            kept.push(finding.with([("findings", more as f64)]));
        }
    }
    kept
}

/// `2 vertices`, `1 vertex`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `skins[0] ("body")`.
fn named(place: String, name: &str) -> String {
    if name.is_empty() { place } else { format!("{place} ({name:?})") }
}
