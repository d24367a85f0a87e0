//! Every refusal, by its whole message.

use std::path::Path;

use sinew::shader::{ShaderError, compose, rust_layout, validate};

use super::{WGSL, folder};

fn message<T>(result: Result<T, ShaderError>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn a_rust_struct_that_differs_is_reported_whole() {
    #[repr(C)]
    struct Light {
        colour: [f32; 3],
        direction: [f32; 3],
        strength: f64,
        shape: u32,
    }
    let text = "
        struct Light { colour: vec3f, direction: vec3f, strength: f32, kind: u32 }
        @group(0) @binding(0) var<uniform> light: Light;
        @fragment fn fragment() -> @location(0) vec4f { return vec4f(light.colour, light.strength); }";
    let shader = validate("lit", text).unwrap();
    let rust = rust_layout!(Light, colour, direction, strength, shape);
    assert_eq!(
        message(shader.check_layout("Light", &rust)),
        "shader `lit`: struct `Light` differs from Rust's `Light`
  size: 48 in WGSL, 40 in Rust
  `direction`: offset 16 in WGSL, 12 in Rust
  `strength`: offset 28 in WGSL, 24 in Rust
  `strength`: size 4 in WGSL, 8 in Rust
  `kind`: only in WGSL
  `shape`: only in Rust"
    );
}

#[test]
fn a_struct_that_is_not_there_names_those_that_are() {
    #[repr(C)]
    struct Light {
        colour: [f32; 4],
    }
    let text = "
        struct Lamp { colour: vec4f }
        @group(0) @binding(0) var<uniform> lamp: Lamp;
        @fragment fn fragment() -> @location(0) vec4f { return lamp.colour; }";
    let error = validate("lit", text).unwrap().check_layout("Light", &rust_layout!(Light, colour));
    assert_eq!(message(error), "shader `lit` declares no struct `Light`; its structs are: Lamp");
}

#[test]
fn a_type_error_shows_module_declaration_and_lines() {
    let root = folder(
        "type_error",
        &[
            (
                "main",
                "import package::codec::decode;
                @group(0) @binding(0) var<storage, read_write> out: array<u32>;
                @compute @workgroup_size(64) fn main() { out[0] = decode(1); }",
            ),
            ("codec", "fn decode(packed: u32) -> u32 { let low: f32 = packed & 255u; return u32(low); }"),
        ],
    );
    let text = compose(&root, "main", &[]).unwrap();
    assert_eq!(
        message(validate("main", &text)),
        "shader `main` does not validate: the type of `low` is expected to be `f32`, but got `u32`
  in module `codec`, declaration `decode`
10 | // module codec
11 | fn decode(packed: u32) -> u32 {
12 |     let low: f32 = packed & 255u;
   |         ^^^ definition of `low`
13 |     return u32(low);
14 | }"
    );
}

#[test]
fn a_validation_error_shows_its_causes() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < 4 {
        workgroupBarrier();
    }
    out[i] = sum(vec2u(i));
}

fn sum(v: vec2u) -> u32 {
    return v.x + f32(v.y);
}
";
    assert_eq!(message(validate("main", text)), "shader `main` does not validate: Function [0] 'sum' is invalid
  in module `main`, declaration `sum`
10 |
11 | fn sum(v: vec2u) -> u32 {
12 |     return v.x + f32(v.y);
   |            ^^^^^^^^^^^^^^
13 | }
  because: Expression [4] is invalid
  because: Operation Add can't work with [1] (of type Scalar(Scalar { kind: Uint, width: 4 })) and [3] (of type Scalar(Scalar { kind: Float, width: 4 }))");
}

#[test]
fn nine_storage_buffers_are_one_too_many() {
    let declare = |n| format!("@group(0) @binding({n}) var<storage, read_write> b{n}: array<u32>;\n");
    let mut text: String = (0..9).map(declare).collect();
    text += "@compute @workgroup_size(64) fn main() { ";
    text.extend((0..9).map(|n| format!("b{n}[0] = {n}u; ")));
    text += "}";
    assert_eq!(
        message(validate("wide", &text).unwrap().check_limits()),
        "shader `wide` exceeds WebGPU's default limits
  maxStorageBuffersPerShaderStage is 8, the compute stage needs 9"
    );
}

#[test]
fn workgroup_memory_and_size_are_reported_together() {
    let text = "
        var<workgroup> rows: array<vec4f, 1280>;
        @group(4) @binding(0) var<storage, read_write> out: array<vec4f>;
        @compute @workgroup_size(2, 2, 65) fn main(@builtin(local_invocation_index) i: u32) {
            rows[i] = vec4f();
            out[i] = rows[i];
        }";
    assert_eq!(
        message(validate("deep", text).unwrap().check_limits()),
        "shader `deep` exceeds WebGPU's default limits
  maxBindGroups is 4, `out` needs 5
  maxComputeWorkgroupStorageSize is 16384, `main` needs 20480
  maxComputeInvocationsPerWorkgroup is 256, `main` needs 260
  maxComputeWorkgroupSizeZ is 64, `main` needs 65"
    );
}

#[test]
fn immediates_are_refused() {
    let text = "var<immediate> index: u32;
@compute @workgroup_size(1)
fn main() { _ = index; }";
    assert_eq!(
        message(validate("pushed", text)),
        "shader `pushed` does not validate: Global variable [0] 'index' is invalid
  in module `pushed`, declaration `index`
1 | var<immediate> index: u32;
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^
2 | @compute @workgroup_size(1)
3 | fn main() { _ = index; }
  because: Capability Capabilities(IMMEDIATES) is not supported"
    );
}

#[test]
fn an_unknown_flag_names_the_known_ones() {
    assert_eq!(
        message(compose(Path::new(WGSL), "deform", &[("mroph", true)])),
        "shader `deform`: no module names the flag `mroph`; the flags are: any, dual, eight, exact, four, morph, one, two"
    );
}

#[test]
fn a_missing_module_shows_the_import() {
    let root = folder(
        "missing_module",
        &[(
            "main",
            "import package::codex::decode;\n@compute @workgroup_size(1) fn main() { _ = decode(1u); }",
        )],
    );
    assert_eq!(
        message(compose(&root, "main", &[])),
        "shader `main` does not compose: module not found: `package::codex` (codex.wgsl: no such file)
  in module `main`
1 | import package::codex::decode;
  |                 ^^^^^
2 | @compute @workgroup_size(1) fn main() { _ = decode(1u); }"
    );
}

#[test]
fn a_missing_declaration_names_its_module_and_shows_the_import() {
    let root = folder(
        "missing_declaration",
        &[
            (
                "main",
                "import package::codec::decod;\n@compute @workgroup_size(1) fn main() { _ = decod(1u); }",
            ),
            ("codec", "fn decode(packed: u32) -> u32 { return packed; }"),
        ],
    );
    assert_eq!(
        message(compose(&root, "main", &[])),
        "shader `main` does not compose: module `package::codec` has no declaration `decod`
  in module `main`
1 | import package::codec::decod;
  |                        ^^^^^
2 | @compute @workgroup_size(1) fn main() { _ = decod(1u); }"
    );
}

#[test]
fn a_syntax_error_shows_the_module_as_written() {
    let root = folder("syntax", &[("main", "@compute @workgroup_size(1)\nfn main() {\n    let x = ;\n}\n")]);
    assert_eq!(
        message(compose(&root, "main", &[])),
        "shader `main` does not compose: unexpected token `;`
  in module `main`
1 | @compute @workgroup_size(1)
2 | fn main() {
3 |     let x = ;
  |             ^
4 | }"
    );
}

#[test]
fn a_module_without_entry_points_does_not_compose() {
    let root = folder("no_entry", &[("main", "fn helper() -> u32 { return 1u; }")]);
    assert_eq!(
        message(compose(&root, "main", &[])),
        "shader `main` does not compose: no entry point in the root module
  in module `main`"
    );
}

#[test]
fn a_storage_texture_has_no_table_form() {
    let text = "@group(0) @binding(0) var image: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(1) fn main() { textureStore(image, vec2u(), vec4f()); }";
    assert_eq!(
        message(validate("blur", text)),
        "shader `blur`: `image` is a storage texture, which reflection does not describe"
    );
}
