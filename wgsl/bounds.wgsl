// The box of every part of a group, from its deformed positions: a workgroup a part; the grid is folded.
// A box of nothing has its least corner above its greatest.

struct PartBox {
    min: vec4<f32>,
    max: vec4<f32>,
}

@group(0) @binding(0) var<storage, read> positions: array<vec4<f32>>;
// The number of parts, then the first vertex and the vertices of each.
@group(0) @binding(1) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> boxes: array<PartBox>;

const WORKGROUP: u32 = 128u;
const LARGEST: f32 = 3.4028234e38;

var<workgroup> least: array<vec3<f32>, WORKGROUP>;
var<workgroup> greatest: array<vec3<f32>, WORKGROUP>;

@compute @workgroup_size(128)
fn bounds(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let part = group.x + group.y * groups.x;
    if part >= places[0].x {
        return;
    }
    let place = places[part + 1u];
    var low = vec3(LARGEST);
    var high = vec3(-LARGEST);
    for (var i = lane; i < place.y; i += WORKGROUP) {
        let position = positions[place.x + i].xyz;
        low = min(low, position);
        high = max(high, position);
    }
    least[lane] = low;
    greatest[lane] = high;
    for (var step = WORKGROUP / 2u; step > 0u; step /= 2u) {
        workgroupBarrier();
        if lane < step {
            least[lane] = min(least[lane], least[lane + step]);
            greatest[lane] = max(greatest[lane], greatest[lane + step]);
        }
    }
    if lane == 0u {
        boxes[part] = PartBox(vec4(least[0], 0.0), vec4(greatest[0], 0.0));
    }
}
