//! Composes `wgsl/`, proves every variant and writes the tables that `src/shaders.rs` includes.
//!
//! The composed texts lie in `OUT_DIR` under their names (`deform_0.wgsl`) for reading.
#![allow(unreachable_pub, reason = "modules of the library, public there")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;

mod shaders {
    pub use super::kinds::*;
}
#[path = "src/animate/joint_matrix.rs"]
#[allow(dead_code, reason = "only the layout is of interest here")]
mod joint_matrix;
#[path = "src/shaders/kinds.rs"]
mod kinds;
#[path = "src/deform/layout.rs"]
#[allow(dead_code, reason = "only the layouts are of interest here")]
mod layout;
#[path = "src/render/layout.rs"]
#[allow(dead_code, reason = "only the layouts are of interest here")]
mod raster;
#[path = "src/shader/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the library's module, used in part")]
mod shader;
#[path = "src/shader/tables.rs"]
mod tables;
#[path = "src/shader/variants.rs"]
mod variants;

use shader::{RustLayout, Validated};
use variants::Variant;

/// Structs that Rust writes and a shader reads: root module, struct in WGSL, struct in Rust.
fn layouts() -> Vec<(&'static str, &'static str, RustLayout)> {
    vec![
        ("deform", "JointMatrix", rust_layout!(joint_matrix::JointMatrix, x, y, z)),
        (
            "deform",
            "WorkItem",
            rust_layout!(layout::WorkItem, source, counts, palette, joint_list, out_a, out_b, morph, extra),
        ),
        ("deform", "VariantHeader", rust_layout!(layout::VariantHeader, first, count, pad)),
        ("lit", "View", rust_layout!(raster::View, view_projection, eye, light, light_color, sky, ground)),
        (
            "lit",
            "Instance",
            rust_layout!(raster::Instance, x, y, z, normal_x, normal_y, normal_z, orientation),
        ),
        (
            "lit",
            "Surface",
            rust_layout!(
                raster::Surface,
                base_color,
                emissive,
                cutoff,
                metallic,
                roughness,
                normal_scale,
                occlusion_strength,
                lit,
                maps,
                uv_sets
            ),
        ),
    ]
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "how a build script speaks to cargo")]
fn main() {
    for watched in [
        "build.rs",
        "wgsl",
        "src/shader",
        "src/shaders",
        "src/animate/joint_matrix.rs",
        "src/deform/layout.rs",
        "src/render/layout.rs",
    ] {
        println!("cargo::rerun-if-changed={watched}");
    }
    if let Err(problem) = build() {
        eprintln!("{problem}");
        exit(1);
    }
}

fn build() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let root = Path::new("wgsl");
    let deform: Vec<_> = (0..variants::DEFORM_COUNT).map(variants::deform).collect();
    let lit = variants::lit();

    let mut text = tables::modules(root)?;
    let deform = deform.iter().map(|variant| prove(root, variant, &out)).collect::<Result<Vec<_>, _>>()?;
    text += &tables::list("DEFORM", "The deform kernel: `influences * 4 + exact * 2 + morph`.", &deform);
    text += &tables::one("LIT", "The raster module.", &prove(root, &lit, &out)?);
    fs::write(out.join("shaders.rs"), text)?;
    Ok(())
}

/// Composes one shader, dumps its text, and checks everything that can be checked without a device.
fn prove(root: &Path, variant: &Variant, out: &Path) -> Result<Validated, Box<dyn std::error::Error>> {
    let text = variant.compose(root)?;
    fs::write(out.join(format!("{}.wgsl", variant.name)), &text)?;
    let shader = shader::validate(&variant.name, &text)?;
    shader.check_limits()?;
    for (module, name, rust) in layouts() {
        if module == variant.module {
            shader.check_layout(name, &rust)?;
        }
    }
    Ok(shader)
}
