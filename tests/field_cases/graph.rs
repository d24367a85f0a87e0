//! What the frame graph makes of a character.

use std::collections::BTreeSet;

use serde_json::Value;
use sinew::{
    DeclareOptions, Deformer, InstanceId, OutputKind, declare_with,
    graph::{Graph, Limits, Plan, Runtime, RuntimeOptions, TextureDesc},
};

use crate::{common::deformed::models, device, itself};

#[test]
fn drawing_what_a_disabled_pass_deforms_is_refused() {
    let mut graph = Graph::<()>::new();
    let picture = graph.target("picture", TextureDesc::new(4, 4, wgpu::TextureFormat::Rgba8Unorm));
    let positions = graph.pack("positions", [("positions of body", 64)]);
    let body = graph.member(positions, 0);
    let deform = graph.compute("deform", |pass| {
        pass.pack_write(positions);
        |_, _, _| ()
    });
    graph.raster("draw", |pass| {
        pass.vertex(body);
        pass.color(picture, Some(wgpu::Color::BLACK));
        |_, _, _| ()
    });
    graph.compile(&Limits::default()).unwrap();
    graph.set_enabled(deform, false);
    assert_eq!(
        graph.compile(&Limits::default()).unwrap_err().to_string(),
        "G015: pass `draw` reads `positions of body`, whose writer `deform` is disabled; disable `draw` as well, \
         or enable `deform`"
    );
}

/// Instances of three models, one after the other of each kind, and a pass that reads them all.
fn character(device: &wgpu::Device, queue: &wgpu::Queue) -> (Deformer, Graph<Deformer>, Plan) {
    let mut deformer = Deformer::new(device);
    let mut ids: Vec<InstanceId> = Vec::new();
    for model in models() {
        let model = deformer.add_model(queue, &model).unwrap();
        ids.extend((0..3).map(|_| deformer.spawn(model).unwrap()));
    }
    let kinds = [OutputKind::Transient, OutputKind::Persistent, OutputKind::History];
    let kind = |id, _| kinds[ids.iter().position(|known| *known == id).unwrap() % 3];
    let options = DeclareOptions { kind: &kind, previous_palettes: true, ..Default::default() };
    let mut graph = Graph::new();
    let skinned = declare_with(&mut graph, &deformer, ids.iter().copied(), &options, itself).unwrap();
    graph.compute("reader", |pass| {
        for part in skinned.all() {
            pass.storage_read(part.a);
            part.previous_a.map(|before| pass.storage_read(before));
        }
        pass.keep();
        |_, _, _| ()
    });
    let plan = graph.compile(&device.limits().into()).unwrap();
    (deformer, graph, plan)
}

#[test]
fn no_pass_of_a_character_reads_and_writes_one_arena() {
    let (device, queue) = device::device();
    let (.., plan) = character(&device, &queue);
    let report: Value = serde_json::from_str(&plan.report().json()).unwrap();
    let mut seen = 0;
    for pass in report["passes"].as_array().unwrap() {
        let arenas = |uses: &str| -> BTreeSet<u64> {
            let buffers = pass[uses].as_array().unwrap().iter().filter_map(|one| one["buffer"].as_u64());
            buffers.filter_map(|buffer| report["buffers"][buffer as usize]["arena"].as_u64()).collect()
        };
        let (reads, writes) = (arenas("reads"), arenas("writes"));
        assert!(reads.is_disjoint(&writes), "{}: {reads:?} {writes:?}", pass["label"]);
        seen += usize::from(!reads.is_empty() && !writes.is_empty());
    }
    assert!(seen > 0, "some pass has both");
}

#[test]
fn without_timestamps_frames_run_and_have_no_gpu_times() {
    let (device, queue) = device::device();
    assert!(device.features().is_empty());
    let (mut deformer, mut graph, plan) = character(&device, &queue);
    assert!(RuntimeOptions::default().timestamps, "asked for");
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
    for _ in 0..5 {
        let mut encoder = device.create_command_encoder(&Default::default());
        runtime.run(&mut graph, &plan, &mut encoder, &mut deformer).unwrap();
        device::submit(&device, &queue, encoder);
    }
    assert!(runtime.timings(&plan).is_none());
    assert!(pollster::block_on(scope.pop()).is_none());
}
