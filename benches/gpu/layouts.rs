//! Other vertex layouts and dispatch schemes beside ours, in one run.
//!
//! The layouts are those that renderers in use today have, written here from their description. What is measured is
//! what a layout and its dispatches cost through wgpu, with wgpu's barriers and checks, not any engine: those have
//! other backends, and do other work beside. All read vertices in the same order, and 4 influences of each. Palettes
//! are in place before a time starts, ours too.

use std::time::Instant;

use glam::Vec3;
use sinew::{Precision, animate::JointMatrix, model::Primitive};

use crate::{
    check::blended,
    gpu::{Gpu, Timestamps},
    kernel::{Scene, checked},
    models::{Counts, Random, Shape, character},
    report::Report,
    vertex_stage::VertexStage,
};

mod bytes;
mod dispatches;
mod interleaved;
mod regions;

/// Vertices that one comparison reads.
pub(crate) const RUN: usize = 64;

/// One mesh, deformed once with each palette.
#[derive(Clone, Copy)]
pub(crate) struct Meshes<'a> {
    pub(crate) primitive: &'a Primitive,
    pub(crate) palettes: &'a [Vec<JointMatrix>],
}

/// What a layout is held to and counted by.
pub(crate) struct Facts {
    pub(crate) name: &'static str,
    /// Bytes of a vertex, and of a deformed one.
    pub(crate) read: f64,
    pub(crate) written: f64,
    /// Metres and radians that its packing may be off.
    pub(crate) bounds: [f64; 2],
}

/// Meshes on the device in some layout.
pub(crate) trait Layout {
    fn facts(&self) -> Facts;
    /// One pass that deforms all meshes.
    fn record(&self, encoder: &mut wgpu::CommandEncoder, at: Option<Timestamps<'_>>);
    /// Position, normal and tangent of [`RUN`] vertices of a mesh; `first` is a multiple of it.
    fn found(&self, gpu: &Gpu, mesh: usize, first: usize) -> Vec<[Vec3; 3]>;
}

type Build = fn(&Gpu, Meshes<'_>) -> Box<dyn Layout>;

const COMPUTED: [Build; 3] = [
    |gpu, meshes| Box::new(interleaved::Interleaved::new(gpu, meshes)),
    |gpu, meshes| Box::new(regions::Regions::new(gpu, meshes)),
    |gpu, meshes| Box::new(bytes::Bytes::new(gpu, meshes)),
];

const RENDERED: Build = |gpu, meshes| Box::new(VertexStage::new(gpu, meshes));

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    let devices = [gpu, &gpu.another()];
    // A million packed vertices stay in a large card's cache from one sample to the next; four do not.
    for &vertices in gpu.size(&[1_000_000, 4_000_000][..], &[20_000]) {
        situation(devices, report, &format!("one mesh of {vertices}"), vertices, 1);
    }
    let (meshes, vertices) = gpu.size((10_000, 5000), (40, 2000));
    situation(devices, report, &format!("{meshes} of {vertices}"), vertices, meshes);
}

/// `meshes` share their source, so that of a crowd only what is written counts as bytes.
fn situation(
    [gpu, rendering]: [&Gpu; 2],
    report: &mut Report,
    situation: &str,
    vertices: u32,
    meshes: usize,
) {
    let model = character(1, Shape::of(vertices, 64, Counts::All(4)));
    let mut scene = Scene::new(gpu, checked(), Precision::Packed, vec![model.clone()], meshes, false);
    scene.check(gpu, &[]);
    let count = scene.vertices;
    let mut line = |name: &str, read: f64, written: f64, seconds: f64, encode: f64| {
        let case = format!("{situation}: {name}");
        if meshes > 1 {
            report.vertices_and(case, count, written, seconds, &[("ms encode", encode * 1e3)]);
        } else {
            report.vertices(case, count, read + written, seconds);
        }
    };

    let seconds = scene.time(gpu);
    let prepare = |scene: &mut Scene| scene.deformer.prepare().unwrap();
    let encode = encoding(gpu, &mut scene, prepare, |scene, encoder| scene.deformer.record(encoder).unwrap());
    line("ours, 32 to 20", 32.0, 20.0, seconds, encode);
    let palettes = scene.palettes();
    drop(scene);
    gpu.wait();

    let meshes = Meshes { primitive: &model.meshes()[0].primitives()[0], palettes: &palettes };
    let builds = COMPUTED.map(|build| (build, gpu)).into_iter().chain([(RENDERED, rendering)]);
    for (build, gpu) in builds {
        let mut layout = build(gpu, meshes);
        let Facts { name, read, written, .. } = layout.facts();
        check(gpu, layout.as_ref(), meshes);
        let seconds = gpu.median(|encoder, at| layout.record(encoder, Some(at)));
        let encode = encoding(gpu, &mut layout, |_| {}, |layout, encoder| layout.record(encoder, None));
        line(name, read, written, seconds, encode);
        drop(layout);
        gpu.wait();
    }
}

/// Median seconds from an encoder's start until its submit has returned, with an idle GPU.
fn encoding<T>(
    gpu: &Gpu,
    state: &mut T,
    prepare: impl Fn(&mut T),
    record: impl Fn(&mut T, &mut wgpu::CommandEncoder),
) -> f64 {
    let samples = gpu.size(15, 3);
    let mut sample = |_| {
        prepare(state);
        gpu.wait();
        let start = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        record(state, &mut encoder);
        gpu.queue.submit([encoder.finish()]);
        start.elapsed().as_secs_f64()
    };
    let mut times: Vec<f64> = (0..samples).map(&mut sample).collect();
    times.sort_by(f64::total_cmp);
    gpu.wait();
    times[samples / 2]
}

/// Records once, and compares some vertices of some meshes with f64. The normal is held to the blended matrix
/// itself, as these layouts turn it, not to its inverse transpose.
fn check(gpu: &Gpu, layout: &dyn Layout, Meshes { primitive, palettes }: Meshes<'_>) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    layout.record(&mut encoder, None);
    gpu.queue.submit([encoder.finish()]);
    let Facts { name, bounds, .. } = layout.facts();
    let mut random = Random::new(7);
    let runs = (primitive.vertex_count() / RUN) as u32;
    for _ in 0..gpu.size(20, 8) {
        let mesh = random.below(palettes.len() as u32) as usize;
        let first = random.below(runs) as usize * RUN;
        let found = layout.found(gpu, mesh, first);
        for (vertex, [position, normal, tangent]) in (first..).zip(found) {
            let (linear, translation) = blended(primitive, &palettes[mesh], vertex);
            let expected = linear * primitive.positions()[vertex].as_dvec3() + translation;
            let off = position.as_dvec3().distance(expected);
            assert!(off <= bounds[0], "{name}: vertex {vertex} of mesh {mesh} is {off:e} m off");
            let sources = [primitive.normals()[vertex], primitive.tangents()[vertex].truncate()];
            for (found, source) in [normal, tangent].into_iter().zip(sources) {
                let off = found.as_dvec3().angle_between(linear * source.as_dvec3());
                assert!(off <= bounds[1], "{name}: vertex {vertex} of mesh {mesh} is {off:e} rad off");
            }
        }
    }
}
