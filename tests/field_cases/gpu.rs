//! Limits, losses and frames of nothing.

use glam::Vec3;
use serde_json::json;
use sinew::{
    Deformer, InstanceId, Model, Packing, Precision, declare,
    deform::{BakedPrimitive, DeformError, preflight},
    graph::{Graph, Runtime, RuntimeOptions},
    model::{Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton, Skin, Topology},
};

use crate::{
    common::{deformed::models, glb::Glb},
    device, itself, set_influences,
};

struct Stage {
    device: wgpu::Device,
    queue: wgpu::Queue,
    deformer: Deformer,
}

impl Stage {
    fn new((device, queue): (wgpu::Device, wgpu::Queue)) -> Self {
        let deformer = Deformer::new(&device);
        Self { device, queue, deformer }
    }

    fn spawn(&mut self, model: &Model, count: usize) -> Vec<InstanceId> {
        let id = self.deformer.add_model(&self.queue, model).unwrap();
        (0..count).map(|_| self.deformer.spawn(id).unwrap()).collect()
    }

    fn record(&mut self) -> Result<wgpu::CommandEncoder, DeformError> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.deformer.record(&mut encoder).map(|()| encoder)
    }

    fn bake(&mut self, of: &[InstanceId]) -> Vec<Vec<BakedPrimitive>> {
        let mut encoder = self.record().unwrap();
        let read_back = self.deformer.read_back(&mut encoder).unwrap();
        device::submit(&self.device, &self.queue, encoder);
        of.iter().map(|id| read_back.bake(&self.deformer, *id).unwrap().unwrap()).collect()
    }
}

#[test]
fn recording_on_a_lost_device_is_an_error() {
    let mut stage = Stage::new(device::device());
    let ids = stage.spawn(&Glb::triangle().model(), 1);
    let before = stage.bake(&ids);
    stage.device.destroy();
    stage.device.poll(wgpu::PollType::Poll).ok();
    assert_eq!(stage.record().err(), Some(DeformError::Map));
    (stage.device, stage.queue) = device::device();
    stage.deformer.rebuild(&stage.device, &stage.queue).unwrap();
    assert_eq!(stage.bake(&ids), before);
}

/// A model whose only mesh has these vertices, under a skin.
fn points(positions: Vec<Vec3>) -> Model {
    let skeleton = Skeleton::new(vec![Node::default()]).unwrap();
    let skin = Skin::new("", &skeleton, vec![0], None).unwrap();
    let mut influences = sinew::model::Influences::with_capacity(positions.len());
    positions.iter().for_each(|_| influences.push([sinew::model::Influence { joint: 0, weight: 1.0 }]));
    let topology = Topology::Points;
    let influences = Some(influences);
    let primitive = PrimitiveDesc { topology, positions, influences, ..Default::default() };
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![Mesh::new("", vec![primitive], Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: Vec::new() }],
        ..Default::default()
    })
    .unwrap()
}

#[test]
fn nothing_to_deform_is_no_validation_error() {
    let skeleton = Skeleton::new(vec![Node::default()]).unwrap();
    let no_mesh = Model::new(ModelDesc { skeleton: skeleton.clone(), ..Default::default() }).unwrap();
    let no_primitive = Model::new(ModelDesc {
        skeleton,
        meshes: vec![Mesh::new("", Vec::new(), Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: None, weights: Vec::new() }],
        ..Default::default()
    });
    let hidden = points(vec![Vec3::ZERO]);
    let cases = [
        ("no model", None),
        ("no mesh", Some(no_mesh)),
        ("no primitive", Some(no_primitive.unwrap())),
        ("no vertex", Some(points(Vec::new()))),
        ("all hidden", Some(hidden)),
    ];
    for (name, model) in cases {
        let mut stage = Stage::new(device::device());
        let scope = stage.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let ids = model.map_or_else(Vec::new, |model| stage.spawn(&model, 2));
        for id in ids.iter().filter(|_| name == "all hidden") {
            stage.deformer.animator_mut().set_visible(*id, false).unwrap();
        }
        let encoder = stage.record().unwrap();
        device::submit(&stage.device, &stage.queue, encoder);
        in_a_graph(&mut stage, &ids);
        let error = pollster::block_on(scope.pop());
        assert!(error.is_none(), "{name}: {error:?}");
    }
}

/// Runs what a graph makes of the instances, with a pass that is kept whatever there is to read.
fn in_a_graph(stage: &mut Stage, ids: &[InstanceId]) {
    let mut graph = Graph::new();
    let skinned = declare(&mut graph, &stage.deformer, ids.iter().copied(), itself).unwrap();
    graph.compute("reader", |pass| {
        for part in skinned.all() {
            pass.storage_read(part.a);
            pass.storage_read(part.b);
        }
        pass.keep();
        |_, _, _| ()
    });
    let plan = graph.compile(&stage.device.limits().into()).unwrap();
    let mut runtime = Runtime::new(&stage.device, &stage.queue, RuntimeOptions::default());
    let mut encoder = stage.device.create_command_encoder(&Default::default());
    runtime.run(&mut graph, &plan, &mut encoder, &mut stage.deformer).unwrap();
    device::submit(&stage.device, &stage.queue, encoder);
}

/// Instances of one vertex, whose joint is moved for each of them, and where that takes the last few.
fn assert_all_deformed(stage: &mut Stage, count: usize) {
    let mut glb = Glb::triangle();
    set_influences(&mut glb, 0, [0; 4], [1.0, 0.0, 0.0, 0.0]);
    glb.json["nodes"][1]["translation"] = json!([0, 3, 0]);
    let ids = stage.spawn(&glb.model(), count);
    let scope = stage.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let looked_at = [ids[0], ids[count / 2], ids[count - 1]];
    for baked in stage.bake(&looked_at) {
        assert_eq!(baked[0].vertices.positions[0], Vec3::Y * 3.0);
    }
    assert_eq!(pollster::block_on(scope.pop()).map(|error| error.to_string()), None);
}

#[test]
fn more_items_than_a_dimension_of_the_grid_fold_over() {
    let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 4, ..Default::default() };
    // Four times four is what such a device takes.
    assert_all_deformed(&mut Stage::new(device::device_with(limits)), 15);
}

#[test]
fn more_items_than_any_device_takes_in_one_dimension_are_deformed() {
    assert_all_deformed(&mut Stage::new(device::device()), 65_536);
}

#[test]
fn a_device_with_fewer_bindings_is_refused_by_the_limits_name() {
    let model = &models()[0];
    for (limits, allowed) in
        [(wgpu::Limits::downlevel_defaults(), 4), (wgpu::Limits::downlevel_webgl2_defaults(), 0)]
    {
        let message = format!(
            "the kernel needs 8 storage buffers, but the device allows {allowed} \
             (max_storage_buffers_per_shader_stage); request WebGPU's default limits"
        );
        let scene = [(model, Packing::default(), 1)];
        assert_eq!(preflight(&limits, scene).unwrap_err().to_string(), message);
        let mut stage = Stage::new(device::device_with(limits));
        let scope = stage.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let error = stage.deformer.add_model(&stage.queue, model).unwrap_err();
        assert_eq!(error.to_string(), message);
        let nothing = stage.deformer.add_models(&stage.queue, [(model, Precision::Exact.into())]);
        assert_eq!(nothing.unwrap_err(), error);
        assert_eq!(declare(&mut Graph::new(), &stage.deformer, [], itself).unwrap_err(), error);
        stage.record().unwrap();
        assert!(pollster::block_on(scope.pop()).is_none(), "nothing was made there");

        let mut whole = Stage::new(device::device());
        let ids = whole.spawn(model, 1);
        let before = whole.bake(&ids);
        assert_eq!(whole.deformer.rebuild(&stage.device, &stage.queue).unwrap_err(), error);
        assert_eq!(whole.bake(&ids), before);
    }
}

#[test]
fn vertices_three_metres_apart_stay_three_metres_apart() {
    let model = points((0..4).map(|i| Vec3::X * (3 * i) as f32).collect());
    let mut stage = Stage::new(device::device());
    let packed = stage.spawn(&model, 1)[0];
    let exact = stage.deformer.add_model_with(&stage.queue, &model, Precision::Exact).unwrap();
    let exact = stage.deformer.spawn(exact).unwrap();
    for baked in stage.bake(&[packed, exact]) {
        let along: Vec<_> = baked[0].vertices.positions.iter().map(|p| p.x).collect();
        assert_eq!(along, [0.0, 3.0, 6.0, 9.0]);
    }
}

#[test]
fn a_warm_up_runs_every_kernel_that_the_models_need_and_says_when() {
    let (device, queue) = device::device();
    let mut deformer = Deformer::new(&device);
    let none = deformer.warm_up(&mut device.create_command_encoder(&Default::default()));
    assert_eq!(none.is_ready(), Err(DeformError::Map), "its encoder was dropped");
    deformer.add_model(&queue, &Glb::triangle().model()).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    let warm_up = deformer.warm_up(&mut encoder);
    assert_eq!(warm_up.is_ready(), Ok(false));
    device::submit(&device, &queue, encoder);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    assert_eq!(warm_up.is_ready(), Ok(true));
    // Instances come out as without it.
    let id = deformer.animator().models().next().unwrap();
    let instance = deformer.spawn(id).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    let read_back = deformer.read_back(&mut encoder).unwrap();
    device::submit(&device, &queue, encoder);
    let baked = read_back.bake(&deformer, instance).unwrap().unwrap();
    // Three quarters of its weight are on a joint a metre up, in steps of 1/65535.
    assert!(baked[0].vertices.positions[1].distance(Vec3::new(1.0, 0.75, 0.0)) < 2e-5);
}
