// The two source streams, and the third for more influences.
//
// packed, one vec4 each:  A = position f32x3, normal      B = tangent, joints or row, weights 4x unorm16
//                         Directions are stereographic, tangents with their handedness; whether they lie below is said
//                         by bits that joints leave free, 7 for normals and 15 for tangents (any: of the last word).
// exact, two vec4 each:   A = position, normal.x | normal.yz, tangent.xy
//                         B = tangent.z, handedness, joints or row, row length | weights f32x4
// extra (eight):  packed  joints 4x8, weights 4x unorm16, 0   exact  joints 4x8, 0, 0, 0 | weights f32x4
// extra (any):    rows of (joint, weight f32), two to a vec4
import package::bindings::{source_a, source_b, extra};
import package::codec::{stereo_decode_unscaled, unpack_unsigned};

@if(exact)
struct Vertex {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
    handedness: f32,
}

// Directions are of any length: the output divides anyway. The tangent's word holds the handedness.
@if(!exact)
struct Vertex {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
    tangent_word: u32,
}

// What a weight of 1 step is worth.
@if(exact) const WEIGHT_STEP: f32 = 1.0;
@if(!exact) const WEIGHT_STEP: f32 = 1.0 / 65535.0;

struct Four {
    joints: vec4<u32>,
    weights: vec4<f32>,
}

// vec4s a vertex takes in streams A and B.
@if(exact) const STRIDE: u32 = 2u;
@if(!exact) const STRIDE: u32 = 1u;

@if(exact)
fn load_vertex(at: u32) -> Vertex {
    let a0 = bitcast<vec4<f32>>(source_a[at]);
    let a1 = bitcast<vec4<f32>>(source_a[at + 1u]);
    let b0 = bitcast<vec4<f32>>(source_b[at]);
    return Vertex(a0.xyz, vec3<f32>(a0.w, a1.x, a1.y), vec3<f32>(a1.z, a1.w, b0.x), b0.y);
}

@if(!exact)
fn load_vertex(at: u32) -> Vertex {
    let a = source_a[at];
    let b = source_b[at];
    let position = bitcast<vec3<f32>>(a.xyz);
    @if(any) let below = b.w;
    @if(!any) let below = b.y;
    let normal = stereo_decode_unscaled(a.w, below << 24u);
    return Vertex(position, normal, stereo_decode_unscaled(b.x, below << 16u), b.x);
}

// Places in a list of at most 64, which the mask says to bounds checks.
fn joints_4x8(word: u32) -> vec4<u32> {
    return vec4<u32>(word, word >> 8u, word >> 16u, word >> 24u) & vec4<u32>(63u);
}

@if(exact)
fn load_four(at: u32) -> Four {
    return Four(joints_4x8(source_b[at].z), bitcast<vec4<f32>>(source_b[at + 1u]));
}

@if(!exact)
fn load_four(at: u32) -> Four {
    let b = source_b[at];
    return Four(joints_4x8(b.y), vec4<f32>(unpack_unsigned(b.z), unpack_unsigned(b.w)));
}

// Influences five to eight of vertex `i` of a chunk whose extra stream starts at `start`.
@if(exact)
fn load_next_four(start: u32, i: u32) -> Four {
    let at = start + i * 2u;
    return Four(joints_4x8(extra[at].x), bitcast<vec4<f32>>(extra[at + 1u]));
}

@if(!exact)
fn load_next_four(start: u32, i: u32) -> Four {
    let word = extra[start + i];
    return Four(joints_4x8(word.x), vec4<f32>(unpack_unsigned(word.y), unpack_unsigned(word.z)));
}

// Start and length of a row of any number of influences.
@if(exact)
fn load_row(at: u32) -> vec2<u32> {
    return source_b[at].zw;
}

@if(!exact)
fn load_row(at: u32) -> vec2<u32> {
    return source_b[at].yz;
}
