//! What is remembered: plans and bind groups.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use std::sync::{Arc, Mutex};

use sinew_graph::{Buffer, Graph, GraphError, Limits, RunError};
use support::{buffer, compile, device, encoder, kernel, run, runtime, upload, validation};

/// The bind groups that a pass was given, by run.
type Groups = Arc<Mutex<Vec<wgpu::BindGroup>>>;

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

#[test]
fn a_mistake_after_a_plan_was_remembered_is_still_reported() {
    let mut graph = Graph::<()>::new();
    let value = graph.transient("value", 64);
    upload(&mut graph, value);
    graph.export(value);
    compile(&graph);
    let foreign = Graph::<()>::new().transient("foreign", 4);
    graph.export(foreign);
    let errors = graph.compile(&Limits::default()).expect_err("refused");
    assert_eq!(errors[0].code(), "G007");
}

#[test]
fn every_set_of_enabled_passes_has_a_fingerprint_of_its_own() {
    let mut graph = Graph::<()>::new();
    let pass = |graph: &mut Graph<()>| {
        graph.host("pass", |pass| {
            pass.keep();
            |_, ()| ()
        })
    };
    let passes: Vec<_> = (0..64).map(|_| pass(&mut graph)).collect();
    let all = compile(&graph).fingerprint();
    // A set whose terms cancelled each other out when they were combined without being mixed.
    for at in
        [0, 2, 3, 5, 8, 9, 10, 11, 13, 14, 15, 17, 20, 24, 25, 29, 32, 35, 38, 40, 41, 45, 47, 48, 51, 52]
    {
        graph.set_enabled(passes[at], false);
        assert_ne!(compile(&graph).fingerprint(), all);
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

// From frame to frame

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
