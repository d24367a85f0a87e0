//! Composes `wgsl/material.wgsl` with the library's modules and proves it: syntax, types, WebGPU's default limits, and the
//! layout of every struct that Rust writes. A mistake stops the build with module, line and excerpt.

use std::{env, fs, path::Path, process::exit};

use sinew::shader::{ShaderError, Source, rust_layout, validate};

#[path = "src/layout.rs"]
mod layout;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/layout.rs");
    println!("cargo::rerun-if-changed=wgsl");
    let proven = prove(Path::new("wgsl")).map_err(|error| error.to_string()).and_then(write);
    if let Err(problem) = proven {
        eprintln!("{problem}");
        exit(1);
    }
}

/// Rust source of the shader's text and tables. The tests of the library run it too.
pub(crate) fn prove(folder: &Path) -> Result<String, ShaderError> {
    let text = Source::new(folder, "material").library("sinew", sinew::shaders::MODULES).compose()?;
    let shader = validate("material", &text)?;
    shader.check_limits()?;
    shader.check_layout("View", &rust_layout!(layout::View, view_projection, eye, time))?;
    shader.check_layout("Hologram", &rust_layout!(layout::Hologram, color, lines, rim, sharpness))?;
    Ok(shader.to_rust("MATERIAL", &text))
}

fn write(source: String) -> Result<(), String> {
    let folder = env::var("OUT_DIR").map_err(|error| error.to_string())?;
    fs::write(Path::new(&folder).join("material.rs"), source).map_err(|error| error.to_string())
}
