//! What can be wrong with a shader.

use super::Place;
use super::layout::Mismatch;
use super::limits::Excess;

/// Why a shader cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// An import, a condition or the syntax of a WESL module is wrong.
    #[error("shader `{shader}` does not compose: {message}{place}")]
    Compose {
        /// The root module.
        shader: String,
        /// What is wrong.
        message: String,
        /// Where, in the module as written.
        place: Box<Place>,
    },
    /// A flag was given that no module names.
    #[error("shader `{shader}`: no module names the flag `{flag}`; the flags are: {}", known.join(", "))]
    UnknownFlag {
        /// The root module.
        shader: String,
        /// The flag that was given.
        flag: String,
        /// Every flag that a module names.
        known: Vec<String>,
    },
    /// The composed text is not valid WGSL for a default WebGPU device.
    #[error("shader `{shader}` does not validate: {message}{place}{}", lines(notes))]
    Invalid {
        /// The shader's name.
        shader: String,
        /// What is wrong.
        message: String,
        /// Where, in the composed text.
        place: Box<Place>,
        /// Causes and hints, outermost first.
        notes: Vec<String>,
    },
    /// The text is valid but uses something that the tables of this module do not describe.
    #[error("shader `{shader}`: `{declaration}` is {what}, which reflection does not describe")]
    Unsupported {
        /// The shader's name.
        shader: String,
        /// The variable or entry point.
        declaration: String,
        /// What it is.
        what: &'static str,
    },
    /// A struct that Rust shares with the shader is not declared there.
    #[error("shader `{shader}` declares no struct `{name}`; its structs are: {}", known.join(", "))]
    NoStruct {
        /// The shader's name.
        shader: String,
        /// The struct looked for.
        name: String,
        /// The structs that are declared and used.
        known: Vec<String>,
    },
    /// A Rust struct and a WGSL struct do not lie in memory alike.
    #[error("shader `{shader}`: struct `{name}` differs from Rust's `{rust}`{}", lines(mismatches))]
    Layout {
        /// The shader's name.
        shader: String,
        /// The WGSL struct.
        name: String,
        /// The Rust struct.
        rust: String,
        /// Every disagreement.
        mismatches: Vec<Mismatch>,
    },
    /// The shader needs more than every WebGPU device offers.
    #[error("shader `{shader}` exceeds WebGPU's default limits{}", lines(excesses))]
    Limits {
        /// The shader's name.
        shader: String,
        /// Every limit exceeded.
        excesses: Vec<Excess>,
    },
}

/// Each item on a line of its own, indented.
fn lines(items: &[impl ToString]) -> String {
    items.iter().map(|item| format!("\n  {}", item.to_string())).collect()
}
