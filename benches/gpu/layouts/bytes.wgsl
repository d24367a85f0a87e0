// Streams of positions, normals and tangents, in and out; an influence is 20 bits of joint and 12 of weight.
struct Mesh { count: u32 }

@group(0) @binding(0) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> normals: array<u32>;
@group(0) @binding(2) var<storage, read> tangents: array<u32>;
@group(0) @binding(3) var<storage, read> influences: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> palette: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> mesh: Mesh;
@group(0) @binding(6) var<storage, read_write> out_positions: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> out_normals: array<u32>;
@group(0) @binding(8) var<storage, read_write> out_tangents: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let vertex = (id.y * groups.x + id.x) * 64u + lane;
    if vertex >= mesh.count { return; }
    let position = vec4<f32>(positions[vertex].xyz, 1.0);
    let normal = unpack4x8snorm(normals[vertex]).xyz;
    let tangent = unpack4x8snorm(tangents[vertex]);
    let row = influences[vertex];

    var moved = vec3<f32>();
    var turned_normal = vec3<f32>();
    var turned_tangent = vec3<f32>();
    var sum = 0.0;
    // Every influence transforms; the rest are skipped once weights are used up.
    for (var k = 0u; k < 4u && sum < 1.0; k++) {
        let at = (row[k] & 0xfffffu) * 3u;
        let weight = f32(row[k] >> 20u) / 4095.0;
        let x = palette[at];
        let y = palette[at + 1u];
        let z = palette[at + 2u];
        moved += vec3<f32>(dot(x, position), dot(y, position), dot(z, position)) * weight;
        turned_normal += vec3<f32>(dot(x.xyz, normal), dot(y.xyz, normal), dot(z.xyz, normal)) * weight;
        turned_tangent +=
            vec3<f32>(dot(x.xyz, tangent.xyz), dot(y.xyz, tangent.xyz), dot(z.xyz, tangent.xyz)) * weight;
        sum += weight;
    }
    out_positions[vertex] = vec4<f32>(moved, 0.0);
    out_normals[vertex] = pack4x8snorm(vec4<f32>(normalize(turned_normal), 0.0));
    out_tangents[vertex] = pack4x8snorm(vec4<f32>(normalize(turned_tangent), tangent.w));
}
