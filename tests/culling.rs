//! Instances out of view: what they cost, and what they leave to the others.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    deformed::{Crowd, usual},
    gpu,
};
use glam::{Affine3A, Mat4, Vec3};
use sinew::{
    Deformer, DeformerOptions, GroupOptions, InstanceId, Precision, ReadBack, SkinnedGroup, declare,
    declare_group,
    deform::{DeformError, Frustum, PartBox},
    graph::{Graph, Limits, Plan, Runtime, RuntimeOptions},
};

/// A cube of the world.
fn around(center: Vec3, half: f32) -> Frustum {
    let to_unit = Mat4::from_scale(Vec3::new(1.0, 1.0, 0.5) / half) * Mat4::from_translation(-center);
    Frustum::from_view_projection(Mat4::from_translation(Vec3::Z * 0.5) * to_unit)
}

/// Instances 100 m apart, in the order of their numbers.
fn in_a_row(options: DeformerOptions) -> Crowd {
    let mut crowd = Crowd::new(gpu::device(), options);
    for (at, (id, _)) in crowd.instances.iter().enumerate() {
        let place = Affine3A::from_translation(Vec3::X * 100.0 * at as f32);
        crowd.deformer.animator_mut().set_transform(*id, place).unwrap();
    }
    crowd
}

/// What sees instance `at` and no other.
fn sees(at: usize) -> Frustum {
    around(Vec3::X * 100.0 * at as f32, 20.0)
}

fn shown(crowd: &Crowd) -> Vec<usize> {
    let animator = crowd.deformer.animator();
    let ids = crowd.instances.iter().enumerate();
    ids.filter(|(_, (id, _))| animator.is_shown(*id).unwrap()).map(|(at, _)| at).collect()
}

fn id(crowd: &Crowd, at: usize) -> InstanceId {
    crowd.instances[at].0
}

fn bytes_of(crowd: &Crowd, at: usize) -> [Vec<u8>; 2] {
    let vertices = crowd.deformer.vertices(id(crowd, at), 0).unwrap();
    [crowd.bytes(vertices.a), crowd.bytes(vertices.b)]
}

#[test]
fn only_what_some_view_meets_is_deformed() {
    let options = DeformerOptions { output_usage: wgpu::BufferUsages::COPY_DST, ..Default::default() };
    let mut crowd = in_a_row(options);
    crowd.record();
    crowd.poison();
    crowd.deformer.set_views(Some(&[sees(2), sees(7)])).unwrap();
    crowd.record();
    assert_eq!(shown(&crowd), [2, 7]);
    let written = crowd.written();
    assert!((0..12).all(|at| written[at] == [2, 7].contains(&at)), "{written:?}");
    assert!(bytes_of(&crowd, 7) == usual()[7]);
}

#[test]
fn no_view_sees_nothing_and_none_at_all_sees_everything() {
    let mut crowd = in_a_row(DeformerOptions::default());
    crowd.deformer.set_views(Some(&[])).unwrap();
    crowd.record();
    assert!(shown(&crowd).is_empty());
    crowd.deformer.set_views(None).unwrap();
    assert!(crowd.recorded() == usual());
}

#[test]
fn culling_sees_the_pose_and_the_place_of_this_frame() {
    let mut crowd = in_a_row(DeformerOptions::default());
    crowd.deformer.set_views(Some(&[sees(0)])).unwrap();
    crowd.record();
    assert_eq!(shown(&crowd), [0]);
    let away = Affine3A::from_translation(Vec3::Y * 1e3);
    let (first, third) = (id(&crowd, 0), id(&crowd, 3));
    crowd.deformer.animator_mut().set_transform(first, away).unwrap();
    // Far from its root, by a joint.
    let to_origin = Vec3::X * -300.0;
    crowd.deformer.animator_mut().stop(third).unwrap();
    crowd.deformer.animator_mut().set_translation(third, 0, to_origin).unwrap();
    crowd.record();
    assert_eq!(shown(&crowd), [3]);
}

#[test]
fn hidden_parts_and_instances_are_not_looked_at() {
    let mut crowd = in_a_row(DeformerOptions::default());
    crowd.deformer.set_views(Some(&[around(Vec3::ZERO, 1e4)])).unwrap();
    let (first, second) = (id(&crowd, 0), id(&crowd, 1));
    crowd.deformer.animator_mut().set_visible(first, false).unwrap();
    crowd.deformer.animator_mut().show_part(second, 0, false).unwrap();
    crowd.record();
    assert_eq!(shown(&crowd), (2..12).collect::<Vec<_>>());
    assert!(crowd.deformer.bounds(second).unwrap().is_empty());
    assert!(!crowd.deformer.bounds(first).unwrap().is_empty());
}

#[test]
fn palettes_that_nobody_keeps_are_kept_for_culling() {
    let mut crowd = in_a_row(DeformerOptions { keep_palettes: false, ..Default::default() });
    crowd.deformer.set_views(Some(&[sees(5)])).unwrap();
    crowd.record();
    assert_eq!(shown(&crowd), [5]);
    assert!(bytes_of(&crowd, 5) == usual()[5]);
}

fn compact() -> DeformerOptions {
    DeformerOptions { compact_outputs: true, ..Default::default() }
}

#[test]
fn compact_outputs_hold_what_is_shown_and_nothing_else() {
    let mut crowd = in_a_row(compact());
    crowd.deformer.set_views(Some(&[sees(6), sees(9)])).unwrap();
    crowd.record();
    let few = crowd.deformer.device_bytes();
    assert!(bytes_of(&crowd, 6) == usual()[6] && bytes_of(&crowd, 9) == usual()[9]);
    let refused = crowd.deformer.vertices(id(&crowd, 0), 0).err();
    assert_eq!(refused, Some(DeformError::NotShown { part: 0 }));
    crowd.deformer.set_views(None).unwrap();
    assert!(crowd.recorded() == usual());
    let mut all = in_a_row(DeformerOptions::default());
    all.record();
    let everything = all.deformer.device_bytes();
    assert_eq!(crowd.deformer.device_bytes(), everything);
    // Positions and tangents of ten of twelve instances: 4 · 900, 3 · 700 and 3 · 300 vertices of 20 bytes.
    assert!(everything - few >= 6600 * 20, "{few} of {everything}");
}

#[test]
fn what_moves_among_compact_outputs_is_deformed_again_though_it_is_unchanged() {
    let mut crowd = in_a_row(DeformerOptions { skip_unchanged: true, ..compact() });
    for views in [&[sees(1), sees(4)][..], &[sees(4)], &[sees(0), sees(1), sees(4), sees(8)]] {
        crowd.deformer.set_views(Some(views)).unwrap();
        for _ in 0..2 {
            crowd.record();
            assert!(bytes_of(&crowd, 4) == usual()[4]);
        }
    }
}

fn room(capacity: u32) -> GroupOptions {
    GroupOptions { capacity: Some(capacity), bounds: false }
}

#[test]
fn a_read_back_holds_what_was_shown_when_it_was_recorded() {
    let mut crowd = in_a_row(compact());
    crowd.deformer.set_views(Some(&[sees(3), sees(6)])).unwrap();
    let mut encoder = crowd.device.create_command_encoder(&Default::default());
    crowd.deformer.record(&mut encoder).unwrap();
    let all = crowd.deformer.read_back(&mut encoder).unwrap();
    let one = crowd.deformer.read_back_of(&mut encoder, id(&crowd, 6)).unwrap();
    let none = crowd.deformer.read_back_of(&mut encoder, id(&crowd, 0)).unwrap();
    gpu::submit(&crowd.device, &crowd.queue, encoder);
    // Others are shown, and lie elsewhere, before anything is read.
    crowd.deformer.set_views(Some(&[sees(0), sees(1), sees(6)])).unwrap();
    crowd.record();
    let positions = |read: &ReadBack, at: usize| {
        let baked = read.bake(&crowd.deformer, id(&crowd, at)).unwrap().expect("was waited for");
        baked.into_iter().map(|primitive| primitive.vertices.positions).collect::<Vec<_>>()
    };
    let mut usual = Crowd::new(gpu::device(), DeformerOptions::default());
    let mut encoder = usual.device.create_command_encoder(&Default::default());
    usual.deformer.record(&mut encoder).unwrap();
    let expected = usual.deformer.read_back(&mut encoder).unwrap();
    gpu::submit(&usual.device, &usual.queue, encoder);
    for at in [3, 6] {
        let baked = expected.bake(&usual.deformer, id(&usual, at)).unwrap().expect("was waited for");
        assert_eq!(positions(&all, at), [baked[0].vertices.positions.clone()], "{at}");
    }
    assert_eq!(positions(&one, 6), positions(&all, 6));
    assert!(positions(&all, 0).is_empty() && positions(&none, 0).is_empty(), "it was out of view");
}

/// A crowd that is declared as one group.
struct Grouped {
    crowd: Crowd,
    graph: Graph<Deformer>,
    plan: Plan,
    runtime: Runtime,
    group: SkinnedGroup,
}

impl Grouped {
    fn new(capacity: u32) -> Self {
        Self::with(room(capacity))
    }

    fn with(options: GroupOptions) -> Self {
        let crowd = in_a_row(DeformerOptions::default());
        let mut graph = Graph::new();
        let ids = crowd.instances.iter().map(|(id, _)| *id);
        let group = declare_group(&mut graph, &crowd.deformer, ids, options, |f: &mut Deformer| f).unwrap();
        graph.export(group.a);
        graph.export(group.b);
        group.bounds.iter().for_each(|bounds| graph.export(*bounds));
        let plan = graph.compile(&Limits::from(&crowd.device.limits())).unwrap();
        let runtime = Runtime::new(&crowd.device, &crowd.queue, RuntimeOptions::default());
        Self { crowd, graph, plan, runtime, group }
    }

    fn run(&mut self) {
        let Self { crowd, graph, plan, runtime, .. } = self;
        let mut encoder = crowd.device.create_command_encoder(&Default::default());
        runtime.run(graph, plan, &mut encoder, &mut crowd.deformer).unwrap();
        gpu::submit(&crowd.device, &crowd.queue, encoder);
    }

    /// The bytes of a part, where it has a place.
    fn bytes(&self, part: usize, expected: &[Vec<u8>; 2]) -> Option<[Vec<u8>; 2]> {
        let first = self.group.first_vertex(part)? as usize;
        let read = |buffer| self.crowd.bytes(self.runtime.exported(&self.plan, buffer).unwrap());
        let vertices = expected[0].len() / 16;
        let cut = |bytes: Vec<u8>, size: usize| bytes[first * size..(first + vertices) * size].to_vec();
        Some([cut(read(self.group.a), 16), cut(read(self.group.b), 4)])
    }
}

#[test]
fn a_group_places_what_is_shown_one_after_another() {
    let mut grouped = Grouped::new(2000);
    let expected = usual();
    grouped.crowd.deformer.set_views(Some(&[sees(2), sees(5), sees(11)])).unwrap();
    grouped.run();
    let firsts: Vec<_> = (0..12).map(|part| grouped.group.first_vertex(part)).collect();
    let mut placed = [None; 12];
    (placed[2], placed[5], placed[11]) = (Some(0), Some(900), Some(1600));
    assert_eq!(firsts, placed);
    assert_eq!(grouped.group.left_out(), 0);
    for at in [2, 5, 11] {
        assert!(grouped.bytes(at, &expected[at]).as_ref() == Some(&expected[at]), "{at}");
    }
    // The next frame sees others, under the same plan.
    grouped.crowd.deformer.set_views(Some(&[sees(11)])).unwrap();
    grouped.run();
    assert_eq!(grouped.group.first_vertex(11), Some(0));
    assert!(grouped.bytes(11, &expected[11]).as_ref() == Some(&expected[11]));
    assert_eq!(grouped.group.first_vertex(2), None);
}

#[test]
fn what_finds_no_room_in_a_group_is_left_out_and_counted() {
    let mut grouped = Grouped::new(2000);
    grouped.run();
    // Two of 900, none of 700, none of 300.
    assert_eq!(grouped.group.left_out(), 10);
    assert_eq!((0..12).filter(|part| grouped.group.first_vertex(*part).is_some()).count(), 2);
    let expected = usual();
    assert!(grouped.bytes(1, &expected[1]).as_ref() == Some(&expected[1]));
}

#[test]
fn a_group_without_a_capacity_has_room_for_all() {
    let mut grouped = Grouped::with(GroupOptions::default());
    grouped.run();
    // Four each of 900, 700 and 300.
    assert_eq!((grouped.group.capacity, grouped.group.left_out()), (7600, 0));
    let expected = usual();
    for (at, expected) in expected.iter().enumerate() {
        assert!(grouped.bytes(at, expected).as_ref() == Some(expected), "{at}");
    }
}

#[test]
fn a_group_without_room_or_instances_runs() {
    let mut grouped = Grouped::new(0);
    grouped.run();
    assert_eq!(grouped.group.left_out(), 12);
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let mut graph = Graph::new();
    let group = declare_group(&mut graph, &deformer, [], room(10), |f: &mut Deformer| f).unwrap();
    graph.export(group.a);
    let plan = graph.compile(&Limits::from(&device.limits())).unwrap();
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let mut encoder = device.create_command_encoder(&Default::default());
    runtime.run(&mut graph, &plan, &mut encoder, &mut deformer).unwrap();
}

#[test]
fn a_group_that_is_despawned_leaves_its_room_to_others() {
    let mut grouped = Grouped::new(2000);
    let gone = id(&grouped.crowd, 0);
    grouped.crowd.deformer.despawn(gone).unwrap();
    grouped.run();
    assert_eq!(grouped.group.first_vertex(0), None);
    assert_eq!(grouped.group.first_vertex(1), Some(0));
}

#[test]
fn what_a_group_cannot_hold_is_refused() {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let model = &common::deformed::models()[0];
    let packed = deformer.add_model(&queue, model).unwrap();
    let exact = deformer.add_model_with(&queue, model, Precision::Exact).unwrap();
    let ids = [deformer.spawn(packed).unwrap(), deformer.spawn(exact).unwrap()];
    let mut graph = Graph::new();
    let mixed = declare_group(&mut graph, &deformer, ids, room(10), |f: &mut Deformer| f);
    assert_eq!(mixed.err(), Some(DeformError::MixedPrecision));
    // 128 MiB at 16 bytes a vertex.
    let large = declare_group(&mut graph, &deformer, [ids[0]], room((8 << 20) + 1), |f: &mut Deformer| f);
    assert!(matches!(large.err(), Some(DeformError::OverLimit { limit: 0x800_0000, .. })));
}

#[test]
fn boxes_from_the_gpu_are_exact_and_empty_for_what_has_no_place() {
    let mut grouped = Grouped::with(GroupOptions { bounds: true, ..room(2000) });
    grouped.crowd.deformer.set_views(Some(&[sees(2), sees(5), sees(11)])).unwrap();
    grouped.run();
    let bounds = grouped.group.bounds.unwrap();
    let bytes = grouped.crowd.bytes(grouped.runtime.exported(&grouped.plan, bounds).unwrap());
    let boxes: &[PartBox] = bytemuck::cast_slice(&bytes);
    let expected = usual();
    for (at, found) in boxes.iter().enumerate() {
        let mut exact =
            PartBox { min: [f32::MAX, f32::MAX, f32::MAX, 0.0], max: [f32::MIN, f32::MIN, f32::MIN, 0.0] };
        if [2, 5, 11].contains(&at) {
            for vertex in bytemuck::cast_slice::<u8, [f32; 4]>(&expected[at][0]) {
                exact.min.iter_mut().zip(vertex).take(3).for_each(|(least, v)| *least = least.min(*v));
                exact.max.iter_mut().zip(vertex).take(3).for_each(|(most, v)| *most = most.max(*v));
            }
            let said = grouped.crowd.deformer.bounds(id(&grouped.crowd, at)).unwrap();
            let holds = |axis: usize| said.min[axis] <= found.min[axis] && said.max[axis] >= found.max[axis];
            assert!((0..3).all(holds), "the CPU's box is around it");
        }
        assert_eq!(*found, exact, "{at}");
    }
    assert_eq!(boxes.len(), 12);
}

#[test]
fn two_declarations_evaluate_once_a_run() {
    fn get(f: &mut Deformer) -> &mut Deformer {
        f
    }
    for keep_palettes in [true, false] {
        let crowd = Crowd::new(gpu::device(), DeformerOptions { keep_palettes, ..Default::default() });
        let mut graph = Graph::new();
        let ids: Vec<_> = crowd.instances.iter().map(|(id, _)| *id).collect();
        // The first one has all instances, so it can evaluate where the GPU reads.
        let all = declare_group(&mut graph, &crowd.deformer, ids.clone(), room(10_000), get).unwrap();
        let own = declare(&mut graph, &crowd.deformer, [ids[7]], get).unwrap();
        let part = &own.all()[0];
        [all.a, part.a, part.b].into_iter().for_each(|value| graph.export(value));
        let Crowd { device, queue, deformer, instances } = crowd;
        let plan = graph.compile(&Limits::from(&device.limits())).unwrap();
        let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
        let mut deformer = deformer;
        for step in 0..3 {
            let place = Affine3A::from_translation(Vec3::X * step as f32);
            deformer.animator_mut().set_transform(ids[7], place).unwrap();
            let mut encoder = device.create_command_encoder(&Default::default());
            runtime.run(&mut graph, &plan, &mut encoder, &mut deformer).unwrap();
            gpu::submit(&device, &queue, encoder);
        }
        // What is previous counts evaluations.
        let before = deformer.animator().previous_transform(ids[7]).unwrap();
        assert_eq!(before.translation.x, 1.0);
        let crowd = Crowd { device, queue, deformer, instances };
        let read = |value| crowd.bytes(runtime.exported(&plan, value).unwrap());
        assert!([read(part.a), read(part.b)] == usual()[7], "{keep_palettes}");
    }
}
