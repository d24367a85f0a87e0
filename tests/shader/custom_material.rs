//! The build script of examples/custom_material, on its own WGSL and on copies that are broken.

use std::fs;
use std::path::Path;

use super::folder;

#[path = "../../examples/custom_material/build.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a build script of another crate, used in part"
)]
mod build_script;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/custom_material/wgsl");

#[test]
fn the_example_composes_with_the_librarys_modules_and_is_valid() {
    let source = build_script::prove(Path::new(FOLDER)).unwrap_or_else(|error| panic!("{error}"));
    let text = source.replace("\\n", "\n");
    assert!(
        text.starts_with("#[doc = \"The shader `material`.\"]\npub static MATERIAL: sinew::shaders::Shader")
    );
    for part in [
        "// module sinew::codec\n",
        "fn normal_of(",
        "EntryPoint { name: \"fragment\", stage: Stage::Fragment",
        "Binding { group: 0, binding: 1, name: \"hologram\", kind: BindingKind::Uniform, min_size: 32, \
         stages: Stages { vertex: false, fragment: true, compute: false } }",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// What the build says of the example with `good` replaced by `bad`.
fn broken(name: &str, good: &str, bad: &str) -> String {
    let text = fs::read_to_string(Path::new(FOLDER).join("material.wgsl")).unwrap();
    assert!(text.contains(good));
    let root = folder(name, &[("material", &text.replace(good, bad))]);
    build_script::prove(&root).err().unwrap().to_string()
}

#[test]
fn an_import_that_the_library_lacks_is_named_with_its_module() {
    let message = broken("bad_import", "normal_of", "normals_of");
    assert_eq!(
        message,
        "shader `material` does not compose: module `sinew::vertex` has no declaration `normals_of`
  in module `material`
1 | // A hologram: scan lines, a bright rim, and a glitch that shifts slices of the character sideways.
2 | import sinew::vertex::{normals_of, VertexA};
  |                        ^^^^^^^^^^
3 |
4 | // Rust twins in src/layout.rs."
    );
    let message = broken("bad_module", "import sinew::vertex::", "import sinew::vertices::");
    assert!(message.contains("library `sinew` has no module `vertices`"), "{message}");
    assert!(message.contains("\n2 | import sinew::vertices::{normal_of, VertexA};\n"), "{message}");
}

#[test]
fn a_type_error_is_shown_with_module_declaration_and_line() {
    let message = broken("bad_type", "normalize(view.eye - in.world)", "view.time");
    let expected = "shader `material` does not validate: wrong type passed as argument #2 to `dot`
  in module `material`, declaration `fragment`
40 | fn fragment(in: Varying, @builtin(front_facing) is_front: bool) -> @location(0) vec4<f32> {
41 |     let normal = normalize(in.normal) * select(-1.0, 1.0, is_front);
42 |     let facing = saturate(dot(normal, view.time));
   |                           ^^^
43 |     let rim = pow(1.0 - facing, hologram.sharpness);";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_struct_that_lies_elsewhere_in_rust_is_reported_member_by_member() {
    let message = broken(
        "bad_layout",
        "    color: vec3<f32>,\n    lines: f32,\n",
        "    lines: f32,\n    color: vec3<f32>,\n",
    );
    assert_eq!(
        message,
        "shader `material`: struct `Hologram` differs from Rust's `layout::Hologram`
  size: 48 in WGSL, 32 in Rust
  `lines`: offset 0 in WGSL, 12 in Rust
  `color`: offset 16 in WGSL, 0 in Rust
  `rim`: offset 32 in WGSL, 16 in Rust
  `sharpness`: offset 44 in WGSL, 28 in Rust"
    );
}

#[test]
fn a_limit_that_is_exceeded_is_named_with_the_numbers() {
    let message = broken("bad_limit", "@group(0) @binding(1)", "@group(4) @binding(1)");
    assert_eq!(
        message,
        "shader `material` exceeds WebGPU's default limits\n  maxBindGroups is 4, `hologram` needs 5"
    );
}
