// Our packed source and palette, read by the vertex stage. JOINTS is written above this text.
struct Joint { x: vec4<f32>, y: vec4<f32>, z: vec4<f32> }

@group(0) @binding(0) var<storage, read> source_a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> source_b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> palette: array<Joint>;

fn blend(influences: vec3<u32>, character: u32) -> Joint {
    let joints = vec4<u32>(unpack4xU8(influences.x));
    let weights = vec4<f32>(unpack2x16unorm(influences.y), unpack2x16unorm(influences.z));
    let first = character * JOINTS;
    var blended = Joint();
    // Vertices are sorted by how many influences they have.
    for (var k = 0u; k < 4u && weights[k] > 0.0; k++) {
        let joint = palette[first + joints[k]];
        blended.x += joint.x * weights[k];
        blended.y += joint.y * weights[k];
        blended.z += joint.z * weights[k];
    }
    return blended;
}

fn moved(joint: Joint, position: vec3<u32>) -> vec3<f32> {
    let point = vec4<f32>(bitcast<vec3<f32>>(position), 1.0);
    return vec3<f32>(dot(joint.x, point), dot(joint.y, point), dot(joint.z, point));
}

fn turned(joint: Joint, direction: u32) -> vec3<f32> {
    let v = decode(direction);
    return normalize(vec3<f32>(dot(joint.x.xyz, v), dot(joint.y.xyz, v), dot(joint.z.xyz, v)));
}

struct Skinned { position: vec3<f32>, normal: vec3<f32>, tangent: vec3<f32> }

fn skin(vertex: u32, character: u32) -> Skinned {
    let a = source_a[vertex];
    let b = source_b[vertex];
    let joint = blend(b.yzw, character);
    return Skinned(moved(joint, a.xyz), turned(joint, a.w), turned(joint, b.x));
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) tangent: vec3<f32>,
}

// All of a vertex, but no pixel: far beside the view.
@vertex
fn beside(@builtin(vertex_index) vertex: u32, @builtin(instance_index) character: u32) -> Varyings {
    let skinned = skin(vertex, character);
    return Varyings(vec4<f32>(skinned.position + 1000.0, 1.0), skinned.normal, skinned.tangent);
}

@fragment
fn shade(in: Varyings) -> @location(0) vec4<f32> {
    return vec4<f32>(in.normal + in.tangent, 1.0);
}

// Three pixels a vertex: position, normal and tangent, of 64 vertices.
@vertex
fn written(@builtin(vertex_index) index: u32, @builtin(instance_index) character: u32) -> Varyings {
    let skinned = skin(index / 3u, character);
    var values = array<vec3<f32>, 3>(skinned.position, skinned.normal, skinned.tangent);
    let x = (f32(index % 192u) + 0.5) / 96.0 - 1.0;
    return Varyings(vec4<f32>(x, 0.0, 0.5, 1.0), values[index % 3u], vec3<f32>());
}

@fragment
fn write(in: Varyings) -> @location(0) vec4<f32> {
    return vec4<f32>(in.normal, 1.0);
}

// Characters are small and in rows, so that pixels cost little.
fn place(position: vec3<f32>, character: u32) -> vec4<f32> {
    let cell = vec2<f32>(f32(character % 16u), f32(character / 16u % 16u)) / 8.0 - 0.97;
    return vec4<f32>(cell + position.xy * 0.04, 0.5 + position.z * 0.25, 1.0);
}

// What shadow and depth passes need: no directions.
@vertex
fn skinned_depth(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) character: u32,
) -> @builtin(position) vec4<f32> {
    return place(moved(blend(source_b[vertex].yzw, character), source_a[vertex].xyz), character);
}

@vertex
fn deformed_depth(
    @location(0) position: vec3<f32>,
    @builtin(instance_index) character: u32,
) -> @builtin(position) vec4<f32> {
    return place(position, character);
}
