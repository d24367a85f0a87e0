//! Random graphs, checked against wgpu's validation and against an oracle that knows nothing of the compiler.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use std::collections::HashMap;

use sinew_graph::{
    Bind, Buffer, Colouring, CompileOptions, Declare, Graph, Limits, Plan, Resources, RunError, Runtime,
    RuntimeOptions,
};
use support::{Rng, device, encoder, kernel, validation};

const SEEDS: std::ops::Range<u64> = 1..301;

type Kernels = HashMap<(usize, usize), wgpu::ComputePipeline>;

/// Two to fifteen passes: mostly kernels that read up to three earlier values and write one or two, or a pack;
/// among them uploads, copies and changes in place.
fn random_graph(device: &wgpu::Device, kernels: &mut Kernels, seed: u64) -> Graph<()> {
    let mut rng = Rng::new(seed);
    let mut graph = Graph::new();
    let mut values: Vec<Buffer> = Vec::new();
    for _ in 0..2 + rng.below(14) {
        let picked = (!values.is_empty()).then(|| rng.below(values.len() as u64) as usize);
        match (rng.below(10), picked) {
            (0, _) => values.push(upload(&mut graph, size(&mut rng))),
            (1, Some(at)) => {
                let copy = copy(&mut graph, values[at], size(&mut rng));
                values.push(copy);
            }
            (2, Some(at)) => {
                let pipeline = kernels.entry((0, 1)).or_insert_with(|| kernel(device, 0, 1)).clone();
                values[at] = change(&mut graph, values[at], pipeline);
            }
            _ => {
                let reads = some_of(&values, &mut rng);
                values.extend(compute(&mut graph, device, kernels, &reads, &mut rng));
            }
        }
    }
    let last = values[values.len() - 1];
    graph.export(last);
    for _ in 0..rng.below(3) {
        let value = values[rng.below(values.len() as u64) as usize];
        graph.export(value);
    }
    graph
}

fn size(rng: &mut Rng) -> u64 {
    4 * (1 + rng.below(4096))
}

/// Up to three values, each once.
fn some_of(values: &[Buffer], rng: &mut Rng) -> Vec<Buffer> {
    let count = if values.is_empty() { 0 } else { rng.below(4) };
    let mut picked: Vec<usize> = (0..count).map(|_| rng.below(values.len() as u64) as usize).collect();
    picked.sort_unstable();
    picked.dedup();
    picked.into_iter().map(|at| values[at]).collect()
}

fn upload(graph: &mut Graph<()>, size: u64) -> Buffer {
    let to = graph.transient("upload", size);
    graph.host("upload", |pass| {
        let to = pass.upload(to);
        move |host, ()| {
            host.write(to);
        }
    });
    to
}

/// Copies the first four bytes, which every value has.
fn copy(graph: &mut Graph<()>, from: Buffer, size: u64) -> Buffer {
    let to = graph.transient("copy", size);
    graph.transfer("copy", |pass| {
        let (from, to) = (pass.copy_src(from), pass.copy_dst(to));
        move |encoder, resources, ()| {
            let (from, to) = (resources.binding(from), resources.binding(to));
            encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, 4);
        }
    });
    to
}

fn change(graph: &mut Graph<()>, value: Buffer, pipeline: wgpu::ComputePipeline) -> Buffer {
    let mut changed = value;
    graph.compute("change", |pass| {
        let (access, next) = pass.modify(value);
        changed = next;
        record(pass, pipeline, vec![access.into()])
    });
    changed
}

/// A kernel that reads `reads` and writes one or two new values, or one new pack.
fn compute(
    graph: &mut Graph<()>,
    device: &wgpu::Device,
    kernels: &mut Kernels,
    reads: &[Buffer],
    rng: &mut Rng,
) -> Vec<Buffer> {
    let count = 1 + rng.below(2) as usize;
    let pack =
        (rng.below(4) == 0).then(|| graph.pack("pack", [("member", size(rng)), ("member", size(rng))]));
    let (written, writes) = match pack {
        Some(pack) => (graph.members(pack).collect(), 1),
        None => ((0..count).map(|_| graph.transient("value", size(rng))).collect::<Vec<_>>(), count),
    };
    let key = (reads.len(), writes);
    let pipeline = kernels.entry(key).or_insert_with(|| kernel(device, key.0, key.1)).clone();
    graph.compute("compute", |pass| {
        let mut binds: Vec<Bind> = reads.iter().map(|&b| pass.storage_read(b).into()).collect();
        match pack {
            Some(pack) => binds.push(pass.pack_write(pack).into()),
            None => binds.extend(written.iter().map(|&b| Bind::from(pass.storage_write(b)))),
        }
        record(pass, pipeline, binds)
    });
    written
}

fn record(
    pass: &mut Declare<'_>,
    pipeline: wgpu::ComputePipeline,
    binds: Vec<Bind>,
) -> impl FnMut(&mut wgpu::ComputePass<'_>, &Resources<'_>, &()) + use<> {
    let group = pass.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(binds));
    move |pass, resources, ()| {
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, resources.group(group), &[]);
        pass.dispatch_workgroups(4, 1, 1);
    }
}

/// Runs `plan` once on a fresh runtime and returns what wgpu says against it.
fn run(device: &wgpu::Device, queue: &wgpu::Queue, graph: &mut Graph<()>, plan: &Plan) -> Option<String> {
    let mut runtime = Runtime::new(device, queue, RuntimeOptions::default());
    validation(device, || {
        let mut encoder = encoder(device);
        runtime.run(graph, plan, &mut encoder, &mut ()).expect("the plan is the graph's");
        queue.submit([encoder.finish()]);
    })
}

#[test]
fn random_graphs_run_without_validation_errors() {
    let (device, queue) = device();
    let mut kernels = Kernels::new();
    for seed in SEEDS {
        let mut graph = random_graph(&device, &mut kernels, seed);
        let plan = graph.compile(&Limits::default()).expect("random graphs are valid");
        assert_eq!(run(&device, &queue, &mut graph, &plan), None, "seed {seed}: {plan}");
    }
}

/// Shows that the test above can fail: one arena for everything is what colouring prevents.
#[test]
fn random_graphs_without_colouring_are_refused_by_wgpu() {
    let (device, queue) = device();
    let mut kernels = Kernels::new();
    let refused = SEEDS.filter(|&seed| {
        let mut graph = random_graph(&device, &mut kernels, seed);
        let plan = graph.compile_with(
            &Limits::default(),
            CompileOptions { colour: Colouring::None, ..CompileOptions::default() },
        );
        run(&device, &queue, &mut graph, &plan.expect("random graphs are valid")).is_some()
    });
    assert!(refused.count() > 200, "most graphs read and write in one pass");
}

/// Shows that the runtime's own check can fail: wgpu says nothing when transients share bytes.
#[test]
fn random_graphs_packed_without_lifetimes_are_refused_by_the_runtime() {
    let (device, queue) = device();
    let mut kernels = Kernels::new();
    let options = CompileOptions { lifetimes: false, ..CompileOptions::default() };
    let refused = SEEDS.filter(|&seed| {
        let mut graph = random_graph(&device, &mut kernels, seed);
        let plan = graph.compile_with(&Limits::default(), options).expect("random graphs are valid");
        let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
        let run = runtime.run(&mut graph, &plan, &mut encoder(&device), &mut ());
        matches!(run, Err(RunError::DoubleBooked { .. }))
    });
    assert!(refused.count() > 100, "most graphs have values that live together in one arena");
}

#[test]
fn placements_of_values_alive_together_do_not_overlap() {
    let (device, _) = device();
    let mut kernels = Kernels::new();
    let (mut pairs, mut shared) = (0, 0);
    for seed in SEEDS {
        let graph = random_graph(&device, &mut kernels, seed);
        let plan = graph.compile(&Limits::default()).expect("random graphs are valid");
        let placed: Vec<_> = plan.buffers().iter().filter_map(|b| b.placement.map(|p| (b, p))).collect();
        for (at, (a, p)) in placed.iter().enumerate() {
            for (b, q) in &placed[at + 1..] {
                let shares =
                    p.arena == q.arena && p.offset < q.offset + q.size && q.offset < p.offset + p.size;
                let together = (a.first..=a.last).any(|pass| (b.first..=b.last).contains(&pass));
                assert!(!(shares && together), "seed {seed}: {plan}");
                pairs += 1;
                shared += usize::from(shares);
            }
        }
    }
    assert!(pairs > 3000 && shared > 300, "{shared} of {pairs} pairs share bytes");
}

#[test]
fn placements_are_aligned_and_inside_their_arena() {
    let (device, _) = device();
    let mut kernels = Kernels::new();
    for seed in SEEDS {
        let graph = random_graph(&device, &mut kernels, seed);
        for storage_alignment in [32, 256] {
            let limits = Limits { storage_alignment, ..Limits::default() };
            let plan = graph.compile(&limits).expect("random graphs are valid");
            for buffer in plan.buffers() {
                let place = buffer.placement.expect("all are transient");
                assert_eq!(place.offset % storage_alignment, 0, "seed {seed}: {plan}");
                assert!(place.size >= buffer.size, "seed {seed}: {plan}");
                assert!(place.offset + place.size <= plan.arenas()[place.arena as usize].size);
            }
        }
    }
}

#[test]
fn compiling_is_deterministic() {
    let (device, _) = device();
    let mut kernels = Kernels::new();
    for seed in SEEDS {
        let plans = [(); 2].map(|()| random_graph(&device, &mut kernels, seed).compile(&Limits::default()));
        assert_eq!(plans[0], plans[1], "seed {seed}");
    }
}

#[test]
fn packing_stays_near_the_live_lower_bound() {
    let (device, _) = device();
    let mut kernels = Kernels::new();
    let ratios = SEEDS.map(|seed| {
        let graph = random_graph(&device, &mut kernels, seed);
        let plan = graph.compile(&Limits::default()).expect("random graphs are valid");
        plan.peak_bytes() as f64 / plan.live_bytes() as f64
    });
    let mean = ratios.sum::<f64>() / SEEDS.count() as f64;
    assert!(mean < 1.1, "{mean}");
}
