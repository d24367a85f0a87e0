//! Composition, validation and reflection of shaders, and their messages.
#![cfg(feature = "shader")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::path::{Path, PathBuf};

use sinew::shader::{self, Source, rust_layout, validate};
use sinew::shaders::{self, BindingKind, Dimension, Stage, Stages, TextureSample};

mod built;
mod custom_material;
mod messages;
#[path = "../../src/shader/build/variants.rs"]
mod variants;

const WGSL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/wgsl");

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

    let computed = Stages { vertex: false, fragment: false, compute: true };
    let drawn = Stages { vertex: true, fragment: true, compute: false };
    let shaded = Stages { vertex: false, fragment: true, compute: false };
    let texture = |sample, dimension, multisampled| BindingKind::Texture { sample, dimension, multisampled };
    let float = |filterable| TextureSample::Float { filterable };
    let expected = [
        (0, 0, "source", BindingKind::Storage { read_only: true }, 16, computed),
        (0, 1, "camera", BindingKind::Uniform, 80, drawn),
        (0, 7, "out", BindingKind::Storage { read_only: false }, 16, computed),
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
                let reach_count = f32(SIZE);
                { let SIZE = 1u; _ = SIZE; }
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
                out[lane] = Row(total * scale + package::deep::inner::depth(inner) + reach_count);
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
