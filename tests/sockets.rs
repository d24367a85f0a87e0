//! Attachments: at joints and on the deformed surface.
#![cfg(all(feature = "gltf", feature = "meshopt"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    models::{Random, SKINNINGS, Shape, character, hostile, skinned},
    oracle::DataSet,
    tube,
};
use glam::{Affine3A, Quat, Vec3};
use sinew::{
    Animator, CpuDeformer, InstanceId, Model, Precision,
    deform::{DeformError, Dominant, VertexDeformer},
    model::{Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton},
    pick::{PickError, PickOptions, Picker, Ray, Socket, SurfacePoint},
};

fn stage(model: &Model) -> (CpuDeformer, InstanceId) {
    let mut deformer = CpuDeformer::new();
    let handle = deformer.add_model(model, Precision::Exact).unwrap();
    let id = deformer.spawn(handle).unwrap();
    deformer.run().unwrap();
    (deformer, id)
}

/// One rigid part of these vertices.
fn model_of(desc: PrimitiveDesc) -> Model {
    Model::new(ModelDesc {
        skeleton: Skeleton::new(vec![Node::default()]).unwrap(),
        meshes: vec![Mesh::new("mesh", vec![desc], Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: None, weights: Vec::new() }],
        ..ModelDesc::default()
    })
    .unwrap()
}

fn at(triangle: u32, barycentrics: Vec3) -> SurfacePoint {
    SurfacePoint { part: 0, primitive: 0, triangle, barycentrics }
}

const MIDDLE: Vec3 = Vec3::splat(1.0 / 3.0);

fn is_rigid(m: Affine3A) -> bool {
    let m = m.matrix3;
    let unit = |v: glam::Vec3A| (v.length() - 1.0).abs() < 1e-5;
    let upright = |a: glam::Vec3A, b: glam::Vec3A| a.dot(b).abs() < 1e-5;
    unit(m.x_axis)
        && unit(m.y_axis)
        && unit(m.z_axis)
        && upright(m.x_axis, m.y_axis)
        && upright(m.x_axis, m.z_axis)
        && upright(m.y_axis, m.z_axis)
        && m.determinant() > 0.0
}

#[test]
fn places_that_do_not_exist_are_refused_with_the_numbers() {
    let model = tube::tube(2, 3, 2);
    let (deformer, id) = stage(&model);
    let animator = deformer.animator();
    let triangle = at(999, MIDDLE).frame(animator, id).unwrap_err();
    assert_eq!(triangle, PickError::UnknownTriangle { part: 0, primitive: 0, triangle: 999, triangles: 18 });
    let primitive = SurfacePoint { primitive: 1, ..at(0, MIDDLE) }.frame(animator, id).unwrap_err();
    assert_eq!(primitive, PickError::UnknownTriangle { part: 0, primitive: 1, triangle: 0, triangles: 0 });
    let part = SurfacePoint { part: 7, ..at(0, MIDDLE) }.frame(animator, id).unwrap_err();
    assert_eq!(part, PickError::Deform(DeformError::UnknownPart { part: 7, shown: vec![0] }));
    let node = Socket::joint(9, Affine3A::IDENTITY).world(animator, id).unwrap_err();
    assert_eq!(node.to_string(), "there is no node 9; the model has 3");
}

#[test]
fn a_triangle_without_an_area_has_a_frame() {
    for corners in [
        [Vec3::ONE; 3],
        [Vec3::ZERO, Vec3::X, Vec3::X * 2.0],
        [Vec3::ZERO, Vec3::ZERO, Vec3::Z],
        [Vec3::ZERO, Vec3::X * 1e-30, Vec3::Y * 1e-30],
    ] {
        for normals in [Vec::new(), vec![Vec3::ZERO; 3], vec![Vec3::X; 3]] {
            let desc = PrimitiveDesc { positions: corners.to_vec(), normals, ..PrimitiveDesc::default() };
            let (mut deformer, id) = stage(&model_of(desc));
            for scale in [Vec3::ONE, Vec3::new(1.0, 0.0, -1.0), Vec3::ZERO, Vec3::splat(1e-20)] {
                deformer.animator_mut().set_transform(id, Affine3A::from_scale(scale)).unwrap();
                let frame = at(0, MIDDLE).frame(deformer.animator(), id).unwrap();
                assert!(is_rigid(frame.to_affine()), "{corners:?} {scale} {frame:?}");
            }
        }
    }
}

#[test]
fn the_frame_stands_on_the_normal_with_x_along_the_first_edge_or_the_tangent() {
    let desc = PrimitiveDesc {
        positions: vec![Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 2.0, 0.0)],
        ..PrimitiveDesc::default()
    };
    let (deformer, id) = stage(&model_of(desc.clone()));
    let frame = at(0, Vec3::new(0.5, 0.25, 0.25)).frame(deformer.animator(), id).unwrap();
    assert_eq!((frame.position, frame.normal, frame.tangent), (Vec3::new(0.5, 0.5, 0.0), Vec3::Z, Vec3::X));
    assert_eq!(frame.to_affine().matrix3, glam::Mat3A::IDENTITY);
    let tangents = vec![Vec3::Y.extend(1.0); 3];
    let (mut deformer, id) = stage(&model_of(PrimitiveDesc { tangents, normals: vec![Vec3::Z; 3], ..desc }));
    assert_eq!(at(0, MIDDLE).frame(deformer.animator(), id).unwrap().tangent, Vec3::Y);
    // A mirror keeps the outside outside.
    deformer.animator_mut().set_transform(id, Affine3A::from_scale(Vec3::new(-3.0, 1.0, 1.0))).unwrap();
    let frame = at(0, MIDDLE).frame(deformer.animator(), id).unwrap();
    assert!((frame.position.x + 2.0).abs() < 1e-6);
    assert_eq!((frame.normal, frame.tangent), (Vec3::Z, Vec3::Y));
}

#[test]
fn single_vertices_are_those_that_the_twin_bakes() {
    let mut random = Random::new(4);
    let mut compared = [0; 2];
    for set in DataSet::all() {
        for (file, jobs) in set.jobs() {
            let Ok(model) = Model::load(set.model(&file)) else { continue };
            let job = jobs[random.below(jobs.len() as u32) as usize];
            for (skinning, compared) in SKINNINGS.into_iter().zip(&mut compared) {
                let (mut deformer, id) = stage(&skinned(&model, skinning));
                if let Some(clip) = job.clip {
                    deformer.animator_mut().play(id, clip).unwrap().seek(f64::from(job.time));
                }
                deformer.run().unwrap();
                *compared += compare_single(&deformer, id, &mut random, &format!("{file} {skinning:?}"));
            }
        }
    }
    println!("{compared:?} vertices, each within a millionth of the model's size");
    assert!(compared.iter().all(|compared| *compared > 1000));
}

/// Some vertices of an instance beside those that the twin bakes.
fn compare_single(deformer: &CpuDeformer, id: InstanceId, random: &mut Random, place: &str) -> usize {
    let model = deformer.animator().model(deformer.animator().model_of(id).unwrap()).unwrap();
    let mut compared = 0;
    for baked in deformer.bake(id).unwrap() {
        let part = model.part_of_node(baked.node).unwrap();
        let single = VertexDeformer::new(deformer.animator(), id, part).unwrap();
        let primitive = &single.primitives()[baked.primitive as usize];
        let size = |p: &Vec3| p.abs().max_element();
        let size = baked.vertices.positions.iter().map(size).fold(1e-6, f32::max);
        for _ in 0..40 {
            let vertex = random.below(primitive.vertex_count() as u32);
            let source = primitive.source_vertex(vertex as usize) as usize;
            let own = single.vertex(baked.primitive, vertex).unwrap();
            let expected = baked.vertices.positions[source];
            assert!((own.position - expected).length() <= 1e-6 * size, "{place} {own:?} {expected}");
            if let Some(normal) = baked.vertices.normals.get(source) {
                assert!((own.normal - *normal).length() <= 1e-5, "{place}: {own:?} {normal}");
            }
            compared += 1;
        }
    }
    compared
}

#[test]
fn single_vertices_of_every_influence_class_are_those_that_the_twin_bakes() {
    let mut random = Random::new(6);
    for influences in [0, 1, 2, 3, 4, 5, 8, 9, 16] {
        let shape = Shape { vertices: 200, joints: 20, influences, targets: 2 };
        for model in [character(influences.into(), shape), hostile(influences.into(), shape)] {
            for skinning in SKINNINGS {
                let (mut deformer, id) = stage(&skinned(&model, skinning));
                deformer.animator_mut().play(id, 0).unwrap().seek(0.8);
                deformer.run().unwrap();
                compare_single(&deformer, id, &mut random, &format!("{influences} {skinning:?}"));
            }
        }
    }
}

#[test]
fn the_dominant_joint_is_named_with_its_node() {
    let model = tube::tube(2, 3, 2);
    let (deformer, id) = stage(&model);
    let single = VertexDeformer::new(deformer.animator(), id, 0).unwrap();
    let corners = single.primitives()[0].triangle(0).unwrap();
    let joint = model.skins()[0].joints()[0];
    assert_eq!(single.dominant(0, corners, Vec3::X), Some(Dominant { node: joint, joint: Some(0) }));
    let desc = PrimitiveDesc { positions: vec![Vec3::ONE; 3], ..PrimitiveDesc::default() };
    let (deformer, id) = stage(&model_of(desc));
    let rigid = VertexDeformer::new(deformer.animator(), id, 0).unwrap();
    assert_eq!(rigid.dominant(0, [0, 1, 2], MIDDLE), Some(Dominant { node: 0, joint: None }));
    assert_eq!(rigid.dominant(1, [0, 1, 2], MIDDLE), None);
}

#[test]
fn a_vertex_past_the_last_is_none() {
    let model = tube::tube(2, 3, 2);
    let (deformer, id) = stage(&model);
    let single = VertexDeformer::new(deformer.animator(), id, 0).unwrap();
    assert_eq!((single.vertex(0, 11), single.vertex(1, 0)), (None, None));
    assert_eq!(single.dominant(0, [0, 1, 11], MIDDLE), None);
    assert!(single.vertex(0, 10).is_some());
}

#[test]
fn a_surface_socket_follows_the_point_that_was_hit() {
    let model = tube::tube(40, 24, 12);
    let (mut deformer, id) = stage(&model);
    let place = Affine3A::from_rotation_translation(Quat::from_rotation_x(0.4), Vec3::new(3.0, 0.0, 1.0));
    deformer.animator_mut().set_transform(id, place).unwrap();
    deformer.animator_mut().play(id, 0).unwrap();
    let mut picker = Picker::new(&model).unwrap();
    deformer.run().unwrap();
    picker.refit(&deformer, id).unwrap();
    let from = place.transform_point3(Vec3::new(4.0, 7.3, 0.2));
    let ray = Ray::new(from, place.transform_vector3(Vec3::NEG_X)).unwrap();
    let hit = picker.nearest(deformer.animator(), ray, &PickOptions::default()).unwrap().unwrap();
    let socket = Socket::surface(&hit, Affine3A::from_translation(Vec3::Z * 0.1));
    for step in 0..=10 {
        deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(f64::from(step) * 0.1);
        deformer.run().unwrap();
        let baked = &deformer.bake(id).unwrap()[0].vertices.positions;
        let [a, b, c] = hit.vertices.map(|vertex| place.transform_point3(baked[vertex as usize]));
        let expected = a * hit.barycentrics.x + b * hit.barycentrics.y + c * hit.barycentrics.z;
        let frame = SurfacePoint::from(&hit).frame(deformer.animator(), id).unwrap();
        assert!((frame.position - expected).length() < 1e-5, "{step}");
        let normal = (b - a).cross(c - a).normalize();
        assert!(frame.normal.dot(normal) > 0.95, "{step}: {} {normal}", frame.normal);
        let world = socket.world(deformer.animator(), id).unwrap();
        assert!(is_rigid(world));
        let above = Vec3::from(world.translation) - frame.position;
        assert!((above - frame.normal * 0.1).length() < 1e-5);
    }
}

/// Plays a clip and looks at vertices of a part from a box that is attached to the node called `name`: the largest
/// distance that one of them moves away from where the box sees it first, and how far the box travels.
fn from_the_box(model: &Model, clip: &str, name: &str, least_weight: f32) -> [f32; 2] {
    let (mut deformer, id) = stage(model);
    let place =
        Affine3A::from_scale_rotation_translation(Vec3::splat(2.0), Quat::from_rotation_y(1.0), Vec3::ONE);
    deformer.animator_mut().set_transform(id, place).unwrap();
    let node = model.skeleton().find(name).unwrap();
    let grip = Affine3A::from_rotation_translation(Quat::from_rotation_x(0.3), Vec3::new(0.02, 0.05, 0.01));
    let socket = Socket::joint(node, grip);
    let vertices = followers(model, node, least_weight);
    assert!(vertices.len() >= 4, "{} vertices follow {name}", vertices.len());
    let length = deformer.animator_mut().play(id, model.find_clip(clip).unwrap()).unwrap().duration();
    let (mut away, mut travelled) = (0.0f32, 0.0f32);
    let mut first: Option<(Vec<Vec3>, Vec3)> = None;
    for step in 0..=30 {
        deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(f64::from(step) / 30.0 * length);
        deformer.run().unwrap();
        let world = socket.world(deformer.animator(), id).unwrap();
        let back = world.inverse();
        let seen = vertices.iter().map(|&(part, primitive, vertex)| {
            let single = VertexDeformer::new(deformer.animator(), id, part).unwrap();
            let own = single.vertex(primitive, vertex).unwrap().position;
            back.transform_point3(place.transform_point3(own))
        });
        let now = (seen.collect::<Vec<_>>(), Vec3::from(world.translation));
        let (seen, start) = first.get_or_insert_with(|| now.clone());
        for (now, seen) in now.0.iter().zip(seen) {
            away = away.max(now.distance(*seen));
        }
        travelled = travelled.max(now.1.distance(*start));
    }
    [away, travelled]
}

/// Part, primitive and vertex of those that follow a joint with at least that weight.
fn followers(model: &Model, node: u32, least: f32) -> Vec<(u32, u32, u32)> {
    let mut out = Vec::new();
    for (at, part) in (0u32..).zip(model.parts()) {
        let joints = part.skin.map_or(&[][..], |skin| model.skins()[skin as usize].joints());
        let Some(joint) = joints.iter().position(|known| *known == node) else { continue };
        for (p, primitive) in (0u32..).zip(model.meshes()[part.mesh as usize].primitives()) {
            let influences = primitive.influences().unwrap();
            let weight = |v: usize| {
                let own = influences.row(v).iter().filter(|i| i.joint as usize == joint);
                own.map(|i| i.weight).sum::<f32>()
            };
            let own = (0..primitive.vertex_count()).filter(|v| weight(*v) >= least);
            out.extend(own.map(|v| (at, p, v as u32)));
        }
    }
    out
}

#[test]
fn vertices_that_follow_a_joint_alone_stand_still_as_seen_from_a_box_attached_to_it() {
    let [away, travelled] = from_the_box(&tube::tube(44, 24, 12), "bend", "joint 9", 1.0);
    assert!(away < 2e-5 && travelled > 5.0, "{away} {travelled}");
}

#[test]
fn a_box_in_the_hand_stays_in_the_hand_across_a_clip() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    for hand in ["hand_l", "hand_r"] {
        // Vertices of the hand that its neighbours pull at a little.
        let [away, travelled] = from_the_box(&model, "run", hand, 0.7);
        assert!(away < 0.03 && travelled > 0.2, "{hand}: {away} m off, {travelled} m travelled");
    }
}

#[test]
fn a_joint_socket_is_the_joint_under_what_the_mesh_is_drawn_with() {
    let model = tube::tube(4, 6, 3);
    let mut animator = Animator::new();
    let handle = animator.add_model(&model);
    let id = animator.spawn(handle).unwrap();
    let place = Affine3A::from_scale_rotation_translation(
        Vec3::new(1.0, -2.0, 1.0),
        Quat::from_rotation_z(0.5),
        Vec3::X,
    );
    animator.set_transform(id, place).unwrap();
    animator.evaluate();
    let world = Socket::joint(2, Affine3A::from_translation(Vec3::Y)).world(&animator, id).unwrap();
    assert!(world.translation.distance(place.transform_point3a(glam::Vec3A::Y * 3.0)) < 1e-6);
    animator.keep_poses(handle, false).unwrap();
    let refused = Socket::joint(2, Affine3A::IDENTITY).world(&animator, id);
    assert!(matches!(refused, Err(PickError::Animate(_))), "{refused:?}");
}
