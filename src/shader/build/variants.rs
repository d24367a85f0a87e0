//! The list of shaders that the build script composes and the tests check.

use std::path::Path;

use super::shader::{ShaderError, Source};

/// The influence counts of the deform kernel, in index order; the flag names of each.
const INFLUENCES: [&str; 5] = ["one", "two", "four", "eight", "any"];

/// The variants of the deform kernel.
pub(crate) const DEFORM_COUNT: u32 = 36;

/// Where those with dual quaternions start. One influence has none: there is nothing to blend.
const DUAL: u32 = 20;

/// A shader to build.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Its name in tables and dumps.
    pub(crate) name: String,
    /// Its root module in `wgsl/`.
    pub(crate) module: &'static str,
    /// The flags of `@if(..)`.
    pub(crate) flags: Vec<(&'static str, bool)>,
    /// The constants of `import constants::..`.
    pub(crate) constants: Vec<(&'static str, u32)>,
}

impl Variant {
    /// The composed text.
    pub(crate) fn compose(&self, root: &Path) -> Result<String, ShaderError> {
        Source::new(root, self.module).flags(&self.flags).constants(&self.constants).compose()
    }
}

/// One variant of the deform kernel: `influences * 4 + exact * 2 + morph`, then from two influences on the same with
/// dual quaternions.
///
/// A kernel reads its index by `import constants::VARIANT;`.
pub(crate) fn deform(index: u32) -> Variant {
    let dual = index >= DUAL;
    let place = if dual { index - DUAL + 4 } else { index };
    let (influences, exact, morph) = (place / 4, place / 2 % 2 == 1, place % 2 == 1);
    let mut flags: Vec<_> = (0..).zip(INFLUENCES).map(|(n, flag)| (flag, n == influences)).collect();
    flags.extend([("exact", exact), ("morph", morph), ("dual", dual)]);
    Variant { name: format!("deform_{index}"), module: "deform", flags, constants: vec![("VARIANT", index)] }
}

/// The reduction of deformed parts to their boxes.
pub(crate) fn bounds() -> Variant {
    Variant { name: "bounds".into(), module: "bounds", flags: Vec::new(), constants: Vec::new() }
}

/// The raster module.
pub(crate) fn lit() -> Variant {
    Variant { name: "lit".into(), module: "lit", flags: Vec::new(), constants: Vec::new() }
}
