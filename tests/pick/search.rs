//! Beside a search of all triangles, in every bit.

use glam::{DVec3, Mat3A, Quat};
use sinew::{Deformer, deform::BakedPrimitive, model::Primitive};

use super::{
    common::{gpu, models::Random, oracle::DataSet},
    *,
};

/// A triangle in the world, and what it is called.
pub(super) struct Placed {
    name: (u32, u32, u32),
    corners: [Vec3; 3],
}

pub(super) fn placed(model: &Model, transform: Affine3A, baked: &[BakedPrimitive]) -> Vec<Placed> {
    let mut out = Vec::new();
    for baked in baked {
        let part = model.part_of_node(baked.node).unwrap();
        let primitive = &model.meshes()[baked.mesh as usize].primitives()[baked.primitive as usize];
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
fn search(triangles: &[Placed], ray: Ray) -> Option<((u32, u32, u32), f32)> {
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
    let mut best: Option<((u32, u32, u32), f32)> = None;
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

pub(super) fn found(hit: Option<Hit>) -> Option<((u32, u32, u32), f32)> {
    hit.map(|hit| ((hit.part, hit.primitive, hit.triangle), hit.distance))
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
fn of_a_hundred_thousand_triangles_in_one_plane_the_one_that_a_search_finds_is_hit() {
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
}

#[test]
fn of_a_hundred_thousand_equal_triangles_the_first_is_hit() {
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
