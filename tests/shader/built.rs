//! The library's own shaders: their proof, their tables and naga's back ends.

use std::path::Path;

use sinew::shader::{Validated, flags, validate};
use sinew::shaders;

use super::WGSL;
use super::variants::{self, Variant};

fn all() -> Vec<Variant> {
    (0..variants::DEFORM_COUNT).map(variants::deform).chain([variants::bounds(), variants::lit()]).collect()
}

fn proven(variant: &Variant) -> Validated {
    let text = variant.compose(Path::new(WGSL)).unwrap_or_else(|error| panic!("{error}"));
    validate(&variant.name, &text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_variant_composes_validates_and_keeps_the_limits() {
    for variant in all() {
        proven(&variant).check_limits().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_tables_hold_what_composition_gives() {
    let built = shaders::DEFORM.iter().chain([&shaders::BOUNDS, &shaders::LIT]);
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
        let options = naga::back::msl::Options {
            // Instance ids need Metal 1.2 or later.
            lang_version: (2, 0),
            fake_missing_bindings: true,
            ..Default::default()
        };
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
