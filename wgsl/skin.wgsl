// Linear blend skinning: the palette's rows blended by weight, then applied once.
import package::codec::TINY;
import package::layout::JointMatrix;
import package::source::Vertex;

struct Skinned {
    position: vec3<f32>,
    // Of any length but zero, and reversed where the determinant is negative.
    normal: vec3<f32>,
    // Only its sign is of use: negative where the blended matrix mirrors.
    determinant: f32,
}

fn scaled(m: JointMatrix, weight: f32) -> JointMatrix {
    return JointMatrix(m.x * weight, m.y * weight, m.z * weight);
}

fn added(sum: JointMatrix, m: JointMatrix, weight: f32) -> JointMatrix {
    return JointMatrix(sum.x + m.x * weight, sum.y + m.y * weight, sum.z + m.z * weight);
}

fn largest(m: JointMatrix) -> f32 {
    let most = max(max(abs(m.x.xyz), abs(m.y.xyz)), abs(m.z.xyz));
    return max(max(most.x, most.y), most.z);
}

// Less than what determinants are; added, none is a negative zero.
const VANISHES: f32 = 1e-37;

struct Linear {
    x: vec3<f32>,
    y: vec3<f32>,
    z: vec3<f32>,
}

// Weights of up to 1: what a palette may hold is bounded, and only scales under 1e-12 lose their orientation.
@if(!exact && !any)
fn linear_part(m: JointMatrix) -> Linear {
    return Linear(m.x.xyz, m.y.xyz, m.z.xyz);
}

// Times what brings the largest coefficient to 1, so that products neither vanish nor overflow.
@if(exact || any)
fn linear_part(m: JointMatrix) -> Linear {
    let scale = 1.0 / max(largest(m), 1e-30);
    return Linear(m.x.xyz * scale, m.y.xyz * scale, m.z.xyz * scale);
}

// `least` where it vanishes, at no cost.
fn dot_or(a: vec3<f32>, b: vec3<f32>, least: f32) -> f32 {
    return a.x * b.x + (a.y * b.y + (a.z * b.z + least));
}

fn mirrors(m: JointMatrix) -> bool {
    let linear = linear_part(m);
    return dot_or(cross(linear.x, linear.y), linear.z, VANISHES) < 0.0;
}

// Positions by the matrix, normals by its cofactor matrix: the inverse transpose up to the determinant, finite
// when singular. Its first two rows share the product of row z with the normal. Where no joint at hand mirrors,
// `may_mirror` says so, and the determinant is not looked at.
fn skin_vertex(m: JointMatrix, source: Vertex, may_mirror: bool) -> Skinned {
    let p = source.position;
    let position = vec3<f32>(
        m.x.x * p.x + m.x.y * p.y + m.x.z * p.z + m.x.w,
        m.y.x * p.x + m.y.y * p.y + m.y.z * p.z + m.y.w,
        m.z.x * p.x + m.z.y * p.y + m.z.z * p.z + m.z.w,
    );
    let linear = linear_part(m);
    let xy = cross(linear.x, linear.y);
    let zn = cross(linear.z, source.normal);
    let normal = vec3<f32>(dot(linear.y, zn), -dot(linear.x, zn), dot_or(xy, source.normal, TINY));
    var sign = 1.0;
    if may_mirror {
        sign = dot_or(xy, linear.z, VANISHES);
    }
    return Skinned(position, normal, sign);
}

// By the linear part; of any length but zero.
fn skin_tangent(m: JointMatrix, t: vec3<f32>) -> vec3<f32> {
    let linear = linear_part(m);
    return vec3<f32>(dot(linear.x, t), dot(linear.y, t), dot_or(linear.z, t, TINY));
}
