// The blended matrix of one vertex, by influence class. Classes of up to eight read the chunk's joints
// from workgroup memory; weights are sorted, so the first zero ends the sum.
import package::bindings::{extra, palette};
import package::layout::{CHUNK_JOINTS, JointMatrix};
import package::skin::{added, scaled};
import package::source::{Four, load_four, load_next_four, load_row};

var<workgroup> joints: array<JointMatrix, CHUNK_JOINTS>;

@if(one)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    return scaled(joints[f.joints.x], f.weights.x);
}

fn blend_four(f: Four) -> JointMatrix {
    var sum = scaled(joints[f.joints.x], f.weights.x);
    if f.weights.y != 0.0 {
        sum = added(sum, joints[f.joints.y], f.weights.y);
        if f.weights.z != 0.0 {
            sum = added(sum, joints[f.joints.z], f.weights.z);
            if f.weights.w != 0.0 {
                sum = added(sum, joints[f.joints.w], f.weights.w);
            }
        }
    }
    return sum;
}

@if(four)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    return blend_four(load_four(at));
}

@if(eight)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let sum = blend_four(load_four(at));
    let next = blend_four(load_next_four(extra_start, i));
    return JointMatrix(sum.x + next.x, sum.y + next.y, sum.z + next.z);
}

@if(any)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let row = load_row(at);
    var sum = JointMatrix(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    for (var k = 0u; k < row.y; k++) {
        let pair = extra[extra_start + row.x + (k >> 1u)];
        let entry = select(pair.xy, pair.zw, (k & 1u) == 1u);
        sum = added(sum, palette[palette_start + entry.x], bitcast<f32>(entry.y));
    }
    return sum;
}
