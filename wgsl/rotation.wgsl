// The rotation in a joint's matrix.
import package::layout::JointMatrix;
import package::skin::largest;

const UNTURNED: vec4<f32> = vec4<f32>(0.0, 0.0, 0.0, 1.0);

// Of a rotation's two quaternions the one on this side. No rotation by a common angle about a common axis lies between.
const SIDE: vec4<f32> = vec4<f32>(0.11, 0.23, 0.47, 1.0);

// Relative to a cube's, the determinant below which a joint counts as mirrored: more than rounding makes of zero.
const MIRRORED: f32 = -1e-3;

// Squarings, and the sum of the squares of eigenvalues, out of one, from which one is all there is.
const SQUARINGS: u32 = 8u;
const ALONE: f32 = 0.9999;

// The rotation nearest to the linear part of `m`, by Horn, "Closed-form solution of absolute orientation using unit
// quaternions" (1987): an eigenvector of the largest eigenvalue of a symmetric matrix, which squaring brings out. A
// matrix that mirrors turns as its negative does; one that leaves no more than a line does not turn.
fn rotation(m: JointMatrix) -> vec4<f32> {
    let scale = 1.0 / max(largest(m), 1e-30);
    let x = m.x.xyz * scale;
    let y = m.y.xyz * scale;
    let z = m.z.xyz * scale;
    let square = dot(x, x) + dot(y, y) + dot(z, z);
    if square < 0.5 {
        return UNTURNED;
    }
    let size = sqrt(square / 3.0);
    let is_mirrored = dot(cross(x, y), z) < MIRRORED * size * size * size;
    let share = select(0.25, -0.25, is_mirrored) / size;
    let a = vec3<f32>(z.y - y.z, x.z - z.x, y.x - x.y) * share;
    let s = vec3<f32>(y.z + z.y, x.z + z.x, x.y + y.x) * share;
    let d = vec3<f32>(x.x, y.y, z.z) * share;
    var k = mat4x4<f32>(
        vec4<f32>(0.25 + d.x - d.y - d.z, s.z, s.y, a.x),
        vec4<f32>(s.z, 0.25 - d.x + d.y - d.z, s.x, a.y),
        vec4<f32>(s.y, s.x, 0.25 - d.x - d.y + d.z, a.z),
        vec4<f32>(a, 0.25 + d.x + d.y + d.z),
    );
    var alone = 0.0;
    // The first makes no eigenvalue negative.
    for (var n = 0u; n < SQUARINGS && (n < 2u || alone < ALONE); n++) {
        k = k * k;
        alone = k[0].x + k[1].y + k[2].z + k[3].w;
        k = k * (1.0 / alone);
    }
    if alone < ALONE {
        return UNTURNED;
    }
    // Its columns are multiples of the eigenvector; the longest is the most exact.
    var most = k[3].w;
    var q = k[3];
    if k[0].x > most {
        most = k[0].x;
        q = k[0];
    }
    if k[1].y > most {
        most = k[1].y;
        q = k[1];
    }
    if k[2].z > most {
        q = k[2];
    }
    q = normalize(q);
    return select(q, -q, dot(q, SIDE) < 0.0);
}
