//! Deformed vertices as vertex buffers; wgsl/vertex.wgsl has the structs that they fill.

use crate::deform::{output::BYTES_A, source::Precision};

/// Output A as a vertex buffer: position at location 0, octahedral normal at 1. WGSL: `sinew::vertex::VertexA`.
pub const VERTEX_A: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: BYTES_A,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Uint32],
};

/// Output B of packed parts as a vertex buffer: octahedral tangent with its handedness at location 2. WGSL:
/// `sinew::vertex::VertexB`.
pub const VERTEX_B: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: Precision::Packed.words_b() as u64 * 4,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![2 => Uint32],
};
