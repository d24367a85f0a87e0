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
#[path = "src/shader/build/tables.rs"]
mod tables;
#[path = "src/shader/build/variants.rs"]
mod variants;

use shader::{RustLayout, Validated};
use variants::Variant;

/// What the build depends on beside itself.
const WATCHED: [&str; 7] = [
    "build.rs",
    "wgsl",
    "src/shader",
    "src/shaders",
    "src/animate/joint_matrix.rs",
    "src/deform/layout.rs",
    "src/render/layout.rs",
];

/// Structs that Rust writes and this shader reads: name in WGSL, layout in Rust.
fn layouts(variant: &Variant) -> Vec<(&'static str, RustLayout)> {
    match variant.module {
        "deform" => deform_layouts(variant),
        "bounds" => vec![("PartBox", rust_layout!(layout::PartBox, min, max))],
        "lit" => lit_layouts(),
        _ => Vec::new(),
    }
}

fn deform_layouts(variant: &Variant) -> Vec<(&'static str, RustLayout)> {
    use layout::{ActiveTarget, MorphHeader, VariantHeader, WorkItem};
    let mut all = vec![
        ("JointMatrix", rust_layout!(joint_matrix::JointMatrix, x, y, z)),
        ("WorkItem", rust_layout!(WorkItem, source, counts, palette, joint_list, out_a, out_b, morph, extra)),
        ("VariantHeader", rust_layout!(VariantHeader, first, count, pad)),
    ];
    if variant.flags.contains(&("morph", true)) {
        all.push(("MorphHeader", rust_layout!(MorphHeader, count, source, first, pad)));
        all.push((
            "ActiveTarget",
            rust_layout!(ActiveTarget, blocks, deltas, flags, pad, position, normal, tangent, pad_end),
        ));
    }
    all
}

fn lit_layouts() -> Vec<(&'static str, RustLayout)> {
    use raster::{Instance, Surface, UvRows, View};
    let surface = rust_layout!(
        Surface,
        base_color,
        emissive,
        cutoff,
        metallic,
        roughness,
        normal_scale,
        occlusion_strength,
        lit,
        maps,
        uv_sets,
        pad,
        uv,
    );
    vec![
        ("View", rust_layout!(View, view_projection, eye, light, light_color, sky, ground)),
        ("Instance", rust_layout!(Instance, x, y, z, normal_x, normal_y, normal_z, orientation)),
        ("Surface", surface),
        ("UvRows", rust_layout!(UvRows, u, v)),
    ]
}

#[expect(clippy::print_stderr, reason = "how a build script speaks to cargo")]
fn main() {
    for watched in WATCHED {
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
    let (bounds, lit) = (variants::bounds(), variants::lit());

    let mut text = tables::modules(root)?;
    let deform = deform.iter().map(|variant| prove(root, variant, &out)).collect::<Result<Vec<_>, _>>()?;
    let doc = "The deform kernel: `influences * 4 + exact * 2 + morph`, then the same with dual quaternions, from two \
               influences on.";
    text += &tables::list("DEFORM", doc, &deform);
    text += &tables::one(
        "BOUNDS",
        "The reduction of deformed parts to their boxes.",
        &prove(root, &bounds, &out)?,
    );
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
    for (name, rust) in layouts(variant) {
        shader.check_layout(name, &rust)?;
    }
    Ok(shader)
}
