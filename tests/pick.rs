//! Rays against deformed surfaces, beside a search of all triangles.
#![cfg(all(feature = "gltf", feature = "meshopt", feature = "gpu"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{gpu, models::Random, oracle::DataSet, tube};
use glam::{Affine3A, DVec3, Mat3A, Quat, Vec3};
use sinew::{
    CpuDeformer, Deformer, InstanceId, Model, Precision,
    deform::BakedPrimitive,
    model::{Material, Mesh, ModelDesc, Node, Part, Primitive, PrimitiveDesc, Skeleton, Topology, Transform},
    pick::{Hit, PickError, PickOptions, Picker, Ray, RayError, Sides},
};

/// One instance, deformed on the CPU, and its picker.
struct Stage {
    deformer: CpuDeformer,
    id: InstanceId,
    picker: Picker,
}

impl Stage {
    fn new(model: &Model) -> Self {
        let mut deformer = CpuDeformer::new();
        let handle = deformer.add_model(model, Precision::Exact).unwrap();
        let id = deformer.spawn(handle).unwrap();
        let mut stage = Self { deformer, id, picker: Picker::new(model).unwrap() };
        stage.pose();
        stage
    }

    fn pose(&mut self) {
        self.deformer.run().unwrap();
        self.picker.refit(&self.deformer, self.id).unwrap();
    }

    fn place(&mut self, transform: Affine3A) {
        self.deformer.animator_mut().set_transform(self.id, transform).unwrap();
    }

    fn nearest_with(&self, ray: Ray, options: &PickOptions<'_>) -> Option<Hit> {
        self.picker.nearest(self.deformer.animator(), ray, options).unwrap()
    }

    fn nearest(&self, ray: Ray) -> Option<Hit> {
        self.nearest_with(ray, &PickOptions::default())
    }

    fn is_hit(&self, ray: Ray) -> bool {
        self.picker.is_hit(self.deformer.animator(), ray, &PickOptions::default()).unwrap()
    }

    fn triangles(&self) -> Vec<Placed> {
        let transform = self.deformer.animator().draw_transform(self.id).unwrap();
        placed(self.picker.model(), transform, &self.deformer.bake(self.id).unwrap())
    }
}

/// A triangle in the world, and what it is called.
struct Placed {
    name: (u32, usize, u32),
    corners: [Vec3; 3],
}

fn placed(model: &Model, transform: Affine3A, baked: &[BakedPrimitive]) -> Vec<Placed> {
    let mut out = Vec::new();
    for baked in baked {
        let part = model.part_of_node(baked.node).unwrap();
        let primitive = &model.meshes()[baked.mesh as usize].primitives()[baked.primitive];
        for (at, corners) in (0..).zip(triangles(primitive)) {
            let place = |vertex: u32| {
                transform.transform_point3(
                    baked.vertices.positions[primitive.source_vertex(vertex as usize) as usize],
                )
            };
            out.push(Placed { name: (part, baked.primitive, at), corners: corners.map(place) });
        }
    }
    out
}

/// As glTF 2.0 defines them (3.7.2.1), spelled out once more.
fn triangles(primitive: &Primitive) -> Vec<[u32; 3]> {
    let list = primitive.indices();
    match primitive.topology() {
        Topology::Triangles => list.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
        Topology::TriangleStrip => (0..list.len().saturating_sub(2))
            .map(|i| [list[i], list[i + 1 + i % 2], list[i + 2 - i % 2]])
            .collect(),
        _ => Vec::new(),
    }
}

/// Every triangle by itself: the sheared edge functions of Woop and others in f64, and the distance rounded once.
fn search(triangles: &[Placed], ray: Ray) -> Option<((u32, usize, u32), f32)> {
    let (o, d) = (ray.origin().as_dvec3(), ray.direction().as_dvec3());
    let size = ray.direction().abs();
    let z = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let order = if d[z] < 0.0 { [(z + 2) % 3, (z + 1) % 3] } else { [(z + 1) % 3, (z + 2) % 3] };
    let [x, y] = order;
    let (sx, sy, sz) = (d[x] / d[z], d[y] / d[z], 1.0 / d[z]);
    let mut best: Option<((u32, usize, u32), f32)> = None;
    for triangle in triangles {
        let [a, b, c] = triangle
            .corners
            .map(|p| p.as_dvec3() - o)
            .map(|p| [p[x] - sx * p[z], p[y] - sy * p[z], sz * p[z]]);
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        let one_side = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
        let t = ((u * a[2] + v * b[2] + w * c[2]) / (u + v + w)) as f32;
        let is_nearer = best.is_none_or(|(name, best)| t < best || t == best && triangle.name < name);
        if one_side && t.is_finite() && t >= 0.0 && is_nearer {
            best = Some((triangle.name, t));
        }
    }
    best
}

fn found(hit: Option<Hit>) -> Option<((u32, usize, u32), f32)> {
    hit.map(|hit| ((hit.part, hit.primitive, hit.triangle), hit.distance))
}

fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray::new(origin, direction).unwrap()
}

/// Rigid meshes at nodes.
fn model_of(meshes: Vec<(Transform, Vec<PrimitiveDesc>)>, materials: Vec<Material>) -> Model {
    let nodes = meshes.iter().map(|(rest, _)| Node { rest: *rest, ..Node::default() }).collect();
    let part = |at: usize| Part { node: at as u32, mesh: at as u32, skin: None, weights: Vec::new() };
    Model::new(ModelDesc {
        skeleton: Skeleton::new(nodes).unwrap(),
        parts: (0..meshes.len()).map(part).collect(),
        meshes: meshes.into_iter().map(|(_, list)| Mesh::new("mesh", list, Vec::new()).unwrap()).collect(),
        materials,
        ..ModelDesc::default()
    })
    .unwrap()
}

fn list(positions: Vec<Vec3>, indices: Option<Vec<u32>>) -> PrimitiveDesc {
    PrimitiveDesc { positions, indices, ..PrimitiveDesc::default() }
}

fn flat(primitives: Vec<PrimitiveDesc>) -> Model {
    model_of(vec![(Transform::IDENTITY, primitives)], Vec::new())
}

/// A right triangle in the plane z = 0, its front towards +z.
fn triangle() -> PrimitiveDesc {
    list(vec![v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0)], None)
}

#[test]
fn no_ray_is_made_of_a_direction_of_zero_or_of_nan() {
    assert_eq!(Ray::new(Vec3::ZERO, Vec3::ZERO), Err(RayError::NoDirection));
    assert!(matches!(Ray::new(Vec3::NAN, Vec3::X), Err(RayError::NotFinite { .. })));
    assert!(matches!(Ray::new(Vec3::ZERO, v(0.0, f32::INFINITY, 0.0)), Err(RayError::NotFinite { .. })));
}

#[test]
fn directions_of_any_length_become_units() {
    for length in [1e-38f32, 1e-20, 1.0, 1e20, 1e38] {
        let unit = ray(Vec3::ZERO, v(length, length, 0.0)).direction();
        assert!((unit - v(0.5f32.sqrt(), 0.5f32.sqrt(), 0.0)).length() < 1e-6, "{length}: {unit}");
    }
}

#[test]
fn a_picker_without_positions_is_refused() {
    let model = flat(vec![triangle()]);
    let stage = Stage::new(&model);
    let picker = Picker::new(&model).unwrap();
    let nothing =
        picker.nearest(stage.deformer.animator(), ray(Vec3::Z, Vec3::NEG_Z), &PickOptions::default());
    assert_eq!(nothing, Err(PickError::NotPosed));
}

#[test]
fn an_instance_of_another_model_and_a_stale_one_are_refused() {
    let mut stage = Stage::new(&flat(vec![triangle()]));
    let mut other = Picker::new(&flat(vec![triangle()])).unwrap();
    assert_eq!(other.refit(&stage.deformer, stage.id), Err(PickError::OtherModel { instance: stage.id }));
    stage.deformer.despawn(stage.id).unwrap();
    assert!(matches!(stage.picker.refit(&stage.deformer, stage.id), Err(PickError::Animate(_))));
    let gone =
        stage.picker.nearest(stage.deformer.animator(), ray(Vec3::Z, Vec3::NEG_Z), &PickOptions::default());
    assert!(matches!(gone, Err(PickError::Animate(_))), "{gone:?}");
}

#[test]
fn positions_of_another_shape_are_refused_with_the_numbers() {
    let mut stage = Stage::new(&flat(vec![triangle()]));
    let mut baked = stage.deformer.bake(stage.id).unwrap();
    baked[0].vertices.positions.pop();
    let error = stage.picker.refit_baked(stage.deformer.animator(), stage.id, &baked).unwrap_err();
    assert_eq!(error, PickError::Vertices { part: 0, primitive: 0, found: 2, expected: 3 });
}

#[test]
fn a_model_without_triangles_is_never_hit() {
    let points = PrimitiveDesc { topology: Topology::Points, ..triangle() };
    let lines = PrimitiveDesc { topology: Topology::LineStrip, ..triangle() };
    let stage = Stage::new(&flat(vec![points, lines]));
    assert_eq!(stage.picker.triangles(), 0);
    assert_eq!(stage.nearest(ray(v(0.0, 0.0, 1.0), Vec3::NEG_Z)), None);
    assert!(!Stage::new(&model_of(Vec::new(), Vec::new())).is_hit(ray(Vec3::ZERO, Vec3::X)));
}

#[test]
fn triangles_without_an_area_are_not_hit_and_hide_none() {
    let point = list(vec![v(0.25, 0.25, 0.5); 3], None);
    let line = list(vec![v(0.0, 0.25, 0.5), v(0.25, 0.25, 0.5), v(1.0, 0.25, 0.5)], None);
    let stage = Stage::new(&flat(vec![point, line, triangle()]));
    let hit = stage.nearest(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z)).unwrap();
    assert_eq!((hit.primitive, hit.distance), (2, 1.0));
}

#[test]
fn corners_that_are_not_finite_are_not_hit_and_hide_none() {
    let mut stage = Stage::new(&flat(vec![triangle(), triangle()]));
    let mut baked = stage.deformer.bake(stage.id).unwrap();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        baked[0].vertices.positions[1] = v(bad, 0.0, 0.0);
        stage.picker.refit_baked(stage.deformer.animator(), stage.id, &baked).unwrap();
        let hit = stage.nearest(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z)).unwrap();
        assert_eq!(hit.primitive, 1);
    }
}

#[test]
fn a_triangle_seen_edge_on_is_not_hit() {
    let stage = Stage::new(&flat(vec![triangle()]));
    assert_eq!(stage.nearest(ray(v(-1.0, 0.25, 0.0), Vec3::X)), None);
}

#[test]
fn a_hit_says_where_and_what() {
    let stage = Stage::new(&flat(vec![triangle()]));
    let hit = stage.nearest(ray(v(0.25, 0.5, 2.0), v(0.0, 0.0, -7.0))).unwrap();
    assert_eq!((hit.part, hit.mesh, hit.primitive, hit.triangle), (0, 0, 0, 0));
    assert_eq!((hit.vertices, hit.node, hit.joint), ([0, 1, 2], 0, None));
    assert_eq!(hit.barycentrics, v(0.25, 0.25, 0.5));
    assert_eq!((hit.position, hit.normal), (v(0.25, 0.5, 0.0), Vec3::Z));
    assert_eq!((hit.distance, hit.is_front), (2.0, true));
    let back = stage.nearest(ray(v(0.25, 0.5, -2.0), Vec3::Z)).unwrap();
    assert_eq!((back.normal, back.is_front), (Vec3::Z, false));
}

#[test]
fn nothing_behind_the_origin_is_hit_and_an_origin_inside_a_box_hits_what_is_ahead() {
    let cube = |z: f32| list(vec![v(-9.0, -9.0, z), v(9.0, -9.0, z), v(0.0, 9.0, z)], None);
    let stage = Stage::new(&flat(vec![cube(-1.0), cube(1.0)]));
    assert_eq!(stage.nearest(ray(Vec3::ZERO, Vec3::Z)).unwrap().primitive, 1);
    assert_eq!(stage.nearest(ray(Vec3::ZERO, Vec3::NEG_Z)).unwrap().primitive, 0);
    assert_eq!(stage.nearest(ray(v(0.0, 0.0, 1.5), Vec3::Z)), None);
    // On the surface.
    assert_eq!(stage.nearest(ray(v(0.0, 0.0, 1.0), Vec3::Z)).unwrap().distance, 0.0);
}

#[test]
fn hits_beyond_the_largest_distance_are_none() {
    let stage = Stage::new(&flat(vec![triangle()]));
    let down = ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z);
    let within = |max_distance| {
        let options = PickOptions { max_distance: Some(max_distance), ..PickOptions::default() };
        let any = stage.picker.is_hit(stage.deformer.animator(), down, &options).unwrap();
        assert_eq!(stage.nearest_with(down, &options).is_some(), any);
        any
    };
    assert_eq!([1.0, 0.999, -1.0, f32::NAN].map(within), [true, false, false, false]);
}

#[test]
fn sides_are_chosen_by_winding_and_material() {
    let with = |material| PrimitiveDesc { material: Some(material), ..triangle() };
    let materials = vec![Material::default(), Material { double_sided: true, ..Material::default() }];
    let up = ray(v(0.25, 0.25, -1.0), Vec3::Z);
    for (material, sides, expected) in [
        (0, Sides::Both, true),
        (0, Sides::Front, false),
        (0, Sides::AsDrawn, false),
        (1, Sides::Front, false),
        (1, Sides::AsDrawn, true),
    ] {
        let stage =
            Stage::new(&model_of(vec![(Transform::IDENTITY, vec![with(material)])], materials.clone()));
        let options = PickOptions { sides, ..PickOptions::default() };
        assert_eq!(stage.nearest_with(up, &options).is_some(), expected, "{material} {sides:?}");
    }
}

#[test]
fn a_culled_triangle_does_not_hide_the_one_behind() {
    let mut away = triangle();
    away.indices = Some(vec![0, 2, 1]);
    away.positions.iter_mut().for_each(|p| p.z = 0.5);
    let stage = Stage::new(&flat(vec![away, triangle()]));
    let down = ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z);
    let options = PickOptions { sides: Sides::Front, ..PickOptions::default() };
    assert_eq!(stage.nearest(down).unwrap().primitive, 0);
    assert_eq!(stage.nearest_with(down, &options).unwrap().primitive, 1);
}

#[test]
fn hidden_parts_and_parts_not_asked_for_are_passed_through() {
    let at = |z: f32| (Transform::from_translation(Vec3::Z * z), vec![triangle()]);
    let mut stage = Stage::new(&model_of(vec![at(2.0), at(1.0), at(0.0)], Vec::new()));
    let down = ray(v(0.25, 0.25, 3.0), Vec3::NEG_Z);
    assert_eq!(stage.nearest(down).unwrap().part, 0);
    let options = PickOptions { parts: Some(&[2, 1]), ..PickOptions::default() };
    assert_eq!(stage.nearest_with(down, &options).unwrap().part, 1);
    let none = PickOptions { parts: Some(&[]), ..PickOptions::default() };
    assert_eq!(stage.nearest_with(down, &none), None);
    let id = stage.id;
    stage.deformer.animator_mut().show_part(id, 0, false).unwrap();
    assert_eq!(stage.nearest(down).unwrap().part, 1);
    // A hidden node has no size.
    stage.deformer.animator_mut().show_node(id, 1, false).unwrap();
    stage.pose();
    assert_eq!(stage.nearest(down).unwrap().part, 2);
    stage.deformer.animator_mut().set_visible(id, false).unwrap();
    assert_eq!(stage.nearest(down), None);
    assert!(!stage.is_hit(down));
}

#[test]
fn strips_count_their_triangles_from_each_index_and_keep_one_front() {
    let corners =
        vec![v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0), v(1.0, 1.0, 0.0), v(0.0, 2.0, 0.0)];
    // In an order of its own, so that indices and places differ.
    let shuffled = [4, 2, 0, 3, 1].map(|i| corners[i]).to_vec();
    let indices = [2, 4, 1, 3, 0].to_vec();
    for normals in [Vec::new(), vec![Vec3::Z; 5]] {
        let strip = PrimitiveDesc {
            topology: Topology::TriangleStrip,
            normals,
            ..list(shuffled.clone(), Some(indices.clone()))
        };
        let stage = Stage::new(&flat(vec![strip]));
        for (triangle, x, y) in [(0, 0.2, 0.2), (1, 0.8, 0.8), (2, 0.2, 1.2)] {
            let hit = stage.nearest(ray(v(x, y, 1.0), Vec3::NEG_Z)).unwrap();
            assert_eq!((hit.triangle, hit.is_front, hit.normal), (triangle, true, Vec3::Z));
            let mut expected = [0, 1, 2].map(|i| indices[triangle as usize + i]);
            expected.sort_unstable();
            let mut vertices = hit.vertices;
            vertices.sort_unstable();
            assert_eq!(vertices, expected);
        }
    }
}

#[test]
fn rays_through_edges_and_corners_never_leave_a_closed_surface() {
    let mut stage = Stage::new(&tube::ball(24, 16));
    let mut random = Random::new(5);
    let transform = Affine3A::from_rotation_y(0.3) * Affine3A::from_translation(v(0.1, 0.2, 0.3));
    stage.place(transform);
    for triangle in stage.triangles() {
        let [a, b, c] = triangle.corners;
        for share in [0.0, 0.5, 1.0, random.unit().abs()] {
            for target in [a.lerp(b, share), b.lerp(c, share), c.lerp(a, share)] {
                // The middle, where rays to corners go along the surface's symmetry, and anywhere inside.
                for from in [Vec3::ZERO, random.vector() * 0.5] {
                    let ray = Ray::towards(transform.transform_point3(from), target).unwrap();
                    assert!(stage.nearest(ray).is_some() && stage.is_hit(ray), "{ray:?}");
                }
            }
        }
    }
}

#[test]
fn of_several_at_one_distance_the_lowest_is_hit() {
    let at = || (Transform::IDENTITY, vec![triangle(), triangle()]);
    let stage = Stage::new(&model_of(vec![at(), at(), at()], Vec::new()));
    let hit = stage.nearest(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z));
    assert_eq!(found(hit), Some(((0, 0, 0), 1.0)));
    let options = PickOptions { parts: Some(&[1, 2]), ..PickOptions::default() };
    let hit = stage.nearest_with(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z), &options);
    assert_eq!(found(hit), Some(((1, 0, 0), 1.0)));
}

#[test]
fn a_hundred_thousand_triangles_in_one_plane_and_in_one_place() {
    let side = 224u32;
    let grid = (0..side * side).map(|i| v((i % side) as f32, (i / side) as f32, 0.0)).collect();
    let cell = |i: u32| [i, i + 1, i + side, i + 1, i + side + 1, i + side];
    let cells = (0..side * (side - 1)).filter(|i| i % side < side - 1);
    let grid = list(grid, Some(cells.flat_map(cell).collect()));
    let stage = Stage::new(&flat(vec![grid]));
    assert_eq!(stage.picker.triangles(), 99_458);
    let triangles = stage.triangles();
    for (x, y) in [(0.0, 0.0), (10.25, 20.25), (100.0, 57.5), (222.75, 222.75)] {
        let ray = ray(v(x, y, 3.0), v(0.0, 0.0, -1.0));
        assert_eq!(found(stage.nearest(ray)), search(&triangles, ray));
        assert!(stage.is_hit(ray));
    }
    let heap = list(triangle().positions.repeat(100_000), None);
    let stage = Stage::new(&flat(vec![heap]));
    assert_eq!(found(stage.nearest(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z))), Some(((0, 0, 0), 1.0)));
}

#[test]
fn triangles_that_halve_again_and_again_make_no_tree_too_deep() {
    // Each half as far from the origin and half as large as the one before, down to where f32 ends.
    let positions = (0..140).flat_map(|i| {
        let size = 2f32.powi(-i);
        [v(size, 0.0, 0.0), v(size * 1.1, 0.0, 0.0), v(size, size * 0.1, 0.0)]
    });
    let stage = Stage::new(&flat(vec![list(positions.collect(), None)]));
    let triangles = stage.triangles();
    for i in [0, 1, 20, 60, 120] {
        let size = 2f32.powi(-i);
        let ray = ray(v(size * 1.02, size * 0.02, 1.0), Vec3::NEG_Z);
        assert_eq!(found(stage.nearest(ray)), search(&triangles, ray), "{i}");
        assert_eq!(stage.nearest(ray).unwrap().triangle, i as u32);
    }
}

/// Turned, scaled, mirrored, far away, flat in one axis and in two, and to a point.
fn transforms() -> Vec<Affine3A> {
    let scaled = |scale| {
        Affine3A::from_scale_rotation_translation(scale, Quat::from_rotation_y(0.7), v(0.3, -0.2, 0.1))
    };
    let mut list = vec![Affine3A::IDENTITY];
    list.extend(
        [
            v(2.0, 0.5, 1.5),
            v(-1.0, 1.0, 1.0),
            v(1e-3, 1e-3, 1e-3),
            v(1e4, -1e4, 1e4),
            v(1.0, 1.0, 0.0),
            v(1.0, 0.0, 0.0),
            Vec3::ZERO,
        ]
        .map(scaled),
    );
    list.push(Affine3A::from_translation(v(1e4, -2e4, 5e3)));
    list.push(Affine3A {
        matrix3: Mat3A::from_cols(Vec3::X.into(), v(0.9, 1.0, 0.0).into(), v(0.0, 0.3, 0.2).into()),
        translation: Vec3::ONE.into(),
    });
    list
}

/// Rays of which most meet the box of some triangles, some go along axes, and some aim at a corner or an edge.
fn rays(random: &mut Random, triangles: &[Placed], count: usize) -> Vec<Ray> {
    let points = || triangles.iter().flat_map(|triangle| triangle.corners).filter(|point| point.is_finite());
    let (min, max) = points().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
    let (middle, size) = ((min + max) * 0.5, (max - min).max(Vec3::splat(1e-6)));
    let mut out = Vec::new();
    while out.len() < count {
        let from = middle + size * random.vector() * 1.5;
        let triangle = &triangles[random.below(triangles.len() as u32) as usize];
        let [a, b, c] = triangle.corners;
        let target = match random.below(6) {
            0 => a,
            1 => a.lerp(b, random.unit().abs()),
            2 => (a + b + c) / 3.0,
            3 => from + [Vec3::X, Vec3::Y, Vec3::Z][random.below(3) as usize] * random.unit().signum(),
            _ => middle + size * random.vector() * 0.5,
        };
        out.extend(Ray::towards(from, target).ok());
    }
    out
}

/// Holds `count` rays against the search; returns how many hit.
fn compare(stage: &Stage, random: &mut Random, count: usize, place: &str) -> usize {
    let triangles = stage.triangles();
    let mut hits = 0;
    for ray in rays(random, &triangles, count) {
        let (hit, expected) = (stage.nearest(ray), search(&triangles, ray));
        assert_eq!(found(hit), expected, "{place}: {ray:?}");
        assert_eq!(stage.is_hit(ray), expected.is_some(), "{place}: {ray:?}");
        let Some(hit) = hit else { continue };
        hits += 1;
        let along = ray.origin().as_dvec3() + ray.direction().as_dvec3() * f64::from(hit.distance);
        let reach = f64::from(hit.distance.abs().max(ray.origin().abs().max_element()));
        let thin = normal_of(&triangles, &hit).dot(ray.direction().as_dvec3()).abs();
        if thin > 0.1 {
            assert!(along.distance(hit.position.as_dvec3()) <= 1e-5 * reach, "{place}: {ray:?} {hit:?}");
        }
        assert!((hit.barycentrics.element_sum() - 1.0).abs() < 1e-6 && hit.barycentrics.min_element() >= 0.0);
    }
    hits
}

fn normal_of(triangles: &[Placed], hit: &Hit) -> DVec3 {
    let name = (hit.part, hit.primitive, hit.triangle);
    let [a, b, c] =
        triangles.iter().find(|triangle| triangle.name == name).unwrap().corners.map(|p| p.as_dvec3());
    (b - a).cross(c - a).normalize_or_zero()
}

#[test]
fn ten_thousand_rays_over_posed_models_hit_what_a_search_of_all_triangles_finds() {
    const RAYS: usize = 10_000;
    let mut random = Random::new(1);
    let transforms = transforms();
    let mut jobs: Vec<_> = Vec::new();
    for set in DataSet::all() {
        for (file, list) in set.jobs() {
            jobs.push((set.model(&file), list));
        }
    }
    // As many rays for each; few where a search takes long.
    let (mut rays, mut hits, mut files) = (0, 0, 0);
    while rays < RAYS {
        for (path, list) in &jobs {
            let Ok(model) = Model::load(path) else { continue };
            let mut stage = Stage::new(&model);
            if stage.picker.triangles() == 0 {
                continue;
            }
            files += 1;
            let job = list[random.below(list.len() as u32) as usize];
            if let Some(clip) = job.clip {
                let id = stage.id;
                stage.deformer.animator_mut().play(id, clip).unwrap().seek(f64::from(job.time));
            }
            let transform = transforms[random.below(transforms.len() as u32) as usize];
            stage.place(transform);
            stage.pose();
            let each = (200_000 / stage.picker.triangles()).clamp(4, 60);
            hits += compare(&stage, &mut random, each, &path.display().to_string());
            rays += each;
        }
    }
    println!("{rays} rays over {files} posed models: {hits} hits, each equal to the search's");
    assert!(hits * 5 > rays, "{hits} of {rays}: the rays test nothing");
}

#[test]
fn rays_under_every_kind_of_transform_hit_what_a_search_finds() {
    let mut stage = Stage::new(&tube::tube(40, 24, 12));
    let id = stage.id;
    stage.deformer.animator_mut().play(id, 0).unwrap().seek(0.7);
    stage.pose();
    let mut random = Random::new(9);
    let mut hits = Vec::new();
    for (at, transform) in transforms().into_iter().enumerate() {
        stage.place(transform);
        hits.push(compare(&stage, &mut random, 300, &format!("transform {at}")));
    }
    // What was shrunk to a point has no area.
    assert_eq!(hits[7], 0, "{hits:?}");
    assert!(hits.iter().enumerate().all(|(at, hits)| *hits > 20 || at == 7), "{hits:?}");
}

#[test]
fn fronts_stay_fronts_where_a_joint_or_the_instance_mirrors() {
    let mirror = Transform { scale: v(-1.0, 1.0, 1.0), ..Transform::IDENTITY };
    for (rest, own) in [(mirror, 1.0), (Transform::IDENTITY, -1.0), (mirror, -1.0)] {
        let mut stage = Stage::new(&model_of(vec![(rest, vec![triangle()])], Vec::new()));
        stage.place(Affine3A::from_scale(v(own, 1.0, 1.0)));
        let x = 0.25 * own * rest.scale.x;
        let hit = stage.nearest(ray(v(x, 0.25, 1.0), Vec3::NEG_Z)).unwrap();
        assert_eq!((hit.is_front, hit.normal), (true, Vec3::Z));
        let options = PickOptions { sides: Sides::Front, ..PickOptions::default() };
        assert!(stage.nearest_with(ray(v(x, 0.25, -1.0), Vec3::Z), &options).is_none());
    }
}

#[test]
fn the_joint_of_a_hit_is_the_one_with_the_largest_share() {
    let model = tube::tube(40, 24, 12);
    let stage = Stage::new(&model);
    // Joint j rests at height j, and each vertex halfway between two heights follows both.
    for joint in 1..11u32 {
        let hit = stage.nearest(ray(v(9.0, joint as f32 + 0.05, 0.0), Vec3::NEG_X)).unwrap();
        assert_eq!((hit.node, hit.joint), (joint, Some(joint)));
        assert_eq!(model.skeleton().names()[hit.node as usize], format!("joint {joint}"));
    }
}

#[test]
fn vertices_from_the_gpu_are_hit_like_those_of_the_twin() {
    let (device, queue) = gpu::device();
    let model = tube::tube(40, 24, 12);
    let mut stage = Stage::new(&model);
    let id = stage.id;
    stage.deformer.animator_mut().play(id, 0).unwrap().seek(0.6);
    stage.pose();
    let mut deformer = Deformer::new(&device);
    let handle = deformer.add_model_with(&queue, &model, Precision::Exact).unwrap();
    let id = deformer.spawn(handle).unwrap();
    deformer.play(id, 0).unwrap().seek(0.6);
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    let read_back = deformer.read_back(&mut encoder).unwrap();
    gpu::submit(&device, &queue, encoder);
    let mut picker = stage.picker.clone();
    picker.refit_baked(deformer.animator(), id, &read_back.bake(&deformer, id).unwrap().unwrap()).unwrap();
    let mut random = Random::new(3);
    for ray in rays(&mut random, &stage.triangles(), 200) {
        let (a, b) =
            (stage.nearest(ray), picker.nearest(deformer.animator(), ray, &PickOptions::default()).unwrap());
        // Where an edge or an outline is grazed, rounding decides.
        if let (Some(a), Some(b)) = (a, b)
            && a.barycentrics.min_element() > 1e-3
            && a.normal.dot(ray.direction()).abs() > 0.05
        {
            assert!((a.distance - b.distance).abs() < 1e-3 && a.triangle == b.triangle, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_clone_follows_another_instance() {
    let model = tube::tube(40, 24, 12);
    let mut stage = Stage::new(&model);
    let handle = stage.deformer.animator().model_of(stage.id).unwrap();
    let other = stage.deformer.spawn(handle).unwrap();
    stage.deformer.animator_mut().set_transform(other, Affine3A::from_translation(Vec3::X * 50.0)).unwrap();
    stage.pose();
    let mut picker = stage.picker.clone();
    picker.refit(&stage.deformer, other).unwrap();
    let down = ray(v(50.0, 5.0, 9.0), Vec3::NEG_Z);
    assert_eq!(stage.nearest(down), None);
    let hit = picker.nearest(stage.deformer.animator(), down, &PickOptions::default()).unwrap().unwrap();
    assert_eq!(hit.instance, other);
}
