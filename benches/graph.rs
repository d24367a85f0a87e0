//! The frame graph: compiling, recording and memory, each beside what it is measured against.
//! `cargo bench --bench graph`; instructions are counted where `valgrind` is installed.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops where it cannot go on"
)]

#[path = "../graph/tests/support/counting.rs"]
mod counting;
#[path = "graph/hand.rs"]
mod hand;
#[path = "graph/memory.rs"]
mod memory;
#[path = "graph/passes.rs"]
mod passes;

use std::{collections::HashMap, hint::black_box, process::Command, time::Instant};

use passes::Passes;
use sinew::graph::{Bind, CompileOptions, Graph, Limits, Runtime, RuntimeOptions};

/// Passes of the frame that is recorded.
const RECORDED: usize = 100;

/// How often each work is done in one measured run.
const REPEATS: [u64; 2] = [1, 21];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // Called by itself under valgrind.
    if let [_, flag, work, repeats] = &arguments[..]
        && flag == "--work"
    {
        let mut work = work_of(work);
        (0..repeats.parse::<u64>().unwrap()).for_each(|_| work());
        return;
    }
    compile();
    record();
    memory::table();
}

/// One of the measured works, with everything that comes before it done.
fn work_of(name: &str) -> Box<dyn FnMut()> {
    match name.split_once(' ') {
        Some(("compile", passes)) => {
            let graph = declared(&passes::frame(passes.parse().unwrap()));
            Box::new(move || {
                let plan = graph.compile_with(&Limits::default(), CompileOptions::default());
                black_box(plan.unwrap());
            })
        }
        Some(("record", "graph")) => by_graph(),
        Some(("record", _)) => by_hand(),
        _ => unreachable!("only this program asks"),
    }
}

/// As passes without bind groups, for compiling alone.
fn declared(passes: &Passes) -> Graph<()> {
    let mut graph = Graph::new();
    let buffers: Vec<_> = passes.buffers.iter().map(|&size| graph.transient("value", size)).collect();
    for pass in &passes.passes {
        graph.compute("pass", |declare| {
            pass.reads.iter().for_each(|&buffer| {
                let _ = declare.storage_read(buffers[buffer]);
            });
            pass.writes.iter().for_each(|&buffer| {
                let _ = declare.storage_write(buffers[buffer]);
            });
            |_, _, ()| ()
        });
    }
    passes.roots.iter().for_each(|&root| graph.export(buffers[root]));
    graph
}

fn compile() {
    println!("compile: frames whose passes read what the last eight wrote; no plan is remembered");
    println!("| passes | time | instructions | allocations |");
    println!("|---|---|---|---|");
    let (mut times, mut counts) = (Vec::new(), Vec::new());
    for passes in [34, 100, 1000] {
        let name = format!("compile {passes}");
        let (time, allocations) = measure(&name);
        times.push(time);
        let count = instructions(&name);
        let text = count.map_or("no valgrind".into(), |count| count.to_string());
        println!("| {passes} | {:.1} µs | {text} | {allocations} |", time * 1e6);
        counts.extend(count);
    }
    print!("1000 passes over 100: time {:.1}", times[2] / times[1]);
    if let [_, hundred, thousand] = counts[..] {
        print!(", instructions {:.1}", thousand as f64 / hundred as f64);
    }
    println!("\n");
}

fn record() {
    println!("record: {RECORDED} compute passes on the noop device, with encoder, submit and poll");
    println!("| by | time | instructions | allocations |");
    println!("|---|---|---|---|");
    let rows = ["graph", "hand"].map(|by| {
        let name = format!("record {by}");
        let (time, allocations) = measure(&name);
        let count = instructions(&name);
        let text = count.map_or("no valgrind".into(), |count| count.to_string());
        println!("| {by} | {:.1} µs | {text} | {allocations} |", time * 1e6);
        (time, count)
    });
    let [(graph, counted), (hand, by_hand)] = rows;
    let ratio = counted.zip(by_hand).map(|(graph, hand)| graph as f64 / hand as f64);
    let ratio = ratio.map_or(String::new(), |ratio| format!(", instructions {ratio:.3}"));
    println!("graph / hand: time {:.3}{ratio}\n", graph / hand);
}

/// Seconds of the fastest of many runs, and allocations of one after a warm-up.
fn measure(name: &str) -> (f64, u64) {
    let mut work = work_of(name);
    (0..30).for_each(|_| work());
    let before = counting::allocations();
    work();
    let allocations = counting::allocations() - before;
    let best = (0..200)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    (best, allocations)
}

/// Instructions of one run, as callgrind counts them: the difference between many runs and one.
fn instructions(name: &str) -> Option<u64> {
    let count = |repeats: u64| -> Option<u64> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args(["--work", name, &repeats.to_string()])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find_map(|line| line.split_once("Collected :"))?;
        line.1.trim().parse().ok()
    };
    let [few, many] = REPEATS;
    Some((count(many)? - count(few)?) / (many - few))
}

type Kernels = HashMap<(usize, usize), wgpu::ComputePipeline>;

/// A kernel that reads and writes as many buffers.
fn kernel(
    device: &wgpu::Device,
    kernels: &mut Kernels,
    reads: usize,
    writes: usize,
) -> wgpu::ComputePipeline {
    let make = || {
        let read = |at| format!("@group(0) @binding({at}) var<storage, read> b{at}: array<u32>;\n");
        let write = |at| format!("@group(0) @binding({at}) var<storage, read_write> b{at}: array<u32>;\n");
        let mut source: String = (0..reads).map(read).chain((reads..reads + writes).map(write)).collect();
        source += "@compute @workgroup_size(1) fn main() {\n";
        source.extend((0..reads).map(|at| format!("b{reads}[0] += b{at}[0];\n")));
        source.extend((reads..reads + writes).map(|at| format!("b{at}[0] = 1u;\n")));
        source += "}";
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        })
    };
    kernels.entry((reads, writes)).or_insert_with(make).clone()
}

fn finish(device: &wgpu::Device, queue: &wgpu::Queue, encoder: wgpu::CommandEncoder) {
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

/// The graph that is recorded, with its bind groups.
fn recorded(device: &wgpu::Device) -> Graph<()> {
    let passes = passes::frame(RECORDED);
    let mut kernels = Kernels::new();
    let mut graph = Graph::new();
    let buffers: Vec<_> = passes.buffers.iter().map(|&size| graph.transient("value", size)).collect();
    for pass in &passes.passes {
        let pipeline = kernel(device, &mut kernels, pass.reads.len(), pass.writes.len());
        graph.compute("pass", |declare| {
            let reads = pass.reads.iter().map(|&buffer| Bind::from(declare.storage_read(buffers[buffer])));
            let mut binds: Vec<Bind> = reads.collect();
            binds.extend(pass.writes.iter().map(|&b| Bind::from(declare.storage_write(buffers[b]))));
            let group = declare.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(binds));
            move |pass, resources, ()| {
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, resources.group(group), &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
        });
    }
    passes.roots.iter().for_each(|&root| graph.export(buffers[root]));
    graph
}

fn by_graph() -> Box<dyn FnMut()> {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let mut graph = recorded(&device);
    let plan = graph.compile(&Limits::default()).unwrap();
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    Box::new(move || {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        runtime.run(&mut graph, &plan, &mut encoder, &mut ()).unwrap();
        finish(&device, &queue, encoder);
    })
}

/// The same calls on the same buffers and bind groups.
fn by_hand() -> Box<dyn FnMut()> {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let passes = passes::frame(RECORDED);
    let plan = declared(&passes).compile(&Limits::default()).unwrap();
    let frame = hand::Frame::new(&device, &passes, &plan, &mut Kernels::new());
    Box::new(move || {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        frame.record(&mut encoder);
        finish(&device, &queue, encoder);
    })
}
