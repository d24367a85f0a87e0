//! WGSL text to a module that naga has proven valid for a default WebGPU device.

use std::error::Error;
use std::ops::Range;

use naga::Module;
use naga::front::wgsl::{ParseError, parse_str};
use naga::proc::Layouter;
use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};

use super::reflect::{self, Binding, EntryPoint};
use super::{Place, ShaderError};

/// Builtins that round through f16 in f32; naga guards them by a capability that WebGPU always has.
const HALF_IN_FLOAT: [&str; 3] = ["unpack2x16float", "pack2x16float", "quantizeToF16"];

/// A valid module with what it declares.
#[derive(Debug)]
pub struct Validated {
    pub(super) name: String,
    pub(super) module: Module,
    pub(super) layouter: Layouter,
    info: ModuleInfo,
    entry_points: Vec<EntryPoint>,
    bindings: Vec<Binding>,
}

/// Parses and validates a WGSL text with the capabilities of default WebGPU; `name` appears in errors.
///
/// Immediates (push constants), `f16` arithmetic and every other extension are refused here, since a default
/// device has none of them.
///
/// # Errors
/// [`ShaderError::Invalid`] with the place in the text; [`ShaderError::Unsupported`] for a storage or
/// external texture, a binding array, or a workgroup size that an `override` sets.
pub fn validate(name: &str, text: &str) -> Result<Validated, ShaderError> {
    let module = parse_str(text).map_err(|error| parse_error(name, text, &error))?;
    let mut capabilities = Capabilities::default();
    if HALF_IN_FLOAT.iter().any(|builtin| text.contains(builtin)) {
        capabilities |= Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    }
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|error| validation_error(name, text, &error))?;
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).map_err(|error| invalid(name, text, error.to_string(), None, ""))?;
    let entry_points = reflect::entry_points(name, &module, &info)?;
    let bindings = reflect::bindings(name, &module, &info)?;
    Ok(Validated { name: name.into(), module, layouter, info, entry_points, bindings })
}

impl Validated {
    /// The name given to [`validate`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entry points, in the order of the text.
    #[must_use]
    pub fn entry_points(&self) -> &[EntryPoint] {
        &self.entry_points
    }

    /// The bindings that some entry point uses, by group and binding.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// naga's module, for its back ends.
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// What validation learned, for naga's back ends.
    #[must_use]
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }
}

fn parse_error(name: &str, text: &str, error: &ParseError) -> ShaderError {
    let label = error.labels().find_map(|(span, label)| Some((span.to_range()?, label)));
    let (span, label) = label.map_or((None, ""), |(span, label)| (Some(span), label));
    let notes = error.notes().map(|note| format!("note: {note}")).collect();
    with_notes(invalid(name, text, error.message().into(), span, label), notes)
}

fn validation_error(name: &str, text: &str, error: &naga::WithSpan<ValidationError>) -> ShaderError {
    // naga adds a span at each level from the declaration inwards; the shortest one is the spot itself.
    let spans = error.spans().filter_map(|(span, label)| Some((span.to_range()?, label.as_str())));
    let spot = spans.min_by_key(|(span, _)| span.len());
    let (span, label) = spot.map_or((None, ""), |(span, label)| (Some(span), label));
    let mut causes = Vec::new();
    let mut cause = error.as_inner().source();
    while let Some(inner) = cause {
        causes.push(format!("because: {inner}"));
        cause = inner.source();
    }
    // naga's labels of arena items end in a handle, `naga::ir::Expression [3]`, which says nothing here.
    let label = if label.starts_with("naga::") { "" } else { label };
    with_notes(invalid(name, text, error.as_inner().to_string(), span, label), causes)
}

fn invalid(name: &str, text: &str, message: String, span: Option<Range<usize>>, label: &str) -> ShaderError {
    let place = Box::new(Place::in_text(name, text, span, label));
    ShaderError::Invalid { shader: name.into(), message, place, notes: Vec::new() }
}

fn with_notes(error: ShaderError, added: Vec<String>) -> ShaderError {
    match error {
        ShaderError::Invalid { shader, message, place, .. } => {
            ShaderError::Invalid { shader, message, place, notes: added }
        }
        other => other,
    }
}
