//! What outlives a run: persistent and history resources.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use sinew_graph::{
    Buffer, Graph, GraphError, History, Limits, Plan, RunError, Runtime, RuntimeOptions, TextureDesc,
};
use support::{buffer, device, encoder, kernel, validation, view};

/// One run's number goes into `current`, and what stands in `previous` comes out.
struct Frame {
    number: u8,
    fails: bool,
    has_previous: bool,
}

impl Frame {
    fn new(number: u8) -> Self {
        Self { number, fails: false, has_previous: false }
    }
}

struct Bench {
    device: wgpu::Device,
    queue: wgpu::Queue,
    result: wgpu::Buffer,
    runtime: Runtime,
}

impl Bench {
    fn new() -> Self {
        let (device, queue) = device();
        let result = buffer(&device, 16, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ);
        let runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
        Self { device, queue, result, runtime }
    }

    /// Runs once and returns the first byte that came out.
    fn run(&mut self, graph: &mut Graph<Frame>, plan: &Plan, frame: &mut Frame) -> Result<u8, RunError> {
        let mut encoder = encoder(&self.device);
        self.runtime.run(graph, plan, &mut encoder, frame)?;
        self.queue.submit([encoder.finish()]);
        self.result.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
        let byte = self.result.get_mapped_range(..).expect("mapped")[0];
        self.result.unmap();
        Ok(byte)
    }

    fn frames(&mut self, graph: &mut Graph<Frame>, plan: &Plan, numbers: [u8; 3]) -> [u8; 3] {
        numbers.map(|number| self.run(graph, plan, &mut Frame::new(number)).expect("a run"))
    }
}

fn compile<F>(graph: &Graph<F>) -> Plan {
    graph.compile(&Limits::default()).expect("a valid graph")
}

fn fill(graph: &mut Graph<Frame>, into: Buffer) -> sinew_graph::Pass {
    graph.host("fill", |pass| {
        let into = pass.upload(into);
        move |host, frame: &mut Frame| {
            if frame.fails {
                host.fail("on purpose");
            }
            host.write(into).copy_from_slice(&[frame.number; 16]);
        }
    })
}

/// Copies `from` into the bench's result, behind the passes that were declared before.
fn show(graph: &mut Graph<Frame>, bench: &Bench, from: Buffer) {
    let result = graph.import("result", &bench.result);
    graph.transfer("show", |pass| {
        let (from, to) = (pass.copy_src(from), pass.copy_dst(result));
        move |encoder, resources, _| {
            let (from, to) = (resources.binding(from), resources.binding(to));
            encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, 16);
        }
    });
}

/// A graph that fills `current` and shows `previous`, and the pass that fills.
fn history_graph(graph: &mut Graph<Frame>, bench: &Bench) -> (History<Buffer>, sinew_graph::Pass) {
    let history = graph.history("history", 16);
    let pass = fill(graph, history.current);
    show(graph, bench, history.previous);
    (history, pass)
}

#[test]
fn a_persistent_buffer_starts_as_zeros_and_keeps_what_was_written() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let kept = graph.persistent("kept", 16);
    let pass = fill(&mut graph, kept);
    show(&mut graph, &bench, kept);
    graph.set_enabled(pass, false);
    let reading = compile(&graph);
    assert_eq!(bench.run(&mut graph, &reading, &mut Frame::new(5)), Ok(0));
    graph.set_enabled(pass, true);
    let both = compile(&graph);
    assert_eq!(bench.run(&mut graph, &both, &mut Frame::new(6)), Ok(6));
    graph.set_enabled(pass, false);
    assert_eq!(bench.run(&mut graph, &reading, &mut Frame::new(7)), Ok(6));
}

#[test]
fn previous_is_what_the_run_before_left_and_zeros_at_first() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    history_graph(&mut graph, &bench);
    let plan = compile(&graph);
    assert_eq!(bench.frames(&mut graph, &plan, [1, 2, 3]), [0, 1, 2]);
    assert_eq!(bench.frames(&mut graph, &plan, [4, 5, 6]), [3, 4, 5]);
}

#[test]
fn previous_stays_while_the_pass_that_fills_is_disabled() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let (_, pass) = history_graph(&mut graph, &bench);
    let plan = compile(&graph);
    bench.frames(&mut graph, &plan, [1, 2, 3]);
    graph.set_enabled(pass, false);
    let without = compile(&graph);
    assert_eq!(bench.frames(&mut graph, &without, [9, 9, 9]), [3, 3, 3]);
    graph.set_enabled(pass, true);
    assert_eq!(bench.frames(&mut graph, &plan, [4, 5, 6]), [3, 4, 5]);
}

#[test]
fn a_failed_run_does_not_become_previous() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    history_graph(&mut graph, &bench);
    let plan = compile(&graph);
    bench.frames(&mut graph, &plan, [1, 2, 3]);
    let failed = bench.run(&mut graph, &plan, &mut Frame { fails: true, ..Frame::new(99) });
    assert!(matches!(failed, Err(RunError::HostFailed { .. })));
    assert_eq!(bench.frames(&mut graph, &plan, [4, 5, 6]), [3, 4, 5]);
}

#[test]
fn passes_can_ask_whether_there_was_a_run_before() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let history = graph.history("history", 16);
    graph.host("fill", |pass| {
        let into = pass.upload(history.current);
        move |host, frame: &mut Frame| {
            frame.has_previous = host.has_previous(history.previous);
            host.write(into).copy_from_slice(&[frame.number; 16]);
        }
    });
    show(&mut graph, &bench, history.previous);
    let plan = compile(&graph);
    let seen = [1, 2, 3].map(|number| {
        let mut frame = Frame::new(number);
        bench.run(&mut graph, &plan, &mut frame).expect("a run");
        frame.has_previous
    });
    assert_eq!(seen, [false, true, true]);
    bench.runtime.clear();
    let mut frame = Frame::new(4);
    assert_eq!(bench.run(&mut graph, &plan, &mut frame), Ok(0), "cleared memory");
    assert!(!frame.has_previous);
}

#[test]
fn a_graph_declared_anew_finds_what_has_the_same_name_and_size() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    history_graph(&mut graph, &bench);
    let old = compile(&graph);
    bench.frames(&mut graph, &old, [1, 2, 3]);
    graph.clear();
    let other = graph.transient("unrelated", 16);
    graph.export(other);
    fill(&mut graph, other);
    history_graph(&mut graph, &bench);
    let plan = compile(&graph);
    assert_eq!(bench.run(&mut graph, &old, &mut Frame::new(4)), Err(RunError::StalePlan));
    assert_eq!(bench.frames(&mut graph, &plan, [4, 5, 6]), [3, 4, 5]);
}

#[test]
fn a_history_of_another_size_starts_anew() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    history_graph(&mut graph, &bench);
    let plan = compile(&graph);
    bench.frames(&mut graph, &plan, [1, 2, 3]);
    let before = bench.runtime.device_bytes();
    graph.clear();
    let history = graph.history("history", 32);
    fill_larger(&mut graph, history.current);
    show(&mut graph, &bench, history.previous);
    let plan = compile(&graph);
    assert_eq!(bench.frames(&mut graph, &plan, [4, 5, 6]), [0, 4, 5]);
    assert_eq!(bench.runtime.device_bytes(), before + 32, "the old pair is gone");
}

fn fill_larger(graph: &mut Graph<Frame>, into: Buffer) {
    graph.host("fill", |pass| {
        let into = pass.upload(into);
        move |host, frame: &mut Frame| host.write(into).copy_from_slice(&[frame.number; 32])
    });
}

#[test]
fn what_a_dropped_graph_kept_is_given_back() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    history_graph(&mut graph, &bench);
    let plan = compile(&graph);
    bench.frames(&mut graph, &plan, [1, 2, 3]);
    drop(graph);
    let mut other = Graph::new();
    let value = other.transient("value", 16);
    fill(&mut other, value);
    show(&mut other, &bench, value);
    let plan = compile(&other);
    bench.frames(&mut other, &plan, [1, 2, 3]);
    assert_eq!(bench.runtime.device_bytes(), plan.peak_bytes());
    assert_eq!(bench.runtime.prepared_plans(), 1);
}

#[test]
fn what_a_dropped_graph_kept_goes_while_another_one_runs() {
    let mut bench = Bench::new();
    let (mut first, mut second) = (Graph::new(), Graph::new());
    history_graph(&mut first, &bench);
    let value = second.transient("value", 16);
    fill(&mut second, value);
    show(&mut second, &bench, value);
    let (plan, other) = (compile(&first), compile(&second));
    bench.frames(&mut first, &plan, [1, 2, 3]);
    bench.frames(&mut second, &other, [1, 2, 3]);
    assert_eq!(bench.runtime.device_bytes(), other.peak_bytes() + 32);
    drop(first);
    bench.frames(&mut second, &other, [4, 5, 6]);
    assert_eq!(bench.runtime.device_bytes(), other.peak_bytes());
}

#[test]
fn reading_current_before_it_is_filled_is_refused() {
    let bench = Bench::new();
    let mut graph = Graph::new();
    let history = graph.history("history", 16);
    show(&mut graph, &bench, history.current);
    let errors = graph.compile(&Limits::default()).expect_err("refused");
    let expected = GraphError::ReadBeforeWrite { pass: "show".into(), resource: "history".into() };
    assert_eq!(errors[..], [expected]);
}

#[test]
fn previous_may_be_changed_before_it_is_read() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let history = graph.history("history", 16);
    fill(&mut graph, history.current);
    let pipeline = kernel(&bench.device, 0, 1);
    let mut seeded = history.previous;
    graph.compute("seed", |pass| {
        let (access, next) = pass.modify(history.previous);
        seeded = next;
        let group = pass.bind_group(&pipeline.get_bind_group_layout(0), [(0, access.into())]);
        move |pass, resources, _| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, resources.group(group), &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
    });
    show(&mut graph, &bench, seeded);
    let plan = compile(&graph);
    let labels: Vec<_> = plan.passes().iter().map(|pass| &*pass.label).collect();
    assert_eq!(labels, ["fill", "seed", "show"]);
    let error = validation(&bench.device.clone(), || {
        bench.frames(&mut graph, &plan, [1, 2, 3]);
    });
    assert_eq!(error, None);
}

#[test]
fn every_member_of_a_persistent_pack_has_memory_at_one_place_in_every_plan() {
    let bench = Bench::new();
    let mut graph = Graph::<Frame>::new();
    let pack = graph.persistent_pack("pack", [("a", 100), ("b", 100), ("c", 100)]);
    let pipeline = kernel(&bench.device, 0, 1);
    graph.compute("write", |pass| {
        let group = [(0, pass.pack_write(pack).into())];
        let group = pass.bind_group(&pipeline.get_bind_group_layout(0), group);
        move |pass, resources, _| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, resources.group(group), &[]);
        }
    });
    let places = |plan: &Plan, graph: &Graph<Frame>| -> Vec<_> {
        graph.members(pack).map(|member| plan.offset_in_pack(member)).collect()
    };
    let unread = compile(&graph);
    assert_eq!(places(&unread, &graph), [Some(0), Some(256), Some(512)]);
    let last = graph.member(pack, 2);
    show(&mut graph, &bench, last);
    let read = compile(&graph);
    assert_eq!(places(&read, &graph), places(&unread, &graph));
    assert_eq!((read.peak_bytes(), read.kept_bytes()), (0, 612));
}

#[test]
fn the_sides_of_a_history_texture_change_places_without_new_objects() {
    const COLOR: TextureDesc = TextureDesc::new(8, 8, wgpu::TextureFormat::Rgba8Unorm);
    let (device, queue) = device();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: true },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        }],
    });
    let mut graph = Graph::<Vec<(wgpu::TextureView, bool)>>::new();
    let history = graph.history_texture("colour", COLOR);
    let target = graph.target("surface", COLOR);
    graph.raster("accumulate", |pass| {
        pass.color(history.current, Some(wgpu::Color::BLACK));
        let previous = pass.sampled(history.previous);
        let group = pass.bind_group(&layout, [(0, previous.into())]);
        move |pass, resources, _| {
            pass.set_bind_group(0, resources.group(group), &[]);
            resources.view(previous);
        }
    });
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seeing = seen.clone();
    graph.raster("present", |pass| {
        let current = pass.sampled(history.current);
        pass.color(target, Some(wgpu::Color::BLACK));
        move |_, resources, _| {
            let has_previous = resources.texture_has_previous(history.previous);
            seeing.lock().expect("one thread").push((resources.view(current).clone(), has_previous));
        }
    });
    let plan = compile(&graph);
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let view = view(&device, 8, 8, COLOR.format);
    let error = validation(&device, || {
        for _ in 0..4 {
            runtime.bind_target(target, &view);
            let mut encoder = encoder(&device);
            runtime.run(&mut graph, &plan, &mut encoder, &mut Vec::new()).expect("a run");
            queue.submit([encoder.finish()]);
        }
    });
    assert_eq!(error, None);
    let seen = seen.lock().expect("one thread");
    let views: Vec<_> = seen.iter().map(|(view, _)| view).collect();
    assert!(views[0] != views[1] && views[0] == views[2] && views[1] == views[3]);
    let known: Vec<_> = seen.iter().map(|(_, has_previous)| *has_previous).collect();
    assert_eq!(known, [false, true, true, true]);
}

#[test]
fn a_pass_that_is_added_later_finds_what_was_kept() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let history = graph.history("history", 16);
    fill(&mut graph, history.current);
    let plan = compile(&graph);
    let mut run = |graph: &mut Graph<Frame>, plan: &Plan, number| {
        let mut encoder = encoder(&bench.device);
        bench.runtime.run(graph, plan, &mut encoder, &mut Frame::new(number)).expect("a run");
        bench.queue.submit([encoder.finish()]);
    };
    run(&mut graph, &plan, 1);
    run(&mut graph, &plan, 2);
    // Uses that the buffers were not made for.
    show(&mut graph, &bench, history.previous);
    graph.export_for(history.current, wgpu::BufferUsages::VERTEX);
    let plan = compile(&graph);
    assert_eq!(bench.frames(&mut graph, &plan, [3, 4, 5]), [2, 3, 4]);
}

#[test]
fn a_host_pass_that_writes_nothing_does_not_turn_a_history() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let history = graph.history("history", 16);
    graph.host("fill", |pass| {
        let into = pass.upload(history.current);
        move |host, frame: &mut Frame| {
            if frame.number > 0 {
                host.write(into).copy_from_slice(&[frame.number; 16]);
            }
        }
    });
    show(&mut graph, &bench, history.previous);
    let plan = compile(&graph);
    assert_eq!(bench.frames(&mut graph, &plan, [1, 2, 0]), [0, 1, 2]);
    assert_eq!(bench.frames(&mut graph, &plan, [0, 0, 3]), [2, 2, 2]);
}

#[test]
fn whether_there_was_a_run_before_can_be_asked_without_reading_it() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let history = graph.history("history", 16);
    graph.host("fill", |pass| {
        let into = pass.upload(history.current);
        move |host, frame: &mut Frame| {
            frame.has_previous = host.has_previous(history.previous);
            host.write(into).copy_from_slice(&[frame.number; 16]);
        }
    });
    show(&mut graph, &bench, history.current);
    let plan = compile(&graph);
    let mut frame = Frame::new(1);
    bench.run(&mut graph, &plan, &mut frame).expect("a run");
    assert!(!frame.has_previous);
    bench.run(&mut graph, &plan, &mut frame).expect("a run");
    assert!(frame.has_previous);
}

#[test]
fn a_pack_with_other_members_starts_anew() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let declare = |graph: &mut Graph<Frame>, members: [(&'static str, u64); 2], bench: &Bench| {
        graph.clear();
        let pack = graph.persistent_pack("pack", members);
        let a = graph.members(pack).nth(usize::from(members[0].0 != "a")).expect("a member");
        let pass = fill(graph, a);
        show(graph, bench, a);
        pass
    };
    declare(&mut graph, [("a", 16), ("b", 16)], &bench);
    let plan = compile(&graph);
    bench.frames(&mut graph, &plan, [1, 2, 3]);
    let pass = declare(&mut graph, [("b", 16), ("a", 16)], &bench);
    graph.set_enabled(pass, false);
    let plan = compile(&graph);
    assert_eq!(bench.run(&mut graph, &plan, &mut Frame::new(9)), Ok(0));
}

#[test]
fn what_is_kept_can_be_exported_in_a_run_that_does_not_use_it() {
    let mut bench = Bench::new();
    let mut graph = Graph::new();
    let kept = graph.persistent("kept", 16);
    let pass = fill(&mut graph, kept);
    let other = graph.transient("other", 16);
    fill(&mut graph, other);
    show(&mut graph, &bench, other);
    graph.export(kept);
    let plan = compile(&graph);
    bench.run(&mut graph, &plan, &mut Frame::new(1)).expect("a run");
    graph.set_enabled(pass, false);
    let without = compile(&graph);
    bench.run(&mut graph, &without, &mut Frame::new(2)).expect("a run");
    assert!(bench.runtime.exported(&without, kept).is_some());
}
