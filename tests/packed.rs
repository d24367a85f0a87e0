//! Packed vertices against f64 on what packing leaves of the source: what the kernel itself adds, on the GPU and on
//! its twin. Weights of the models are whole steps of 1/65535, so packing leaves them as they are.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;
#[path = "../benches/gpu/directions.rs"]
#[allow(dead_code, reason = "the bench uses more of it")]
mod directions;
#[path = "../benches/gpu/models.rs"]
#[allow(dead_code, reason = "the bench uses more of it")]
mod models;

use common::{gpu, sides::Sides};
use directions::{kept_normal, kept_tangent};
use glam::{DMat3, DVec3, DVec4, Quat, Vec3, Vec3Swizzles, Vec4};
use models::{Counts, Shape, character};
use sinew::{
    CpuDeformer, Deformer, Model, Precision,
    animate::JointMatrix,
    deform::{BakedPrimitive, MORPH_TOLERANCE},
    model::{
        Influence, Influences, Mesh, ModelDesc, MorphTarget, Node, Part, Primitive, PrimitiveDesc, Skeleton,
        Skin, Topology, Transform,
    },
};

/// Share of the diagonal.
const POSITION: f64 = 2e-6;
/// Radians.
const NORMAL: f64 = 1e-4;
const TANGENT: f64 = 1.5e-4;

const WEIGHTS: [f32; 3] = [0.4, -0.3, 0.9];

fn shapes() -> impl Iterator<Item = Shape> {
    [1, 2, 3, 4, 7, 12].into_iter().flat_map(|influences| {
        let plain = Shape::of(2000, 40, Counts::All(influences));
        [plain, Shape { targets: 3, covered: 20, ..plain }, Shape { targets: 3, covered: 100, ..plain }]
    })
}

fn pose(animator: &mut sinew::Animator, id: sinew::InstanceId, model: &Model) {
    animator.play(id, 0).unwrap().seek(0.4);
    for (target, weight) in (0..model.weight_count()).zip(WEIGHTS) {
        animator.set_weight(id, 0, target, weight).unwrap();
    }
}

#[test]
fn the_kernel_and_its_twin_stay_within_their_bounds_of_f64_on_the_packed_source() {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let mut cpu = CpuDeformer::new();
    for (seed, shape) in (1..).zip(shapes()) {
        let model = character(seed, shape);
        let on_gpu = deformer.add_model(&queue, &model).unwrap();
        let on_gpu = deformer.spawn(on_gpu).unwrap();
        pose(deformer.animator_mut(), on_gpu, &model);
        let mut encoder = device.create_command_encoder(&Default::default());
        deformer.record(&mut encoder).unwrap();
        let read_back = deformer.read_back(&mut encoder).unwrap();
        gpu::submit(&device, &queue, encoder);
        let palette = deformer.animator().palette(on_gpu).unwrap();
        check(&model, palette, &read_back.bake(&deformer, on_gpu).unwrap().unwrap(), "kernel");

        let on_cpu = cpu.add_model(&model, Precision::Packed).unwrap();
        let on_cpu = cpu.spawn(on_cpu).unwrap();
        pose(cpu.animator_mut(), on_cpu, &model);
        cpu.run().unwrap();
        check(&model, palette, &cpu.bake(on_cpu).unwrap(), "twin");
    }
}

/// Directions whose octahedral coordinates lie on the edges and diagonals of the square, a rounding away from the other
/// side.
#[test]
fn directions_on_the_edges_of_the_octahedron_stay_where_they_are() {
    let mut normals = Vec::new();
    for i in 0..1000 {
        let (s, c) = (i as f32 * std::f32::consts::TAU / 1000.0).sin_cos();
        for tilt in [0.0, 1e-6, -1e-6, 1e-4] {
            normals.extend([Vec3::new(s, tilt, c), Vec3::new(tilt, s, c), Vec3::new(s, c, tilt)]);
        }
    }
    let normals: Vec<Vec3> = normals.iter().map(|n| n.normalize()).collect();
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::ZERO; normals.len()],
        tangents: (0..)
            .zip(&normals)
            .map(|(i, n)| n.zxy().extend(if i % 2 == 0 { 1.0 } else { -1.0 }))
            .collect(),
        normals: normals.clone(),
        ..Default::default()
    };
    let model = Model::new(ModelDesc {
        skeleton: Skeleton::new(vec![Node::default()]).unwrap(),
        meshes: vec![Mesh::new("", vec![primitive], Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: None, weights: Vec::new() }],
        ..Default::default()
    })
    .unwrap();
    for baked in at_rest(&model, Precision::Packed) {
        for (n, (found, tangent)) in
            normals.iter().zip(baked[0].vertices.normals.iter().zip(&baked[0].vertices.tangents))
        {
            assert!(found.distance(*n) < 1.5e-4, "{n} became {found}");
            assert!(tangent.truncate().distance(n.zxy()) < 2e-4, "{} became {tangent}", n.zxy());
        }
    }
}

/// By the kernel and by its twin.
fn at_rest(model: &Model, precision: Precision) -> [Vec<BakedPrimitive>; 2] {
    Sides::new().bake(model, precision, |_, _| ())
}

/// A vertex that all joints move alike, and one that the first moves alone.
fn joined(rests: &[Transform]) -> Model {
    let nodes = rests.iter().map(|&rest| Node { rest, ..Default::default() });
    let skeleton = Skeleton::new(nodes.collect()).unwrap();
    let skin = Skin::new("", &skeleton, (0..rests.len() as u32).collect(), None).unwrap();
    let mut influences = Influences::default();
    let weight = 1.0 / rests.len() as f32;
    influences.push((0..rests.len() as u32).map(|joint| Influence { joint, weight }));
    influences.push([Influence { joint: 0, weight: 1.0 }]);
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::ZERO; 2],
        normals: vec![Vec3::Z; 2],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 2],
        influences: Some(influences),
        ..Default::default()
    };
    Model::new(ModelDesc {
        skeleton,
        meshes: vec![Mesh::new("", vec![primitive], Vec::new()).unwrap()],
        skins: vec![skin],
        parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: Vec::new() }],
        ..Default::default()
    })
    .unwrap()
}

fn normals_and_signs(baked: &[BakedPrimitive]) -> Vec<(Vec3, f32)> {
    let vertices = &baked[0].vertices;
    vertices.normals.iter().copied().zip(vertices.tangents.iter().map(|t| t.w)).collect()
}

#[test]
fn joints_that_do_not_mirror_blend_into_no_mirror_even_half_a_turn_apart() {
    // Together they are minus a third of the identity.
    let halves = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| Transform {
        rotation: Quat::from_axis_angle(axis, std::f32::consts::PI),
        ..Default::default()
    });
    for precision in [Precision::Packed, Precision::Exact] {
        for baked in at_rest(&joined(&halves), precision) {
            let [(blended, sign), (alone, _)] = normals_and_signs(&baked)[..] else { panic!() };
            assert!(blended.distance(Vec3::Z) < 1e-4 && sign == 1.0, "{precision:?} {blended} {sign}");
            assert!(alone.distance(Vec3::NEG_Z) < 1e-4, "{precision:?} {alone}");
        }
    }
}

#[test]
fn beside_a_joint_that_mirrors_vertices_mirror_as_their_own_blend_does() {
    let mirror = Transform { scale: Vec3::new(-1.0, 1.0, 1.0), ..Default::default() };
    let large = Transform { scale: Vec3::splat(3.0), ..Default::default() };
    for precision in [Precision::Packed, Precision::Exact] {
        for baked in at_rest(&joined(&[mirror, large]), precision) {
            let [(blended, of_both), (alone, of_mirror)] = normals_and_signs(&baked)[..] else { panic!() };
            assert!(blended.distance(Vec3::Z) < 1e-4 && alone.distance(Vec3::Z) < 1e-4, "{precision:?}");
            let handed = if precision == Precision::Packed { [1.0, -1.0] } else { [1.0, 1.0] };
            assert_eq!([of_both, of_mirror], handed, "{precision:?}");
        }
    }
}

#[test]
fn a_vertex_that_is_off_by_four_millionths_of_the_diagonal_is_found() {
    let model = character(1, Shape::of(500, 40, Counts::All(4)));
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(&model, Precision::Packed).unwrap();
    let id = cpu.spawn(id).unwrap();
    cpu.run().unwrap();
    let palette = cpu.animator().palette(id).unwrap();
    let mut baked = cpu.bake(id).unwrap();
    baked[0].vertices.positions[77].x += 4e-6 * diagonal(&model.meshes()[0].primitives()[0]) as f32;
    assert!(std::panic::catch_unwind(|| check(&model, palette, &baked, "planted")).is_err());
}

fn diagonal(primitive: &Primitive) -> f64 {
    let all = primitive.positions().iter().map(|p| p.as_dvec3());
    let (low, high) = all.fold((DVec3::MAX, DVec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
    low.distance(high)
}

fn angle(found: DVec3, expected: DVec3) -> f64 {
    found.cross(expected).length().atan2(found.dot(expected))
}

fn check(model: &Model, palette: &[JointMatrix], baked: &[BakedPrimitive], side: &str) {
    let primitive = &model.meshes()[0].primitives()[0];
    let bound = POSITION * diagonal(primitive);
    let targets: Vec<_> = primitive.targets().iter().map(|t| Decoded::new(t, diagonal(primitive))).collect();
    let vertices = &baked[0].vertices;
    for (source, &deformed) in primitive.deformed_vertices().iter().enumerate() {
        let kept = kept(primitive, &targets, deformed as usize);
        let [position, normal, tangent] = Blend::new(primitive, palette, deformed as usize).apply(kept);
        let off = vertices.positions[source].as_dvec3().distance(position);
        assert!(off <= bound, "{side}: vertex {source} is {off:e} m off, allowed {bound:e}");
        let off = angle(vertices.normals[source].as_dvec3(), normal);
        assert!(off <= NORMAL, "{side}: the normal of vertex {source} is {off:e} rad off");
        let off = angle(vertices.tangents[source].truncate().as_dvec3(), tangent);
        assert!(off <= TANGENT, "{side}: the tangent of vertex {source} is {off:e} rad off");
    }
}

/// A target as its deltas come out of 16 bits.
struct Decoded<'t> {
    target: &'t MorphTarget,
    steps: [f64; 3],
}

impl<'t> Decoded<'t> {
    fn new(target: &'t MorphTarget, diagonal: f64) -> Self {
        let lists = [target.positions(), target.normals(), target.tangents()];
        let steps = lists.map(|list| {
            let largest = list.iter().fold(0.0f32, |most, v| most.max(v.abs().max_element()));
            f64::from(largest / 32767.0 * (1.0 + f32::EPSILON))
        });
        // The stated bound: half a step along each axis.
        assert!(steps[0] * 0.5 * 3.0f64.sqrt() <= f64::from(MORPH_TOLERANCE) * diagonal);
        Self { target, steps }
    }

    fn delta(&self, vertex: u32) -> Option<[DVec3; 3]> {
        let at = self.target.vertices().binary_search(&vertex).ok()?;
        let delta = self.target.delta(at);
        let round = |v: Vec3, step: f64| (v.as_dvec3() / step).round() * step;
        Some([
            round(delta.position, self.steps[0]),
            round(delta.normal, self.steps[1]),
            round(delta.tangent, self.steps[2]),
        ])
    }
}

/// Position, normal and tangent as packing leaves them.
fn kept(primitive: &Primitive, targets: &[Decoded<'_>], vertex: usize) -> [DVec3; 3] {
    let tangent = primitive.tangents()[vertex];
    let mut source = [
        primitive.positions()[vertex].as_dvec3(),
        kept_normal(primitive.normals()[vertex]),
        kept_tangent(tangent),
    ];
    for (target, weight) in targets.iter().zip(WEIGHTS) {
        for (sum, delta) in source.iter_mut().zip(target.delta(vertex as u32).unwrap_or_default()) {
            *sum += f64::from(weight) * delta;
        }
    }
    source
}

/// The blended matrix of one vertex.
struct Blend {
    rows: [DVec4; 3],
    linear: DMat3,
    for_normals: DMat3,
}

impl Blend {
    fn new(primitive: &Primitive, palette: &[JointMatrix], vertex: usize) -> Self {
        let mut rows = [DVec4::ZERO; 3];
        for influence in primitive.influences().unwrap().row(vertex) {
            let m = palette[influence.joint as usize];
            for (sum, row) in rows.iter_mut().zip([m.x, m.y, m.z]) {
                *sum += f64::from(influence.weight) * DVec4::from_array(row.map(f64::from));
            }
        }
        let linear = DMat3::from_cols(rows[0].truncate(), rows[1].truncate(), rows[2].truncate()).transpose();
        Self { rows, linear, for_normals: linear.inverse().transpose() }
    }

    /// To a position, a normal and a tangent.
    fn apply(&self, [position, normal, tangent]: [DVec3; 3]) -> [DVec3; 3] {
        let point = position.extend(1.0);
        [self.rows.map(|row| row.dot(point)).into(), self.for_normals * normal, self.linear * tangent]
    }
}

/// By how much the matrix turns a small error of `v` at most, relative to what becomes of `v`.
fn gain(m: DMat3, v: DVec3) -> f64 {
    m.to_cols_array().iter().map(|c| c * c).sum::<f64>().sqrt() / (m * v).length()
}

#[test]
fn packed_directions_are_off_by_no_more_than_what_is_stated_for_both_ends() {
    for (seed, influences) in (1..).zip([1, 4, 7, 12]) {
        let model = character(seed, Shape::of(4000, 40, Counts::All(influences)));
        let mut cpu = CpuDeformer::new();
        let id = cpu.add_model(&model, Precision::Packed).unwrap();
        let id = cpu.spawn(id).unwrap();
        pose(cpu.animator_mut(), id, &model);
        cpu.run().unwrap();
        let palette = cpu.animator().palette(id).unwrap();
        let primitive = &model.meshes()[0].primitives()[0];
        let baked = cpu.bake(id).unwrap();
        let vertices = &baked[0].vertices;
        for (source, &deformed) in primitive.deformed_vertices().iter().enumerate() {
            let blend = Blend::new(primitive, palette, deformed as usize);
            let normal = primitive.normals()[deformed as usize].as_dvec3();
            let tangent = primitive.tangents()[deformed as usize].truncate().as_dvec3();
            let [_, to_normal, to_tangent] = blend.apply([DVec3::ZERO, normal, tangent]);
            let off = angle(vertices.normals[source].as_dvec3(), to_normal);
            let allowed = 5e-5 * gain(blend.for_normals, normal) + 1e-4;
            assert!(off <= allowed, "the normal of vertex {source} is {off:e} rad off, allowed {allowed:e}");
            let off = angle(vertices.tangents[source].truncate().as_dvec3(), to_tangent);
            let allowed = 7e-5 * gain(blend.linear, tangent) + 1.2e-4;
            assert!(off <= allowed, "the tangent of vertex {source} is {off:e} rad off, allowed {allowed:e}");
        }
    }
}
