//! Bounds that follow the pose, against the vertices themselves.
#![cfg(all(feature = "gltf", feature = "meshopt"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use std::collections::BTreeMap;

use common::{
    models::{Random, Shape, extreme},
    oracle::DataSet,
};
use glam::{Quat, Vec3};
use sinew::{
    CpuDeformer, InstanceId, Precision,
    deform::bounds::PoseBounds,
    model::{
        Bounds, Influence, Influences, MAX_WEIGHT_SUM, Mesh, Model, ModelDesc, Node, Part, PrimitiveDesc,
        Skeleton, Skin, Skinning, Topology, Transform,
    },
};

/// Every model of the data sets that loads, once.
fn models() -> BTreeMap<String, Model> {
    let mut out = BTreeMap::new();
    for set in DataSet::all() {
        for (file, _) in set.jobs() {
            if let Ok(model) = Model::load(set.model(&file)) {
                out.insert(file, model);
            }
        }
    }
    out
}

/// An instance and the bounds of its model.
struct Stage {
    deformer: CpuDeformer,
    instance: InstanceId,
    bounds: PoseBounds,
}

impl Stage {
    fn new(model: &Model, precision: Precision) -> Self {
        let mut deformer = CpuDeformer::new();
        let id = deformer.add_model(model, precision).unwrap();
        let instance = deformer.spawn(id).unwrap();
        Self { deformer, instance, bounds: PoseBounds::new(model) }
    }

    /// What the bounds say, and the exact box.
    fn measure(&mut self) -> (Bounds, Bounds) {
        self.deformer.run().unwrap();
        let animator = self.deformer.animator();
        let said = self
            .bounds
            .of(animator.palette(self.instance).unwrap(), animator.weights(self.instance).unwrap());
        let baked = self.deformer.bake(self.instance).unwrap();
        let exact = baked.iter().flat_map(|p| &p.vertices.positions).copied().collect();
        (said, exact)
    }
}

fn contains(outer: Bounds, inner: Bounds) -> bool {
    if inner.is_empty() {
        return outer.is_empty();
    }
    let is_around = outer.min.cmple(inner.min).all() && outer.max.cmpge(inner.max).all();
    is_around && outer.min.is_finite() && outer.max.is_finite()
}

/// Every joint turned by up to 60 degrees, one in ten scaled, weights beyond 0..1.
fn distort(stage: &mut Stage, model: &Model, random: &mut Random) {
    let animator = stage.deformer.animator_mut();
    animator.clear_overrides(stage.instance).unwrap();
    for (node, rest) in (0u32..).zip(model.skeleton().rest()) {
        let turn = Quat::from_axis_angle(random.direction(), random.unit() * 60f32.to_radians());
        animator.set_rotation(stage.instance, node, rest.rotation * turn).unwrap();
        if random.below(10) == 0 {
            let scale = 1.25 + 0.75 * random.unit();
            animator.set_scale(stage.instance, node, rest.scale * scale).unwrap();
        }
    }
    for (part, data) in (0u32..).zip(model.parts()) {
        for target in 0..model.meshes()[data.mesh as usize].weights().len() {
            animator.set_weight(stage.instance, part, target, 0.5 + random.unit()).unwrap();
        }
    }
}

fn poses() -> usize {
    std::env::var("SINEW_POSES").map_or(2000, |n| n.parse().expect("a number of poses"))
}

#[test]
fn every_vertex_of_every_pose_is_inside() {
    let (count, models) = hold_all(poses(), &models());
    println!("{count} poses of {models} models: none outside");
}

/// Every mesh by dual quaternions, where it has a skin.
#[test]
fn every_vertex_that_dual_quaternions_move_is_inside() {
    let dual = |(file, model): (String, Model)| {
        let is_skinned = model.parts().iter().any(|part| part.skin.is_some());
        let meshes = 0..model.meshes().len() as u32;
        let skinned = |model: Model, mesh| model.with_skinning(mesh, Skinning::DualQuaternion).unwrap();
        is_skinned.then(|| (file, meshes.fold(model, skinned)))
    };
    let models: BTreeMap<_, _> = models().into_iter().filter_map(dual).collect();
    let (count, of) = hold_all(poses() / 4, &models);
    println!("{count} poses of {of} models by dual quaternions: none outside; over their clips:");
    measure_clips(models);
}

/// So many random poses, shared out; returns how many they were and of how many models.
fn hold_all(poses: usize, models: &BTreeMap<String, Model>) -> (usize, usize) {
    let mut random = Random::new(5);
    let each = poses / models.len() + 1;
    for (file, model) in models {
        for precision in [Precision::Exact, Precision::Packed] {
            let mut stage = Stage::new(model, precision);
            for pose in 0..each.div_ceil(2) {
                distort(&mut stage, model, &mut random);
                let (said, exact) = stage.measure();
                assert!(contains(said, exact), "{file} pose {pose} {precision:?}: {said:?} for {exact:?}");
            }
        }
    }
    (each.div_ceil(2) * 2 * models.len(), models.len())
}

#[test]
fn boxes_of_the_largest_numbers_that_a_model_may_hold_are_finite() {
    let shape = Shape { vertices: 300, joints: 9, influences: 4, targets: 3 };
    for sum in [1.0, MAX_WEIGHT_SUM] {
        for skinning in [Skinning::Linear, Skinning::DualQuaternion] {
            let model = extreme(3, shape, sum).with_skinning(0, skinning).unwrap();
            let mut stage = Stage::new(&model, Precision::Exact);
            stage.deformer.animator_mut().play(stage.instance, 0).unwrap();
            for step in 0..8 {
                let player = stage.deformer.animator_mut().player_mut(stage.instance).unwrap().unwrap();
                player.seek(f64::from(step) / 7.0);
                let (said, exact) = stage.measure();
                assert!(contains(said, exact), "{skinning:?} {sum} {step}: {said:?} for {exact:?}");
            }
        }
    }
}

#[test]
fn weights_that_do_not_sum_up_to_one_reach_as_far_as_they_do() {
    for sum in [0.0, 0.25, 2.0] {
        let node = Node { rest: Transform::from_translation(Vec3::X * 10.0), ..Default::default() };
        let skeleton = Skeleton::new(vec![node]).unwrap();
        let skin = Skin::new("", &skeleton, vec![0], None).unwrap();
        let mut influences = Influences::default();
        influences.push([Influence { joint: 0, weight: sum }].into_iter().filter(|i| i.weight > 0.0));
        influences.push([Influence { joint: 0, weight: 1.0 }]);
        let desc = PrimitiveDesc {
            topology: Topology::Points,
            positions: vec![Vec3::Y; 2],
            influences: Some(influences),
            ..Default::default()
        };
        let model = Model::new(ModelDesc {
            skeleton,
            skins: vec![skin],
            meshes: vec![Mesh::new("", vec![desc], vec![]).unwrap()],
            parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: vec![] }],
            ..Default::default()
        });
        let (said, exact) = Stage::new(&model.unwrap(), Precision::Exact).measure();
        assert!(contains(said, exact), "{sum}: {said:?} for {exact:?}");
        let ends = [Vec3::new(10.0, 1.0, 0.0) * sum, Vec3::new(10.0, 1.0, 0.0)];
        assert!(
            said.min.distance(ends[0].min(ends[1])) < 1e-3 && said.max.distance(ends[0].max(ends[1])) < 1e-3
        );
    }
}

#[test]
fn boxes_of_clips_are_tight() {
    let median = measure_clips(models());
    assert!(median <= 1.5, "{median}");
}

/// Prints the distribution of volumes out of exact ones, and returns the median.
fn measure_clips(models: BTreeMap<String, Model>) -> f64 {
    let mut all = Vec::new();
    for (file, model) in models {
        let mut stage = Stage::new(&model, Precision::Exact);
        let mut own = Vec::new();
        for (clip, data) in (0u32..).zip(model.clips()) {
            stage.deformer.animator_mut().play(stage.instance, clip).unwrap();
            for step in 0..8 {
                let player = stage.deformer.animator_mut().player_mut(stage.instance).unwrap().unwrap();
                player.seek(f64::from(data.duration()) * f64::from(step) / 8.0);
                let (said, exact) = stage.measure();
                assert!(contains(said, exact), "{file} clip {clip}: {said:?} for {exact:?}");
                let volume = |b: Bounds| {
                    (b.max - b.min).max(Vec3::splat(0.0)).to_array().map(f64::from).iter().product::<f64>()
                };
                if volume(exact) > 0.0 {
                    own.push(volume(said) / volume(exact));
                }
            }
        }
        own.sort_by(f64::total_cmp);
        if let (Some(mid), Some(last)) = (own.get(own.len() / 2), own.last()) {
            println!("{mid:8.3} {last:8.3} {file}");
        }
        all.append(&mut own);
    }
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    println!(
        "{} poses: 10% {:.3}, median {:.3}, 90% {:.3}, 99% {:.3}, most {:.3}",
        all.len(),
        at(0.1),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    at(0.5)
}
