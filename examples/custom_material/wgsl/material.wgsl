// A hologram: scan lines, a bright rim, and a glitch that shifts slices of the character sideways.
import sinew::vertex::{normal_of, VertexA};

// Rust twins in src/layout.rs.
struct View {
    view_projection: mat4x4<f32>,
    eye: vec3<f32>,
    time: f32,
}

struct Hologram {
    color: vec3<f32>,
    lines: f32,
    rim: vec3<f32>,
    sharpness: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> hologram: Hologram;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
}

// The one instance stands at the origin: its space is world space.
@vertex
fn vertex(a: VertexA) -> Varying {
    let world = a.position + vec3<f32>(glitch(a.position.y), 0.0, 0.0);
    return Varying(view.view_projection * vec4<f32>(world, 1.0), world, normal_of(a));
}

// Metres to the side, of a slice at this height.
fn glitch(height: f32) -> f32 {
    let wave = sin(height * 9.0 + view.time * 3.0);
    return 0.05 * smoothstep(0.93, 1.0, wave);
}

@fragment
fn fragment(in: Varying, @builtin(front_facing) is_front: bool) -> @location(0) vec4<f32> {
    let normal = normalize(in.normal) * select(-1.0, 1.0, is_front);
    let facing = saturate(dot(normal, normalize(view.eye - in.world)));
    let rim = pow(1.0 - facing, hologram.sharpness);
    let phase = fract(in.world.y * hologram.lines - view.time);
    // As wide as a pixel at least, so that no line flickers.
    let width = clamp(fwidth(in.world.y * hologram.lines), 0.05, 0.5);
    let line = 1.0 - smoothstep(0.5 - width, 0.5 + width, abs(phase * 2.0 - 1.0));
    let body = hologram.color * (0.25 + 0.35 * facing) * (0.55 + 0.45 * line);
    return vec4<f32>(body + hologram.rim * rim, 1.0);
}
