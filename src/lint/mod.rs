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
mod vertices;

pub use cost::{Cost, cost};
pub(crate) use cut::where_to;
pub use cut::{Cut, worst_cut};
pub(crate) use joints::used_joints;
pub use poses::Poses;
pub(crate) use targets::is_dead;

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
    joints::check(model, &mut found);
    vertices::check(model, &mut found);
    cut::check(model, options.times, &mut found);
    targets::check(model, &mut found);
    found
}

/// `2 vertices`, `1 vertex`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `skins[0] ("body")`.
fn named(place: String, name: &str) -> String {
    if name.is_empty() { place } else { format!("{place} ({name:?})") }
}
