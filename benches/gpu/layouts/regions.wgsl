// A region of positions (3 words a vertex), then one of directions (2 words), in and out alike; influences apart.
struct Mesh { count: u32 }

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read> influences: array<u32>;
@group(0) @binding(2) var<storage, read> palette: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> mesh: Mesh;
@group(0) @binding(4) var<storage, read_write> out: array<u32>;

// The transpose: rows of the palette are its columns.
fn joint(index: u32) -> mat4x4<f32> {
    let at = index * 3u;
    return mat4x4<f32>(palette[at], palette[at + 1u], palette[at + 2u], vec4<f32>(0.0, 0.0, 0.0, 1.0));
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let vertex = (id.y * groups.x + id.x) * 64u + lane;
    if vertex >= mesh.count { return; }
    let at = vertex * 3u;
    let directions = mesh.count * 3u + vertex * 2u;
    let position = bitcast<vec3<f32>>(vec3<u32>(source[at], source[at + 1u], source[at + 2u]));
    let normal = decode(source[directions]);
    let tangent = decode(source[directions + 1u]);

    let row = vertex * 4u;
    let joints = vec2<u32>(influences[row], influences[row + 1u]);
    let weights = vec4<f32>(unpack2x16unorm(influences[row + 2u]), unpack2x16unorm(influences[row + 3u]));
    var blended = joint(joints.x & 0xffffu) * weights.x;
    blended += joint(joints.x >> 16u) * weights.y;
    blended += joint(joints.y & 0xffffu) * weights.z;
    blended += joint(joints.y >> 16u) * weights.w;

    let moved = bitcast<vec3<u32>>((vec4<f32>(position, 1.0) * blended).xyz);
    out[at] = moved.x;
    out[at + 1u] = moved.y;
    out[at + 2u] = moved.z;
    out[directions] = encode(normalize((vec4<f32>(normal, 0.0) * blended).xyz));
    let turned = encode(normalize((vec4<f32>(tangent, 0.0) * blended).xyz));
    out[directions + 1u] = (turned & ~HANDEDNESS) | (source[directions + 1u] & HANDEDNESS);
}
