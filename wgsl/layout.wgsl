// The kernel's tables. Every struct has a Rust twin of the same name in src/deform/layout.rs and
// src/animate/joint_matrix.rs; the build compares sizes and offsets.

struct JointMatrix {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

struct WorkItem {
    source: u32,
    counts: u32,
    palette: u32,
    joint_list: u32,
    out_a: u32,
    out_b: u32,
    morph: u32,
    extra: u32,
}

struct VariantHeader {
    first: u32,
    count: u32,
    pad: vec2<u32>,
}

struct MorphHeader {
    count: u32,
    source: u32,
    first: u32,
    pad: u32,
}

struct ActiveTarget {
    blocks: u32,
    deltas: u32,
    flags: u32,
    pad: u32,
    position: f32,
    normal: f32,
    tangent: f32,
    pad_end: f32,
}

const NO_OUTPUT: u32 = 0xffffffffu;
const DELTA_NORMALS: u32 = 1u;
const DELTA_TANGENTS: u32 = 2u;
const DELTA_DENSE: u32 = 4u;
const DELTA_SHORT: u32 = 8u;
const CHUNK_JOINTS: u32 = 64u;
