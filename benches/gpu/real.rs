//! Crowds of real models: those that the environment variable `SINEW_BENCH_MODELS` lists, as `PATH` lists folders, or
//! the mascot.

use std::path::{Path, PathBuf};

use sinew::{CpuDeformer, Model, Precision, deform::BakedPrimitive, model::InfluenceClass};

use crate::{
    gpu::Gpu,
    kernel::{Scene, checked},
    report::Report,
};

const MODELS: &str = "SINEW_BENCH_MODELS";
/// Most vertices of a crowd: 16 GB of outputs.
const MOST: f64 = 8e8;
/// Of the largest coordinate, how far the GPU may be from its twin.
const POSITION: f32 = 1e-4;
/// Length that a normal or tangent may be off, and the share of those that may be off further: where a blended matrix
/// nearly vanishes, rounding turns them.
const DIRECTION: f32 = 5e-4;
const ODD: f64 = 0.01;

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    let characters = gpu.size(2000, 8);
    let mut models = Vec::new();
    for path in paths() {
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let model = match Model::load(&path) {
            Ok(model) => model,
            Err(error) => {
                println!("  {name} is left out: {error}");
                continue;
            }
        };
        compare(gpu, &name, &model);
        shares(report, &name, &model);
        crowd(gpu, report, &name, vec![model.clone()], characters);
        models.push(model);
    }
    if models.len() > 1 {
        crowd(gpu, report, &format!("{} models", models.len()), models, characters);
    }
}

fn paths() -> Vec<PathBuf> {
    let mascot = || vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/mascot.glb")];
    let listed = std::env::var_os(MODELS).filter(|listed| !listed.is_empty());
    listed.map_or_else(mascot, |listed| std::env::split_paths(&listed).collect())
}

/// Each model in turn, each instance at another time of its first clip.
fn crowd(gpu: &Gpu, report: &mut Report, name: &str, models: Vec<Model>, characters: usize) {
    let vertices: usize = models.iter().flat_map(shown).map(|(_, count)| count).sum();
    let most = MOST * models.len() as f64 / vertices.max(1) as f64;
    let characters = characters.min(most as usize).max(models.len());
    let mut scene = Scene::new(gpu, checked(), Precision::Packed, models, characters, false);
    let seconds = scene.time(gpu);
    report.vertices(format!("{characters} of {name}"), scene.vertices, 20.0, seconds);
    drop(scene);
    gpu.wait();
}

/// Influence classes of the shown vertices, with their count.
fn shown(model: &Model) -> impl Iterator<Item = (InfluenceClass, usize)> {
    let parts = model.shown_parts().iter().map(|part| &model.parts()[*part as usize]);
    parts.flat_map(|part| {
        let chunks = model.meshes()[part.mesh as usize].primitives().iter().flat_map(|p| p.chunks());
        // Without a skin, vertices ride on the node.
        let class = |class| if part.skin.is_some() { class } else { InfluenceClass::One };
        chunks.map(move |chunk| (class(chunk.class), chunk.count as usize))
    })
}

fn shares(report: &mut Report, name: &str, model: &Model) {
    let all: usize = shown(model).map(|(_, count)| count).sum();
    let share = |wanted: InfluenceClass| {
        let count: usize = shown(model).filter(|(class, _)| *class == wanted).map(|(_, count)| count).sum();
        100.0 * count as f64 / all.max(1) as f64
    };
    let joints: usize = model.skins().iter().map(|skin| skin.joints().len()).sum();
    let targets: usize = model.parts().iter().map(|part| part.weights.len()).sum();
    report.line(
        name,
        &[
            ("vertices", all as f64),
            ("joints", joints as f64),
            ("targets", targets as f64),
            ("% to 1", share(InfluenceClass::One)),
            ("% to 2", share(InfluenceClass::Two)),
            ("% to 4", share(InfluenceClass::Four)),
            ("% to 8", share(InfluenceClass::Eight)),
            ("% beyond", share(InfluenceClass::Any)),
        ],
    );
}

/// Holds one instance to the twin on the CPU, in the pose of half the clip.
fn compare(gpu: &Gpu, name: &str, model: &Model) {
    let mut scene = Scene::new(gpu, checked(), Precision::Packed, vec![model.clone()], 1, false);
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(model, Precision::Packed).unwrap();
    let twin = cpu.spawn(id).unwrap();
    let (instance, _) = scene.instances[0];
    if !model.clips().is_empty() {
        for player in [scene.deformer.play(instance, 0), Ok(cpu.animator_mut().play(twin, 0).unwrap())] {
            let player = player.unwrap();
            player.seek(0.5 * player.duration());
        }
    }
    scene.record(gpu);
    cpu.run().unwrap();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let copied = scene.deformer.read_back(&mut encoder).unwrap();
    gpu.queue.submit([encoder.finish()]);
    gpu.wait();
    let found = copied.bake(&scene.deformer, instance).unwrap().unwrap();
    let expected = cpu.bake(twin).unwrap();
    assert_eq!(found.len(), expected.len());
    found.iter().zip(&expected).for_each(|(found, expected)| same(name, found, expected));
}

fn same(name: &str, found: &BakedPrimitive, expected: &BakedPrimitive) {
    let (found, expected) = (&found.vertices, &expected.vertices);
    let largest = expected.positions.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
    for (vertex, (found, expected)) in found.positions.iter().zip(&expected.positions).enumerate() {
        let off = found.distance(*expected);
        assert!(
            off <= POSITION * largest,
            "{name}: vertex {vertex} is {off:e} m off, {found} for {expected}"
        );
    }
    let normals = found.normals.iter().zip(&expected.normals).map(|(a, b)| a.distance(*b));
    let tangents = found.tangents.iter().zip(&expected.tangents).map(|(a, b)| a.distance(*b));
    let odd = normals.chain(tangents).filter(|off| !(*off <= DIRECTION)).count();
    let all = found.normals.len() + found.tangents.len();
    assert!(odd as f64 <= ODD * all as f64, "{name}: {odd} of {all} normals and tangents are off");
}
