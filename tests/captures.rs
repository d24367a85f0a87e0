//! A frame's deformation in a file: what comes back, what a replay finds, what damaged and hostile files are told.
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
    models::{Random, Shape, character, hostile},
};
use sinew::{
    CpuDeformer, Deformer, DeformerOptions, Model, Precision,
    deform::{
        Capture, CaptureError, CaptureOutput, DeformError, PartDifference, VARIANTS, Variant, WorkItem,
    },
    model::Skinning,
};

const INFLUENCES: [u32; 6] = [0, 1, 2, 4, 8, 20];

/// Models of every influence class, with and without morph targets, by either skinning.
fn models(vertices: u32) -> Vec<Model> {
    let shape = |influences, targets| Shape { vertices, joints: 30, influences, targets };
    let shapes = INFLUENCES.into_iter().flat_map(|i| [shape(i, 0), shape(i, 3)]);
    let linear: Vec<Model> = (1..).zip(shapes).map(|(seed, shape)| character(seed, shape)).collect();
    let dual = linear.iter().map(|model| model.clone().with_skinning(0, Skinning::DualQuaternion).unwrap());
    let dual: Vec<Model> = dual.collect();
    [linear, dual].concat()
}

/// An instance of each model, in both precisions, on the twin.
fn captured(models: &[Model]) -> Capture {
    let mut deformer = CpuDeformer::new();
    for precision in [Precision::Packed, Precision::Exact] {
        for model in models {
            let id = deformer.add_model(model, precision).unwrap();
            let instance = deformer.spawn(id).unwrap();
            deformer.animator_mut().play(instance, 0).unwrap().seek(0.7);
        }
    }
    deformer.run().unwrap();
    deformer.capture().unwrap()
}

fn replayed_on_gpu(capture: &Capture) -> CaptureOutput {
    let (device, queue) = gpu::device();
    let mut encoder = device.create_command_encoder(&Default::default());
    let replay = capture.record_replay(&device, &queue, &mut encoder).unwrap();
    gpu::submit(&device, &queue, encoder);
    assert!(replay.is_ready());
    replay.output().unwrap().unwrap()
}

fn far(differences: &[PartDifference]) -> Vec<&PartDifference> {
    differences.iter().filter(|part| !part.is_within()).collect()
}

/// FNV-1a in 64 bits, as docs/capture.md says.
fn sign(bytes: &mut [u8]) {
    let end = bytes.len() - 8;
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325, step);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

/// Where a run of bytes lies in a file that holds it once.
fn find(file: &[u8], bytes: &[u8]) -> usize {
    let mut found = file.windows(bytes.len()).enumerate().filter(|(_, window)| *window == bytes);
    let at = found.next().expect("the file holds it").0;
    assert!(found.next().is_none(), "the file holds it twice");
    at
}

#[test]
fn a_capture_that_is_written_and_read_is_the_same() {
    let capture = captured(&models(60));
    let read = Capture::from_bytes(&capture.to_bytes()).unwrap();
    assert_eq!(read, capture);
    assert_eq!((read.library(), read.adapter()), (env!("CARGO_PKG_VERSION"), "twin"));
    let used: Vec<_> = read.variants().into_iter().map(|(variant, _)| variant).collect();
    let all: Vec<_> = (0..VARIANTS).map(Variant::from_index).collect();
    assert_eq!((used, VARIANTS), (all, 36));
}

#[test]
fn the_twin_replays_its_own_capture_bit_for_bit() {
    let capture = captured(&models(300));
    let output = Capture::from_bytes(&capture.to_bytes()).unwrap().replay();
    assert_eq!(&output, capture.recorded());
    assert!(capture.compare(&output).iter().all(|part| part.position.share == 0.0));
}

#[test]
fn the_gpu_replays_what_the_twin_has_captured_within_the_tolerances() {
    let capture = captured(&models(300));
    let differences = capture.compare(&replayed_on_gpu(&capture));
    assert_eq!(differences.len(), 2 * models(1).len());
    assert_eq!(far(&differences), [] as [&PartDifference; 0]);
}

#[test]
fn the_twin_replays_what_the_gpu_has_captured_within_the_tolerances() {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    for model in &models(300) {
        let id = deformer.add_model(&queue, model).unwrap();
        for number in 0..2 {
            let instance = deformer.spawn(id).unwrap();
            deformer.play(instance, 0).unwrap().seek(0.3 * f64::from(number));
        }
    }
    let hidden = deformer.animator().instances().next().unwrap();
    deformer.animator_mut().set_visible(hidden, false).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    let pending = deformer.start_capture(&mut encoder).unwrap();
    assert_eq!((pending.is_ready(), pending.finish().unwrap()), (false, None), "it has not arrived");
    gpu::submit(&device, &queue, encoder);
    assert!(pending.is_ready());
    let capture = pending.finish().unwrap().unwrap();
    assert_eq!(Capture::from_bytes(&capture.to_bytes()).unwrap(), capture);
    // One of 48 instances is hidden.
    assert_eq!((capture.parts().count(), capture.parts().next().unwrap().instance), (47, 1));
    assert_eq!(far(&capture.compare(&capture.replay())), [] as [&PartDifference; 0]);
    assert_eq!(&replayed_on_gpu(&capture), capture.recorded());
}

/// A capture is started behind a record; then everything goes on.
fn captured_before_more_happens(options: DeformerOptions) -> Capture {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::with(&device, options);
    let models = models(200);
    let ids: Vec<_> = models.iter().map(|model| deformer.add_model(&queue, model).unwrap()).collect();
    let instances: Vec<_> = ids.iter().map(|id| deformer.spawn(*id).unwrap()).collect();
    for &instance in &instances {
        deformer.play(instance, 0).unwrap().seek(0.2);
    }
    deformer.animator_mut().set_visible(instances[2], false).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    deformer.animator_mut().evaluate();
    deformer.advance(0.3);
    deformer.animator_mut().evaluate();
    let pending = deformer.start_capture(&mut encoder).unwrap();
    gpu::submit(&device, &queue, encoder);
    // Another pose, other things in view, other models and instances.
    deformer.advance(0.3);
    deformer.animator_mut().set_visible(instances[0], false).unwrap();
    deformer.animator_mut().set_visible(instances[2], true).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    gpu::submit(&device, &queue, encoder);
    deformer.despawn(instances[1]).unwrap();
    deformer.remove_model(&queue, ids[1]).unwrap();
    pending.finish().unwrap().unwrap()
}

#[test]
fn a_capture_is_of_the_record_behind_which_it_was_started() {
    for compact_outputs in [false, true] {
        let options = DeformerOptions { compact_outputs, ..Default::default() };
        let capture = captured_before_more_happens(options);
        assert_eq!(capture.parts().count(), models(1).len() - 1);
        assert_eq!(far(&capture.compare(&capture.replay())), [] as [&PartDifference; 0]);
        assert_eq!(&replayed_on_gpu(&capture), capture.recorded());
    }
}

#[test]
fn palettes_that_are_evaluated_into_upload_memory_are_captured() {
    let options = DeformerOptions { keep_palettes: false, ..Default::default() };
    let capture = captured_before_more_happens(options);
    assert_eq!(far(&capture.compare(&capture.replay())), [] as [&PartDifference; 0]);
}

#[test]
fn a_record_that_is_over_cannot_be_captured() {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, &models(8)[0]).unwrap();
    let not_recorded = Err(CaptureError::Deform(DeformError::NotRecorded));
    let started = |deformer: &mut Deformer| {
        let mut encoder = device.create_command_encoder(&Default::default());
        deformer.start_capture(&mut encoder).map(|_| ())
    };
    assert_eq!(started(&mut deformer), not_recorded, "nothing is there");
    deformer.spawn(id).unwrap();
    assert_eq!(started(&mut deformer), not_recorded, "nothing is recorded");
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    assert_eq!(started(&mut deformer), Ok(()));
    deformer.prepare().unwrap();
    assert_eq!(started(&mut deformer), not_recorded, "the next one is prepared");
    deformer.record(&mut encoder).unwrap();
    deformer.spawn(id).unwrap();
    assert_eq!(started(&mut deformer), not_recorded, "an instance was added");
    let mut twin = CpuDeformer::new();
    let id = twin.add_model(&models(8)[0], Precision::Exact).unwrap();
    twin.run().unwrap();
    twin.spawn(id).unwrap();
    assert_eq!(twin.capture().map(|_| ()), not_recorded, "an instance was added");
}

#[test]
fn what_never_arrives_is_an_error_and_no_wait() {
    let (device, queue) = gpu::device();
    let mut deformer = Deformer::new(&device);
    let id = deformer.add_model(&queue, &models(8)[0]).unwrap();
    deformer.spawn(id).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder).unwrap();
    let pending = deformer.start_capture(&mut encoder).unwrap();
    drop(encoder);
    assert!(pending.is_ready());
    assert_eq!(pending.finish(), Err(CaptureError::Deform(DeformError::Map)));
}

#[test]
fn hostile_poses_are_captured_and_replayed() {
    for seed in 0..20 {
        let model = hostile(seed, Shape { vertices: 100, joints: 9, influences: 4, targets: 2 });
        let capture = captured(&[model]);
        assert_eq!(&Capture::from_bytes(&capture.to_bytes()).unwrap().replay(), capture.recorded());
    }
}

#[test]
fn a_capture_of_nothing_has_no_parts_and_no_variants() {
    let mut deformer = CpuDeformer::new();
    deformer.run().unwrap();
    let capture = deformer.capture().unwrap();
    let read = Capture::from_bytes(&capture.to_bytes()).unwrap();
    assert_eq!((read.parts().count(), read.variants().len()), (0, 0));
    assert_eq!(read.compare(&read.replay()), []);
}

#[test]
fn a_changed_byte_of_a_palette_is_found_at_the_vertex_that_it_moves_most() {
    let mut deformer = CpuDeformer::new();
    let model = character(3, Shape { vertices: 200, joints: 30, influences: 1, targets: 0 });
    let id = deformer.add_model(&model, Precision::Exact).unwrap();
    let instance = deformer.spawn(id).unwrap();
    deformer.animator_mut().play(instance, 0).unwrap().seek(0.7);
    deformer.run().unwrap();
    let palette = deformer.animator().palette(instance).unwrap().to_vec();
    let mut bytes = deformer.capture().unwrap().to_bytes();
    // Joint 7 one metre farther along x.
    let joint = 7;
    let row = find(&bytes, bytemuck::bytes_of(&palette[joint]));
    bytes[row + 12..row + 16].copy_from_slice(&(palette[joint].x[3] + 1.0).to_le_bytes());
    assert!(matches!(Capture::from_bytes(&bytes), Err(CaptureError::Checksum { .. })));
    sign(&mut bytes);
    let capture = Capture::from_bytes(&bytes).unwrap();
    let [difference] = capture.compare(&capture.replay()).try_into().unwrap();
    assert!((difference.position.difference - 1.0).abs() < 1e-5 && !difference.is_within());
    assert_eq!((difference.normal.share, difference.tangent.share), (0.0, 0.0));
    // The vertex is one of the joint's, and the first of them all.
    let primitive = &model.meshes()[0].primitives()[0];
    let influences = primitive.influences().unwrap();
    let of_joint = |vertex: usize| influences.row(vertex)[0].joint as usize == joint;
    assert!(of_joint(difference.position.vertex as usize));
}

#[test]
fn an_output_of_another_capture_is_infinitely_far_away() {
    let capture = captured(&models(20));
    let differences = capture.compare(&CaptureOutput::default());
    assert!(differences.iter().all(|part| part.position.difference == f32::INFINITY && !part.is_within()));
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let bytes = captured(&models(12)).to_bytes();
    for end in (0..bytes.len()).step_by(64) {
        let error = Capture::from_bytes(&bytes[..end]).unwrap_err();
        let expected = if end < 8 {
            matches!(error, CaptureError::NoCapture)
        } else {
            matches!(error, CaptureError::Truncated { .. })
        };
        assert!(expected, "{end}: {error}");
    }
    let more = [&bytes[..], &[0; 4]].concat();
    assert_eq!(Capture::from_bytes(&more), Err(CaptureError::TooLong { bytes: 4 }));
}

#[test]
fn other_formats_layouts_and_variants_are_told_apart() {
    let bytes = captured(&models(2)[..1]).to_bytes();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        sign(&mut bytes);
        Capture::from_bytes(&bytes).unwrap_err()
    };
    assert_eq!(changed(8, &[9]), CaptureError::OtherFormat { found: 9, expected: 1 });
    let layout = 16 + env!("CARGO_PKG_VERSION").len();
    assert!(matches!(changed(layout, &[77]), CaptureError::OtherLayout { found: 77, .. }));
    let last = Variant::from_index(VARIANTS - 1).to_string();
    let error = changed(find(&bytes, last.as_bytes()), b"W");
    assert!(matches!(error, CaptureError::OtherVariants { index, .. } if index == VARIANTS - 1), "{error}");
}

/// The bytes of the first work item that is found, and where they lie.
fn an_item(bytes: &[u8], capture: &Capture) -> (usize, WorkItem) {
    let part = capture.parts().next().unwrap();
    let count = part.vertices;
    let at = (0..bytes.len() - 32).step_by(1).find(|at| {
        let item: WorkItem = bytemuck::pod_read_unaligned(&bytes[*at..*at + 32]);
        item.source == 0 && item.counts & 0xffff == count && item.out_a == 0 && item.out_b == 0
    });
    let at = at.expect("an item");
    (at, bytemuck::pod_read_unaligned(&bytes[at..at + 32]))
}

#[test]
fn items_that_reach_out_of_their_buffers_are_refused_with_the_numbers() {
    let model = character(3, Shape { vertices: 40, joints: 5, influences: 4, targets: 0 });
    let mut deformer = CpuDeformer::new();
    let id = deformer.add_model(&model, Precision::Packed).unwrap();
    deformer.spawn(id).unwrap();
    deformer.run().unwrap();
    let capture = deformer.capture().unwrap();
    let bytes = capture.to_bytes();
    let (at, item) = an_item(&bytes, &capture);
    let refused = |change: fn(&mut WorkItem)| {
        let (mut item, mut bytes) = (item, bytes.clone());
        change(&mut item);
        bytes[at..at + 32].copy_from_slice(bytemuck::bytes_of(&item));
        sign(&mut bytes);
        match Capture::from_bytes(&bytes).unwrap_err() {
            CaptureError::OutOfRange { group: 0, what, reaches, there } => (what, reaches, there),
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused(|item| item.source = 1), ("source vertices A", 41, 40));
    assert_eq!(refused(|item| item.source = u32::MAX), ("source vertices A", u64::from(u32::MAX) + 40, 40));
    assert_eq!(refused(|item| item.counts += 1), ("source vertices A", 41, 40));
    assert_eq!(refused(|item| item.counts = 0xffff), ("a work item's vertices", 0xffff, 1280));
    assert_eq!(refused(|item| item.counts |= 0xff << 16), ("a work item's joints", 255, 64));
    assert_eq!(refused(|item| item.joint_list = 1), ("a joint list", 6, 5));
    assert_eq!(refused(|item| item.palette = 1), ("a joint", 6, 5));
    assert_eq!(refused(|item| item.out_a = u32::MAX).0, "output A");
    assert_eq!(refused(|item| item.out_b = 64).0, "output B");
}

/// A capture by the twin of one vertex, and what becomes of it after a change of its bytes.
fn of_one_vertex(precision: Precision, influences: u32) -> (Vec<u8>, Capture) {
    let model = character(3, Shape { vertices: 1, joints: 30, influences, targets: 0 });
    let model = model.with_skinning(0, Skinning::DualQuaternion).unwrap();
    let mut deformer = CpuDeformer::new();
    let id = deformer.add_model(&model, precision).unwrap();
    deformer.spawn(id).unwrap();
    deformer.run().unwrap();
    let capture = deformer.capture().unwrap();
    (capture.to_bytes(), capture)
}

#[test]
fn a_row_without_influences_needs_a_palette_all_the_same() {
    let (mut bytes, capture) = of_one_vertex(Precision::Packed, 20);
    let (at, mut item) = an_item(&bytes, &capture);
    // Stream B's only vertex: tangent, start and length of the row, 0 or bits of directions.
    let row = (0..at).find(|at| bytes[*at..*at + 8] == [0, 0, 0, 0, 20, 0, 0, 0]).unwrap();
    bytes[row + 4] = 0;
    sign(&mut bytes);
    let _ = Capture::from_bytes(&bytes).unwrap().replay();
    item.palette = 30;
    bytes[at..at + 32].copy_from_slice(bytemuck::bytes_of(&item));
    sign(&mut bytes);
    let expected =
        CaptureError::OutOfRange { group: 0, what: "an instance's palette", reaches: 31, there: 30 };
    assert_eq!(Capture::from_bytes(&bytes), Err(expected));
}

#[test]
fn places_past_the_list_of_joints_are_refused_in_every_class() {
    for precision in [Precision::Packed, Precision::Exact] {
        for influences in [1, 2, 4, 8] {
            let (mut bytes, capture) = of_one_vertex(precision, influences);
            let (at, mut item) = an_item(&bytes, &capture);
            let listed = item.counts >> 16;
            assert_eq!(listed, influences);
            item.counts = 1 | (listed - 1) << 16;
            bytes[at..at + 32].copy_from_slice(bytemuck::bytes_of(&item));
            sign(&mut bytes);
            let (reaches, there) = (u64::from(listed), u64::from(listed - 1));
            let expected = CaptureError::OutOfRange { group: 0, what: "a vertex's joint", reaches, there };
            assert_eq!(Capture::from_bytes(&bytes), Err(expected), "{precision:?} {influences}");
        }
    }
}

#[test]
fn two_items_on_the_same_vertices_are_refused() {
    let model = character(3, Shape { vertices: 3000, joints: 40, influences: 4, targets: 0 });
    let mut deformer = CpuDeformer::new();
    let id = deformer.add_model(&model, Precision::Packed).unwrap();
    deformer.spawn(id).unwrap();
    deformer.run().unwrap();
    let bytes = deformer.capture().unwrap().to_bytes();
    // The second item, by its outputs behind the first one's.
    let chunks = model.meshes()[0].primitives()[0].chunks();
    let [first, second] = [0, 1].map(|at: usize| chunks[at].first);
    assert!(first == 0 && second > 0);
    let at = (0..bytes.len() - 32).find(|at| {
        let item: WorkItem = bytemuck::pod_read_unaligned(&bytes[*at..*at + 32]);
        item.source == second && item.out_a == second && item.out_b == second
    });
    let mut bytes = bytes;
    let at = at.unwrap();
    bytes[at + 16..at + 20].copy_from_slice(&(second - 1).to_le_bytes());
    sign(&mut bytes);
    assert_eq!(Capture::from_bytes(&bytes), Err(CaptureError::Overlap { group: 0, at: second - 1 }));
}

#[test]
fn any_mutation_is_refused_or_replayed_without_a_panic() {
    // All variants at once, and each in a small file, where more of the words matter.
    let all = models(3);
    let mut files: Vec<_> =
        all.iter().map(|model| captured(std::slice::from_ref(model)).to_bytes()).collect();
    files.push(captured(&models(12)).to_bytes());
    let mut random = Random::new(11);
    let (mut refused, mut replayed) = (0, 0);
    for number in 0..2000 {
        let mut bytes = files[number % files.len()].clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len() as u32 - 8) as usize;
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = [0, 1, 127, 128, 255][random.below(5) as usize],
                2 => {
                    let word = [0, 1, 0x7fff_ffff, 0xffff_ffff, bytes.len() as u32][random.below(5) as usize];
                    let at = at & !3;
                    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
                }
                _ => {
                    let from = random.below(bytes.len() as u32 - 8) as usize;
                    let count = random.below(32).min((bytes.len() - at.max(from)) as u32 - 8) as usize;
                    bytes.copy_within(from..from + count, at);
                }
            }
        }
        sign(&mut bytes);
        match Capture::from_bytes(&bytes) {
            Ok(capture) => {
                let _ = capture.compare(&capture.replay());
                if replayed % 60 == 0 {
                    let _ = replayed_on_gpu(&capture);
                }
                replayed += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    // Both ways are taken often.
    assert!(refused > 200 && replayed > 200, "{refused} refused, {replayed} replayed");
}
