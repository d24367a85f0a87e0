// The two output streams, two vertex buffers for the passes that read them.
//
// A, 16 bytes:         position f32x3, normal oct; depth passes bind only this
// B packed, 4 bytes:   tangent oct, handedness times orientation
// B exact, 32 bytes:   normal f32x3, tangent f32x3, handedness as in the source, orientation
import package::bindings::{out_a, out_b};
import package::codec::{oct_encode, oct_encode_signed};
import package::layout::NO_OUTPUT;
import package::skin::Skinned;

fn store_a(start: u32, i: u32, skinned: Skinned) {
    if start == NO_OUTPUT {
        return;
    }
    let v = skinned.vertex;
    out_a[start + i] = vec4<u32>(bitcast<vec3<u32>>(v.position), oct_encode(v.normal));
}

@if(exact)
fn store_b(start: u32, i: u32, skinned: Skinned) {
    if start == NO_OUTPUT {
        return;
    }
    let v = skinned.vertex;
    let at = start + i * 8u;
    out_b[at] = bitcast<u32>(v.normal.x);
    out_b[at + 1u] = bitcast<u32>(v.normal.y);
    out_b[at + 2u] = bitcast<u32>(v.normal.z);
    out_b[at + 3u] = bitcast<u32>(v.tangent.x);
    out_b[at + 4u] = bitcast<u32>(v.tangent.y);
    out_b[at + 5u] = bitcast<u32>(v.tangent.z);
    out_b[at + 6u] = bitcast<u32>(v.handedness);
    out_b[at + 7u] = bitcast<u32>(skinned.orientation);
}

@if(!exact)
fn store_b(start: u32, i: u32, skinned: Skinned) {
    if start == NO_OUTPUT {
        return;
    }
    let v = skinned.vertex;
    out_b[start + i] = oct_encode_signed(v.tangent, v.handedness * skinned.orientation);
}
