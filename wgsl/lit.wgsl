// The standard raster pass: deformed vertices in, lit colour out. Linear light; the target encodes sRGB.
import package::brdf::{ambient, direct, Material};
import package::surface::{surface, has, sample_maps, Maps, NORMAL};
import package::vertex::{normal_of, tangent_of, VertexA, VertexB};

// Rust twins in src/render/layout.rs; the build compares sizes and offsets.
struct View {
    view_projection: mat4x4<f32>,
    eye: vec3<f32>,
    light: vec3<f32>,
    light_color: vec3<f32>,
    sky: vec3<f32>,
    ground: vec3<f32>,
}

struct Instance {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
    normal_x: vec3<f32>,
    normal_y: vec3<f32>,
    normal_z: vec3<f32>,
    orientation: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> instances: array<Instance>;

struct Attributes {
    @location(3) uv: vec4<f32>,
    @location(4) color: vec4<f32>,
}

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tangent: vec4<f32>,
    @location(3) color: vec4<f32>,
    // Base colour and metallic-roughness, normal and occlusion, emissive.
    @location(4) uv_01: vec4<f32>,
    @location(5) uv_23: vec4<f32>,
    @location(6) uv_4: vec2<f32>,
}

@vertex
fn vertex(a: VertexA, b: VertexB, in: Attributes, @builtin(instance_index) index: u32) -> Varying {
    let instance = instances[index];
    let point = vec4<f32>(a.position, 1.0);
    let world = vec3<f32>(dot(instance.x, point), dot(instance.y, point), dot(instance.z, point));
    let n = normal_of(a);
    let normal = vec3<f32>(dot(instance.normal_x, n), dot(instance.normal_y, n), dot(instance.normal_z, n));
    let t = tangent_of(b);
    let tangent = vec3<f32>(dot(instance.x.xyz, t.xyz), dot(instance.y.xyz, t.xyz), dot(instance.z.xyz, t.xyz));
    let sign = t.w * instance.orientation;
    let clip = view.view_projection * vec4<f32>(world, 1.0);
    return Varying(
        clip,
        world,
        unit(normal),
        vec4<f32>(unit(tangent), sign),
        in.color,
        vec4<f32>(uv_of(in, 0u), uv_of(in, 1u)),
        vec4<f32>(uv_of(in, 2u), uv_of(in, 3u)),
        uv_of(in, 4u),
    );
}

// Here and not in the fragment stage, where the pixels around a triangle that complete its 2x2 blocks may
// read nothing from storage, and derivatives would be wrong along every edge.
fn uv_of(in: Attributes, map: u32) -> vec2<f32> {
    let uv = vec3<f32>(select(in.uv.xy, in.uv.zw, (surface.uv_sets & (1u << map)) != 0u), 1.0);
    let rows = surface.uv[map];
    return vec2<f32>(dot(rows.u.xyz, uv), dot(rows.v.xyz, uv));
}

fn unit(v: vec3<f32>) -> vec3<f32> {
    let square = dot(v, v);
    let usable = square > 1e-30;
    return select(vec3<f32>(0.0, 0.0, 1.0), v * inverseSqrt(select(1.0, square, usable)), usable);
}

fn base_color(in: Varying, maps: Maps) -> vec4<f32> {
    return surface.base_color * in.color * maps.base_color;
}

// The side of the surface that is seen, whatever its winding: joints that mirror reverse it here and not there.
// Outside branches, for the derivatives.
fn facing(in: Varying) -> bool {
    let across = cross(dpdx(in.world), dpdy(in.world));
    let towards_eye = select(-across, across, dot(across, view.eye - in.world) >= 0.0);
    return dot(in.normal, towards_eye) >= 0.0;
}

fn shading_normal(in: Varying, front: bool, maps: Maps) -> vec3<f32> {
    var n = unit(in.normal);
    if has(NORMAL) {
        let local = (maps.normal * 2.0 - 1.0) * vec3<f32>(surface.normal_scale, surface.normal_scale, 1.0);
        let bitangent = cross(in.normal, in.tangent.xyz) * in.tangent.w;
        n = unit(in.tangent.xyz * local.x + bitangent * local.y + in.normal * local.z);
    }
    return select(-n, n, front);
}

fn shade(in: Varying, front: bool, base: vec3<f32>, maps: Maps) -> vec3<f32> {
    if surface.lit == 0u {
        return base;
    }
    let metallic = surface.metallic * maps.metallic_roughness.b;
    let roughness = surface.roughness * maps.metallic_roughness.g;
    let occlusion = 1.0 + surface.occlusion_strength * (maps.occlusion - 1.0);
    let emissive = surface.emissive * maps.emissive;
    let n = shading_normal(in, front, maps);
    let v = unit(view.eye - in.world);
    let f0 = mix(vec3<f32>(0.04), base, metallic);
    let material = Material(base * (1.0 - metallic), f0, clamp(roughness, 0.045, 1.0));
    let lit = direct(material, n, v, view.light) * view.light_color;
    return lit + ambient(material, n, v, view.sky, view.ground) * occlusion + emissive;
}

@fragment
fn opaque(in: Varying) -> @location(0) vec4<f32> {
    let front = facing(in);
    let maps = sample_maps(in.uv_01, in.uv_23, in.uv_4);
    return vec4<f32>(shade(in, front, base_color(in, maps).rgb, maps), 1.0);
}

@fragment
fn masked(in: Varying) -> @location(0) vec4<f32> {
    let front = facing(in);
    let maps = sample_maps(in.uv_01, in.uv_23, in.uv_4);
    let base = base_color(in, maps);
    let color = shade(in, front, base.rgb, maps);
    if base.a < surface.cutoff {
        discard;
    }
    return vec4<f32>(color, 1.0);
}

@fragment
fn blended(in: Varying) -> @location(0) vec4<f32> {
    let front = facing(in);
    let maps = sample_maps(in.uv_01, in.uv_23, in.uv_4);
    let base = base_color(in, maps);
    return vec4<f32>(shade(in, front, base.rgb, maps), base.a);
}
