// Deformed vertices of packed parts as raster passes read them: output A and output B are a vertex buffer each, and a
// pass that needs no tangents binds A alone. In Rust: sinew::deform::gpu::VERTEX_A and VERTEX_B.
import package::codec::{oct_decode, oct_sign};

struct VertexA {
    @location(0) position: vec3<f32>,
    @location(1) normal: u32,
}

struct VertexB {
    @location(2) tangent: u32,
}

// Of unit length, in the instance's space like the position.
fn normal_of(a: VertexA) -> vec3<f32> {
    return oct_decode(a.normal);
}

// Of unit length, and in w the handedness: the bitangent is cross(normal, tangent.xyz) * tangent.w.
fn tangent_of(b: VertexB) -> vec4<f32> {
    return vec4<f32>(oct_decode(b.tangent), oct_sign(b.tangent));
}
