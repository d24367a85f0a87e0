// The two output streams, two vertex buffers for the passes that read them.
//
// A, 16 bytes:         position f32x3, normal oct; depth passes bind only this
// B packed, 4 bytes:   tangent oct, handedness times orientation
// B exact, 32 bytes:   normal f32x3, tangent f32x3, handedness as in the source, orientation
//
// The orientation is 1, or -1 where the blended matrix mirrors. Directions that vanish are the source's when exact,
// +z when packed.
import package::bindings::{out_a, out_b};
import package::codec::{oct_encode, oct_encode_signed, TINY};
import package::skin::Skinned;
import package::source::Vertex;

@if(exact)
fn unit_or(v: vec3<f32>, fallback: vec3<f32>) -> vec3<f32> {
    // Cut to what can be squared.
    let cut = clamp(v, vec3<f32>(-1e18), vec3<f32>(1e18));
    let square = dot(cut, cut);
    let usable = square > 1e-30;
    return select(fallback, cut * inverseSqrt(select(1.0, square, usable)), usable);
}

@if(exact)
fn outward(source: Vertex, skinned: Skinned) -> vec3<f32> {
    let normal = select(skinned.normal, -skinned.normal, skinned.determinant < 0.0);
    return unit_or(normal, unit_or(source.normal, source.normal));
}

@if(exact)
fn store_a(at: u32, source: Vertex, skinned: Skinned) {
    let n = outward(source, skinned);
    let normal = oct_encode(vec3<f32>(n.xy, n.z + TINY), 1.0);
    out_a[at] = vec4<u32>(bitcast<vec3<u32>>(skinned.position), normal);
}

@if(!exact)
fn store_a(at: u32, source: Vertex, skinned: Skinned) {
    let normal = oct_encode(skinned.normal, skinned.determinant);
    out_a[at] = vec4<u32>(bitcast<vec3<u32>>(skinned.position), normal);
}

@if(exact)
fn store_b(start: u32, i: u32, source: Vertex, skinned: Skinned, direction: vec3<f32>) {
    let n = outward(source, skinned);
    let t = unit_or(direction, unit_or(source.tangent, source.tangent));
    let orientation = select(1.0, -1.0, skinned.determinant < 0.0);
    // Parts start at multiples of 256 bytes.
    let at = start / 4u + i * 2u;
    out_b[at] = bitcast<vec4<u32>>(vec4<f32>(n, t.x));
    out_b[at + 1u] = bitcast<vec4<u32>>(vec4<f32>(t.y, t.z, source.handedness, orientation));
}

@if(!exact)
fn store_b(start: u32, i: u32, source: Vertex, skinned: Skinned, direction: vec3<f32>) {
    let word = source.tangent_word ^ (bitcast<u32>(skinned.determinant) >> 15u);
    out_b[start + i] = oct_encode_signed(direction, word);
}
