//! Composition and proof of WGSL at build time; compiles naga and wesl, not wgpu.
//!
//! A build script composes a module out of a folder of [WESL](https://wesl-lang.dev) modules, validates it
//! as a default WebGPU device would, and stops the build when the text, the limits or the layout of a Rust
//! struct disagree:
//!
//! ```no_run
//! use sinew::shader::{Source, ShaderError, rust_layout};
//!
//! # #[derive(Clone, Copy)]
//! #[repr(C)]
//! struct Light { direction: [f32; 3], strength: f32 }
//!
//! /// What a build script writes to `OUT_DIR` for the crate to include: text, entry points and bindings.
//! fn prove() -> Result<String, ShaderError> {
//!     let text = Source::new("wgsl".as_ref(), "lit").library("sinew", sinew::shaders::MODULES).compose()?;
//!     let shader = sinew::shader::validate("lit", &text)?;
//!     shader.check_limits()?;
//!     shader.check_layout("Light", &rust_layout!(Light, direction, strength))?;
//!     Ok(shader.to_rust("LIT", &text))
//! }
//! ```
//!
//! Modules of the library that others import: `sinew::vertex` for deformed vertices as vertex buffers, `sinew::codec`
//! for its packed words, `sinew::brdf` for the standard material. examples/custom_material is a whole crate that does
//! so.
//!
//! The library's own `build.rs` includes this very module, so a text that passes there passes here.

mod compose;
mod error;
mod excerpt;
mod flags;
mod layout;
mod limits;
mod names;
mod reflect;
mod table;
mod validate;

pub use compose::{Source, compose};
pub use error::ShaderError;
pub use excerpt::Place;
pub use flags::flags;
pub use layout::{Member, RustLayout, StructLayout};
pub use reflect::{Binding, EntryPoint};
pub use validate::{Validated, validate};

#[doc(inline)]
pub use crate::rust_layout;
