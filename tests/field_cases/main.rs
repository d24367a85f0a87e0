//! Faults that people met in other systems that do this job, each as the smallest input that shows it.
//!
//! | # | what went wrong there | test here |
//! |---|---|---|
//! | 1 | mirrored models inside out | `pictures::a_box_whose_root_joint_mirrors_it_looks_like_a_mirrored_box`, `skinning::a_mirroring_joint_turns_normal_and_handedness`; signs mixed in a mesh: `primitives_on_joints_that_mirror_and_on_joints_that_do_not_are_each_seen_from_outside`; in a primitive: `one_primitive_on_joints_of_both_kinds_looks_like_two` and, for normals, `beside_a_joint_that_mirrors_vertices_mirror_as_their_own_blend_does` in `packed` |
//! | 2 | normals under uneven scale | `skinning::a_normal_under_a_stretched_joint_stays_perpendicular_to_its_surface` |
//! | 3 | vertices without weight | `skinning::a_vertex_without_weight_is_counted_and_follows_its_first_joint` |
//! | 4 | rounded integer weights | `skinning::rounded_integer_weights_leave_no_offset_a_hundred_metres_away` |
//! | 5 | more than four influences | `skinning::a_vertex_with_weights_only_in_its_third_set_follows_that_joint`, `the_strongest_influences_count_in_whichever_set_they_are`, `with_a_limit_of_influences_the_strongest_of_all_sets_are_kept` |
//! | 6 | joints outside the scene | `skinning::joints_outside_the_scene_animate_and_are_warned_of_once` |
//! | 7 | the mesh node's own transform | `skinning::a_skinned_mesh_nodes_transform_and_a_wrong_skeleton_change_no_bit` |
//! | 8 | scale through zero | `clips::a_joint_scaled_to_zero_takes_its_vertices_to_itself` |
//! | 9 | keys of opposite sign | `clips::rotations_of_opposite_sign_turn_the_short_way` |
//! | 10 | clips of one key | `clips::one_key_is_a_constant_in_every_interpolation`, `a_looping_clip_without_duration_stays_at_its_only_time` |
//! | 11 | morph weights on the mesh | `morphs::an_instance_without_a_channel_keeps_the_weight_of_its_mesh` |
//! | 12 | more than 256 joints | `skinning::the_last_of_600_and_of_1484_joints_moves_its_vertices`; over a limit: `an_instance_that_no_binding_reaches_is_refused_with_the_numbers` in `crowds` |
//! | 13 | normals that targets lack | `morphs::a_target_of_positions_leaves_normals_and_tangents`, `a_delta_tilts_a_normal_and_leaves_the_handedness`, `a_normal_that_its_targets_cancel_stays_finite` |
//! | 14 | order of morph and skin | `morphs::zero_deltas_at_full_weight_change_no_bit`, `a_delta_turns_with_its_joint` |
//! | 15 | culled by bounds of the rest pose | `pictures::a_mesh_that_its_root_joint_takes_away_is_drawn_there`; culled: `culling_sees_the_pose_and_the_place_of_this_frame` in `culling`, `every_vertex_of_every_pose_is_inside` in `bounds` |
//! | 16 | lost devices | `the_frame_after_a_lost_device_is_the_one_that_would_have_come` in `frame`; without a graph: `gpu::recording_on_a_lost_device_is_an_error` |
//! | 17 | empty buffers | `gpu::nothing_to_deform_is_no_validation_error` |
//! | 18 | dispatches beyond one dimension | `gpu::more_items_than_a_dimension_of_the_grid_fold_over`, `more_items_than_any_device_takes_in_one_dimension_are_deformed` |
//! | 19 | too few storage buffers | `gpu::a_device_with_fewer_bindings_is_refused_by_the_limits_name` |
//! | 20 | strides of three floats | `gpu::vertices_three_metres_apart_stay_three_metres_apart`; layouts are compared when the crate is built: `a_rust_struct_that_differs_is_reported_whole` in `shader` |
//! | 21 | read before written | `graph::drawing_what_a_disabled_pass_deforms_is_refused`; `a_read_before_any_write_is_refused` in the graph's `errors` |
//! | 22 | two uses of one buffer | `graph::no_pass_of_a_character_reads_and_writes_one_arena`; random graphs: `ten_thousand_random_graphs_run_without_validation_errors` and `random_graphs_without_colouring_are_refused_by_wgpu` in the graph's `random` |
//! | 23 | OpenGL | `every_variant_translates_to_glsl_es_310` in `shader`; that a driver then orders the writes of a pass before the reads of the next one needs one to run on |
//! | 24 | no timestamps | `graph::without_timestamps_frames_run_and_have_no_gpu_times`; spans of the CPU: `a_frame_has_a_span_per_pass_with_its_numbers` in the graph's `spans`; what `--trace` says: `the_row_of_the_gpu_says_where_there_are_no_timestamps_and_the_rest_is_traced` in the program |
//! | 25 | negative speed | `clips::a_clip_played_backwards_wraps_and_steps_by_time`; at the ends: `playing_backwards_once_stops_at_zero_and_is_finished` in the player |
//! | 26 | the first frame lacks the model | `pictures::the_first_frame_is_whole_and_the_same_on_every_device`, `two_processes_draw_the_same_first_frame`; drivers that finish pipelines late: `gpu::a_warm_up_runs_every_kernel_that_the_models_need_and_says_when` |
//!
//! `bad` holds what import makes of malformed files against what is acceptable.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]
#![cfg(all(feature = "gltf", feature = "render"))]

mod bad;
mod clips;
#[path = "../common/mod.rs"]
mod common;
mod gpu;
mod graph;
mod morphs;
mod pictures;
mod skinning;

use glam::Vec3;
use sinew::{
    Animator, CpuDeformer, Deformer, InstanceId, Model, Precision,
    deform::{BakedPrimitive, DeformedPrimitive},
};

use common::{
    glb::{Glb, UNSIGNED_SHORT},
    gpu as device,
};

/// Of coordinates around a metre, in f32.
const EXACT: f32 = 1e-6;
/// Of a packed direction.
const PACKED: f32 = 2e-4;

/// One instance as one engine deformed it.
struct Deformed {
    name: String,
    /// How far directions may be off.
    tolerance: f32,
    primitives: Vec<BakedPrimitive>,
}

impl Deformed {
    fn first(&self) -> &DeformedPrimitive {
        &self.primitives[0].vertices
    }
}

/// By the kernel and its twin, packed and exact, after `pose` has had its way with the instance.
fn deformed(model: &Model, pose: impl Fn(&mut Animator, InstanceId)) -> Vec<Deformed> {
    let (device, queue) = device::device();
    let mut on_gpu = Deformer::new(&device);
    let mut all = Vec::new();
    let mut waiting = Vec::new();
    for (precision, tolerance) in [(Precision::Packed, PACKED), (Precision::Exact, EXACT)] {
        let id = on_gpu.add_model_with(&queue, model, precision).unwrap();
        let id = on_gpu.spawn(id).unwrap();
        pose(on_gpu.animator_mut(), id);
        waiting.push((precision, tolerance, id));

        let mut on_cpu = CpuDeformer::new();
        let id = on_cpu.add_model(model, precision).unwrap();
        let id = on_cpu.spawn(id).unwrap();
        pose(on_cpu.animator_mut(), id);
        on_cpu.run().unwrap();
        let primitives = on_cpu.bake(id).unwrap();
        all.push(Deformed { name: format!("CPU, {precision:?}"), tolerance, primitives });
    }
    let mut encoder = device.create_command_encoder(&Default::default());
    on_gpu.record(&mut encoder).unwrap();
    let read_back = on_gpu.read_back(&mut encoder).unwrap();
    device::submit(&device, &queue, encoder);
    for (precision, tolerance, id) in waiting {
        let primitives = read_back.bake(&on_gpu, id).unwrap().unwrap();
        all.push(Deformed { name: format!("GPU, {precision:?}"), tolerance, primitives });
    }
    all
}

/// As a file says it, without a clip.
fn at_rest(glb: &Glb) -> Vec<Deformed> {
    deformed(&glb.model(), |_, _| ())
}

/// At a time of the file's clip.
fn at(glb: &Glb, time: f64) -> Vec<Deformed> {
    deformed(&glb.model(), |animator, id| animator.play(id, 0).unwrap().seek(time))
}

/// A frame that is nothing but its deformer.
fn itself(deformer: &mut Deformer) -> &mut Deformer {
    deformer
}

#[track_caller]
fn assert_near(found: Vec3, expected: [f32; 3], tolerance: f32, name: &str) {
    let off = found.distance(Vec3::from_array(expected));
    assert!(off <= tolerance, "{name}: {found} instead of {expected:?}");
}

/// The same influences for all three vertices, as another set.
fn set_influences(glb: &mut Glb, set: u32, joints: [u16; 4], weights: [f32; 4]) {
    let joints: Vec<u8> = joints.repeat(3).into_iter().flat_map(u16::to_le_bytes).collect();
    let joints = glb.bytes_of(UNSIGNED_SHORT, "VEC4", 3, &joints);
    let weights = glb.floats("VEC4", &weights.repeat(3));
    glb.set_attribute(&format!("JOINTS_{set}"), joints);
    glb.set_attribute(&format!("WEIGHTS_{set}"), weights);
}

/// A VEC3 that is the same for all three vertices.
fn set_vectors(glb: &mut Glb, name: &str, value: [f32; 3]) {
    let values = glb.floats("VEC3", &value.repeat(3));
    glb.set_attribute(name, values);
}

fn set_tangents(glb: &mut Glb, value: [f32; 4]) {
    let values = glb.floats("VEC4", &value.repeat(3));
    glb.set_attribute("TANGENT", values);
}

/// The clip drives one property of a node, by these keys.
fn set_channel(glb: &mut Glb, node: u32, path: &str, kind: &str, times: &[f32], values: &[f32]) {
    let input = glb.floats("SCALAR", times);
    let output = glb.floats(kind, values);
    glb.json["animations"] = serde_json::json!([{
        "channels": [{ "sampler": 0, "target": { "node": node, "path": path } }],
        "samplers": [{ "input": input, "output": output }],
    }]);
}
