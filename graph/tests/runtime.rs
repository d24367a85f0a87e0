//! Recording a plan on a device.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sinew_graph::{
    Access, CompileOptions, Graph, Limits, Plan, RunError, Runtime, RuntimeOptions, Texture, TextureDesc,
    role,
};
use support::{buffer, device, encoder, kernel, validation, view};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const COLOR: TextureDesc = TextureDesc::new(64, 32, FORMAT);
const BLACK: Option<wgpu::Color> = Some(wgpu::Color::BLACK);

fn runtime(device: &wgpu::Device, queue: &wgpu::Queue) -> Runtime {
    Runtime::new(device, queue, RuntimeOptions::default())
}

fn compile<F>(graph: &Graph<F>) -> Plan {
    graph.compile(&Limits::default()).expect("a valid graph")
}

fn said(error: &RunError, code: &str, message: &str) {
    assert_eq!((error.code(), &*error.to_string()), (code, message));
}

/// Uploads the frame's number through a kernel: host, compute, transfer into `result`.
fn upload_graph(device: &wgpu::Device, result: &wgpu::Buffer) -> Graph<u32> {
    let mut graph = Graph::new();
    let [input, output] = ["input", "output"].map(|label| graph.transient(label, 64));
    let result = graph.import("result", result);
    graph.host("animate", |pass| {
        let input = pass.upload(input);
        move |host, frame: &mut u32| {
            *frame += 1;
            host.write(input).copy_from_slice(&[*frame as u8; 64]);
        }
    });
    let pipeline = kernel(device, 1, 1);
    graph.compute("deform", |pass| {
        let binds = [pass.storage_read(input).into(), pass.storage_write(output).into()];
        let group = pass.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(binds));
        move |pass, resources, _| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, resources.group(group), &[]);
            pass.dispatch_workgroups(1, 1, 1);
            resources.count_dispatches(1);
        }
    });
    graph.transfer("copy", |pass| {
        let (from, to) = (pass.copy_src(input), pass.copy_dst(result));
        pass.copy_src(output);
        move |encoder, resources, _| {
            let (from, to) = (resources.binding(from), resources.binding(to));
            encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, 64);
        }
    });
    graph
}

fn read(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Vec<u8> {
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    let bytes = buffer.get_mapped_range(..).expect("mapped").to_vec();
    buffer.unmap();
    bytes
}

fn readable(device: &wgpu::Device) -> wgpu::Buffer {
    buffer(device, 64, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ)
}

#[test]
fn what_a_host_pass_writes_arrives() {
    let (device, queue) = device();
    let result = readable(&device);
    let mut graph = upload_graph(&device, &result);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    let mut frame = 0;
    for expected in 1..4u8 {
        let error = validation(&device, || {
            let mut encoder = encoder(&device);
            runtime.run(&mut graph, &plan, &mut encoder, &mut frame).expect("recorded");
            queue.submit([encoder.finish()]);
        });
        assert_eq!(error, None);
        assert_eq!(read(&device, &result), vec![expected; 64]);
    }
    assert_eq!((runtime.staging_created(), runtime.prepared_plans()), (1, 1));
}

#[test]
fn two_runs_before_one_submit_use_distinct_staging_memory() {
    let (device, queue) = device();
    let result = readable(&device);
    let mut graph = upload_graph(&device, &result);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    let (mut encoder, other) = (encoder(&device), readable(&device));
    let mut frame = 0;
    runtime.run(&mut graph, &plan, &mut encoder, &mut frame).expect("recorded");
    let mut graph = upload_graph(&device, &other);
    let plan = compile(&graph);
    runtime.run(&mut graph, &plan, &mut encoder, &mut frame).expect("recorded");
    queue.submit([encoder.finish()]);
    assert_eq!(runtime.staging_created(), 2);
    assert_eq!((read(&device, &result), read(&device, &other)), (vec![1; 64], vec![2; 64]));
}

#[test]
fn a_dropped_encoder_loses_no_staging_memory() {
    let (device, queue) = device();
    let result = readable(&device);
    let mut graph = upload_graph(&device, &result);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    for _ in 0..20 {
        runtime.run(&mut graph, &plan, &mut encoder(&device), &mut 0).expect("recorded");
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    }
    assert!(runtime.staging_created() <= 2, "{}", runtime.staging_created());
}

#[test]
fn only_the_used_part_of_a_block_is_copied() {
    let (device, queue) = device();
    let result = buffer(&device, 64, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ);
    let mut graph = Graph::<u8>::new();
    let imported = graph.import("result", &result);
    graph.host("fill", |pass| {
        let access = pass.upload(imported);
        move |host, value| {
            let used = if *value == 1 { 64 } else { 10 };
            host.write(access).slice(..used).copy_from_slice(&vec![*value; used]);
            host.set_used(access, used as u64);
        }
    });
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    for mut value in [1, 2] {
        let mut encoder = encoder(&device);
        runtime.run(&mut graph, &plan, &mut encoder, &mut value).expect("recorded");
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    }
    let bytes = read(&device, &result);
    assert_eq!((&bytes[..10], &bytes[12..]), (&[2; 10][..], &[1; 52][..]));
}

#[test]
fn several_blocks_can_be_written_side_by_side() {
    let (device, queue) = device();
    let results = [(); 3].map(|()| readable(&device));
    let mut graph = Graph::<()>::new();
    let imported = [0, 1, 2].map(|at| graph.import("result", &results[at]));
    graph.host("fill", |pass| {
        let [a, b, c] = imported.map(|buffer| pass.upload(buffer));
        move |host, ()| {
            for (value, mut block) in [3u8, 1, 2].into_iter().zip(host.write_all([c, a, b])) {
                let len = block.len();
                block.slice(..).copy_from_slice(&vec![value; len]);
            }
        }
    });
    let plan = compile(&graph);
    let mut encoder = encoder(&device);
    runtime(&device, &queue).run(&mut graph, &plan, &mut encoder, &mut ()).expect("recorded");
    queue.submit([encoder.finish()]);
    let read = results.each_ref().map(|result| read(&device, result)[63]);
    assert_eq!(read, [1, 2, 3]);
}

#[test]
fn an_exported_value_can_be_copied_out() {
    let (device, queue) = device();
    let mut graph = Graph::<()>::new();
    let value = graph.transient("value", 64);
    graph.host("fill", |pass| {
        let access = pass.upload(value);
        move |host, ()| host.write(access).copy_from_slice(&[9; 64])
    });
    graph.export(value);
    let plan = compile(&graph);
    let (mut runtime, mut encoder) = (runtime(&device, &queue), encoder(&device));
    assert!(runtime.exported(&plan, value).is_none(), "never run");
    runtime.run(&mut graph, &plan, &mut encoder, &mut ()).expect("recorded");
    let (result, slice) = (readable(&device), runtime.exported(&plan, value).expect("exported"));
    encoder.copy_buffer_to_buffer(slice.buffer(), slice.offset(), &result, 0, slice.size());
    queue.submit([encoder.finish()]);
    assert_eq!(read(&device, &result), [9; 64]);
}

/// Draws into a multisampled texture resolved into the target, after a depth prepass, and samples a shadow.
fn raster_graph(device: &wgpu::Device) -> (Graph<()>, Texture) {
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Depth,
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        }],
    });
    let mut graph = Graph::new();
    let surface = graph.target("surface", COLOR);
    let shadow =
        graph.texture("shadow", TextureDesc::new(128, 128, wgpu::TextureFormat::Depth24PlusStencil8));
    let color = graph.texture("color", TextureDesc { samples: 4, ..COLOR });
    let depth = TextureDesc { format: wgpu::TextureFormat::Depth32Float, samples: 4, ..COLOR };
    let depth = graph.texture("depth", depth);
    graph.raster("shadow", |pass| {
        pass.depth(shadow, Some(1.0));
        |_, _, _| ()
    });
    graph.raster("prepass", |pass| {
        pass.depth(depth, Some(1.0));
        |_, _, _| ()
    });
    graph.raster("main", |pass| {
        let shadow = pass.sampled(shadow).into();
        let group = pass.bind_group(&layout, [(0, shadow)]);
        pass.color_resolve(color, BLACK, surface);
        pass.depth_read(depth);
        move |pass, resources, _| pass.set_bind_group(0, resources.group(group), &[])
    });
    graph.raster("overlay", |pass| {
        pass.color(surface, None);
        |_, _, _| ()
    });
    (graph, surface)
}

#[test]
fn raster_passes_with_resolve_and_depth_run_without_validation_errors() {
    let (device, queue) = device();
    let (mut graph, surface) = raster_graph(&device);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    for _ in 0..3 {
        let error = validation(&device, || {
            let mut encoder = encoder(&device);
            runtime.bind_target(surface, &view(&device, 64, 32, FORMAT));
            runtime.run(&mut graph, &plan, &mut encoder, &mut ()).expect("recorded");
            queue.submit([encoder.finish()]);
        });
        assert_eq!(error, None);
    }
}

#[test]
fn an_unbound_target_is_refused() {
    let (device, queue) = device();
    let (mut graph, surface) = raster_graph(&device);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    let mut encoder = encoder(&device);
    let mut run = |runtime: &mut Runtime| runtime.run(&mut graph, &plan, &mut encoder, &mut ());
    let refused = run(&mut runtime).expect_err("no view");
    said(&refused, "R001", "target `surface` has no view; call `bind_target` before every run");
    runtime.bind_target(surface, &view(&device, 64, 32, FORMAT));
    assert_eq!(run(&mut runtime), Ok(()));
    assert_eq!(run(&mut runtime), Err(refused), "a view is bound for one run");
}

#[test]
fn a_plan_of_another_graph_is_refused() {
    let (device, queue) = device();
    let (mut graph, _) = raster_graph(&device);
    let plan = compile(&raster_graph(&device).0);
    let run = runtime(&device, &queue).run(&mut graph, &plan, &mut encoder(&device), &mut ());
    let why = "the plan was compiled from another graph; run it with the graph that it came from";
    said(&run.expect_err("foreign"), "R002", why);
}

#[test]
fn a_plan_from_before_a_change_is_refused() {
    let (device, queue) = device();
    let (mut graph, _) = raster_graph(&device);
    let plan = compile(&graph);
    graph.transient("more", 4);
    let run = runtime(&device, &queue).run(&mut graph, &plan, &mut encoder(&device), &mut ());
    let why = "the graph changed after the plan was compiled; compile it again";
    said(&run.expect_err("stale"), "R003", why);
}

#[test]
fn an_access_of_another_graph_is_an_error_and_no_panic() {
    let (device, queue) = device();
    let mut foreign: Option<(Access<role::Vertex>, Access<role::Sampled>, sinew_graph::Group)> = None;
    let layout =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &[] });
    let mut other = Graph::<()>::new();
    let (buffer, texture) = (other.transient("buffer", 4), other.texture("texture", COLOR));
    other.raster("other", |pass| {
        foreign = Some((pass.vertex(buffer), pass.sampled(texture), pass.bind_group(&layout, [])));
        |_, _, _| ()
    });
    let (vertex, sampled, group) = foreign.expect("declared");
    let mut graph = Graph::<()>::new();
    graph.compute("mine", |pass| {
        pass.keep();
        move |_, resources, _| {
            resources.vertex(vertex);
            resources.view(sampled);
            resources.group(group);
            resources.binding(vertex);
        }
    });
    let plan = compile(&graph);
    let run = runtime(&device, &queue).run(&mut graph, &plan, &mut encoder(&device), &mut ());
    let why = "pass `mine` resolved an access that it did not declare; declare it in that pass";
    said(&run.expect_err("foreign"), "R004", why);
}

#[test]
fn without_mapped_memory_nothing_is_recorded() {
    let (device, queue) = device();
    let result = readable(&device);
    let mut graph = upload_graph(&device, &result);
    let plan = compile(&graph);
    let mut runtime = runtime(&device, &queue);
    device.destroy();
    let run = runtime.run(&mut graph, &plan, &mut encoder(&device), &mut 0);
    let why = "no mapped memory for 64 bytes of uploads; the device is lost or out of memory: rebuild on a new one, \
               or upload less";
    said(&run.expect_err("lost"), "R005", why);
}

#[test]
fn transients_that_share_bytes_while_alive_are_refused() {
    let (device, queue) = device();
    let mut graph = Graph::<()>::new();
    for label in ["a", "b"] {
        let value = graph.transient(label, 64);
        graph.host(label, |pass| {
            pass.upload(value);
            |_, ()| ()
        });
        graph.export(value);
    }
    let options = CompileOptions { lifetimes: false, ..CompileOptions::default() };
    let plan = graph.compile_with(&Limits::default(), options).expect("a valid graph");
    let run = runtime(&device, &queue).run(&mut graph, &plan, &mut encoder(&device), &mut ());
    let why = "`a` and `b` share bytes while both are alive; this is a fault of the compiler: please report it \
               with `plan.report().text()`";
    said(&run.expect_err("double booked"), "R006", why);
}

#[test]
fn plans_are_kept_and_the_oldest_is_evicted() {
    let (device, queue) = device();
    let mut graph = Graph::<()>::new();
    let passes: Vec<_> = (0..4)
        .map(|_| {
            graph.compute("pass", |pass| {
                pass.keep();
                |_, _, _| ()
            })
        })
        .collect();
    let options = RuntimeOptions { plans: 2, ..RuntimeOptions::default() };
    let mut runtime = Runtime::new(&device, &queue, options);
    for &pass in &passes[..3] {
        graph.set_enabled(pass, false);
        let plan = compile(&graph);
        runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect("recorded");
    }
    assert_eq!(runtime.prepared_plans(), 2);
    runtime.clear();
    assert_eq!(runtime.prepared_plans(), 0);
}

#[test]
fn a_disabled_pass_is_not_recorded() {
    let (device, queue) = device();
    let count = Arc::new(AtomicU64::new(0));
    let mut graph = Graph::<()>::new();
    let counted = Arc::clone(&count);
    let pass = graph.compute("counted", |pass| {
        pass.keep();
        move |_, _, _| {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    graph.compute("other", |pass| {
        pass.keep();
        |_, _, _| ()
    });
    let mut runtime = runtime(&device, &queue);
    for enabled in [true, false, true] {
        graph.set_enabled(pass, enabled);
        let plan = compile(&graph);
        runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect("recorded");
    }
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[test]
fn without_the_feature_there_are_no_gpu_times() {
    let (device, queue) = device();
    let mut runtime = runtime(&device, &queue);
    let mut graph = upload_graph(&device, &readable(&device));
    let plan = compile(&graph);
    let mut encoder = encoder(&device);
    runtime.run(&mut graph, &plan, &mut encoder, &mut 0).expect("recorded");
    queue.submit([encoder.finish()]);
    assert!(runtime.timings(&plan).is_none());
}

#[test]
fn gpu_times_of_a_finished_frame_name_its_timed_passes() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor {
        required_features: wgpu::Features::TIMESTAMP_QUERY,
        ..Default::default()
    });
    let mut runtime = runtime(&device, &queue);
    let mut graph = upload_graph(&device, &readable(&device));
    let plan = compile(&graph);
    let error = validation(&device, || {
        for _ in 0..10 {
            let mut encoder = encoder(&device);
            runtime.run(&mut graph, &plan, &mut encoder, &mut 0).expect("recorded");
            queue.submit([encoder.finish()]);
            device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
        }
    });
    assert_eq!(error, None);
    let timings = runtime.timings(&plan).expect("a finished frame");
    assert_eq!(timings.frame(), 9);
    assert_eq!(timings.passes().map(|pass| pass.label.to_owned()).collect::<Vec<_>>(), ["deform"]);
}

#[test]
fn a_frame_in_flight_more_than_the_readbacks_is_recorded_untimed() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor {
        required_features: wgpu::Features::TIMESTAMP_QUERY,
        ..Default::default()
    });
    let mut runtime = runtime(&device, &queue);
    let mut graph = upload_graph(&device, &readable(&device));
    let plan = compile(&graph);
    let error = validation(&device, || {
        let mut encoder = encoder(&device);
        for _ in 0..5 {
            runtime.run(&mut graph, &plan, &mut encoder, &mut 0).expect("recorded");
        }
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    });
    assert_eq!((error, runtime.timings(&plan).map(|timings| timings.frame())), (None, Some(2)));
}

#[test]
fn a_graph_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Graph<()>>();
    is_send::<Plan>();
    is_send::<Runtime>();
}

#[test]
fn a_host_pass_that_fails_ends_the_run_with_its_reason() {
    let (device, queue) = device();
    let mut graph = Graph::<()>::new();
    let buffer = graph.transient("palettes", 64);
    graph.host("animate", |pass| {
        let access = pass.upload(buffer);
        move |host, ()| {
            host.write(access);
            host.fail("no pose");
            host.fail("and more");
        }
    });
    graph.export(buffer);
    let plan = graph.compile(&Limits::default()).expect("a valid graph");
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let error = runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ()).expect_err("it failed");
    said(&error, "R007", "host pass `animate` failed: no pose");
}
