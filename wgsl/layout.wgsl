// Structs that Rust writes; the build compares both sides.

struct Camera {
    view_projection: mat4x4f,
    position: vec3f,
    exposure: f32,
}
