//! Composition, validation and reflection of shaders, and their messages.
#![cfg(feature = "shader")]

use std::fs;
use std::path::{Path, PathBuf};

use sinew::rust_layout;
use sinew::shader::{self, ShaderError, Source, Validated, compose, flags, validate};
use sinew::shaders::{self, BindingKind, Dimension, Stage, Stages, TextureSample};

#[path = "../src/shader/variants.rs"]
mod variants;

use variants::Variant;

const WGSL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/wgsl");
const COMPUTE: Stages = Stages { vertex: false, fragment: false, compute: true };

fn all() -> Vec<Variant> {
    (0..variants::DEFORM_COUNT).map(variants::deform).chain([variants::lit()]).collect()
}

fn proven(variant: &Variant) -> Validated {
    let text = variant.compose(Path::new(WGSL)).unwrap_or_else(|error| panic!("{error}"));
    validate(&variant.name, &text).unwrap_or_else(|error| panic!("{error}"))
}

/// A folder of modules of one test.
fn folder(name: &str, modules: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shader").join(name);
    for (module, text) in modules {
        let file = root.join(module).with_extension("wgsl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    root
}

fn message<T>(result: Result<T, ShaderError>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn every_variant_composes_validates_and_keeps_the_limits() {
    for variant in all() {
        proven(&variant).check_limits().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_tables_hold_what_composition_gives() {
    let built = shaders::DEFORM.iter().chain([&shaders::LIT]);
    for (variant, built) in all().iter().zip(built) {
        assert_eq!(built.name, variant.name);
        assert_eq!(built.source, variant.compose(Path::new(WGSL)).unwrap());
        let proven = proven(variant);
        assert_eq!(built.entry_points.len(), proven.entry_points().len());
        for (built, proven) in built.bindings.iter().zip(proven.bindings()) {
            assert_eq!(
                (built.group, built.binding, built.name),
                (proven.group, proven.binding, &*proven.name)
            );
            assert_eq!(
                (built.kind, built.min_size, built.stages),
                (proven.kind, proven.min_size, proven.stages)
            );
        }
    }
}

#[test]
fn every_flag_in_the_modules_belongs_to_a_variant() {
    let given: Vec<_> =
        all().iter().flat_map(|variant| variant.flags.clone()).map(|(flag, _)| flag).collect();
    for flag in flags(Path::new(WGSL), []) {
        assert!(given.contains(&flag.as_str()), "`{flag}` is always false");
    }
}

#[test]
fn every_variant_translates_to_spirv() {
    for shader in all().iter().map(proven) {
        let options = naga::back::spv::Options::default();
        naga::back::spv::write_vec(shader.module(), shader.info(), &options, None).unwrap();
    }
}

#[test]
fn every_variant_translates_to_msl() {
    for shader in all().iter().map(proven) {
        let options = naga::back::msl::Options { fake_missing_bindings: true, ..Default::default() };
        let pipeline = naga::back::msl::PipelineOptions::default();
        naga::back::msl::write_string(shader.module(), shader.info(), &options, &pipeline).unwrap();
    }
}

#[test]
fn every_variant_translates_to_hlsl() {
    for shader in all().iter().map(proven) {
        let options = naga::back::hlsl::Options { fake_missing_bindings: true, ..Default::default() };
        let pipeline = naga::back::hlsl::PipelineOptions::default();
        let mut text = String::new();
        let mut writer = naga::back::hlsl::Writer::new(&mut text, &options, &pipeline);
        writer.write(shader.module(), shader.info(), None).unwrap();
    }
}

#[test]
fn every_variant_translates_to_glsl_es_310() {
    for shader in all().iter().map(proven) {
        for entry in &shader.module().entry_points {
            let options = naga::back::glsl::Options {
                version: naga::back::glsl::Version::new_gles(310),
                ..Default::default()
            };
            let pipeline = naga::back::glsl::PipelineOptions {
                shader_stage: entry.stage,
                entry_point: entry.name.clone(),
                multiview: None,
            };
            let mut text = String::new();
            naga::back::glsl::Writer::new(
                &mut text,
                shader.module(),
                shader.info(),
                &options,
                &pipeline,
                naga::proc::BoundsCheckPolicies::default(),
            )
            .and_then(|mut writer| writer.write())
            .unwrap();
        }
    }
}

#[test]
fn bindings_entry_points_and_workgroup_memory_reflect() {
    let text = "
        struct Camera { matrix: mat4x4f, eye: vec3f }
        @group(0) @binding(1) var<uniform> camera: Camera;
        @group(0) @binding(0) var<storage, read> source: array<vec4u>;
        @group(0) @binding(7) var<storage, read_write> out: array<vec4f>;
        @group(1) @binding(0) var colour: texture_2d<f32>;
        @group(1) @binding(1) var filtering: sampler;
        @group(1) @binding(2) var shadow: texture_depth_2d_array;
        @group(1) @binding(3) var comparing: sampler_comparison;
        @group(1) @binding(4) var raw: texture_multisampled_2d<f32>;
        @group(1) @binding(5) var ids: texture_3d<u32>;
        @group(2) @binding(0) var unused: texture_2d<f32>;
        var<workgroup> rows: array<vec3f, 10>;
        var<workgroup> count: u32;
        @vertex fn vertex() -> @builtin(position) vec4f { return camera.matrix * vec4f(camera.eye, 1.0); }
        @fragment fn fragment() -> @location(0) vec4f {
            let lit = textureSampleCompare(shadow, comparing, vec2f(), 0, camera.eye.x);
            let id = f32(textureLoad(ids, vec3u(), 0).x);
            return textureSample(colour, filtering, vec2f()) * lit * id + textureLoad(raw, vec2u(), 0);
        }
        @compute @workgroup_size(32, 2) fn main(@builtin(local_invocation_index) i: u32) {
            rows[i % 10] = vec3f();
            count = 0;
            out[i] = vec4f(source[i]);
        }";
    let shader = validate("all", text).unwrap();
    let entries: Vec<_> = shader
        .entry_points()
        .iter()
        .map(|entry| (&*entry.name, entry.stage, entry.workgroup_size, entry.workgroup_bytes))
        .collect();
    assert_eq!(
        entries,
        [
            ("vertex", Stage::Vertex, [0, 0, 0], 0),
            ("fragment", Stage::Fragment, [0, 0, 0], 0),
            ("main", Stage::Compute, [32, 2, 1], 160 + 16),
        ]
    );

    let drawn = Stages { vertex: true, fragment: true, compute: false };
    let shaded = Stages { vertex: false, fragment: true, compute: false };
    let texture = |sample, dimension, multisampled| BindingKind::Texture { sample, dimension, multisampled };
    let float = |filterable| TextureSample::Float { filterable };
    let expected = [
        (0, 0, "source", BindingKind::Storage { read_only: true }, 16, COMPUTE),
        (0, 1, "camera", BindingKind::Uniform, 80, drawn),
        (0, 7, "out", BindingKind::Storage { read_only: false }, 16, COMPUTE),
        (1, 0, "colour", texture(float(true), Dimension::D2, false), 0, shaded),
        (1, 1, "filtering", BindingKind::Sampler { comparison: false }, 0, shaded),
        (1, 2, "shadow", texture(TextureSample::Depth, Dimension::D2Array, false), 0, shaded),
        (1, 3, "comparing", BindingKind::Sampler { comparison: true }, 0, shaded),
        (1, 4, "raw", texture(float(false), Dimension::D2, true), 0, shaded),
        (1, 5, "ids", texture(TextureSample::Uint, Dimension::D3, false), 0, shaded),
    ];
    let bindings = shader.bindings().iter();
    let found: Vec<_> =
        bindings.map(|b| (b.group, b.binding, &*b.name, b.kind, b.min_size, b.stages)).collect();
    assert_eq!(found, expected);
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
    assert_eq!(message(shader.check_layout("Light", &rust)), "");
}

#[test]
fn a_rust_struct_with_padding_and_less_alignment_agrees() {
    #[repr(C)]
    struct Light {
        direction: [f32; 3],
        _pad: f32,
        colour: [f32; 4],
    }
    let text = "
        struct Light { direction: vec3f, colour: vec4f }
        @group(0) @binding(0) var<uniform> light: Light;
        @fragment fn fragment() -> @location(0) vec4f { return light.colour; }";
    validate("lit", text).unwrap().check_layout("Light", &rust_layout!(Light, direction, colour)).unwrap();
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
    assert_eq!(message(validate("main", &text)), "");
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
    assert_eq!(message(validate("main", text)), "");
}

#[test]
fn nine_storage_buffers_are_one_too_many() {
    let declare = |n| format!("@group(0) @binding({n}) var<storage, read_write> b{n}: array<u32>;\n");
    let mut text: String = (0..9).map(declare).collect();
    text += "@compute @workgroup_size(64) fn main() { ";
    text.extend((0..9).map(|n| format!("b{n}[0] = {n}u; ")));
    text += "}";
    assert_eq!(message(validate("wide", &text).unwrap().check_limits()), "");
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
    assert_eq!(message(validate("deep", text).unwrap().check_limits()), "");
}

#[test]
fn immediates_are_refused() {
    let text = "var<immediate> index: u32;
@compute @workgroup_size(1)
fn main() { _ = index; }";
    assert_eq!(message(validate("pushed", text)), "");
}

#[test]
fn an_unknown_flag_names_the_known_ones() {
    assert_eq!(message(compose(Path::new(WGSL), "deform", &[("mroph", true)])), "");
}

#[test]
fn a_missing_module_names_the_importer() {
    let root = folder(
        "missing_module",
        &[(
            "main",
            "import package::codex::decode;\n@compute @workgroup_size(1) fn main() { _ = decode(1u); }",
        )],
    );
    assert_eq!(message(compose(&root, "main", &[])), "");
}

#[test]
fn a_missing_declaration_names_its_module() {
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
    assert_eq!(message(compose(&root, "main", &[])), "");
}

#[test]
fn a_syntax_error_shows_the_module_as_written() {
    let root = folder("syntax", &[("main", "@compute @workgroup_size(1)\nfn main() {\n    let x = ;\n}\n")]);
    assert_eq!(message(compose(&root, "main", &[])), "");
}

#[test]
fn a_module_without_entry_points_does_not_compose() {
    let root = folder("no_entry", &[("main", "fn helper() -> u32 { return 1u; }")]);
    assert_eq!(message(compose(&root, "main", &[])), "");
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

#[test]
fn constructs_survive_composition() {
    let root = folder(
        "constructs",
        &[
            (
                "main",
                "
            import package::{shared::{Job, SIZE, reach}, deep::inner};
            import package::shared::work as borrowed;
            import constants::VARIANT;
            alias Row = vec4<f32>;
            override scale: f32 = 1.5;
            const TABLE = array<u32, 3>(1u, 0x2u, 3u >> 1u);
            const_assert SIZE > 1u;
            var<private> state: u32 = 7;
            @group(0) @binding(0) var<storage, read> jobs: array<Job>;
            @group(0) @binding(1) var<storage, read_write> out: array<Row>;
            struct Local { @if(wide) a: vec4f, @if(!wide) a: vec2f, @size(16) b: f32 }
            @compute @workgroup_size(SIZE, 1, 1)
            fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
                let inner = 3.0e-5f;
                var local = Local();
                local.b = inner;
                _ = local.b;
                @if(wide && VARIANTS) { state += 1u; } @else { state -= 1u; }
                var total = 0.0;
                for (var i = 0u; i < 3u; i++) { total += f32(TABLE[i % 3u]); }
                loop { if total > 4.0 { break; } continuing { total += 1.0; break if total > 9.0; } }
                switch VARIANT { case 0u, 1u: { total += 1.0; } default: { total -= 1.0; } }
                workgroupBarrier();
                borrowed();
                reach(&state);
                out[lane] = Row(total * scale + package::deep::inner::depth(inner));
                out[lane + 1u] = Row(f32(jobs[group.x].first & VARIANT));
            }",
            ),
            (
                "shared",
                "
            const SIZE: u32 = HALF * 2u;
            const HALF = 32u;
            struct Job { first: u32, count: u32 }
            var<workgroup> rows: array<vec4f, HALF>;
            @group(1) @binding(0) var<uniform> factor: vec4f;
            fn work() { rows[0] = factor * scale(); }
            fn scale() -> f32 { return 2.0; }
            fn reach(p: ptr<private, u32>) { *p = 3u; }",
            ),
            (
                "deep/inner",
                "
            fn depth(x: f32) -> f32 { return scale() + x; }
            fn scale() -> f32 { return 3.0; }",
            ),
        ],
    );
    let flags = [("wide", true), ("VARIANTS", true)];
    let text = Source::new(&root, "main").flags(&flags).constants(&[("VARIANT", 5)]).compose().unwrap();
    let shader = validate("main", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(shader.entry_points()[0].workgroup_size, [64, 1, 1]);
    let bound: Vec<_> = shader.bindings().iter().map(|b| (b.group, b.binding, &*b.name)).collect();
    assert_eq!(bound, [(0, 0, "jobs"), (0, 1, "out"), (1, 0, "factor")]);
    assert!(text.contains("fn package_shared_scale()"), "{text}");
    assert!(text.contains("override scale"), "{text}");
}

#[test]
fn a_library_imports_under_its_package_name() {
    let root = folder(
        "user",
        &[(
            "main",
            "import sinew::codec::oct_decode;
            @group(0) @binding(0) var<storage, read_write> out: array<vec4f>;
            @compute @workgroup_size(1) fn main() { out[0] = vec4f(oct_decode(0u), 1.0); }",
        )],
    );
    let text = Source::new(&root, "main").library("sinew", shaders::MODULES).compose().unwrap();
    validate("main", &text).unwrap_or_else(|error| panic!("{error}"));
    assert!(text.contains("// module sinew::codec\n"), "{text}");
}
