//! The deform kernel through [`Deformer::record_timed`]: one source a vertex, and crowds.

use sinew::{
    Deformer, DeformerOptions, InstanceId, Model, Packing, Precision, animate::JointMatrix, model::Skinning,
};

use crate::{
    check,
    gpu::Gpu,
    models::{Counts, Shape, character},
    report::Report,
};

/// Models with their instances, ready to be recorded.
pub(crate) struct Scene {
    pub(crate) deformer: Deformer,
    pub(crate) instances: Vec<(InstanceId, usize)>,
    pub(crate) models: Vec<Model>,
    pub(crate) vertices: f64,
}

impl Scene {
    /// `instances` in turn of each model; with `own_sources` every instance has vertices of its own.
    pub(crate) fn new(
        gpu: &Gpu,
        options: DeformerOptions,
        packing: impl Into<Packing> + Copy,
        models: Vec<Model>,
        instances: usize,
        own_sources: bool,
    ) -> Self {
        let mut deformer = Deformer::with(&gpu.device, options);
        let sources = if own_sources { instances } else { models.len() };
        let added = (0..sources).map(|i| (&models[i % models.len()], packing.into()));
        let ids = deformer.add_models(&gpu.queue, added).unwrap();
        // Writes are staged until something is submitted.
        gpu.queue.submit([]);
        let mut spawned = Vec::with_capacity(instances);
        let mut vertices = 0.0;
        for i in 0..instances {
            let model = i % models.len();
            let instance = deformer.spawn(ids[if own_sources { i } else { model }]).unwrap();
            // Real models may have none.
            if !models[model].clips().is_empty() {
                let player = deformer.play(instance, 0).unwrap();
                player.seek((i as f64 * 0.618).fract() * 0.9 * player.duration());
            }
            let parts = models[model].shown_parts().iter();
            let meshes = parts
                .map(|part| &models[model].meshes()[models[model].parts()[*part as usize].mesh as usize]);
            vertices +=
                meshes.flat_map(|mesh| mesh.primitives()).map(|p| p.vertex_count() as f64).sum::<f64>();
            spawned.push((instance, model));
        }
        Self { deformer, instances: spawned, models, vertices }
    }

    pub(crate) fn set_weights(&mut self, weights: &[f32]) {
        for &(instance, _) in &self.instances {
            for (target, &weight) in weights.iter().enumerate() {
                self.deformer.animator_mut().set_weight(instance, 0, target, weight).unwrap();
            }
        }
    }

    /// Median seconds of the compute pass.
    pub(crate) fn time(&mut self, gpu: &Gpu) -> f64 {
        self.record(gpu);
        gpu.wait();
        gpu.median(|encoder, at| self.deformer.record_timed(encoder, Some(at.writes())).unwrap())
    }

    pub(crate) fn record(&mut self, gpu: &Gpu) {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.deformer.record(&mut encoder).unwrap();
        gpu.queue.submit([encoder.finish()]);
    }

    /// Every instance's palette as of the last record.
    pub(crate) fn palettes(&self) -> Vec<Vec<JointMatrix>> {
        let palette = |&(id, _): &(InstanceId, usize)| self.deformer.animator().palette(id).unwrap().to_vec();
        self.instances.iter().map(palette).collect()
    }

    /// Poisons the outputs, records once more and compares samples.
    pub(crate) fn check(&mut self, gpu: &Gpu, weights: &[f32]) {
        let ids: Vec<_> = self.instances.iter().map(|(id, _)| *id).collect();
        self.record(gpu);
        check::poison(gpu, &self.deformer, &ids);
        self.record(gpu);
        let instances: Vec<_> =
            self.instances.iter().map(|(id, model)| (*id, &self.models[*model])).collect();
        check::sample(gpu, &self.deformer, &instances, weights);
    }
}

const TRUSTED: DeformerOptions = DeformerOptions {
    trusted: true,
    output_usage: wgpu::BufferUsages::COPY_DST,
    keep_palettes: true,
    skip_unchanged: false,
    compact_outputs: false,
};

/// Default checks; outputs that can be poisoned.
pub(crate) fn checked() -> DeformerOptions {
    DeformerOptions { output_usage: wgpu::BufferUsages::COPY_DST, ..Default::default() }
}

/// Every vertex that is written has a source of its own.
pub(crate) fn sources(gpu: &Gpu, report: &mut Report) {
    let instances = gpu.size(200, 10);
    let size = gpu.size(125_000, 20_000);
    let mut case = |name: &str, shape: Shape, packing: Packing, options, bytes: f64, weights: &[f32]| {
        // Deltas are more than half of what is read.
        let instances = if weights.is_empty() { instances } else { instances / 2 };
        let mut scene = Scene::new(gpu, options, packing, vec![character(1, shape)], instances, true);
        scene.set_weights(weights);
        if packing.vertices == Precision::Packed {
            scene.check(gpu, weights);
        }
        let seconds = scene.time(gpu);
        report.vertices(name, scene.vertices, bytes, seconds);
    };
    let four = Shape::of(size, 64, Counts::All(4));
    let eight = Shape::of(size, 64, Counts::All(8));
    let (packed, exact) = (Precision::Packed.into(), Precision::Exact.into());
    case("4 influences, 32 to 20 bytes", four, packed, checked(), 52.0, &[]);
    case("4 influences, trusted", four, packed, TRUSTED, 52.0, &[]);
    case("1 to 4 influences", Shape::of(size, 64, Counts::Mixed), packed, checked(), 52.0, &[]);
    case("8 influences, 48 to 20 bytes", eight, packed, checked(), 68.0, &[]);
    case("8 influences, trusted", eight, packed, TRUSTED, 68.0, &[]);
    // 36 bytes a delta in f32, 20 in 16 bits: position, normal and tangent. Four are active.
    let weights = [0.3, -0.2, 0.5, 0.1];
    let dense = Shape { targets: 4, covered: 100, ..four };
    let floats = Packing { vertices: Precision::Packed, morphs: Precision::Exact };
    let bytes = 52.0 + 4.0 * 36.0;
    case("4 dense f32 morph targets", dense, floats, checked(), bytes, &weights);
    case("4 dense f32 morph targets, trusted", dense, floats, TRUSTED, bytes, &weights);
    case("4 dense 16-bit morph targets", dense, packed, checked(), 52.0 + 4.0 * 20.0, &weights);
    let sparse = Shape { covered: 12, ..dense };
    case("4 16-bit morph targets of 12% each", sparse, packed, checked(), 52.0 + 4.0 * 0.12 * 20.0, &weights);
    case("exact f32, 64 to 48 bytes", four, exact, checked(), 112.0, &[]);
}

/// Meshes of a crowd: five thousand vertices on average.
const MIXED: [u32; 6] = [1000, 3000, 5000, 4000, 6000, 11000];

/// Thousands of instances share sources.
pub(crate) fn crowds(gpu: &Gpu, report: &mut Report) {
    let characters = gpu.size(10_000, 60);
    let mut case = |name: &str, joints: u32, influences: Counts, options: DeformerOptions| {
        let models =
            (1..).zip(MIXED).map(|(seed, v)| character(seed, Shape::of(v, joints, influences))).collect();
        let mut scene = Scene::new(gpu, options, Precision::Packed, models, characters, false);
        scene.check(gpu, &[]);
        let seconds = scene.time(gpu);
        report.vertices(name, scene.vertices, 20.0, seconds);
    };
    case("six meshes, 64 joints, 4 influences", 64, Counts::All(4), checked());
    case("six meshes, 64 joints, 4 influences, trusted", 64, Counts::All(4), TRUSTED);
    case("six meshes, 64 joints, 1 to 4 influences", 64, Counts::Mixed, checked());
    case("six meshes, 64 joints, 1 to 4 influences, trusted", 64, Counts::Mixed, TRUSTED);
    case("six meshes, 250 joints, 4 influences", 250, Counts::All(4), checked());
    case("six meshes, 250 joints, 4 influences, trusted", 250, Counts::All(4), TRUSTED);
    case("six meshes, 64 joints, 8 influences", 64, Counts::All(8), checked());
}

/// The same crowd with either skinning.
pub(crate) fn skinnings(gpu: &Gpu, report: &mut Report) {
    let characters = gpu.size(10_000, 60);
    for (influences, name) in [
        (Counts::All(2), "2 influences"),
        (Counts::All(4), "4 influences"),
        (Counts::Mixed, "1 to 4 influences"),
        (Counts::All(8), "8 influences"),
        (Counts::All(12), "12 influences"),
    ] {
        for (skinning, how) in [(Skinning::Linear, "linear"), (Skinning::DualQuaternion, "dual quaternions")]
        {
            let model = |(seed, v)| character(seed, Shape::of(v, 64, influences)).with_skinning(0, skinning);
            let models = (1..).zip(MIXED).map(|mixed| model(mixed).unwrap()).collect();
            let mut scene = Scene::new(gpu, checked(), Precision::Packed, models, characters, false);
            scene.check(gpu, &[]);
            let seconds = scene.time(gpu);
            report.vertices(format!("{name}, {how}"), scene.vertices, 20.0, seconds);
        }
    }
}
