//! Random graphs, checked against wgpu's validation and against an oracle that knows nothing of the compiler.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use std::collections::HashMap;

use sinew_graph::{
    Bind, Buffer, Colouring, CompileOptions, Declare, Graph, History, Limits, Plan, Resources, RunError,
    Runtime, RuntimeOptions, Texture, TextureDesc,
};
use support::{Rng, device, encoder, kernel, validation, view};

const SEEDS: std::ops::Range<u64> = 1..301;

/// As many as are run with every check on.
const MANY_SEEDS: std::ops::Range<u64> = 1..10_001;

const COLOR: TextureDesc = TextureDesc::new(16, 16, wgpu::TextureFormat::Rgba8Unorm);
const SMALL: TextureDesc = TextureDesc::new(8, 8, wgpu::TextureFormat::Rgba8Unorm);
const DEPTH: TextureDesc = TextureDesc::new(16, 16, wgpu::TextureFormat::Depth32Float);

/// What graphs of one test share, so that no pipeline is compiled twice.
struct Kernels {
    kernels: HashMap<(usize, usize), wgpu::ComputePipeline>,
    /// By number of textures.
    layouts: Vec<wgpu::BindGroupLayout>,
}

impl Kernels {
    fn new(device: &wgpu::Device) -> Self {
        let entry = |binding: u32| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: true },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        };
        let layout = |count: u32| {
            let entries: Vec<_> = (0..count).map(entry).collect();
            device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
        };
        Self { kernels: HashMap::new(), layouts: (0..4).map(layout).collect() }
    }

    fn get(&mut self, device: &wgpu::Device, reads: usize, writes: usize) -> wgpu::ComputePipeline {
        self.kernels.entry((reads, writes)).or_insert_with(|| kernel(device, reads, writes)).clone()
    }
}

/// Two to fifteen passes: mostly kernels that read up to three earlier values and write one or two, or a pack;
/// among them uploads, copies, changes in place, what is kept from run to run, and drawing.
fn random_graph(device: &wgpu::Device, kernels: &mut Kernels, seed: u64) -> (Graph<()>, Texture) {
    let mut rng = Rng::new(seed);
    let mut graph = Graph::new();
    let mut values: Vec<Buffer> = Vec::new();
    let mut textures: Vec<(Texture, TextureDesc)> = Vec::new();
    for _ in 0..2 + rng.below(14) {
        let picked = (!values.is_empty()).then(|| rng.below(values.len() as u64) as usize);
        match (rng.below(16), picked) {
            (10, _) => values.push(graph.persistent("persistent", size(&mut rng))),
            (11, _) => {
                let History { current, previous } = graph.history("history", size(&mut rng));
                fill(&mut graph, kernels.get(device, 0, 1), current);
                values.extend([current, previous]);
            }
            (12..14, _) => draw(&mut graph, &kernels.layouts, &mut textures, &mut rng),
            (14, _) => {
                let History { current, previous } = graph.history_texture("history", COLOR);
                textures.push((previous, COLOR));
                let clear = Some(wgpu::Color::BLACK);
                graph.raster("draw history", |pass| {
                    pass.color(current, clear);
                    |_, _, ()| ()
                });
                textures.push((current, COLOR));
            }
            (0, _) => values.push(upload(&mut graph, size(&mut rng))),
            (1, Some(at)) => {
                let copy = copy(&mut graph, values[at], size(&mut rng));
                values.push(copy);
            }
            (2, Some(at)) => {
                let pipeline = kernels.get(device, 0, 1);
                values[at] = change(&mut graph, values[at], pipeline);
            }
            _ => {
                let reads = some_of(&values, &mut rng);
                values.extend(compute(&mut graph, device, kernels, &reads, &mut rng));
            }
        }
    }
    let target = graph.target("target", COLOR);
    let shown: Vec<Texture> = textures.iter().rev().take(3).map(|texture| texture.0).collect();
    show(&mut graph, &kernels.layouts, target, &shown);
    for _ in 0..1 + rng.below(3) {
        if let Some(&value) = values.get(rng.below(values.len().max(1) as u64) as usize) {
            graph.export(value);
        }
    }
    (graph, target)
}

fn fill(graph: &mut Graph<()>, pipeline: wgpu::ComputePipeline, value: Buffer) {
    graph.compute("fill", |pass| {
        let bind = pass.storage_write(value).into();
        record(pass, pipeline, vec![bind])
    });
}

/// Draws into a new texture, or over the newest of its size, and samples up to two others.
fn draw(
    graph: &mut Graph<()>,
    layouts: &[wgpu::BindGroupLayout],
    textures: &mut Vec<(Texture, TextureDesc)>,
    rng: &mut Rng,
) {
    let desc = if rng.below(2) == 0 { COLOR } else { SMALL };
    let over = textures.iter().rev().find(|texture| texture.1 == desc).filter(|_| rng.below(3) == 0).copied();
    let (target, clear) = match over {
        Some((texture, _)) => (texture, None),
        None => (graph.texture("colour", desc), Some(wgpu::Color::BLACK)),
    };
    let depth = (desc == COLOR && rng.below(2) == 0).then(|| graph.texture("depth", DEPTH));
    let count = rng.below(3) as usize;
    let sampled: Vec<Texture> =
        textures.iter().map(|texture| texture.0).filter(|texture| *texture != target).take(count).collect();
    graph.raster("draw", |pass| {
        pass.color(target, clear);
        if let Some(depth) = depth {
            pass.depth(depth, Some(1.0));
        }
        let binds: Vec<Bind> = sampled.iter().map(|&texture| pass.sampled(texture).into()).collect();
        let group = pass.bind_group(&layouts[binds.len()], (0..).zip(binds));
        move |pass, resources, ()| pass.set_bind_group(0, resources.group(group), &[])
    });
    if over.is_none() {
        textures.push((target, desc));
    }
}

/// Draws into the target what was drawn so far.
fn show(graph: &mut Graph<()>, layouts: &[wgpu::BindGroupLayout], target: Texture, sampled: &[Texture]) {
    graph.raster("show", |pass| {
        pass.color(target, Some(wgpu::Color::BLACK));
        let binds: Vec<Bind> = sampled.iter().map(|&texture| pass.sampled(texture).into()).collect();
        let group = pass.bind_group(&layouts[binds.len()], (0..).zip(binds));
        move |pass, resources, ()| pass.set_bind_group(0, resources.group(group), &[])
    });
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
    let pipeline = kernels.get(device, reads.len(), writes);
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

/// Runs `plan` three times on a fresh runtime, so that histories change places and groups are used again.
/// Returns what wgpu says against it.
fn run(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    (graph, target): &mut (Graph<()>, Texture),
    plan: &Plan,
) -> Result<Option<String>, RunError> {
    let mut runtime = Runtime::new(device, queue, RuntimeOptions::default());
    let view = view(device, 16, 16, COLOR.format);
    let mut result = Ok(());
    let said = validation(device, || {
        for _ in 0..3 {
            let mut encoder = encoder(device);
            runtime.bind_target(*target, &view);
            result = runtime.run(graph, plan, &mut encoder, &mut ());
            if result.is_err() {
                return;
            }
            queue.submit([encoder.finish()]);
        }
    });
    result.map(|()| said)
}

fn compile(graph: &Graph<()>, options: CompileOptions) -> Plan {
    graph.compile_with(&Limits::default(), options).expect("random graphs are valid")
}

#[test]
fn ten_thousand_random_graphs_run_without_validation_errors() {
    let (device, queue) = device();
    let mut kernels = Kernels::new(&device);
    for seed in MANY_SEEDS {
        let mut graph = random_graph(&device, &mut kernels, seed);
        let plan = graph.0.compile(&Limits::default()).expect("random graphs are valid");
        assert_eq!(run(&device, &queue, &mut graph, &plan), Ok(None), "seed {seed}: {plan}");
    }
}

/// Shows that the test above can fail: one arena for everything is what colouring prevents.
#[test]
fn random_graphs_without_colouring_are_refused_by_wgpu() {
    let (device, queue) = device();
    let mut kernels = Kernels::new(&device);
    let options = CompileOptions { colour: Colouring::None, ..CompileOptions::default() };
    let refused = SEEDS.filter(|&seed| {
        let mut graph = random_graph(&device, &mut kernels, seed);
        let plan = compile(&graph.0, options);
        matches!(run(&device, &queue, &mut graph, &plan), Ok(Some(_)))
    });
    assert!(refused.count() > 100, "many graphs read and write transients in one pass");
}

/// Shows that the runtime's own check can fail: wgpu says nothing when transients share bytes.
#[test]
fn random_graphs_packed_without_lifetimes_are_refused_by_the_runtime() {
    let (device, queue) = device();
    let mut kernels = Kernels::new(&device);
    let options = CompileOptions { lifetimes: false, ..CompileOptions::default() };
    let refused = SEEDS.filter(|&seed| {
        let mut graph = random_graph(&device, &mut kernels, seed);
        let plan = compile(&graph.0, options);
        matches!(run(&device, &queue, &mut graph, &plan), Err(RunError::DoubleBooked { .. }))
    });
    assert!(refused.count() > 100, "most graphs have values that live together in one arena");
}

#[test]
fn placements_of_values_alive_together_do_not_overlap() {
    let (device, _) = device();
    let mut kernels = Kernels::new(&device);
    let (mut pairs, mut shared) = (0, 0);
    for seed in MANY_SEEDS {
        let (graph, _) = random_graph(&device, &mut kernels, seed);
        let plan = compile(&graph, CompileOptions::default());
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
    assert!(pairs > 50_000 && shared > 5_000, "{shared} of {pairs} pairs share bytes");
}

#[test]
fn placements_are_aligned_and_inside_their_arena() {
    let (device, _) = device();
    let mut kernels = Kernels::new(&device);
    for seed in MANY_SEEDS {
        let (graph, _) = random_graph(&device, &mut kernels, seed);
        for storage_alignment in [32, 256] {
            let limits = Limits { storage_alignment, ..Limits::default() };
            let plan = graph.compile(&limits).expect("random graphs are valid");
            for (buffer, place) in plan.buffers().iter().filter_map(|b| Some((b, b.placement?))) {
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
    let mut kernels = Kernels::new(&device);
    for seed in MANY_SEEDS {
        let plans = [(); 2].map(|()| {
            let (graph, _) = random_graph(&device, &mut kernels, seed);
            compile(&graph, CompileOptions::default())
        });
        assert_eq!(plans[0], plans[1], "seed {seed}");
    }
}

/// No plan needs less than what is alive at once, nor more than a buffer for each would, but for alignment.
#[test]
fn packing_lies_between_the_live_lower_bound_and_no_aliasing() {
    let (device, _) = device();
    let mut kernels = Kernels::new(&device);
    let mut ratios = Vec::new();
    for seed in MANY_SEEDS {
        let (graph, _) = random_graph(&device, &mut kernels, seed);
        let plan = compile(&graph, CompileOptions::default());
        let padding = 256 * plan.buffers().len() as u64;
        assert!(plan.live_bytes() <= plan.peak_bytes(), "seed {seed}: {plan}");
        assert!(plan.peak_bytes() <= plan.unaliased_bytes() + padding, "seed {seed}: {plan}");
        if plan.live_bytes() > 0 {
            ratios.push(plan.peak_bytes() as f64 / plan.live_bytes() as f64);
        }
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean < 1.1, "{mean}");
}

/// The live bound again, from nothing but the lifetimes that the plan reports.
#[test]
fn the_live_lower_bound_is_the_fullest_moment() {
    let (device, _) = device();
    let mut kernels = Kernels::new(&device);
    for seed in SEEDS {
        let (graph, _) = random_graph(&device, &mut kernels, seed);
        let plan = compile(&graph, CompileOptions::default());
        let transient = || plan.buffers().iter().filter(|buffer| buffer.placement.is_some());
        let alive =
            |pass: u32| transient().filter(|b| b.first <= pass && pass <= b.last).map(|b| b.size).sum();
        let most: u64 = (0..plan.passes().len() as u32).map(alive).max().expect("passes");
        assert_eq!(plan.live_bytes(), most, "seed {seed}: {plan}");
    }
}
