// Linear blend skinning: the palette's rows blended by weight, then applied once.
import package::layout::JointMatrix;
import package::source::Vertex;

struct Skinned {
    vertex: Vertex,
    // 1, or -1 where the blended matrix mirrors.
    orientation: f32,
}

fn scaled(m: JointMatrix, weight: f32) -> JointMatrix {
    return JointMatrix(m.x * weight, m.y * weight, m.z * weight);
}

fn added(sum: JointMatrix, m: JointMatrix, weight: f32) -> JointMatrix {
    return JointMatrix(sum.x + m.x * weight, sum.y + m.y * weight, sum.z + m.z * weight);
}

// Unit length; `fallback` where `v` has no direction. Components are cut to what can be squared.
fn unit_or(v: vec3<f32>, fallback: vec3<f32>) -> vec3<f32> {
    let cut = clamp(v, vec3<f32>(-1e18), vec3<f32>(1e18));
    let square = dot(cut, cut);
    let usable = square > 1e-30;
    return select(fallback, cut * inverseSqrt(select(1.0, square, usable)), usable);
}

fn largest(m: JointMatrix) -> f32 {
    let most = max(max(abs(m.x.xyz), abs(m.y.xyz)), abs(m.z.xyz));
    return max(max(most.x, most.y), most.z);
}

// Positions by the matrix, tangents by its linear part, normals by its cofactor matrix: the inverse
// transpose up to a positive factor once multiplied by the determinant's sign, finite when singular.
// The linear part is scaled by its largest coefficient first, so that products neither vanish nor overflow.
fn skin_vertex(m: JointMatrix, source: Vertex) -> Skinned {
    let point = vec4<f32>(source.position, 1.0);
    let position = vec3<f32>(dot(m.x, point), dot(m.y, point), dot(m.z, point));
    let scale = 1.0 / max(largest(m), 1e-30);
    let x = m.x.xyz * scale;
    let y = m.y.xyz * scale;
    let z = m.z.xyz * scale;
    let yz = cross(y, z);
    let orientation = select(1.0, -1.0, dot(x, yz) < 0.0);
    let cofactor = vec3<f32>(
        dot(yz, source.normal),
        dot(cross(z, x), source.normal),
        dot(cross(x, y), source.normal),
    );
    let direction = vec3<f32>(dot(x, source.tangent), dot(y, source.tangent), dot(z, source.tangent));
    let normal = unit_or(cofactor * orientation, unit_or(source.normal, source.normal));
    let tangent = unit_or(direction, unit_or(source.tangent, source.tangent));
    return Skinned(Vertex(position, normal, tangent, source.handedness), orientation);
}
