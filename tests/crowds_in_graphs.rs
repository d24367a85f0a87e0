//! What crowds need of a frame graph: scenes beyond one binding, parts left alone, palettes without a copy.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    deformed::{Crowd, SHAPES, tight, usual},
    gpu,
    models::character,
};
use sinew::{
    DeclareOptions, Deformer, DeformerOptions, OutputKind,
    animate::JointMap,
    declare_with,
    graph::{Buffer, Graph, Limits, Plan, Runtime, RuntimeOptions},
};

#[test]
fn a_graph_shares_a_scene_out_too() {
    struct Frame {
        deformer: Deformer,
    }
    for kind in [OutputKind::Transient, OutputKind::Persistent, OutputKind::History] {
        let crowd = Crowd::new(tight(), DeformerOptions::default());
        let ids: Vec<_> = crowd.instances.iter().map(|(id, _)| *id).collect();
        let mut graph = Graph::new();
        let options = DeclareOptions { kind: &|_, _| kind, ..Default::default() };
        let skinned =
            declare_with(&mut graph, &crowd.deformer, ids.clone(), &options, |f: &mut Frame| &mut f.deformer);
        let skinned = skinned.unwrap();
        for part in skinned.all() {
            graph.export(part.a);
            graph.export(part.b);
        }
        let plan = graph.compile(&Limits::from(&crowd.device.limits())).unwrap();
        let mut runtime = Runtime::new(&crowd.device, &crowd.queue, RuntimeOptions::default());
        let Crowd { device, queue, deformer, instances } = crowd;
        let mut frame = Frame { deformer };
        for _ in 0..2 {
            let mut encoder = device.create_command_encoder(&Default::default());
            runtime.run(&mut graph, &plan, &mut encoder, &mut frame).unwrap();
            gpu::submit(&device, &queue, encoder);
        }
        let crowd = Crowd { device, queue, deformer: frame.deformer, instances };
        let read = |buffer: Buffer| crowd.bytes(runtime.exported(&plan, buffer).unwrap());
        for (id, expected) in ids.iter().zip(usual()) {
            let part = &skinned.parts(*id)[0];
            assert!(read(part.a) == expected[0] && read(part.b) == expected[1], "{kind:?} {id:?}");
        }
        // Groups have palettes of their own; rows count from the start of each.
        let palettes: Vec<_> = ids.iter().map(|id| skinned.palettes(*id).unwrap().clone()).collect();
        assert_eq!(palettes[0].rows.start, 0);
        assert!(palettes.iter().any(|rows| rows.current != palettes[0].current));
    }
}

/// A declared crowd of persistent parts, with what the test needs to run it.
struct Kept {
    crowd: Crowd,
    graph: Graph<Deformer>,
    plan: Plan,
    values: Vec<Buffer>,
}

impl Kept {
    fn new(options: DeformerOptions) -> Self {
        let crowd = Crowd::new(gpu::device(), options);
        let ids = crowd.instances.iter().map(|(id, _)| *id);
        let mut graph = Graph::new();
        let kind = |_, _| OutputKind::Persistent;
        let usage = wgpu::BufferUsages::COPY_DST;
        let options = DeclareOptions { kind: &kind, usage, ..Default::default() };
        let skinned = declare_with(&mut graph, &crowd.deformer, ids, &options, |f: &mut Deformer| f).unwrap();
        let values = skinned.all().iter().map(|part| part.a).collect();
        let plan = graph.compile(&Limits::from(&crowd.device.limits())).unwrap();
        Self { crowd, graph, plan, values }
    }

    fn run(&mut self, runtime: &mut Runtime) {
        let mut encoder = self.crowd.device.create_command_encoder(&Default::default());
        runtime.run(&mut self.graph, &self.plan, &mut encoder, &mut self.crowd.deformer).unwrap();
        gpu::submit(&self.crowd.device, &self.crowd.queue, encoder);
    }

    fn runtime(&self) -> Runtime {
        Runtime::new(&self.crowd.device, &self.crowd.queue, RuntimeOptions::default())
    }

    fn poison(&self, runtime: &Runtime) {
        let mut encoder = self.crowd.device.create_command_encoder(&Default::default());
        for value in &self.values {
            let slice = runtime.exported(&self.plan, *value).unwrap();
            encoder.clear_buffer(slice.buffer(), slice.offset(), Some(slice.size()));
        }
        gpu::submit(&self.crowd.device, &self.crowd.queue, encoder);
    }

    fn written(&self, runtime: &Runtime) -> Vec<bool> {
        let bytes = |value: &Buffer| self.crowd.bytes(runtime.exported(&self.plan, *value).unwrap());
        self.values.iter().map(|value| bytes(value).iter().any(|byte| *byte != 0)).collect()
    }
}

#[test]
fn persistent_parts_that_are_unchanged_are_not_deformed_again() {
    let mut kept = Kept::new(DeformerOptions::default());
    let mut runtime = kept.runtime();
    kept.run(&mut runtime);
    assert!(kept.written(&runtime).iter().all(|written| *written));
    kept.poison(&runtime);
    kept.run(&mut runtime);
    assert!(kept.written(&runtime).iter().all(|written| !written), "nothing has changed");
    let (moved, _) = kept.crowd.instances[3];
    kept.crowd.deformer.animator_mut().player_mut(moved).unwrap().unwrap().seek(0.9);
    kept.run(&mut runtime);
    let written = kept.written(&runtime);
    assert!(written.iter().enumerate().all(|(at, written)| *written == (at == 3)), "{written:?}");
}

#[test]
fn another_runtime_or_a_dropped_encoder_has_everything_deformed() {
    let mut kept = Kept::new(DeformerOptions::default());
    let (mut first, mut second) = (kept.runtime(), kept.runtime());
    kept.run(&mut first);
    kept.run(&mut second);
    assert!(kept.written(&second).iter().all(|written| *written));
    kept.poison(&second);
    let mut encoder = kept.crowd.device.create_command_encoder(&Default::default());
    second.run(&mut kept.graph, &kept.plan, &mut encoder, &mut kept.crowd.deformer).unwrap();
    drop(encoder);
    kept.run(&mut second);
    assert!(kept.written(&second).iter().all(|written| *written));
}

#[test]
fn a_graph_evaluates_into_upload_memory_too() {
    let mut kept = Kept::new(DeformerOptions { keep_palettes: false, ..Default::default() });
    let mut runtime = kept.runtime();
    kept.run(&mut runtime);
    let read = |value: &Buffer| kept.crowd.bytes(runtime.exported(&kept.plan, *value).unwrap());
    for (value, expected) in kept.values.iter().zip(usual()) {
        assert!(read(value) == expected[0]);
    }
    let (id, _) = kept.crowd.instances[0];
    assert_eq!(kept.crowd.deformer.animator().palette(id).unwrap()[3].x, [1.0, 0.0, 0.0, 0.0]);
}

/// The leader and an outfit of its own model, whose vertices are the same.
fn dressed(options: DeformerOptions) -> Crowd {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::with(&device, options);
    let model = character(1, SHAPES[0]);
    let id = deformer.add_model(&queue, &model).unwrap();
    let leader = deformer.spawn(id).unwrap();
    deformer.play(leader, 0).unwrap().seek(0.4);
    let outfit = deformer.spawn_following(id, leader, &JointMap::by_name(&model, &model)).unwrap();
    Crowd { device, queue, deformer, instances: vec![(leader, 0), (outfit, 0)] }
}

#[test]
fn an_outfit_is_deformed_with_its_leaders_pose_in_every_frame_and_order() {
    let plain = Crowd::new(gpu::device(), DeformerOptions::default()).recorded().remove(0);
    for keep_palettes in [true, false] {
        let options = DeformerOptions { keep_palettes, ..Default::default() };
        let [led, outfit] = dressed(options).recorded().try_into().unwrap();
        assert!(led == outfit && led != plain);
        for turned in [false, true] {
            let Crowd { device, queue, deformer, instances } = dressed(options);
            let mut ids: Vec<_> = instances.iter().map(|(id, _)| *id).collect();
            if turned {
                ids.reverse();
            }
            let mut graph = Graph::new();
            let kind = |_, _| OutputKind::Persistent;
            let options = DeclareOptions { kind: &kind, ..Default::default() };
            let skinned = declare_with(&mut graph, &deformer, ids, &options, |f: &mut Deformer| f).unwrap();
            let plan = graph.compile(&Limits::from(&device.limits())).unwrap();
            let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
            let mut crowd = Crowd { device, queue, deformer, instances };
            let mut encoder = crowd.device.create_command_encoder(&Default::default());
            runtime.run(&mut graph, &plan, &mut encoder, &mut crowd.deformer).unwrap();
            gpu::submit(&crowd.device, &crowd.queue, encoder);
            for part in skinned.all() {
                assert!(crowd.bytes(runtime.exported(&plan, part.a).unwrap()) == led[0]);
            }
        }
    }
}
