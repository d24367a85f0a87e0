// The blended matrix of one vertex, by influence class. Classes of up to eight read the chunk's joints from
// workgroup memory, as many of them as the class has: a weight of zero costs less than a branch.
import package::bindings::{extra, palette};
import package::layout::{CHUNK_JOINTS, JointMatrix};
import package::skin::{added, mirrors, scaled};
import package::source::{load_four, load_next_four, load_row, WEIGHT_STEP};

var<workgroup> joints: array<JointMatrix, CHUNK_JOINTS>;

// Whether one of them mirrors. Almost none do, and then no vertex needs to look.
var<workgroup> one_mirrors: atomic<u32>;

fn keep_none() {
    atomicStore(&one_mirrors, 0u);
}

// Weights are kept in steps; the matrices take the step's size, once for a workgroup.
fn keep_joint(at: u32, m: JointMatrix) {
    joints[at] = scaled(m, WEIGHT_STEP);
    if mirrors(m) {
        atomicStore(&one_mirrors, 1u);
    }
}

@if(any)
fn may_mirror() -> bool {
    return true;
}

@if(!any)
fn may_mirror() -> bool {
    return atomicLoad(&one_mirrors) != 0u;
}

@if(one)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    return scaled(joints[f.joints.x], f.weights.x);
}

@if(two)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    return added(scaled(joints[f.joints.x], f.weights.x), joints[f.joints.y], f.weights.y);
}

@if(four || eight)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    var sum = scaled(joints[f.joints.x], f.weights.x);
    sum = added(sum, joints[f.joints.y], f.weights.y);
    sum = added(sum, joints[f.joints.z], f.weights.z);
    sum = added(sum, joints[f.joints.w], f.weights.w);
    @if(eight) {
        let g = load_next_four(extra_start, i);
        sum = added(sum, joints[g.joints.x], g.weights.x);
        sum = added(sum, joints[g.joints.y], g.weights.y);
        sum = added(sum, joints[g.joints.z], g.weights.z);
        sum = added(sum, joints[g.joints.w], g.weights.w);
    }
    return sum;
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
