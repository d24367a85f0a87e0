//! Bind group layouts from the tables of a shader.

use std::num::NonZeroU64;

use wgpu::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages,
    TextureSampleType, TextureViewDimension,
};

use crate::shaders::{Binding, BindingKind, Dimension, Shader, Stages, TextureSample};

/// The entries of one bind group of `shader`, each visible in the stages that use it.
///
/// Empty for a group that the shader does not use.
#[must_use]
pub fn bind_group_layout_entries(shader: &Shader, group: u32) -> Vec<BindGroupLayoutEntry> {
    shader.bindings.iter().filter(|binding| binding.group == group).map(entry).collect()
}

fn entry(binding: &Binding) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding: binding.binding,
        visibility: visibility(binding.stages),
        ty: binding_type(binding),
        count: None,
    }
}

fn visibility(stages: Stages) -> ShaderStages {
    let on = |used: bool, stage: ShaderStages| if used { stage } else { ShaderStages::NONE };
    on(stages.vertex, ShaderStages::VERTEX)
        | on(stages.fragment, ShaderStages::FRAGMENT)
        | on(stages.compute, ShaderStages::COMPUTE)
}

fn binding_type(binding: &Binding) -> BindingType {
    let buffer = |ty| BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: NonZeroU64::new(binding.min_size),
    };
    match binding.kind {
        BindingKind::Uniform => buffer(BufferBindingType::Uniform),
        BindingKind::Storage { read_only } => buffer(BufferBindingType::Storage { read_only }),
        BindingKind::Texture { sample, dimension, multisampled } => BindingType::Texture {
            sample_type: sample_type(sample),
            view_dimension: view_dimension(dimension),
            multisampled,
        },
        BindingKind::Sampler { comparison: true } => BindingType::Sampler(SamplerBindingType::Comparison),
        BindingKind::Sampler { comparison: false } => BindingType::Sampler(SamplerBindingType::Filtering),
    }
}

fn sample_type(sample: TextureSample) -> TextureSampleType {
    match sample {
        TextureSample::Float { filterable } => TextureSampleType::Float { filterable },
        TextureSample::Depth => TextureSampleType::Depth,
        TextureSample::Sint => TextureSampleType::Sint,
        TextureSample::Uint => TextureSampleType::Uint,
    }
}

fn view_dimension(dimension: Dimension) -> TextureViewDimension {
    match dimension {
        Dimension::D1 => TextureViewDimension::D1,
        Dimension::D2 => TextureViewDimension::D2,
        Dimension::D2Array => TextureViewDimension::D2Array,
        Dimension::D3 => TextureViewDimension::D3,
        Dimension::Cube => TextureViewDimension::Cube,
        Dimension::CubeArray => TextureViewDimension::CubeArray,
    }
}
