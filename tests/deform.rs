//! The GPU against its twin, and what the service promises about uploads, visibility and rebuilding.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    gpu,
    models::{Shape, character, extreme, hostile},
};
use glam::{Vec3, Vec4};
use sinew::{
    CpuDeformer, Deformer, InstanceId, Model, Precision,
    deform::{BakedPrimitive, DeformError},
    model::{
        Channel, Clip, Influence, Influences, Interpolation, MAX_WEIGHT_SUM, Mesh, ModelDesc, Node, Part,
        PrimitiveDesc, Skeleton, Skin, Topology, Track,
    },
};

const RIGID: Shape = Shape { vertices: 300, joints: 5, influences: 0, targets: 0 };
const FOUR: Shape = Shape { vertices: 3000, joints: 40, influences: 4, targets: 0 };

fn seek(animator: &mut sinew::Animator, id: InstanceId, time: f64) {
    animator.play(id, 0).unwrap();
    animator.player_mut(id).unwrap().unwrap().seek(time);
}

fn on_cpu(model: &Model, precision: Precision, time: f64) -> Vec<BakedPrimitive> {
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(model, precision).unwrap();
    let id = cpu.spawn(id).unwrap();
    seek(cpu.animator_mut(), id, time);
    cpu.run().unwrap();
    cpu.bake(id).unwrap()
}

struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    deformer: Deformer,
}

impl Gpu {
    fn new() -> Self {
        let (device, queue) = gpu::device();
        let deformer = Deformer::new(&device);
        Self { device, queue, deformer }
    }

    fn spawn(&mut self, model: &Model, precision: Precision) -> InstanceId {
        let id = self.deformer.add_model_with(&self.queue, model, precision).unwrap();
        self.deformer.spawn(id).unwrap()
    }

    fn bake(&mut self, id: InstanceId) -> Vec<BakedPrimitive> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.deformer.record(&mut encoder).unwrap();
        let read_back = self.deformer.read_back(&mut encoder).unwrap();
        gpu::submit(&self.device, &self.queue, encoder);
        read_back.bake(&self.deformer, id).unwrap().unwrap()
    }
}

/// Largest difference of positions, of normals and of tangents.
fn apart(a: &[BakedPrimitive], b: &[BakedPrimitive]) -> (f32, f32, f32) {
    let (mut position, mut normal, mut tangent) = (0.0f32, 0.0f32, 0.0f32);
    assert_eq!(a.len(), b.len());
    assert!(!a.is_empty());
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (&a.vertices, &b.vertices);
        assert_eq!((a.positions.len(), a.normals.len()), (b.positions.len(), b.normals.len()));
        assert_eq!(a.tangents.len(), b.tangents.len());
        for v in [a, b] {
            assert!(v.positions.iter().chain(&v.normals).all(|p| p.is_finite()), "not finite");
            assert!(v.tangents.iter().all(|t| t.is_finite()), "not finite");
        }
        a.positions.iter().zip(&b.positions).for_each(|(a, b)| position = position.max(a.distance(*b)));
        a.normals.iter().zip(&b.normals).for_each(|(a, b)| normal = normal.max(a.distance(*b)));
        for (a, b) in a.tangents.iter().zip(&b.tangents) {
            tangent = tangent.max(a.truncate().distance(b.truncate()));
        }
    }
    (position, normal, tangent)
}

fn handedness(baked: &[BakedPrimitive]) -> Vec<f32> {
    baked.iter().flat_map(|p| p.vertices.tangents.iter().map(|t| t.w)).collect()
}

#[test]
fn every_variant_equals_its_twin() {
    let mut gpu = Gpu::new();
    for influences in [0, 1, 3, 4, 8, 20] {
        for targets in [0, 3] {
            for precision in [Precision::Packed, Precision::Exact] {
                let shape = Shape { vertices: 1500, joints: 90, influences, targets };
                let model = character(u64::from(influences * 10 + targets), shape);
                let id = gpu.spawn(&model, precision);
                seek(gpu.deformer.animator_mut(), id, 0.7);
                let (cpu, gpu) = (on_cpu(&model, precision, 0.7), gpu.bake(id));
                let (position, normal, tangent) = apart(&cpu, &gpu);
                assert_eq!(handedness(&cpu), handedness(&gpu));
                let case = format!("{influences} influences, {targets} targets, {precision:?}");
                assert!(position < 1e-5, "{case}: positions {position}");
                // When packed, what a step of the octahedral grid along both axes comes to in the middle of a face; a
                // tangent's second coordinate has half the steps, for the handedness.
                let allowed = if precision == Precision::Packed { (1.5e-4, 2e-4) } else { (1e-5, 1e-5) };
                assert!(normal < allowed.0, "{case}: normals {normal}");
                assert!(tangent < allowed.1, "{case}: tangents {tangent}");
            }
        }
    }
}

#[test]
fn packed_positions_stay_within_what_their_weights_are_off_by() {
    let model = character(5, Shape { vertices: 4000, joints: 60, influences: 8, targets: 4 });
    let (packed, exact) = (on_cpu(&model, Precision::Packed, 0.4), on_cpu(&model, Precision::Exact, 0.4));
    let (position, ..) = apart(&packed, &exact);
    // Eight weights off by half a step of 1/65535 each, joints up to two metres apart.
    assert!(position < 8.0 * 0.5 / 65535.0 * 2.0, "{position}");
}

#[test]
fn many_models_and_instances_share_the_dispatches() {
    let mut gpu = Gpu::new();
    let shapes = [RIGID, FOUR, Shape { vertices: 2000, joints: 200, influences: 6, targets: 2 }];
    let models: Vec<_> = (0u64..).zip(shapes).map(|(seed, shape)| character(seed, shape)).collect();
    let mut ids = Vec::new();
    for (m, model) in models.iter().enumerate() {
        let handle = gpu.deformer.add_model_with(&gpu.queue, model, Precision::Exact).unwrap();
        for i in 0..4 {
            let id = gpu.deformer.spawn(handle).unwrap();
            let time = f64::from(i) * 0.3;
            seek(gpu.deformer.animator_mut(), id, time);
            ids.push((m, id, time));
        }
    }
    for (m, id, time) in ids {
        let (position, ..) = apart(&on_cpu(&models[m], Precision::Exact, time), &gpu.bake(id));
        assert!(position < 1e-5, "model {m} at {time}: {position}");
    }
}

/// One vertex without weight in the class of none, one in a class of its own beside others, one joint
/// flattened to zero.
fn degenerate() -> Model {
    let skeleton = Skeleton::new(vec![Node::default(), Node { parent: Some(0), ..Default::default() }]);
    let skeleton = skeleton.unwrap();
    let skin = Skin::bind_at_rest("", &skeleton, vec![0, 1]).unwrap();
    let mut influences = Influences::default();
    let both = [0, 1].map(|joint| Influence { joint, weight: 0.5 });
    influences.push([]);
    influences.push(both);
    influences.push([Influence { joint: 1, weight: 2.0 }]);
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::new(1.0, 2.0, 3.0); 3],
        normals: vec![Vec3::Y; 3],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 3],
        influences: Some(influences),
        ..Default::default()
    };
    let flat = Track {
        node: 1,
        channel: Channel::Scale,
        interpolation: Interpolation::Step,
        times: vec![0.0, 1.0],
        values: vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        width: 3,
    };
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![Mesh::new("", vec![primitive], Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: Vec::new() }],
        clips: vec![Clip::new("flat", vec![flat]).unwrap()],
        ..Default::default()
    })
    .unwrap()
}

#[test]
fn vertices_without_weight_and_joints_at_zero_scale_come_out_finite_and_where_they_belong() {
    let model = degenerate();
    let mut gpu = Gpu::new();
    let id = gpu.spawn(&model, Precision::Exact);
    for (time, third) in [(0.0, Vec3::new(2.0, 4.0, 6.0)), (1.0, Vec3::ZERO)] {
        seek(gpu.deformer.animator_mut(), id, time);
        let (cpu, gpu) = (on_cpu(&model, Precision::Exact, time), gpu.bake(id));
        assert_eq!(apart(&cpu, &gpu), (0.0, 0.0, 0.0));
        let positions = &gpu[0].vertices.positions;
        // Weights are used as given: none at the origin, twice as far for a weight of two.
        assert_eq!((positions[0], positions[2]), (Vec3::ZERO, third));
    }
}

#[test]
fn hostile_poses_come_out_finite_on_both_sides_in_every_variant() {
    let mut gpu = Gpu::new();
    for seed in 0..40u64 {
        let influences = [0, 1, 3, 8, 12][seed as usize % 5];
        let model = hostile(seed, Shape { vertices: 300, joints: 8, influences, targets: seed as u32 % 3 });
        let precision = if seed % 2 == 0 { Precision::Packed } else { Precision::Exact };
        let id = gpu.spawn(&model, precision);
        seek(gpu.deformer.animator_mut(), id, 0.0);
        // Panics where something is not finite.
        apart(&on_cpu(&model, precision, 0.0), &gpu.bake(id));
    }
}

#[test]
fn the_largest_numbers_that_a_model_may_hold_come_out_finite_on_both_sides() {
    let mut gpu = Gpu::new();
    for seed in 0..40u64 {
        let influences = [0, 1, 3, 8, 12][seed as usize % 5];
        // Packed weights hold no more than 1.
        let (precision, sum) =
            if seed % 2 == 0 { (Precision::Packed, 1.0) } else { (Precision::Exact, MAX_WEIGHT_SUM) };
        let shape = Shape { vertices: 300, joints: 8, influences, targets: seed as u32 % 3 };
        let model = extreme(seed, shape, sum);
        let id = gpu.spawn(&model, precision);
        let time = [0.0, 0.5, 1.0][seed as usize % 3];
        seek(gpu.deformer.animator_mut(), id, time);
        apart(&on_cpu(&model, precision, time), &gpu.bake(id));
    }
}

#[test]
fn a_coordinate_or_weight_sum_beyond_what_can_be_deformed_is_refused_with_its_place() {
    let mesh = |position: Vec3, weight: f32| {
        let mut influences = Influences::with_capacity(2);
        influences.push([Influence { joint: 0, weight: 1.0 }]);
        influences.push([Influence { joint: 0, weight }, Influence { joint: 1, weight }]);
        let primitive = PrimitiveDesc {
            topology: Topology::Points,
            positions: vec![Vec3::ZERO, position],
            influences: Some(influences),
            ..Default::default()
        };
        Mesh::new("mesh", vec![primitive], vec![])
    };
    assert!(mesh(Vec3::splat(1e12), 5e3).is_ok());
    assert_eq!(
        mesh(Vec3::new(0.0, -1.1e12, 0.0), 1.0).unwrap_err().to_string(),
        "primitive 0: POSITION 1 has a coordinate of -1.1e12; at most 1e12 can be deformed, scale the model down"
    );
    assert_eq!(
        mesh(Vec3::ZERO, 6e3).unwrap_err().to_string(),
        "primitive 0: the weights of vertex 1 sum up to 1.2e4; at most 1e4 can be deformed, normalize them"
    );
}

#[test]
fn a_read_back_from_before_a_spawn_is_refused_and_one_of_a_dropped_encoder_fails() {
    let mut gpu = Gpu::new();
    let model = character(1, RIGID);
    let handle = gpu.deformer.add_model(&gpu.queue, &model).unwrap();
    let first = gpu.deformer.spawn(handle).unwrap();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    gpu.deformer.record(&mut encoder).unwrap();
    let old = gpu.deformer.read_back(&mut encoder).unwrap();
    gpu::submit(&gpu.device, &gpu.queue, encoder);
    let second = gpu.deformer.spawn(handle).unwrap();
    assert_eq!(gpu.deformer.vertices(first, 0).err(), Some(DeformError::NotRecorded));
    gpu.bake(second);
    assert_eq!(old.bake(&gpu.deformer, second).unwrap_err(), DeformError::NotRecorded);

    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let dropped = gpu.deformer.read_back(&mut encoder).unwrap();
    drop(encoder);
    assert_eq!(dropped.bake(&gpu.deformer, second).unwrap_err(), DeformError::Map);
}

#[test]
fn instances_spawned_and_despawned_on_the_animator_are_deformed_too() {
    let mut gpu = Gpu::new();
    let model = character(1, FOUR);
    let handle = gpu.deformer.add_model_with(&gpu.queue, &model, Precision::Exact).unwrap();
    let gone = gpu.deformer.spawn(handle).unwrap();
    gpu.bake(gone);
    let id = gpu.deformer.animator_mut().spawn(handle).unwrap();
    gpu.deformer.animator_mut().despawn(gone).unwrap();
    seek(gpu.deformer.animator_mut(), id, 0.4);
    assert!(apart(&on_cpu(&model, Precision::Exact, 0.4), &gpu.bake(id)).0 < 1e-5);
}

#[test]
fn a_handle_of_another_deformer_is_refused() {
    let (mut one, mut other) = (Gpu::new(), Gpu::new());
    let id = one.spawn(&character(1, RIGID), Precision::Packed);
    other.spawn(&character(1, RIGID), Precision::Packed);
    assert!(other.deformer.play(id, 0).is_err());
}

#[test]
fn a_player_copied_from_another_model_does_not_panic() {
    let mut gpu = Gpu::new();
    let id = gpu.spawn(&character(1, RIGID), Precision::Packed);
    let with_clip = gpu.spawn(&degenerate(), Precision::Exact);
    gpu.deformer.play(id, 0).unwrap();
    gpu.deformer.play(with_clip, 0).unwrap();
    let player = gpu.deformer.animator().player(with_clip).unwrap().unwrap().clone();
    *gpu.deformer.animator_mut().player_mut(id).unwrap().unwrap() = player;
    gpu.bake(id);
}

#[test]
fn rebuilding_on_a_device_with_lower_limits_is_refused_and_the_old_one_still_works() {
    let mut gpu = Gpu::new();
    let model = character(1, Shape { vertices: 5000, ..RIGID });
    let id = gpu.spawn(&model, Precision::Packed);
    let before = gpu.bake(id);
    let (small, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits { max_storage_buffer_binding_size: 1 << 16, ..Default::default() },
        ..Default::default()
    });
    assert!(gpu.deformer.rebuild(&small, &queue).is_err());
    assert_eq!(gpu.bake(id), before);
}

#[test]
fn two_records_before_one_submit_keep_their_own_uploads() {
    let mut gpu = Gpu::new();
    let model = character(1, FOUR);
    let id = gpu.spawn(&model, Precision::Exact);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut read_backs = Vec::new();
    for time in [0.2, 0.9] {
        seek(gpu.deformer.animator_mut(), id, time);
        gpu.deformer.record(&mut encoder).unwrap();
        read_backs.push((time, gpu.deformer.read_back(&mut encoder).unwrap()));
    }
    gpu::submit(&gpu.device, &gpu.queue, encoder);
    for (time, read_back) in read_backs {
        let baked = read_back.bake(&gpu.deformer, id).unwrap().unwrap();
        assert!(apart(&on_cpu(&model, Precision::Exact, time), &baked).0 < 1e-5, "at {time}");
    }
}

#[test]
fn a_hidden_instance_is_not_written() {
    let mut gpu = Gpu::new();
    let model = character(1, FOUR);
    let id = gpu.spawn(&model, Precision::Exact);
    seek(gpu.deformer.animator_mut(), id, 0.2);
    let before = gpu.bake(id);
    seek(gpu.deformer.animator_mut(), id, 0.9);
    gpu.deformer.animator_mut().set_visible(id, false).unwrap();
    assert_eq!(gpu.bake(id), before);
}

#[test]
fn a_rebuilt_deformer_gives_equal_bytes_and_keeps_handles_and_players() {
    let mut gpu = Gpu::new();
    let model = character(3, Shape { targets: 2, ..FOUR });
    let id = gpu.spawn(&model, Precision::Packed);
    seek(gpu.deformer.animator_mut(), id, 0.6);
    let before = gpu.bake(id);
    gpu.device.destroy();
    (gpu.device, gpu.queue) = gpu::device();
    gpu.deformer.rebuild(&gpu.device, &gpu.queue).unwrap();
    assert_eq!(gpu.bake(id), before);
}

#[test]
fn removing_a_model_gives_its_memory_back_and_others_stay_right() {
    let mut gpu = Gpu::new();
    let (first, second) = (character(1, FOUR), character(2, FOUR));
    let handle = gpu.deformer.add_model_with(&gpu.queue, &first, Precision::Exact).unwrap();
    let id = gpu.spawn(&second, Precision::Exact);
    seek(gpu.deformer.animator_mut(), id, 0.5);
    let before = (gpu.bake(id), gpu.deformer.device_bytes());
    gpu.deformer.remove_model(&gpu.queue, handle).unwrap();
    assert_eq!(gpu.bake(id), before.0);
    assert!(gpu.deformer.device_bytes() < before.1);
}

#[test]
fn an_empty_deformer_records_nothing() {
    let mut gpu = Gpu::new();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    gpu.deformer.record(&mut encoder).unwrap();
    assert_eq!(gpu.deformer.read_back(&mut encoder).err(), Some(DeformError::NotRecorded));
    gpu::submit(&gpu.device, &gpu.queue, encoder);
}

#[test]
fn stale_handles_are_errors_on_every_call() {
    let mut gpu = Gpu::new();
    let model = character(1, RIGID);
    let handle = gpu.deformer.add_model(&gpu.queue, &model).unwrap();
    let id = gpu.deformer.spawn(handle).unwrap();
    assert!(gpu.deformer.remove_model(&gpu.queue, handle).is_err(), "still has an instance");
    gpu.deformer.despawn(id).unwrap();
    assert!(gpu.deformer.despawn(id).is_err());
    assert!(gpu.deformer.play(id, 0).is_err());
    assert!(gpu.deformer.vertices(id, 0).is_err());
    gpu.deformer.remove_model(&gpu.queue, handle).unwrap();
    assert!(gpu.deformer.spawn(handle).is_err());
}

#[test]
fn a_model_over_the_binding_limit_is_refused_with_the_numbers_and_harms_nothing() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits { max_storage_buffer_binding_size: 1 << 16, ..Default::default() },
        ..Default::default()
    });
    let mut deformer = Deformer::new(&device);
    deformer.add_model(&queue, &character(1, RIGID)).unwrap();
    let big = character(1, Shape { vertices: 5000, ..RIGID });
    let error = deformer.add_model(&queue, &big).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the source vertices A need 80000 bytes in one binding, but the device allows 65536 \
         (max_storage_buffer_binding_size); request a higher limit or split the model"
    );
    deformer.add_model(&queue, &character(2, RIGID)).unwrap();
}

#[test]
fn the_palette_and_transform_before_are_the_current_ones_in_an_instances_first_evaluation() {
    let model = character(3, FOUR);
    let mut animator = sinew::Animator::new();
    animator.keep_previous_palettes(true);
    let handle = animator.add_model(&model);
    let ids = [0, 1].map(|_| animator.spawn(handle).unwrap());
    let at = |x: f32| glam::Affine3A::from_translation(Vec3::X * x);
    ids.iter().for_each(|&id| seek(&mut animator, id, 0.2));
    animator.set_transform(ids[1], at(1.0)).unwrap();
    animator.evaluate();
    let first = animator.palette(ids[1]).unwrap().to_vec();
    assert_eq!(animator.previous_palette(ids[1]).unwrap(), first);
    assert_eq!(animator.previous_transform(ids[1]).unwrap(), at(1.0));
    assert!(animator.is_first(ids[1]).unwrap());

    // The last slot moves into the gap, and takes what was before with it.
    animator.despawn(ids[0]).unwrap();
    seek(&mut animator, ids[1], 0.9);
    animator.set_transform(ids[1], at(2.0)).unwrap();
    animator.evaluate();
    assert_eq!(animator.previous_palette(ids[1]).unwrap(), first);
    assert_ne!(animator.palette(ids[1]).unwrap(), first);
    assert_eq!(animator.previous_transform(ids[1]).unwrap(), at(1.0));
    assert!(!animator.is_first(ids[1]).unwrap());

    animator.forget_previous(ids[1]).unwrap();
    animator.set_transform(ids[1], at(9.0)).unwrap();
    animator.evaluate();
    assert_eq!(animator.previous_transform(ids[1]).unwrap(), at(9.0));
    assert_eq!(animator.previous_palette(ids[1]).unwrap(), animator.palette(ids[1]).unwrap());
}
