// A material: its numbers and its maps. Rust twins in src/render/layout.rs; the build compares sizes and offsets.

struct UvRows {
    u: vec4<f32>,
    v: vec4<f32>,
}

struct Surface {
    base_color: vec4<f32>,
    emissive: vec3<f32>,
    cutoff: f32,
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
    lit: u32,
    maps: u32,
    uv_sets: u32,
    pad: u32,
    // Of each map: two rows of a matrix for (u, v, 1).
    uv: array<UvRows, 5>,
}

// Bits of `maps` and `uv_sets`, in the order of the bindings.
const BASE_COLOR: u32 = 1u;
const METALLIC_ROUGHNESS: u32 = 2u;
const NORMAL: u32 = 4u;
const OCCLUSION: u32 = 8u;
const EMISSIVE: u32 = 16u;

// Storage, not uniform: some drivers compile a variant for every content of a uniform block.
@group(1) @binding(0) var<storage, read> surface: Surface;
@group(1) @binding(1) var base_color_map: texture_2d<f32>;
@group(1) @binding(2) var metallic_roughness_map: texture_2d<f32>;
@group(1) @binding(3) var normal_map: texture_2d<f32>;
@group(1) @binding(4) var occlusion_map: texture_2d<f32>;
@group(1) @binding(5) var emissive_map: texture_2d<f32>;
@group(1) @binding(6) var base_color_sampler: sampler;
@group(1) @binding(7) var metallic_roughness_sampler: sampler;
@group(1) @binding(8) var normal_sampler: sampler;
@group(1) @binding(9) var occlusion_sampler: sampler;
@group(1) @binding(10) var emissive_sampler: sampler;

fn has(map: u32) -> bool {
    return (surface.maps & map) != 0u;
}

// What the maps say at one point; one where there is no map.
struct Maps {
    base_color: vec4<f32>,
    metallic_roughness: vec4<f32>,
    normal: vec3<f32>,
    occlusion: f32,
    emissive: vec3<f32>,
}

// Every map is sampled, present or not: derivatives inside a branch are wrong at triangle edges on some
// drivers, and an absent map is a single texel.
fn sample_maps(uv_01: vec4<f32>, uv_23: vec4<f32>, uv_4: vec2<f32>) -> Maps {
    let base_color = textureSample(base_color_map, base_color_sampler, uv_01.xy);
    let metallic_roughness =
        textureSample(metallic_roughness_map, metallic_roughness_sampler, uv_01.zw);
    let normal = textureSample(normal_map, normal_sampler, uv_23.xy).xyz;
    let occlusion = textureSample(occlusion_map, occlusion_sampler, uv_23.zw).r;
    let emissive = textureSample(emissive_map, emissive_sampler, uv_4).rgb;
    return Maps(
        select(vec4<f32>(1.0), base_color, has(BASE_COLOR)),
        select(vec4<f32>(1.0), metallic_roughness, has(METALLIC_ROUGHNESS)),
        normal,
        select(1.0, occlusion, has(OCCLUSION)),
        select(vec3<f32>(1.0), emissive, has(EMISSIVE)),
    );
}
