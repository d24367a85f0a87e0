//! Rigs of random matrices, every kernel variant, both sides, against `common::dual`.

use glam::{DMat3, DVec3, Mat4, Quat, Vec3};
use sinew::{
    Packing, Precision,
    animate::JointMatrix,
    deform::BakedPrimitive,
    model::{InfluenceClass, Primitive, Skinning},
};

use super::{
    BOTH, POSITION,
    common::{dual, sides::Sides},
    models::{Counts, Random, Shape, character},
    row,
};

/// What the joints of a rig are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rig {
    Rigid,
    /// By 0.5 to 2 along axes of their own.
    Scaled,
    /// Scaled; a third of them mirrors.
    Mirrored,
    /// Scaled; a third of them is flat, a line or a point.
    Flat,
}

const RIGS: [Rig; 4] = [Rig::Rigid, Rig::Scaled, Rig::Mirrored, Rig::Flat];

const WEIGHTS: [f32; 3] = [0.4, -0.3, 0.9];

fn palette(random: &mut Random, rig: Rig, joints: u32) -> Vec<JointMatrix> {
    (0..joints)
        .map(|_| {
            // Up to half a turn.
            let mut turn = || Quat::from_axis_angle(random.direction(), random.unit() * std::f32::consts::PI);
            let (rotation, axes) = (turn(), turn());
            let mut scale = || 2.0f32.powf(random.unit());
            let mut scale = Vec3::new(scale(), scale(), scale());
            let (is_odd, what) = (random.below(3) == 0, random.below(3));
            match rig {
                Rig::Rigid => scale = Vec3::ONE,
                Rig::Mirrored if is_odd => scale.x = -scale.x,
                Rig::Flat if is_odd => {
                    scale *= [Vec3::new(0.0, 1.0, 1.0), Vec3::X, Vec3::ZERO][what as usize];
                }
                _ => {}
            }
            let stretch = Mat4::from_quat(axes) * Mat4::from_scale(scale) * Mat4::from_quat(axes.inverse());
            row(Mat4::from_translation(random.direction()) * Mat4::from_quat(rotation) * stretch)
        })
        .collect()
}

/// Position, normal and tangent in the model.
fn morphed(primitive: &Primitive, vertex: usize) -> [DVec3; 3] {
    let mut source = [primitive.positions(), primitive.normals()].map(|list| list[vertex].as_dvec3());
    let mut tangent = primitive.tangents()[vertex].truncate().as_dvec3();
    for (target, weight) in primitive.targets().iter().zip(WEIGHTS) {
        if let Ok(at) = target.vertices().binary_search(&(vertex as u32)) {
            let (delta, weight) = (target.delta(at), f64::from(weight));
            source[0] += weight * delta.position.as_dvec3();
            source[1] += weight * delta.normal.as_dvec3();
            tangent += weight * delta.tangent.as_dvec3();
        }
    }
    [source[0], source[1], tangent]
}

fn diagonal(primitive: &Primitive) -> f64 {
    let all = |fold: fn(Vec3, Vec3) -> Vec3| primitive.positions().iter().copied().reduce(fold).unwrap();
    f64::from(all(Vec3::max).distance(all(Vec3::min)))
}

/// Times the determinant: the inverse transpose, finite when singular.
fn cofactor(m: DMat3) -> DMat3 {
    let (x, y, z) = (m.col(0), m.col(1), m.col(2));
    DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y))
}

#[derive(Default)]
struct Worst {
    vertices: usize,
    half_turns: usize,
    /// Of the diagonal.
    twin: f64,
    gpu: f64,
    cpu: f64,
    /// Radians.
    normal: f64,
    tangent: f64,
}

impl Worst {
    fn add(
        &mut self,
        primitive: &Primitive,
        rig: Rig,
        joints: &[dual::Joint],
        sides: &[Vec<BakedPrimitive>; 2],
    ) {
        let diagonal = diagonal(primitive);
        for vertex in 0..primitive.vertex_count() {
            let source = primitive.source_vertex(vertex) as usize;
            let row = primitive.influences().unwrap().row(vertex).iter();
            let row: Vec<_> = row.map(|i| (&joints[i.joint as usize], f64::from(i.weight))).collect();
            let Some((matrix, offset)) = dual::blended(&row) else {
                self.half_turns += 1;
                continue;
            };
            self.vertices += 1;
            let [position, normal, tangent] = morphed(primitive, vertex);
            let expected = matrix * position + offset;
            let found = |side: usize| sides[side][0].vertices.positions[source].as_dvec3();
            let share = |a: DVec3, b: DVec3| (a - b).abs().max_element() / diagonal;
            self.twin = self.twin.max(share(found(0), found(1)));
            self.gpu = self.gpu.max(share(found(0), expected));
            self.cpu = self.cpu.max(share(found(1), expected));
            // Directions that all but vanish say little, and rounding decides whether what is flat mirrors.
            let determinant = matrix.determinant();
            let (mut normal, tangent) = (cofactor(matrix) * normal, matrix * tangent);
            let is_settled = match rig {
                Rig::Rigid | Rig::Scaled => true,
                Rig::Mirrored => determinant.abs() > 1e-3,
                Rig::Flat => determinant > 1e-3,
            };
            if rig == Rig::Mirrored && determinant < 0.0 {
                normal = -normal;
            }
            let has_normal = is_settled && normal.length() > 0.1;
            for side in sides {
                let vertices = &side[0].vertices;
                if has_normal {
                    self.normal = self.normal.max(vertices.normals[source].as_dvec3().angle_between(normal));
                }
                if tangent.length() > 0.1 {
                    let found = vertices.tangents[source].truncate().as_dvec3();
                    self.tangent = self.tangent.max(found.angle_between(tangent));
                }
            }
        }
    }
}

#[test]
fn random_rigs_match_f64_on_both_sides_in_every_variant() {
    let mut sides = Sides::new();
    for rig in RIGS {
        for precision in BOTH {
            let mut worst = Worst::default();
            // Deltas of 16 bits are not what is looked at.
            let packing = Packing { vertices: precision, morphs: Precision::Exact };
            for (seed, influences) in (1..).zip([2, 3, 4, 7, 8, 12]) {
                for (targets, covered) in [(0, 0), (3, 30)] {
                    let shape = Shape { targets, covered, ..Shape::of(1200, 40, Counts::All(influences)) };
                    let model = character(seed, shape).with_skinning(0, Skinning::DualQuaternion).unwrap();
                    let class = InfluenceClass::of(influences as usize);
                    let chunks = model.meshes()[0].primitives()[0].chunks();
                    assert!(chunks.iter().all(|chunk| chunk.class == class));
                    let mut random = Random::new(seed * 7 + u64::from(targets));
                    let rows = palette(&mut random, rig, 40);
                    let baked = sides.bake(&model, packing, |animator, id| {
                        animator.set_skin_palette(id, 0, Some(&rows)).unwrap();
                        for (target, weight) in (0..targets as usize).zip(WEIGHTS) {
                            animator.set_weight(id, 0, target, weight).unwrap();
                        }
                    });
                    let joints: Vec<_> = rows.iter().map(dual::Joint::new).collect();
                    worst.add(&model.meshes()[0].primitives()[0], rig, &joints, &baked);
                }
            }
            let Worst { vertices, half_turns, twin, gpu, cpu, normal, tangent } = worst;
            println!(
                "{rig:?}, {precision:?}: {vertices} vertices, {half_turns} half a turn apart; of the diagonal: GPU against \
                 twin {twin:.1e}, GPU against f64 {gpu:.1e}, twin against f64 {cpu:.1e}; normals {normal:.1e} rad, \
                 tangents {tangent:.1e} rad"
            );
            assert!(half_turns * 100 < vertices, "{half_turns} of {vertices}");
            assert!(twin.max(gpu).max(cpu) <= POSITION, "{rig:?}, {precision:?}");
            // What packing takes and gives, stretched by what the joints stretch; rounding.
            let (most_normal, most_tangent) =
                if precision == Precision::Packed { (4e-4, 5e-4) } else { (1e-5, 1e-5) };
            assert!(normal <= most_normal && tangent <= most_tangent, "{rig:?}, {precision:?}");
        }
    }
}
