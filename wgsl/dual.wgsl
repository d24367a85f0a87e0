// Dual quaternion skinning (Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008) of
// joints that may also scale, shear and mirror.
//
// A joint with matrix M takes a vertex v to u = M v and turns it by q, the rotation nearest to M. The rigid motion that
// does both to v has the dual quaternion q + e (u - q v q*) q / 2. Those of all joints, blended, normalised and applied
// to v, come to
//     v' = vector((sum of w u q) b*) / |b|^2   with b = sum of w q,
// which for rigid joints is the paper's formula. The sum is linear in v: a matrix comes out, as from linear blending.
import package::bindings::{extra, palette};
import package::blend::one_mirrors;
import package::layout::{CHUNK_JOINTS, JointMatrix};
import package::rotation::rotation;
import package::skin::{mirrors, scaled};
import package::source::{load_four, load_next_four, load_row, Four, WEIGHT_STEP};

// A joint, or a weighted sum of joints: the rotation, and the matrix's columns as quaternions, times the rotation.
struct DualJoint {
    rotation: vec4<f32>,
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
    offset: vec4<f32>,
}

var<workgroup> dual_joints: array<DualJoint, CHUNK_JOINTS>;

// Quaternions less apart than this are on one side; half turns are, whatever rounding makes of them.
const OPPOSITE: f32 = -1e-4;

// A vector as a quaternion, times another.
fn times(v: vec3<f32>, q: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(v * q.w + cross(v, q.xyz), -dot(v, q.xyz));
}

fn dual_joint(m: JointMatrix, q: vec4<f32>) -> DualJoint {
    return DualJoint(
        q,
        times(vec3<f32>(m.x.x, m.y.x, m.z.x), q),
        times(vec3<f32>(m.x.y, m.y.y, m.z.y), q),
        times(vec3<f32>(m.x.z, m.y.z, m.z.z), q),
        times(vec3<f32>(m.x.w, m.y.w, m.z.w), q),
    );
}

// Weights are kept in steps; the matrices take the step's size, once for a workgroup.
fn keep_joint(at: u32, m: JointMatrix) {
    dual_joints[at] = dual_joint(scaled(m, WEIGHT_STEP), rotation(m));
    if mirrors(m) {
        atomicStore(&one_mirrors, 1u);
    }
}

fn weighted(j: DualJoint, weight: f32) -> DualJoint {
    return DualJoint(j.rotation * weight, j.x * weight, j.y * weight, j.z * weight, j.offset * weight);
}

// A joint on the other side than `pivot` counts as its opposite, which is the same motion.
fn joined(sum: DualJoint, j: DualJoint, weight: f32, pivot: vec4<f32>) -> DualJoint {
    let w = select(weight, -weight, dot(j.rotation, pivot) < OPPOSITE);
    return DualJoint(
        sum.rotation + j.rotation * w,
        sum.x + j.x * w,
        sum.y + j.y * w,
        sum.z + j.z * w,
        sum.offset + j.offset * w,
    );
}

// The vector in a quaternion times the conjugate of another.
fn vector(p: vec4<f32>, q: vec4<f32>) -> vec3<f32> {
    return p.xyz * q.w - q.xyz * p.w - cross(p.xyz, q.xyz);
}

// Weights as given: their sum is what the normalised motion is taken times, as in linear blending. Sums that vanish
// leave nothing.
fn matrix(sum: DualJoint, weights: f32) -> JointMatrix {
    let b = sum.rotation;
    let q = b * (weights / max(dot(b, b), 1e-30));
    let x = vector(sum.x, q);
    let y = vector(sum.y, q);
    let z = vector(sum.z, q);
    let o = vector(sum.offset, q);
    return JointMatrix(
        vec4<f32>(x.x, y.x, z.x, o.x),
        vec4<f32>(x.y, y.y, z.y, o.y),
        vec4<f32>(x.z, y.z, z.z, o.z),
    );
}

// The first joint of the largest weight. All others turn by half a turn from it at most, so that no sum vanishes.
struct Strongest {
    joint: u32,
    weight: f32,
}

fn stronger(most: Strongest, joint: u32, weight: f32) -> Strongest {
    return Strongest(select(most.joint, joint, weight > most.weight), max(most.weight, weight));
}

fn strongest_of(most: Strongest, f: Four) -> Strongest {
    let y = stronger(stronger(most, f.joints.x, f.weights.x), f.joints.y, f.weights.y);
    return stronger(stronger(y, f.joints.z, f.weights.z), f.joints.w, f.weights.w);
}

fn joined_four(start: DualJoint, f: Four, pivot: vec4<f32>) -> DualJoint {
    var sum = joined(start, dual_joints[f.joints.x], f.weights.x, pivot);
    sum = joined(sum, dual_joints[f.joints.y], f.weights.y, pivot);
    sum = joined(sum, dual_joints[f.joints.z], f.weights.z, pivot);
    return joined(sum, dual_joints[f.joints.w], f.weights.w, pivot);
}

const NOTHING: DualJoint = DualJoint(vec4<f32>(), vec4<f32>(), vec4<f32>(), vec4<f32>(), vec4<f32>());

@if(two)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    let first = dual_joints[f.joints.x];
    let sum = joined(weighted(first, f.weights.x), dual_joints[f.joints.y], f.weights.y, first.rotation);
    return matrix(sum, f.weights.x + f.weights.y);
}

@if(four)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    let pivot = dual_joints[strongest_of(Strongest(0u, 0.0), f).joint].rotation;
    return matrix(joined_four(NOTHING, f, pivot), dot(f.weights, vec4<f32>(1.0)));
}

@if(eight)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let f = load_four(at);
    let g = load_next_four(extra_start, i);
    let strongest = strongest_of(strongest_of(Strongest(0u, 0.0), f), g);
    let pivot = dual_joints[strongest.joint].rotation;
    let sum = joined_four(joined_four(NOTHING, f, pivot), g, pivot);
    return matrix(sum, dot(f.weights + g.weights, vec4<f32>(1.0)));
}

fn row_entry(start: u32, k: u32) -> Strongest {
    let pair = extra[start + (k >> 1u)];
    let entry = select(pair.xy, pair.zw, (k & 1u) == 1u);
    return Strongest(entry.x, bitcast<f32>(entry.y));
}

@if(any)
fn blend(at: u32, i: u32, palette_start: u32, extra_start: u32) -> JointMatrix {
    let row = load_row(at);
    var strongest = Strongest(0u, 0.0);
    for (var k = 0u; k < row.y; k++) {
        let entry = row_entry(extra_start + row.x, k);
        strongest = stronger(strongest, entry.joint, entry.weight);
    }
    let pivot = rotation(palette[palette_start + strongest.joint]);
    var sum = NOTHING;
    var weights = 0.0;
    for (var k = 0u; k < row.y; k++) {
        let entry = row_entry(extra_start + row.x, k);
        let m = palette[palette_start + entry.joint];
        sum = joined(sum, dual_joint(m, rotation(m)), entry.weight, pivot);
        weights += entry.weight;
    }
    return matrix(sum, weights);
}
