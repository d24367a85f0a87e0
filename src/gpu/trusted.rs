//! Shader modules without the checks that naga inserts.
#![allow(
    unsafe_code,
    reason = "a module without checks is undefined behaviour if it ever reads or writes out of bounds"
)]

use crate::shaders::Shader;

/// Compiles one of the library's own shaders without bounds checks and without bounds on loops.
///
/// For the deform kernel alone: every index that it uses is either proven in range when a model is packed (vertices,
/// joints, tables), or written by `FrameBlock` from the same layouts that size the buffers.
pub(crate) fn module(device: &wgpu::Device, shader: &Shader) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(shader.name),
        source: wgpu::ShaderSource::Wgsl(shader.source.into()),
    };
    // SAFETY: the text was validated by naga when the crate was built. Its indices come from the source streams and
    // from the frame block alone. `Streams::push` writes places in the chunk's own joint list and offsets inside the
    // model; joints were checked against the skin when the model was built, and palettes have a row for each.
    // `FrameBlock` adds where the model, the instance's palette and its outputs start, and all buffers are sized from
    // those. Header, items and morph records are uploaded together, for every dispatch, so they are of one build; the
    // counts of a dispatch may be of another only where submits come out of order, and the header ends the loops of
    // surplus workgroups. A model or instance that changes replaces the buffers.
    unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}
