//! What is shared, and what goes back to the device.

mod support;

use sinew_graph::{Graph, Runtime, RuntimeOptions, Texture, TextureDesc};
use support::{compile, device, encoder, run, runtime, upload, validation, view};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

/// Draws into a transient texture of some size and from that into a target.
fn draw_graph(graph: &mut Graph<()>, side: u32) -> Texture {
    graph.clear();
    let desc = TextureDesc::new(side, side, FORMAT);
    let [color, target] = [graph.texture("colour", desc), graph.target("surface", desc)];
    graph.raster("draw", |pass| {
        pass.color(color, BLACK);
        |_, _, ()| ()
    });
    graph.raster("show", |pass| {
        pass.sampled(color);
        pass.color(target, BLACK);
        |_, _, ()| ()
    });
    target
}

#[test]
fn a_resized_graph_gives_its_old_textures_back() {
    let (device, queue) = device();
    let mut runtime = runtime(&device, &queue);
    let mut graph = Graph::new();
    for side in [64, 65, 66, 67, 64] {
        let target = draw_graph(&mut graph, side);
        let plan = compile(&graph);
        let view = view(&device, side, side, FORMAT);
        let error = validation(&device, || {
            for _ in 0..2 {
                runtime.bind_target(target, &view);
                run(&device, &queue, &mut runtime, &mut graph, &plan);
            }
        });
        assert_eq!(error, None);
        assert_eq!((runtime.pooled_textures(), runtime.prepared_plans()), (1, 1), "side {side}");
    }
}

#[test]
fn plans_share_textures_of_one_kind() {
    let (device, queue) = device();
    let mut runtime = runtime(&device, &queue);
    let view = view(&device, 64, 64, FORMAT);
    let mut graphs = [Graph::new(), Graph::new()];
    for graph in &mut graphs {
        let target = draw_graph(graph, 64);
        let plan = compile(graph);
        runtime.bind_target(target, &view);
        run(&device, &queue, &mut runtime, graph, &plan);
    }
    assert_eq!((runtime.pooled_textures(), runtime.prepared_plans()), (1, 2));
}

#[test]
fn what_is_not_run_for_long_is_given_back() {
    let (device, queue) = device();
    let options = RuntimeOptions { idle_runs: 3, ..RuntimeOptions::default() };
    let mut runtime = Runtime::new(&device, &queue, options);
    let mut graph = Graph::new();
    let value = graph.transient("value", 4096);
    let extra = graph.transient("extra", 8192);
    upload(&mut graph, value);
    let pass = graph.host("extra", |pass| {
        let extra = pass.upload(extra);
        pass.keep();
        move |host, ()| {
            host.write(extra);
        }
    });
    graph.export(value);
    let with = compile(&graph);
    run(&device, &queue, &mut runtime, &mut graph, &with);
    graph.set_enabled(pass, false);
    let without = compile(&graph);
    for _ in 0..3 {
        run(&device, &queue, &mut runtime, &mut graph, &without);
    }
    assert_eq!(runtime.prepared_plans(), 2);
    run(&device, &queue, &mut runtime, &mut graph, &without);
    assert_eq!((runtime.prepared_plans(), runtime.device_bytes()), (1, 4096));
    graph.set_enabled(pass, true);
    run(&device, &queue, &mut runtime, &mut graph, &with);
}

#[test]
fn ten_thousand_declarations_leave_memory_flat() {
    let (device, queue) = device();
    let mut runtime = runtime(&device, &queue);
    let mut graph = Graph::new();
    let mut bytes = Vec::new();
    for round in 0..10_000u64 {
        graph.clear();
        let parts: Vec<_> = (0..1 + round % 7).map(|i| graph.transient(format!("part {i}"), 1024)).collect();
        for part in parts {
            upload(&mut graph, part);
            graph.export(part);
        }
        let plan = compile(&graph);
        run(&device, &queue, &mut runtime, &mut graph, &plan);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
        bytes.push(runtime.device_bytes());
    }
    assert_eq!(bytes[..7], [1024, 2048, 3072, 4096, 5120, 6144, 7168]);
    assert!((7..10_000).all(|round| bytes[round] == bytes[round - 7]));
    assert_eq!(runtime.prepared_plans(), 1);
}

#[test]
fn a_value_that_was_not_exported_has_no_bytes_to_copy() {
    let (device, queue) = device();
    let mut graph = Graph::new();
    let [a, b] = ["a", "b"].map(|label| graph.transient(label, 64));
    upload(&mut graph, a);
    graph.transfer("copy", |pass| {
        let (from, to) = (pass.copy_src(a), pass.copy_dst(b));
        move |encoder, resources, ()| {
            let (from, to) = (resources.binding(from), resources.binding(to));
            encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, 64);
        }
    });
    graph.export(b);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    run(&device, &queue, &mut runtime, &mut graph, &plan);
    assert!(runtime.exported(&plan, a).is_none() && runtime.exported(&plan, b).is_some());
}

#[test]
fn a_target_of_another_size_than_declared_is_refused() {
    let (device, queue) = device();
    let mut graph = Graph::new();
    let target = draw_graph(&mut graph, 64);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    runtime.bind_target(target, &view(&device, 64, 32, FORMAT));
    let error = runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect_err("another size");
    assert_eq!(error.code(), "R009");
    assert_eq!(
        error.to_string(),
        "target `surface` is bound to a texture of 64x32 with 1 sample, but was declared as 64x64 with 1 sample; \
         declare the graph anew when a target changes"
    );
}
