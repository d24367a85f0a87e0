struct Camera {
    view_projection: mat4x4<f32>,
    position: vec3<f32>,
    exposure: f32,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(1) @binding(0) var base: texture_2d<f32>;
@group(1) @binding(1) var base_sampler: sampler;

struct Varying {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn vertex(@location(0) position: vec3f, @location(1) uv: vec2f) -> Varying {
    return Varying(camera.view_projection * vec4f(position, 1.0), uv);
}

@fragment
fn fragment(in: Varying) -> @location(0) vec4f {
    return textureSample(base, base_sampler, in.uv) * camera.exposure;
}
