//! A lost device, and memory that nobody wrote.

mod support;

use sinew_graph::{Graph, LossFlag, Runtime, RuntimeOptions};
use support::{buffer, compile, device, encoder, run, runtime, upload, validation};

#[test]
fn a_watched_runtime_refuses_to_run_after_a_loss_and_says_why() {
    let (device, queue) = device();
    let mut graph = Graph::new();
    let value = graph.transient("value", 64);
    upload(&mut graph, value);
    graph.export(value);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    let flag = LossFlag::new();
    runtime.watch(&flag);
    run(&device, &queue, &mut runtime, &mut graph, &plan);
    assert_eq!(flag.loss(), None);
    flag.callback()(wgpu::DeviceLostReason::Unknown, "gone".into());
    flag.raise(wgpu::DeviceLostReason::Destroyed, "again");
    let error = runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect_err("lost");
    assert_eq!(error.code(), "R008");
    assert_eq!(
        error.to_string(),
        "the device was lost (Unknown: gone); make a runtime on a new one and declare the graph again"
    );
}

// Poison

/// Copies four of sixteen bytes into a transient, and all of it out.
fn partial(device: &wgpu::Device, result: &wgpu::Buffer) -> Graph<()> {
    let source = buffer(device, 16, wgpu::BufferUsages::COPY_SRC);
    let mut graph = Graph::new();
    let [source, result] = [graph.import("source", &source), graph.import("result", result)];
    let value = graph.transient("value", 16);
    for (label, from, to, size) in [("fill", source, value, 4), ("show", value, result, 16)] {
        graph.transfer(label, |pass| {
            let (from, to) = (pass.copy_src(from), pass.copy_dst(to));
            move |encoder, resources, ()| {
                let (from, to) = (resources.binding(from), resources.binding(to));
                encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, size);
            }
        });
    }
    graph
}

#[test]
fn poison_shows_where_a_pass_reads_what_nobody_wrote() {
    let (device, queue) = device();
    let result = buffer(&device, 16, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ);
    let mut graph = partial(&device, &result);
    let plan = compile(&graph);
    for (poison, expected) in [(false, 0), (true, 0xff)] {
        let options = RuntimeOptions { poison, ..RuntimeOptions::default() };
        let mut runtime = Runtime::new(&device, &queue, options);
        let error = validation(&device, || run(&device, &queue, &mut runtime, &mut graph, &plan));
        assert_eq!(error, None);
        result.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
        let bytes = result.get_mapped_range(..).expect("mapped").to_vec();
        result.unmap();
        assert_eq!((&bytes[..4], &bytes[4..]), (&[0; 4][..], &[expected; 12][..]), "poison {poison}");
    }
}
