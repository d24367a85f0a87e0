//! Deformation as passes of a frame graph.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    gpu,
    models::{Shape, character},
};
use sinew::{
    DeclareOptions, Deformer, InstanceId, Model, OutputKind, Skinned, declare, declare_with,
    graph::{Buffer, Graph, Limits, Plan, Runtime, RuntimeOptions},
};

const SHAPE: Shape = Shape { vertices: 700, joints: 30, influences: 4, targets: 2 };

struct Frame {
    deformer: Deformer,
}

struct Scene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    frame: Frame,
    graph: Graph<Frame>,
    skinned: Skinned,
    ids: Vec<InstanceId>,
}

impl Scene {
    /// Three instances of one model, at different times.
    fn new(device: (wgpu::Device, wgpu::Queue)) -> Self {
        Self::of(&character(7, SHAPE), "bend", device)
    }

    fn of(model: &Model, clip: &str, (device, queue): (wgpu::Device, wgpu::Queue)) -> Self {
        let mut deformer = Deformer::new(&device);
        let model = deformer.add_model(&queue, model).unwrap();
        let ids: Vec<_> = (0..3).map(|_| deformer.spawn(model).unwrap()).collect();
        for (i, &id) in ids.iter().enumerate() {
            deformer.play(id, clip).unwrap();
            deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(0.3 * i as f64);
        }
        let mut graph = Graph::new();
        let skinned =
            declare(&mut graph, &deformer, ids.iter().copied(), |f: &mut Frame| &mut f.deformer).unwrap();
        Self { device, queue, frame: Frame { deformer }, graph, skinned, ids }
    }

    fn plan(&self) -> Plan {
        self.graph.compile(&Limits::from(&self.device.limits())).unwrap()
    }

    /// The bytes of exported buffers after one run.
    fn run(&mut self, plan: &Plan, runtime: &mut Runtime, read: &[Buffer]) -> Vec<Vec<u8>> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        runtime.run(&mut self.graph, plan, &mut encoder, &mut self.frame).unwrap();
        let copy = |buffer: &Buffer| {
            let slice = runtime.exported(plan, *buffer).expect("exported");
            let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: slice.size(),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            encoder.copy_buffer_to_buffer(slice.buffer(), slice.offset(), &copy, 0, slice.size());
            copy
        };
        let copies: Vec<_> = read.iter().map(copy).collect();
        gpu::submit(&self.device, &self.queue, encoder);
        let bytes = |copy: wgpu::Buffer| {
            copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
            self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            copy.slice(..).get_mapped_range().unwrap().to_vec()
        };
        copies.into_iter().map(bytes).collect()
    }

    /// The same part's bytes of A and B by `Deformer::record`.
    fn recorded(&mut self, id: InstanceId, part: u32) -> [Vec<u8>; 2] {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.frame.deformer.record(&mut encoder).unwrap();
        let vertices = self.frame.deformer.vertices(id, part).unwrap();
        let copies = [vertices.a, vertices.b].map(|slice| {
            let size = slice.size();
            let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            encoder.copy_buffer_to_buffer(slice.buffer(), slice.offset(), &copy, 0, size);
            copy
        });
        gpu::submit(&self.device, &self.queue, encoder);
        copies.map(|copy| {
            copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
            self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            copy.slice(..).get_mapped_range().unwrap().to_vec()
        })
    }

    fn runtime(&self) -> Runtime {
        Runtime::new(&self.device, &self.queue, RuntimeOptions::default())
    }
}

/// Every part of every instance, by the graph and by an encoder.
fn same_bytes(mut scene: Scene) {
    let parts: Vec<_> = scene.skinned.all().to_vec();
    for part in &parts {
        scene.graph.export(part.a);
        scene.graph.export(part.b);
    }
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    for part in &parts {
        let got = scene.run(&plan, &mut runtime, &[part.a, part.b]);
        let [a, b] = scene.recorded(part.instance, part.part);
        assert!(a == got[0] && b == got[1], "instance {:?} part {}", part.instance, part.part);
    }
}

#[test]
fn a_graph_deforms_to_the_same_bytes_as_an_encoder() {
    same_bytes(Scene::new(gpu::device()));
}

#[test]
#[cfg(feature = "gltf")]
fn the_demo_characters_parts_and_variants_come_out_the_same_too() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    same_bytes(Scene::of(&model, "wave", gpu::device()));
}

#[test]
fn a_part_that_no_pass_reads_is_neither_placed_nor_deformed() {
    let mut scene = Scene::new(gpu::device());
    let parts: Vec<_> = scene.skinned.all().to_vec();
    scene.graph.export(parts[1].a);
    scene.graph.export(parts[2].a);
    scene.graph.export(parts[2].b);
    let plan = scene.plan();
    assert_eq!(parts.iter().map(|p| plan.is_live(p.a)).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(parts.iter().map(|p| plan.is_live(p.b)).collect::<Vec<_>>(), [false, false, true]);
    let mut runtime = scene.runtime();
    let got = scene.run(&plan, &mut runtime, &[parts[1].a]);
    assert!(got[0] == scene.recorded(parts[1].instance, 0)[0]);
}

#[test]
fn nothing_read_means_nothing_planned() {
    let scene = Scene::new(wgpu::Device::noop(&Default::default()));
    let errors = scene.graph.compile(&Limits::from(&scene.device.limits())).unwrap_err();
    assert_eq!(errors.iter().map(|e| e.code()).collect::<Vec<_>>(), ["G016"]);
}

#[test]
fn a_part_of_which_only_b_is_read_is_deformed() {
    let mut scene = Scene::new(gpu::device());
    let parts: Vec<_> = scene.skinned.all().to_vec();
    scene.graph.export(parts[0].a);
    scene.graph.export(parts[1].b);
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    let got = scene.run(&plan, &mut runtime, &[parts[1].b]);
    assert!(got[0] == scene.recorded(parts[1].instance, 0)[1]);
}

#[test]
fn hiding_and_despawning_keep_the_plan_and_the_others() {
    let mut scene = Scene::new(gpu::device());
    let parts: Vec<_> = scene.skinned.all().to_vec();
    parts.iter().for_each(|part| scene.graph.export(part.a));
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    scene.run(&plan, &mut runtime, &[parts[0].a]);
    let ids = scene.ids.clone();
    scene.frame.deformer.animator_mut().set_visible(ids[0], false).unwrap();
    scene.frame.deformer.despawn(ids[1]).unwrap();
    scene.frame.deformer.animator_mut().player_mut(ids[2]).unwrap().unwrap().seek(0.1);
    let got = scene.run(&plan, &mut runtime, &[parts[2].a]);
    assert!(got[0] == scene.recorded(ids[2], 0)[0]);
}

#[test]
fn a_frame_after_the_sources_were_replaced_is_an_error_that_says_so() {
    let mut scene = Scene::new(gpu::device());
    let parts: Vec<_> = scene.skinned.all().to_vec();
    parts.iter().for_each(|part| scene.graph.export(part.a));
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    scene.run(&plan, &mut runtime, &[parts[0].a]);
    let big = character(8, Shape { vertices: 60_000, ..SHAPE });
    scene.frame.deformer.add_model(&scene.queue, &big).unwrap();
    let mut encoder = scene.device.create_command_encoder(&Default::default());
    let error = runtime.run(&mut scene.graph, &plan, &mut encoder, &mut scene.frame).unwrap_err();
    assert_eq!(
        error.to_string(),
        "host pass `animate` failed: source buffers were replaced since the graph was declared (a model was added \
         or removed, or the device changed); declare and compile it again"
    );
}

#[test]
fn a_refused_model_leaves_the_declaration_valid() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits { max_storage_buffer_binding_size: 1 << 17, ..Default::default() },
        ..Default::default()
    });
    let mut scene = Scene::new((device, queue));
    let part = scene.skinned.all()[0].a;
    scene.graph.export(part);
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    let big = character(8, Shape { vertices: 60_000, ..SHAPE });
    scene.frame.deformer.add_model(&scene.queue, &big).unwrap_err();
    let mut encoder = scene.device.create_command_encoder(&Default::default());
    runtime.run(&mut scene.graph, &plan, &mut encoder, &mut scene.frame).unwrap();
}

#[test]
fn a_mesh_without_vertices_runs_without_a_validation_error() {
    let (device, queue) = gpu::device();
    let empty = Shape { vertices: 0, ..SHAPE };
    let mut scene = Scene::of(&character(1, empty), "bend", (device, queue));
    for part in scene.skinned.all() {
        scene.graph.export(part.a);
        scene.graph.export(part.b);
    }
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    let scope = scene.device.push_error_scope(wgpu::ErrorFilter::Validation);
    scene.run(&plan, &mut runtime, &[]);
    assert!(pollster::block_on(scope.pop()).is_none());
}

/// One playing instance of one model, all parts of one kind.
fn scene_with(options: &DeclareOptions<'_>) -> Scene {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let model = deformer.add_model(&queue, &character(7, SHAPE)).unwrap();
    let id = deformer.spawn(model).unwrap();
    deformer.play(id, "bend").unwrap();
    let mut graph = Graph::new();
    let skinned =
        declare_with(&mut graph, &deformer, [id], options, |f: &mut Frame| &mut f.deformer).unwrap();
    Scene { device, queue, frame: Frame { deformer }, graph, skinned, ids: vec![id] }
}

fn of_kind(kind: OutputKind) -> Scene {
    scene_with(&DeclareOptions { kind: &|_, _| kind, ..Default::default() })
}

impl Scene {
    fn seek(&mut self, time: f64) {
        self.frame.deformer.animator_mut().player_mut(self.ids[0]).unwrap().unwrap().seek(time);
    }

    fn show(&mut self, visible: bool) {
        self.frame.deformer.animator_mut().set_visible(self.ids[0], visible).unwrap();
    }
}

#[test]
fn a_persistent_part_keeps_its_vertices_while_its_instance_is_hidden() {
    let mut scene = of_kind(OutputKind::Persistent);
    let part = scene.skinned.all()[0].clone();
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    scene.seek(0.4);
    let shown = scene.run(&plan, &mut runtime, &[part.a, part.b]);
    assert!(shown[..] == scene.recorded(part.instance, 0)[..]);
    scene.seek(0.9);
    scene.show(false);
    let hidden = scene.run(&plan, &mut runtime, &[part.a, part.b]);
    assert!(hidden == shown);
}

/// A history part, a copy of whose positions of the frame before is exported.
fn with_history() -> (Scene, Plan, Runtime, Buffer, Buffer) {
    let mut scene = of_kind(OutputKind::History);
    let part = scene.skinned.all()[0].clone();
    let previous = part.previous_a.expect("a history");
    scene.graph.export(previous);
    let (plan, runtime) = (scene.plan(), scene.runtime());
    (scene, plan, runtime, part.a, previous)
}

#[test]
fn positions_of_the_frame_before_are_the_current_ones_in_the_first_frame() {
    let (mut scene, plan, mut runtime, current, previous) = with_history();
    scene.seek(0.4);
    let [now, before] = &scene.run(&plan, &mut runtime, &[current, previous])[..] else { panic!() };
    assert!(now == before && *now == scene.recorded(scene.ids[0], 0)[0]);
}

#[test]
fn positions_of_the_frame_before_are_what_that_frame_deformed() {
    let (mut scene, plan, mut runtime, current, previous) = with_history();
    let mut expected: Option<Vec<u8>> = None;
    for time in [0.1, 0.4, 0.4, 0.9, 0.2] {
        scene.seek(time);
        let got = scene.run(&plan, &mut runtime, &[current, previous]);
        assert!(expected.is_none_or(|expected| expected == got[1]), "before {time}");
        expected = Some(got[0].clone());
    }
}

#[test]
fn an_instance_that_was_hidden_or_told_to_forget_leaves_no_motion_behind() {
    let (mut scene, plan, mut runtime, current, previous) = with_history();
    scene.seek(0.1);
    scene.run(&plan, &mut runtime, &[]);
    scene.show(false);
    scene.run(&plan, &mut runtime, &[]);
    scene.show(true);
    scene.seek(0.5);
    let got = scene.run(&plan, &mut runtime, &[current, previous]);
    assert!(got[0] == got[1], "shown again");
    scene.seek(0.6);
    let got = scene.run(&plan, &mut runtime, &[current, previous]);
    assert!(got[0] != got[1], "moving");
    scene.frame.deformer.animator_mut().forget_previous(scene.ids[0]).unwrap();
    scene.seek(0.9);
    let got = scene.run(&plan, &mut runtime, &[current, previous]);
    assert!(got[0] == got[1], "told to forget");
    scene.seek(0.3);
    let got = scene.run(&plan, &mut runtime, &[current, previous]);
    assert!(got[0] != got[1], "moving again");
}

#[test]
fn an_instance_that_was_spawned_anew_or_whose_scene_grew_has_no_frame_before() {
    for grows in [false, true] {
        let (mut scene, plan, mut runtime, ..) = with_history();
        scene.seek(0.1);
        scene.run(&plan, &mut runtime, &[]);
        let deformer = &mut scene.frame.deformer;
        if grows {
            let big = character(8, Shape { vertices: 60_000, ..SHAPE });
            deformer.add_model(&scene.queue, &big).unwrap();
        } else {
            let model = deformer.animator().model_of(scene.ids[0]).unwrap();
            deformer.despawn(scene.ids[0]).unwrap();
            scene.ids[0] = deformer.spawn(model).unwrap();
            deformer.play(scene.ids[0], "bend").unwrap();
        }
        // The runtime keeps what a graph of the same shape had.
        scene.graph.clear();
        let options = DeclareOptions { kind: &|_, _| OutputKind::History, ..Default::default() };
        let ids = [scene.ids[0]];
        let Scene { graph, frame, .. } = &mut scene;
        let skinned =
            declare_with(graph, &frame.deformer, ids, &options, |f: &mut Frame| &mut f.deformer).unwrap();
        let (current, previous) = (skinned.all()[0].a, skinned.all()[0].previous_a.unwrap());
        scene.graph.export(previous);
        scene.seek(0.7);
        let plan = scene.plan();
        let got = scene.run(&plan, &mut runtime, &[current, previous]);
        assert!(got[0] == got[1], "grows: {grows}");
        scene.seek(0.2);
        let next = scene.run(&plan, &mut runtime, &[current, previous]);
        assert!(next[1] == got[0] && next[0] != next[1], "grows: {grows}");
    }
}

#[test]
fn a_history_without_a_reader_of_the_frame_before_is_not_seeded() {
    let scene = of_kind(OutputKind::History);
    let labels: Vec<_> = scene.plan().passes().iter().map(|pass| pass.label.clone()).collect();
    assert_eq!(labels, ["animate", "deform history"]);
}

#[test]
fn kinds_can_be_mixed_and_all_come_out_the_same() {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let model = deformer.add_model(&queue, &character(7, SHAPE)).unwrap();
    let ids: Vec<_> = (0..3).map(|_| deformer.spawn(model).unwrap()).collect();
    for &id in &ids {
        deformer.play(id, "bend").unwrap();
    }
    let kinds = [OutputKind::History, OutputKind::Transient, OutputKind::Persistent];
    let kind = |id, _| kinds[ids.iter().position(|other| *other == id).unwrap()];
    let options = DeclareOptions { kind: &kind, ..Default::default() };
    let mut graph = Graph::new();
    let instances = ids.iter().copied();
    let skinned =
        declare_with(&mut graph, &deformer, instances, &options, |f: &mut Frame| &mut f.deformer).unwrap();
    let frame = Frame { deformer };
    let mut scene = Scene { device, queue, frame, graph, skinned, ids: ids.clone() };
    for (i, id) in ids.iter().enumerate() {
        scene.frame.deformer.animator_mut().player_mut(*id).unwrap().unwrap().seek(0.3 * i as f64);
    }
    same_bytes(scene);
}

#[test]
fn the_palettes_of_the_frame_before_are_uploaded_on_demand() {
    let options = DeclareOptions { previous_palettes: true, ..Default::default() };
    let mut scene = scene_with(&options);
    let part = scene.skinned.all()[0].a;
    let palettes = scene.skinned.palettes(scene.ids[0]).unwrap();
    let (current, previous) = (palettes.current, palettes.previous.unwrap());
    assert_eq!(palettes.rows, 0..30);
    [part, current, previous].into_iter().for_each(|value| scene.graph.export(value));
    let (plan, mut runtime) = (scene.plan(), scene.runtime());
    let mut expected: Option<Vec<u8>> = None;
    for time in [0.1, 0.4, 0.9] {
        scene.seek(time);
        let got = scene.run(&plan, &mut runtime, &[current, previous]);
        assert!(got[1] == *expected.as_ref().unwrap_or(&got[0]));
        expected = Some(got[0].clone());
    }
}

#[test]
fn ten_thousand_spawns_and_despawns_leave_memory_flat() {
    const SMALL: Shape = Shape { vertices: 60, joints: 4, influences: 2, targets: 0 };
    let (device, queue) = wgpu::Device::noop(&Default::default());
    let mut deformer = Deformer::new(&device);
    let model = deformer.add_model(&queue, &character(7, SMALL)).unwrap();
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let mut graph = Graph::new();
    let mut frame = Frame { deformer };
    let mut stale = Vec::new();
    let bytes: Vec<_> = (0..10_000usize)
        .map(|round| {
            let spawn = |_| frame.deformer.spawn(model).unwrap();
            let ids: Vec<_> = (0..1 + round % 5).map(spawn).collect();
            graph.clear();
            let skinned =
                declare(&mut graph, &frame.deformer, ids.iter().copied(), |f: &mut Frame| &mut f.deformer);
            let skinned = skinned.unwrap();
            skinned.all().iter().for_each(|part| graph.export(part.a));
            let plan = graph.compile(&Limits::default()).unwrap();
            let mut encoder = device.create_command_encoder(&Default::default());
            runtime.run(&mut graph, &plan, &mut encoder, &mut frame).unwrap();
            gpu::submit(&device, &queue, encoder);
            ids.iter().for_each(|&id| frame.deformer.despawn(id).unwrap());
            stale.push(ids[0]);
            runtime.device_bytes() + frame.deformer.device_bytes()
        })
        .collect();
    assert!((5..bytes.len()).all(|round| bytes[round] == bytes[round - 5]));
    assert_eq!(runtime.prepared_plans(), 1);
    assert!(stale.iter().all(|&id| frame.deformer.despawn(id).is_err()), "stale handles are errors");
}
