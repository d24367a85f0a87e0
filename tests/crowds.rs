//! What crowds need: scenes beyond one binding, uploads without a copy, instances left alone, memory known beforehand.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    deformed::{Crowd, SHAPES, clearable, models, tight, usual},
    gpu,
    models::{Shape, character},
};
use sinew::{
    CpuDeformer, Deformer, DeformerOptions, InstanceId, Model, Packing, Precision,
    deform::{DeformError, preflight},
};

#[test]
fn a_scene_beyond_every_binding_is_shared_out_and_comes_out_the_same() {
    let device = tight();
    let scene = models();
    let scene = scene.iter().map(|model| (model, Packing::default(), 4));
    let memory = preflight(&device.0.limits(), scene).unwrap();
    assert!(memory.groups >= 8, "{memory:?}");
    assert!(Crowd::new(device, DeformerOptions::default()).recorded() == usual());
}

#[test]
fn an_instance_that_no_binding_reaches_is_refused_with_the_numbers() {
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 8 << 10, ..Default::default() };
    let model = character(1, Shape { vertices: 500, joints: 300, influences: 4, targets: 0 });
    let error = preflight(&limits, [(&model, Packing::default(), 1)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the palettes of an instance need 14400 bytes in one binding, but the device allows 8192 \
         (max_storage_buffer_binding_size); request a higher limit or split the model"
    );
    let (device, queue) = gpu::device_with(limits);
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, &model).unwrap();
    deformer.spawn(id).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    assert_eq!(deformer.record(&mut encoder).unwrap_err(), error);
}

#[test]
fn preflight_says_what_the_device_then_holds() {
    let (device, queue) = gpu::device();
    let models = models();
    let counts = [3, 0, 2];
    let scene = models.iter().zip(counts).map(|(model, count)| (model, Precision::Exact.into(), count));
    let memory = preflight(&device.limits(), scene).unwrap();
    let mut deformer = Deformer::new(&device);
    let added = models.iter().map(|model| (model, Precision::Exact.into()));
    let ids = deformer.add_models(&queue, added).unwrap();
    for ((id, count), known) in ids.iter().zip(counts).zip(&memory.models) {
        assert_eq!(deformer.model_memory(*id).unwrap(), *known);
        (0..count).for_each(|_| {
            deformer.spawn(*id).unwrap();
        });
    }
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    let held = deformer.device_bytes();
    // Sources have room to grow by an eighth, and each buffer is rounded up.
    let most = memory.total() + memory.sources / 8 + 4096;
    assert!((memory.total()..=most).contains(&held), "{held} for {memory:?}");
    assert_eq!(memory.groups, 1);
}

#[test]
fn of_many_models_none_is_added_where_one_is_refused_and_the_next_ones_come_out_right() {
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 64 << 10, ..Default::default() };
    let (device, queue) = gpu::device_with(limits);
    let (small, large) = (&models()[0], character(9, Shape { vertices: 9000, ..SHAPES[0] }));
    let mut deformer = Deformer::new(&device);
    let refused = deformer.add_models(&queue, [(small, Packing::default()), (&large, Packing::default())]);
    assert!(matches!(refused, Err(DeformError::OverLimit { .. })));
    assert_eq!(deformer.animator().models().count(), 0);
    // Past the room that the first buffer had.
    let later: Vec<_> = (0..3).map(|_| deformer.add_model(&queue, small).unwrap()).collect();
    let id = deformer.spawn(later[2]).unwrap();
    let crowd = Crowd { device, queue, deformer, instances: vec![(id, 0)] };
    let baked = baked_by_twin(small);
    let mut crowd = crowd;
    assert!(crowd.recorded()[0][0].len() == baked * 16);
    assert!(crowd.written()[0]);
}

fn baked_by_twin(model: &Model) -> usize {
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(model, Precision::Packed).unwrap();
    let id = cpu.spawn(id).unwrap();
    cpu.run().unwrap();
    cpu.bake(id).unwrap()[0].vertices.positions.len()
}

#[test]
fn palettes_evaluated_into_upload_memory_give_the_same_bytes() {
    let options = DeformerOptions { keep_palettes: false, ..Default::default() };
    let mut crowd = Crowd::new(gpu::device(), options);
    assert!(crowd.recorded() == usual());
    // Nothing is read back: the mirror still holds the bind pose.
    let (id, _) = crowd.instances[0];
    assert_eq!(crowd.deformer.animator().palette(id).unwrap()[3].x, [1.0, 0.0, 0.0, 0.0]);
    // A despawn moves rows; what is left comes out as before.
    let (gone, _) = crowd.instances.remove(1);
    crowd.deformer.despawn(gone).unwrap();
    let mut expected = usual();
    expected.remove(1);
    assert!(crowd.recorded() == expected);
}

#[test]
fn what_is_prepared_is_recorded_once_and_as_it_was() {
    let mut crowd = Crowd::new(gpu::device(), clearable());
    crowd.deformer.prepare().unwrap();
    let (id, _) = crowd.instances[0];
    assert_eq!(crowd.deformer.vertices(id, 0).err(), Some(DeformError::NotRecorded), "not yet");
    crowd.record();
    crowd.deformer.prepare().unwrap();
    // Counts from the record after the next.
    crowd.deformer.advance(0.25);
    assert!(crowd.recorded() == usual());
    assert!(crowd.recorded() != usual());
}

#[test]
fn an_encoder_that_is_dropped_takes_nothing_from_the_next_frame() {
    let mut crowd = Crowd::new(gpu::device(), clearable());
    let mut encoder = crowd.device.create_command_encoder(&Default::default());
    crowd.deformer.record(&mut encoder).unwrap();
    drop(encoder);
    // Items were in the dropped one.
    assert!(crowd.recorded() == usual());
}

#[test]
fn a_frame_prepared_before_an_encoder_is_dropped_comes_out_whole() {
    for (skip_unchanged, morphs) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut crowd = Crowd::new(gpu::device(), DeformerOptions { skip_unchanged, ..clearable() });
        let mut expected = usual();
        if !morphs {
            // Without any, items are sent once and then found to be there.
            crowd.instances.drain(4..8).for_each(|(id, _)| crowd.deformer.despawn(id).unwrap());
            expected.drain(4..8);
        }
        let mut encoder = crowd.device.create_command_encoder(&Default::default());
        crowd.deformer.record(&mut encoder).unwrap();
        crowd.deformer.prepare().unwrap();
        drop(encoder);
        crowd.record();
        assert!(crowd.recorded() == expected, "{skip_unchanged} {morphs}");
    }
}

#[test]
fn models_removed_on_the_animator_leave_the_others_where_they_are() {
    let (device, queue) = gpu::device();
    let models = models();
    let mut deformer = Deformer::new(&device);
    let ids: Vec<_> = models.iter().map(|model| deformer.add_model(&queue, model).unwrap()).collect();
    deformer.animator_mut().remove_model(ids[0]).unwrap();
    deformer.remove_model(&queue, ids[1]).unwrap();
    // The page grows, and is packed again.
    (0..4).for_each(|_| {
        deformer.add_model(&queue, &models[1]).unwrap();
    });
    let instances = vec![(deformer.spawn(ids[2]).unwrap(), 2)];
    let mut crowd = Crowd { device, queue, deformer, instances };
    let mut other = Crowd::new(gpu::device(), DeformerOptions::default());
    other.instances = vec![other.instances[8]];
    other.deformer.animator_mut().stop(other.instances[0].0).unwrap();
    assert!(crowd.recorded() == other.recorded());
}

#[test]
fn palettes_that_were_not_kept_are_no_frame_before() {
    let options = DeformerOptions { keep_palettes: false, ..Default::default() };
    let mut crowd = Crowd::new(gpu::device(), options);
    crowd.record();
    crowd.deformer.animator_mut().keep_previous_palettes(true);
    crowd.record();
    let (id, _) = crowd.instances[0];
    let animator = crowd.deformer.animator();
    assert_eq!(animator.previous_palette(id).unwrap(), animator.palette(id).unwrap());
}

#[test]
fn unchanged_instances_are_not_written_again() {
    let mut crowd = Crowd::new(gpu::device(), DeformerOptions { skip_unchanged: true, ..clearable() });
    assert!(crowd.recorded() == usual());
    crowd.poison();
    crowd.record();
    assert!(crowd.written().iter().all(|written| !written), "nothing has changed");
    let (moved, _) = crowd.instances[5];
    crowd.deformer.animator_mut().player_mut(moved).unwrap().unwrap().seek(0.9);
    crowd.record();
    let written: Vec<_> = crowd.written();
    assert!(written.iter().enumerate().all(|(at, written)| *written == (at == 5)), "{written:?}");
}

#[test]
fn a_changed_weight_part_or_record_that_was_lost_is_a_change() {
    let mut crowd = Crowd::new(gpu::device(), DeformerOptions { skip_unchanged: true, ..clearable() });
    crowd.record();
    crowd.poison();
    let (morphed, _) = crowd.instances[4];
    crowd.deformer.stop_and_weigh(morphed, 0.5);
    crowd.record();
    assert!(crowd.written()[4]);
    crowd.poison();
    let (hidden, _) = crowd.instances[0];
    for show in [false, true] {
        crowd.deformer.animator_mut().show_part(hidden, 0, show).unwrap();
        crowd.record();
        assert_eq!(crowd.written()[0], show, "a part that is shown again is written");
    }
    crowd.poison();
    let mut encoder = crowd.device.create_command_encoder(&Default::default());
    crowd.deformer.animator_mut().player_mut(hidden).unwrap().unwrap().seek(0.8);
    crowd.deformer.record(&mut encoder).unwrap();
    drop(encoder);
    crowd.record();
    assert!(crowd.written()[0], "the record with the change was dropped");
}

trait StopAndWeigh {
    fn stop_and_weigh(&mut self, id: InstanceId, weight: f32);
}

impl StopAndWeigh for Deformer {
    fn stop_and_weigh(&mut self, id: InstanceId, weight: f32) {
        self.animator_mut().stop(id).unwrap();
        self.animator_mut().set_weight(id, 0, 1, weight).unwrap();
    }
}

#[test]
fn only_instances_in_view_are_written() {
    let mut crowd = Crowd::new(gpu::device(), clearable());
    crowd.record();
    crowd.poison();
    let seen = [crowd.instances[2].0, crowd.instances[9].0];
    crowd.deformer.animator_mut().set_in_view(Some(&seen)).unwrap();
    crowd.record();
    let written = crowd.written();
    assert!(written.iter().enumerate().all(|(at, written)| *written == [2, 9].contains(&at)), "{written:?}");
    let animator = crowd.deformer.animator();
    assert!(animator.visible(crowd.instances[0].0).unwrap(), "not hidden, only out of view");
    assert!(!animator.is_part_shown(crowd.instances[0].0, 0).unwrap());
    crowd.deformer.animator_mut().set_in_view(None).unwrap();
    assert!(crowd.recorded() == usual());
}

#[test]
fn what_is_spawned_while_a_view_is_set_is_out_of_it() {
    let mut crowd = Crowd::new(gpu::device(), clearable());
    let seen = [crowd.instances[2].0];
    let model = crowd.deformer.animator().model_of(seen[0]).unwrap();
    crowd.deformer.animator_mut().set_in_view(Some(&seen)).unwrap();
    let late = crowd.deformer.spawn(model).unwrap();
    assert!(!crowd.deformer.animator().is_shown(late).unwrap());
    crowd.deformer.despawn(late).unwrap();
    assert!(crowd.deformer.animator_mut().set_in_view(Some(&[late])).is_err());
    assert!(crowd.deformer.animator().is_shown(seen[0]).unwrap(), "a refused view changes nothing");
}

#[test]
#[cfg(feature = "gltf")]
fn a_level_of_detail_is_chosen_from_frame_to_frame() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::with(&device, clearable());
    let id = deformer.add_model(&queue, &model).unwrap();
    let id = deformer.spawn(id).unwrap();
    let levels = [model.shown_parts()[0], model.shown_parts()[1]];
    let mut crowd = Crowd { device, queue, deformer, instances: Vec::new() };
    crowd.record();
    for level in [0, 1, 0] {
        let mut encoder = crowd.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(crowd.deformer.vertices(id, levels[0]).unwrap().a.buffer(), 0, None);
        gpu::submit(&crowd.device, &crowd.queue, encoder);
        crowd.deformer.animator_mut().choose_level(id, &levels, level).unwrap();
        crowd.record();
        for (at, part) in levels.into_iter().enumerate() {
            let bytes = crowd.bytes(crowd.deformer.vertices(id, part).unwrap().a);
            assert_eq!(bytes.iter().any(|byte| *byte != 0), at == level, "level {level}, part {part}");
        }
    }
    assert!(crowd.deformer.animator_mut().choose_level(id, &levels, 2).is_err());
    assert!(crowd.deformer.animator_mut().choose_level(id, &[levels[0], 999], 0).is_err());
}

#[test]
fn trusted_kernels_give_the_same_bytes() {
    let options = DeformerOptions { trusted: true, ..Default::default() };
    assert!(Crowd::new(gpu::device(), options).recorded() == usual());
}

#[test]
fn outputs_have_the_usages_that_were_asked_for() {
    let mut crowd = Crowd::new(gpu::device(), clearable());
    crowd.record();
    let usage = crowd.deformer.vertices(crowd.instances[0].0, 0).unwrap().a.buffer().usage();
    let expected = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
    assert!(usage.contains(expected), "{usage:?}");
}
