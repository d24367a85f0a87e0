//! What is remembered, shared, replaced and given back.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use std::sync::{Arc, Mutex};

use sinew_graph::{
    Buffer, Graph, GraphError, Limits, LossFlag, Plan, RunError, Runtime, RuntimeOptions, Texture,
    TextureDesc,
};
use support::{buffer, device, encoder, kernel, validation, view};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

/// The bind groups that a pass was given, by run.
type Groups = Arc<Mutex<Vec<wgpu::BindGroup>>>;

fn compile<F>(graph: &Graph<F>) -> Plan {
    graph.compile(&Limits::default()).expect("a valid graph")
}

fn runtime(device: &wgpu::Device, queue: &wgpu::Queue) -> Runtime {
    Runtime::new(device, queue, RuntimeOptions::default())
}

fn run(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    runtime: &mut Runtime,
    graph: &mut Graph<()>,
    plan: &Plan,
) {
    let mut encoder = encoder(device);
    runtime.run(graph, plan, &mut encoder, &mut ()).expect("a run");
    queue.submit([encoder.finish()]);
}

/// A kernel that fills `to` from `from`; returns the groups that it was given.
fn copy_by_kernel(
    graph: &mut Graph<()>,
    device: &wgpu::Device,
    label: &'static str,
    from: Buffer,
    to: Buffer,
) -> Groups {
    let groups = Groups::default();
    let given = Arc::clone(&groups);
    let pipeline = kernel(device, 1, 1);
    graph.compute(label, |pass| {
        let binds = [pass.storage_read(from).into(), pass.storage_write(to).into()];
        let group = pass.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(binds));
        move |pass, resources, ()| {
            given.lock().expect("one thread").push(resources.group(group).clone());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, resources.group(group), &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
    });
    groups
}

fn upload(graph: &mut Graph<()>, to: Buffer) {
    graph.host("upload", |pass| {
        let to = pass.upload(to);
        move |host, ()| {
            host.write(to);
        }
    });
}

/// Whether the groups of two runs are the same object.
fn same(groups: &Groups, a: usize, b: usize) -> bool {
    let groups = groups.lock().expect("one thread");
    groups[a] == groups[b]
}

// Plans

#[test]
fn asking_again_returns_the_same_plan_and_another_set_of_passes_another_one() {
    let mut graph = Graph::<()>::new();
    let [a, b] = ["a", "b"].map(|label| graph.transient(label, 64));
    upload(&mut graph, a);
    upload(&mut graph, b);
    let extra = graph.host("extra", |pass| {
        pass.keep();
        |_, ()| ()
    });
    graph.export(a);
    let first = compile(&graph);
    graph.set_enabled(extra, false);
    let without = compile(&graph);
    assert_ne!(first.fingerprint(), without.fingerprint());
    graph.set_enabled(extra, true);
    assert_eq!(compile(&graph), first);
    assert_eq!(compile(&graph).fingerprint(), first.fingerprint());
}

#[test]
fn a_remembered_plan_runs_after_the_graph_was_declared_anew_alike() {
    let (device, queue) = device();
    let mut runtime = runtime(&device, &queue);
    let mut graph = Graph::new();
    let declare = |graph: &mut Graph<()>| {
        let [a, b] = ["a", "b"].map(|label| graph.transient(label, 64));
        upload(graph, a);
        let pipeline = kernel(&device, 1, 1);
        graph.export(b);
        (a, b, pipeline)
    };
    let pass = |graph: &mut Graph<()>, a, b, pipeline: &wgpu::ComputePipeline, groups: &Groups| {
        let (pipeline, given) = (pipeline.clone(), Arc::clone(groups));
        graph.compute("skin", |pass| {
            let binds = [pass.storage_read(a).into(), pass.storage_write(b).into()];
            let group = pass.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(binds));
            move |_, resources, ()| given.lock().expect("one thread").push(resources.group(group).clone())
        });
    };
    let groups = Groups::default();
    let (a, b, pipeline) = declare(&mut graph);
    pass(&mut graph, a, b, &pipeline, &groups);
    let plan = compile(&graph);
    run(&device, &queue, &mut runtime, &mut graph, &plan);
    graph.clear();
    let (a, b, _) = declare(&mut graph);
    pass(&mut graph, a, b, &pipeline, &groups);
    let again = compile(&graph);
    assert_eq!(again, plan);
    run(&device, &queue, &mut runtime, &mut graph, &again);
    assert_eq!(runtime.prepared_plans(), 1, "its objects serve again");
    assert!(runtime.exported(&again, b).is_some() && runtime.exported(&plan, b).is_none());
}

#[test]
fn a_graph_with_size_classes_that_grows_a_little_keeps_its_plan() {
    let sizes = |graph: &mut Graph<()>, size: u64| {
        graph.clear();
        let value = graph.transient("value", size);
        upload(graph, value);
        graph.export(value);
        compile(graph)
    };
    let mut classes = Graph::with_size_classes();
    let (small, grown, large) =
        (sizes(&mut classes, 4100), sizes(&mut classes, 4300), sizes(&mut classes, 4700));
    assert_eq!(small, grown);
    assert_ne!(small.fingerprint(), large.fingerprint());
    assert_eq!((small.peak_bytes(), large.peak_bytes()), (4608, 5120));
    let mut exact = Graph::new();
    assert_ne!(sizes(&mut exact, 4100), sizes(&mut exact, 4300));
}

#[test]
fn a_size_class_wastes_at_most_an_eighth() {
    for size in [1, 4, 5, 17, 100, 1000, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, (1 << 30) + 5] {
        let mut graph = Graph::with_size_classes();
        let value = graph.transient("value", size);
        upload(&mut graph, value);
        graph.export(value);
        let taken = graph.compile(&Limits { max_buffer_size: 1 << 40, ..Limits::default() });
        let taken = taken.expect("a valid graph").peak_bytes();
        assert!(taken >= size && taken <= (size + size / 8).max(4).next_multiple_of(4), "{size}: {taken}");
    }
}

// Imports

#[test]
fn a_replaced_import_rebuilds_only_the_groups_that_hold_it() {
    let (device, queue) = device();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let [first, second] = [(); 2].map(|()| buffer(&device, 64, usage));
    let mut graph = Graph::new();
    let import = graph.import("source", &first);
    let [a, b] = ["a", "b"].map(|label| graph.transient(label, 64));
    let with = copy_by_kernel(&mut graph, &device, "with", import, a);
    let without = copy_by_kernel(&mut graph, &device, "without", a, b);
    graph.export(b);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    let error = validation(&device, || {
        run(&device, &queue, &mut runtime, &mut graph, &plan);
        run(&device, &queue, &mut runtime, &mut graph, &plan);
        graph.replace_import(import, &second);
        assert_eq!(compile(&graph), plan);
        run(&device, &queue, &mut runtime, &mut graph, &plan);
        run(&device, &queue, &mut runtime, &mut graph, &plan);
    });
    assert_eq!(error, None);
    assert!(same(&with, 0, 1) && !same(&with, 1, 2) && same(&with, 2, 3));
    assert!(same(&without, 0, 3));
}

#[test]
fn an_import_replaced_by_one_of_another_size_needs_another_plan() {
    let (device, queue) = device();
    let [first, second] = [64, 128].map(|size| buffer(&device, size, wgpu::BufferUsages::COPY_DST));
    let mut graph = Graph::new();
    let import = graph.import("result", &first);
    upload(&mut graph, import);
    let plan = compile(&graph);
    graph.replace_import(import, &second);
    let mut runtime = runtime(&device, &queue);
    let refused = runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ());
    assert_eq!(refused, Err(RunError::StalePlan));
    let plan = compile(&graph);
    assert_eq!(plan.buffers()[0].size, 128);
    run(&device, &queue, &mut runtime, &mut graph, &plan);
    graph.replace_import(import, &first);
    assert_eq!(compile(&graph).buffers()[0].size, 64);
}

#[test]
fn replacing_what_is_no_import_is_refused() {
    let (device, _) = device();
    let buffer = buffer(&device, 64, wgpu::BufferUsages::COPY_DST);
    let mut graph = Graph::<()>::new();
    let value = graph.transient("value", 64);
    graph.replace_import(value, &buffer);
    let errors = graph.compile(&Limits::default()).expect_err("refused");
    assert_eq!(errors[0], GraphError::NotImported { resource: "value".into() });
    assert_eq!(
        errors[0].to_string(),
        "`replace_import` names `value`, which was not imported; declare it by `import`"
    );
}

// Objects on the device

#[test]
fn a_steady_state_uses_the_same_objects_every_frame() {
    let (device, queue) = device();
    let mut graph = Graph::new();
    let history = graph.history("history", 64);
    let [a, b] = ["a", "b"].map(|label| graph.transient(label, 64));
    upload(&mut graph, a);
    let fills = copy_by_kernel(&mut graph, &device, "fill", a, history.current);
    let reads = copy_by_kernel(&mut graph, &device, "read", history.previous, b);
    graph.export(b);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    for _ in 0..6 {
        run(&device, &queue, &mut runtime, &mut graph, &plan);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    }
    for groups in [&fills, &reads] {
        assert!(!same(groups, 0, 1), "the two sides");
        assert!((2..6).all(|at| same(groups, at, at - 2)));
    }
    assert_eq!((runtime.staging_created(), runtime.prepared_plans()), (1, 1));
}

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
    copy_by_kernel(&mut graph, &device, "copy", a, b);
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

// Textures

#[test]
fn an_attachment_that_nothing_keeps_is_memoryless() {
    let mut graph = Graph::<()>::new();
    let desc = TextureDesc::new(64, 64, FORMAT);
    let target = graph.target("surface", desc);
    let samples = graph.texture("samples", TextureDesc { samples: 4, ..desc });
    let depth_desc =
        TextureDesc { samples: 4, ..TextureDesc::new(64, 64, wgpu::TextureFormat::Depth32Float) };
    let depth = graph.texture("depth", depth_desc);
    let kept = graph.texture("kept", desc);
    graph.raster("main", |pass| {
        pass.color_resolve(samples, BLACK, target);
        pass.depth(depth, Some(0.0));
        |_, _, ()| ()
    });
    graph.raster("early", |pass| {
        pass.color(kept, BLACK);
        |_, _, ()| ()
    });
    graph.raster("late", |pass| {
        pass.color(target, None);
        pass.sampled(kept);
        |_, _, ()| ()
    });
    let text = compile(&graph).to_string();
    let lines = ["depth", "samples", "kept"].map(|name| {
        let line = text.lines().find(|line| line.contains(&format!("texture `{name}`")));
        line.expect("a line").ends_with("memoryless")
    });
    assert_eq!(lines, [true, true, false], "{text}");
    let plan = compile(&graph);
    let slots: Vec<_> = plan.textures().map(|texture| (&*texture.label, texture.slot().is_some())).collect();
    assert_eq!(slots, [("surface", false), ("samples", true), ("depth", true), ("kept", true)]);
    assert_eq!(plan.unaliased_texture_bytes(), 64 * 64 * 4 * (4 + 4 + 1));
}

#[test]
fn storage_textures_and_copies_of_textures_run_without_validation_errors() {
    const COLOR: TextureDesc = TextureDesc::new(64, 64, FORMAT);
    let (device, queue) = device();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::StorageTexture {
                access: wgpu::StorageTextureAccess::WriteOnly,
                format: FORMAT,
                view_dimension: wgpu::TextureViewDimension::D2,
            },
            count: None,
        }],
    });
    let mut graph = Graph::new();
    let [written, copy] = ["written", "copy"].map(|label| graph.texture(label, COLOR));
    let result = buffer(&device, 64 * 256, wgpu::BufferUsages::COPY_DST);
    let result = graph.import("result", &result);
    for (label, modify) in [("write", false), ("modify", true)] {
        let layout = &layout;
        graph.compute(label, |pass| {
            let access = if modify {
                pass.storage_texture_modify(written)
            } else {
                pass.storage_texture_write(written)
            };
            let group = pass.bind_group(layout, [(0, access.into())]);
            move |pass, resources, ()| {
                pass.set_bind_group(0, resources.group(group), &[]);
                resources.view(access);
            }
        });
    }
    graph.transfer("copy", |pass| {
        let (from, to) = (pass.texture_copy_src(written), pass.texture_copy_dst(copy));
        move |encoder, resources, ()| {
            let (from, to) = (resources.texture(from), resources.texture(to));
            encoder.copy_texture_to_texture(from.as_image_copy(), to.as_image_copy(), from.size());
        }
    });
    graph.transfer("read", |pass| {
        let (from, to) = (pass.texture_copy_src(copy), pass.copy_dst(result));
        move |encoder, resources, ()| {
            let (from, to) = (resources.texture(from), resources.binding(to));
            let layout = wgpu::TexelCopyBufferLayout {
                offset: to.offset,
                bytes_per_row: Some(256),
                rows_per_image: None,
            };
            let into = wgpu::TexelCopyBufferInfo { buffer: to.buffer, layout };
            encoder.copy_texture_to_buffer(from.as_image_copy(), into, from.size());
        }
    });
    let plan = compile(&graph);
    assert_eq!(support::trace(&plan), "write modify copy read");
    let mut runtime = runtime(&device, &queue);
    let error = validation(&device, || run(&device, &queue, &mut runtime, &mut graph, &plan));
    assert_eq!(error, None);
}

// Loss

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
