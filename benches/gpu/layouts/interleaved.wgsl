// 18 words a vertex in, 10 words out, each loaded and stored alone. All meshes share one output.
struct Mesh { count: u32, first: u32, joints: u32 }

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read> palette: array<mat4x4<f32>>;
@group(0) @binding(2) var<storage, read> mesh: Mesh;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

fn load3(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(source[at], source[at + 1u], source[at + 2u]));
}

fn store3(at: u32, value: vec3<f32>) {
    out[at] = bitcast<u32>(value.x);
    out[at + 1u] = bitcast<u32>(value.y);
    out[at + 2u] = bitcast<u32>(value.z);
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let vertex = (id.y * groups.x + id.x) * 256u + lane;
    if vertex >= mesh.count { return; }
    let at = vertex * 18u;
    var blended = mat4x4<f32>();
    for (var k = 0u; k < 4u; k++) {
        let weight = bitcast<f32>(source[at + 14u + k]);
        if weight > 0.0 {
            blended += palette[mesh.joints + source[at + 10u + k]] * weight;
        }
    }
    let linear = mat3x3<f32>(blended[0].xyz, blended[1].xyz, blended[2].xyz);
    let to = (mesh.first + vertex) * 10u;
    store3(to, (blended * vec4<f32>(load3(at), 1.0)).xyz);
    store3(to + 3u, normalize(linear * load3(at + 3u)));
    store3(to + 6u, normalize(linear * load3(at + 6u)));
    out[to + 9u] = source[at + 9u];
}
