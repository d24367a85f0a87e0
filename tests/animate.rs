//! What an animator makes of layers, overrides and poses from elsewhere, against closed forms.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::f32::consts::FRAC_PI_2;

use glam::{Affine3A, Mat3A, Quat, Vec3};
use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{
        AnimateError, BindMode, Events, JointMatrix, LayerKind, LoopMode, Mask, Reference, RootMotion,
        Travel, WorldPose, bind_here, bind_pose, sample,
    },
    model::{
        Channel, Clip, Interpolation, Mesh, ModelDesc, MorphTarget, Node, Part, PrimitiveDesc, Skeleton,
        Skin, Topology, Track, Transform,
    },
};

const ROOT: u32 = 0;
const ARM: u32 = 1;
const HAND: u32 = 2;
const BODY: u32 = 3;

fn track(node: u32, channel: Channel, values: &[f32]) -> Track {
    let width = match channel {
        Channel::Rotation => 4,
        Channel::Weights => 2,
        Channel::Translation | Channel::Scale => 3,
    };
    let keys = values.len() / width as usize;
    Track {
        node,
        channel,
        interpolation: Interpolation::Linear,
        times: (0..keys).map(|key| key as f32).collect(),
        values: values.to_vec(),
        width,
    }
}

fn turn(angle: f32) -> [f32; 4] {
    Quat::from_rotation_z(angle).to_array()
}

/// root → arm → hand, one metre each along x, and a body with two morph targets that all three deform.
fn model() -> Model {
    let node = |name: &str, parent, x: f32| Node {
        name: name.into(),
        parent,
        rest: Transform::from_translation(Vec3::X * x),
    };
    let skeleton = Skeleton::new(vec![
        node("root", None, 0.0),
        node("arm", Some(ROOT), 1.0),
        node("hand", Some(ARM), 1.0),
        node("body", None, 0.0),
    ]);
    let skeleton = skeleton.unwrap();
    let skin = Skin::bind_at_rest("skin", &skeleton, vec![ROOT, ARM, HAND]).unwrap();
    let alone = Skin::bind_at_rest("alone", &skeleton, vec![HAND]).unwrap();
    let mut influences = sinew::model::Influences::with_capacity(1);
    influences.push([sinew::model::Influence { joint: 2, weight: 1.0 }]);
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::X * 2.0],
        influences: Some(influences),
        targets: vec![MorphTarget::from_rows(false, false, Vec::new()); 2],
        ..Default::default()
    };
    let mesh = Mesh::new("mesh", vec![primitive], vec![0.0; 2]).unwrap();
    let clips = vec![
        // 0: the arm turns a quarter in one second.
        Clip::new("turn", vec![track(ARM, Channel::Rotation, &[turn(0.0), turn(FRAC_PI_2)].concat())]),
        // 1: the root goes one metre along y in one second, weights rise.
        Clip::new(
            "rise",
            vec![
                track(ROOT, Channel::Translation, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
                track(BODY, Channel::Weights, &[0.0, 0.0, 1.0, 0.5]),
            ],
        ),
        // 2: the arm turned back, held.
        Clip::new(
            "back",
            vec![track(ARM, Channel::Rotation, &[turn(-FRAC_PI_2), turn(-FRAC_PI_2)].concat())],
        ),
        // 3: the hand grows.
        Clip::new("grow", vec![track(HAND, Channel::Scale, &[1.0, 1.0, 1.0, 3.0, 1.0, 1.0])]),
    ];
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin, alone],
        meshes: vec![mesh],
        parts: vec![Part { node: BODY, mesh: 0, skin: Some(0), weights: vec![0.0; 2] }],
        clips: clips.into_iter().map(Result::unwrap).collect(),
        ..Default::default()
    })
    .unwrap()
}

struct Stage {
    animator: Animator,
    model: Model,
    handle: ModelId,
    id: InstanceId,
}

impl Stage {
    fn new() -> Self {
        let model = model();
        let mut animator = Animator::new();
        let handle = animator.add_model(&model);
        let id = animator.spawn(handle).unwrap();
        Self { animator, model, handle, id }
    }

    /// Adds a layer at a time.
    fn layer(&mut self, clip: u32, time: f64, weight: f32, kind: LayerKind) -> sinew::animate::LayerId {
        let layer = self.animator.add_layer(self.id, clip, kind).unwrap();
        layer.player.seek(time);
        layer.weight = weight;
        layer.id()
    }

    fn local(&mut self, node: u32) -> Transform {
        self.animator.evaluate();
        self.animator.local(self.id, node).unwrap()
    }

    fn world(&mut self, node: u32) -> Affine3A {
        self.animator.evaluate();
        self.animator.world(self.id).unwrap()[node as usize]
    }

    fn weights(&mut self) -> Vec<f32> {
        self.animator.evaluate();
        self.animator.weights(self.id).unwrap().to_vec()
    }
}

fn near(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-6, "{a} instead of {b}");
}

/// Radians about z.
fn angle(rotation: Quat) -> f32 {
    2.0 * rotation.z.atan2(rotation.w)
}

// Layers

#[test]
fn one_layer_is_what_its_clip_says() {
    let mut stage = Stage::new();
    stage.layer(0, 0.3, 1.0, LayerKind::Blend);
    let expected = sample(&stage.model, &stage.model.clips()[0], 0.3).rotations[1];
    assert_eq!(stage.local(ARM).rotation, expected);
}

#[test]
fn two_layers_of_one_component_are_weighed_against_each_other() {
    let mut stage = Stage::new();
    stage.layer(0, 1.0, 3.0, LayerKind::Blend);
    stage.layer(2, 0.0, 1.0, LayerKind::Blend);
    // Normalised sum of a quarter turn times 3 and a quarter back times 1.
    let expected = 2.0 * (0.5f32 * (FRAC_PI_2 / 2.0).tan()).atan();
    assert!((angle(stage.local(ARM).rotation) - expected).abs() < 1e-6);
}

#[test]
fn a_layer_without_a_channel_adds_nothing_to_it() {
    let mut stage = Stage::new();
    stage.layer(0, 1.0, 0.5, LayerKind::Blend);
    stage.layer(1, 1.0, 0.5, LayerKind::Blend);
    assert!((angle(stage.local(ARM).rotation) - FRAC_PI_2).abs() < 1e-6);
    near(stage.local(ROOT).translation, Vec3::Y);
}

#[test]
fn morph_weights_take_part_in_blending() {
    let mut stage = Stage::new();
    stage.layer(1, 1.0, 1.0, LayerKind::Blend);
    stage.layer(1, 0.0, 3.0, LayerKind::Blend);
    assert_eq!(stage.weights(), [0.25, 0.125]);
}

#[test]
fn below_the_threshold_rest_pose_and_overrides_fill_up() {
    let mut stage = Stage::new();
    let id = stage.id;
    stage.layer(1, 1.0, 0.05, LayerKind::Blend);
    near(stage.local(ROOT).translation, Vec3::Y * 0.5);
    stage.animator.set_translation(id, ROOT, Vec3::X).unwrap();
    near(stage.local(ROOT).translation, (Vec3::X + Vec3::Y) * 0.5);
    stage.animator.set_threshold(id, 0.0).unwrap();
    near(stage.local(ROOT).translation, Vec3::Y);
}

#[test]
fn layers_of_no_weight_leave_the_rest_pose() {
    let mut stage = Stage::new();
    for weight in [0.0, -1.0, f32::NAN] {
        stage.animator.stop(stage.id).unwrap();
        stage.layer(1, 1.0, weight, LayerKind::Blend);
        near(stage.local(ROOT).translation, Vec3::ZERO);
    }
}

#[test]
fn rotations_that_cancel_each_other_out_leave_the_rest_pose() {
    let mut stage = Stage::new();
    let full = Quat::from_rotation_z(std::f32::consts::PI).to_array();
    let none = Quat::IDENTITY.to_array();
    let clips = [full, none].map(|q| Clip::new("", vec![track(ARM, Channel::Rotation, &q)]).unwrap());
    let model = Model::new(ModelDesc {
        skeleton: stage.model.skeleton().clone(),
        clips: clips.to_vec(),
        ..Default::default()
    });
    let handle = stage.animator.add_model(&model.unwrap());
    stage.id = stage.animator.spawn(handle).unwrap();
    stage.layer(0, 0.0, 1.0, LayerKind::Blend);
    stage.layer(1, 0.0, 1.0, LayerKind::Blend);
    assert!(stage.local(ARM).rotation.is_finite() && stage.local(ARM).rotation.is_normalized());
}

#[test]
fn a_mask_keeps_a_layer_to_its_nodes() {
    let mut stage = Stage::new();
    let masked = stage.layer(0, 1.0, 1.0, LayerKind::Blend);
    let mask = Mask::new(&stage.model, 1.0).with_tree(stage.model.skeleton(), ARM, 0.0);
    assert_eq!(mask.weights(), [1.0, 0.0, 0.0, 1.0]);
    stage.animator.layer_mut(stage.id, masked).unwrap().mask = Some(mask.with_node(ROOT, 0.5));
    assert_eq!(angle(stage.local(ARM).rotation), 0.0);
}

#[test]
fn an_additive_layer_puts_its_change_on_top() {
    let mut stage = Stage::new();
    stage.layer(2, 0.0, 1.0, LayerKind::Blend);
    let additive = LayerKind::Additive(Reference::Time(0.0));
    let id = stage.layer(0, 1.0, 1.0, additive);
    assert!(angle(stage.local(ARM).rotation).abs() < 1e-6, "a quarter back and a quarter on top");
    stage.animator.layer_mut(stage.id, id).unwrap().weight = 0.5;
    assert!((angle(stage.local(ARM).rotation) + FRAC_PI_2 / 2.0).abs() < 1e-6);
}

#[test]
fn additive_translations_scales_and_weights_are_differences_to_their_reference() {
    let mut stage = Stage::new();
    stage.layer(1, 1.0, 1.0, LayerKind::Blend);
    stage.layer(1, 0.75, 1.0, LayerKind::Additive(Reference::Time(0.25)));
    stage.layer(3, 1.0, 0.5, LayerKind::Additive(Reference::Rest));
    near(stage.local(ROOT).translation, Vec3::Y * 1.5);
    assert_eq!(stage.weights(), [1.5, 0.75]);
    near(stage.local(HAND).scale, Vec3::new(2.0, 1.0, 1.0));
}

#[test]
fn a_cross_fade_goes_from_one_clip_to_the_other_and_leaves_one_layer() {
    let mut stage = Stage::new();
    let id = stage.id;
    stage.animator.set_threshold(id, 0.0).unwrap();
    stage.animator.play(id, 1).unwrap().speed = 0.0;
    stage.animator.player_mut(id).unwrap().unwrap().seek(1.0);
    stage.animator.cross_fade(id, 1, 2.0).unwrap().player.speed = 0.0;
    let mut heights = Vec::new();
    for _ in 0..5 {
        heights.push(stage.local(ROOT).translation.y);
        stage.animator.advance(0.5);
    }
    for (height, expected) in heights.iter().zip([1.0, 0.75, 0.5, 0.25, 0.0]) {
        assert!((height - expected).abs() < 1e-6, "{heights:?}");
    }
    let layers = stage.animator.layers(id).unwrap();
    assert_eq!((layers.len(), layers[0].weight), (1, 1.0));
    stage.animator.cross_fade(id, 0, 0.0).unwrap();
    assert_eq!(stage.animator.layers(id).unwrap().len(), 1);
}

#[test]
fn a_removed_layer_and_one_of_another_instance_are_refused() {
    let mut stage = Stage::new();
    let layer = stage.layer(0, 0.0, 1.0, LayerKind::Blend);
    let other = stage.animator.spawn(stage.handle).unwrap();
    let unknown = |instance| Err(AnimateError::UnknownLayer { instance });
    assert_eq!(stage.animator.remove_layer(other, layer), unknown(other));
    assert_eq!(stage.animator.remove_layer(stage.id, layer), Ok(()));
    assert_eq!(stage.animator.remove_layer(stage.id, layer), unknown(stage.id));
}

// Overrides

#[test]
fn an_animated_component_wins_and_an_untouched_one_keeps_its_override() {
    let mut stage = Stage::new();
    let id = stage.id;
    stage.animator.set_rotation(id, ARM, Quat::from_rotation_z(1.0)).unwrap();
    stage.animator.set_translation(id, ARM, Vec3::Y * 5.0).unwrap();
    assert!((angle(stage.local(ARM).rotation) - 1.0).abs() < 1e-6, "without a clip");
    for layers in [1, 2] {
        stage.layer(0, 1.0, 1.0, LayerKind::Blend);
        assert!((angle(stage.local(ARM).rotation) - FRAC_PI_2).abs() < 1e-6, "{layers} layers");
        near(stage.local(ARM).translation, Vec3::Y * 5.0);
    }
    stage.animator.clear_override(id, ARM).unwrap();
    near(stage.local(ARM).translation, Vec3::X);
}

#[test]
fn a_hidden_node_is_a_point_whatever_clips_and_overrides_say() {
    let mut stage = Stage::new();
    let id = stage.id;
    stage.animator.set_scale(id, HAND, Vec3::splat(2.0)).unwrap();
    stage.animator.show_node(id, HAND, false).unwrap();
    let hidden = |stage: &mut Stage| stage.world(HAND).matrix3 == Mat3A::ZERO;
    assert!(hidden(&mut stage), "with an override");
    stage.layer(3, 1.0, 1.0, LayerKind::Blend);
    assert!(hidden(&mut stage), "with a clip");
    stage.layer(3, 1.0, 1.0, LayerKind::Blend);
    stage.layer(3, 1.0, 1.0, LayerKind::Additive(Reference::Rest));
    assert!(hidden(&mut stage), "with layers");
    let transform = Transform { scale: Vec3::splat(7.0), ..Transform::IDENTITY };
    stage.animator.set_world_poses(id, [WorldPose { node: HAND, transform, weight: 1.0 }]).unwrap();
    assert!(hidden(&mut stage), "with a world pose");
    stage.animator.set_world_poses(id, []).unwrap();
    stage.animator.stop(id).unwrap();
    stage.animator.show_node(id, HAND, true).unwrap();
    near(stage.local(HAND).scale, Vec3::splat(2.0));
}

#[test]
fn hiding_a_node_hides_what_is_below_it() {
    let mut stage = Stage::new();
    stage.animator.show_node(stage.id, ARM, false).unwrap();
    let hand = stage.world(HAND);
    assert_eq!((hand.matrix3, Vec3::from(hand.translation)), (Mat3A::ZERO, Vec3::X));
}

#[test]
fn morph_weights_can_be_set_and_a_clip_wins() {
    let mut stage = Stage::new();
    stage.animator.set_weight(stage.id, 0, 1, 0.75).unwrap();
    assert_eq!(stage.weights(), [0.0, 0.75]);
    stage.layer(1, 1.0, 1.0, LayerKind::Blend);
    assert_eq!(stage.weights(), [1.0, 0.5]);
    stage.animator.stop(stage.id).unwrap();
    stage.animator.clear_overrides(stage.id).unwrap();
    assert_eq!(stage.weights(), [0.0, 0.0]);
}

#[test]
fn a_batch_of_local_poses_is_a_batch_of_overrides() {
    let mut stage = Stage::new();
    let pose = Transform { translation: Vec3::Z, ..Transform::IDENTITY };
    stage.animator.set_pose(stage.id, [(ROOT, pose), (HAND, pose)]).unwrap();
    assert_eq!((stage.local(ROOT), stage.local(HAND)), (pose, pose));
    assert_eq!(stage.local(ARM), Transform::from_translation(Vec3::X));
}

#[test]
fn refreshing_shows_what_was_set_without_a_frame_and_keeps_the_frame_before() {
    let mut stage = Stage::new();
    stage.animator.keep_previous_palettes(true);
    stage.animator.evaluate();
    let before = stage.animator.palette(stage.id).unwrap().to_vec();
    stage.animator.evaluate();
    stage.animator.set_translation(stage.id, ROOT, Vec3::Y).unwrap();
    stage.animator.refresh(stage.id).unwrap();
    assert_eq!(Vec3::from(stage.animator.world(stage.id).unwrap()[2].translation), Vec3::new(2.0, 1.0, 0.0));
    assert_eq!(stage.animator.previous_palette(stage.id).unwrap(), before);
}

#[test]
fn unknown_nodes_parts_targets_and_skins_are_refused_with_numbers() {
    let mut stage = Stage::new();
    let (id, animator) = (stage.id, &mut stage.animator);
    let errors = [
        animator.set_scale(id, 4, Vec3::ONE).unwrap_err(),
        animator.show_node(id, 9, false).unwrap_err(),
        animator.show_part(id, 1, false).unwrap_err(),
        animator.set_weight(id, 0, 2, 1.0).unwrap_err(),
        animator.set_skin_palette(id, 2, None).unwrap_err(),
        animator.set_skin_palette(id, 0, Some(&[JointMatrix::IDENTITY])).unwrap_err(),
        animator.set_world(id, Some(&[])).unwrap_err(),
    ];
    let texts = errors.map(|error| error.to_string());
    assert_eq!(
        texts,
        [
            "there is no node 4; the model has 4",
            "there is no node 9; the model has 4",
            "there is no part 1; the model has 1",
            "part 0 has no morph target 2; it has 2",
            "there is no skin 2; the model has 2",
            "1 palette rows given, 3 needed",
            "0 world matrices given, 4 needed",
        ]
    );
}

// Poses from elsewhere

#[test]
fn a_world_pose_puts_a_node_there_and_its_children_follow() {
    let mut stage = Stage::new();
    stage.layer(0, 1.0, 1.0, LayerKind::Blend);
    let transform = Transform::from_translation(Vec3::new(3.0, 4.0, 5.0));
    stage.animator.set_world_poses(stage.id, [WorldPose { node: ARM, transform, weight: 1.0 }]).unwrap();
    near(stage.world(ARM).translation.into(), transform.translation);
    near(stage.world(HAND).translation.into(), transform.translation + Vec3::X);
}

#[test]
fn a_world_pose_of_half_weight_is_half_way() {
    let mut stage = Stage::new();
    let transform = Transform {
        translation: Vec3::new(1.0, 2.0, 0.0),
        rotation: Quat::from_rotation_z(1.0),
        scale: Vec3::splat(3.0),
    };
    stage.animator.set_world_poses(stage.id, [WorldPose { node: ARM, transform, weight: 0.5 }]).unwrap();
    let local = stage.local(ARM);
    near(local.translation, Vec3::new(1.0, 1.0, 0.0));
    near(local.scale, Vec3::splat(2.0));
    assert!((angle(local.rotation) - 0.5).abs() < 1e-6);
}

#[test]
fn world_poses_of_parent_and_child_are_both_reached() {
    let mut stage = Stage::new();
    let at = |node, translation, angle| WorldPose {
        node,
        transform: Transform { translation, rotation: Quat::from_rotation_z(angle), scale: Vec3::ONE },
        weight: 1.0,
    };
    let poses = [at(HAND, Vec3::Z, 2.0), at(ROOT, Vec3::Y, 0.7)];
    stage.animator.set_world_poses(stage.id, poses).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::Z);
    near(stage.world(ROOT).translation.into(), Vec3::Y);
    near(stage.world(HAND).transform_vector3(Vec3::X), Quat::from_rotation_z(2.0) * Vec3::X);
}

#[test]
fn under_a_flat_parent_a_world_pose_changes_nothing_and_stays_finite() {
    let mut stage = Stage::new();
    stage.animator.set_scale(stage.id, ROOT, Vec3::new(1.0, 0.0, 1.0)).unwrap();
    let transform = Transform::from_translation(Vec3::Y);
    stage.animator.set_world_poses(stage.id, [WorldPose { node: ARM, transform, weight: 1.0 }]).unwrap();
    assert_eq!(stage.local(ARM), Transform::from_translation(Vec3::X));
}

#[test]
fn matrices_of_all_nodes_take_the_place_of_the_hierarchy() {
    let mut stage = Stage::new();
    let world: Vec<_> = (0..4).map(|i| Affine3A::from_translation(Vec3::Z * i as f32)).collect();
    stage.animator.set_world(stage.id, Some(&world)).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::Z * 2.0);
    stage.animator.set_world(stage.id, None).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::X * 2.0);
}

#[test]
fn an_external_palette_takes_the_place_of_a_skins_own() {
    let mut stage = Stage::new();
    let own = JointMatrix { x: [2.0, 0.0, 0.0, f32::NAN], ..JointMatrix::IDENTITY };
    stage.animator.set_skin_palette(stage.id, 0, Some(&[own; 3])).unwrap();
    stage.animator.evaluate();
    let bounded = JointMatrix { x: [2.0, 0.0, 0.0, 0.0], ..JointMatrix::IDENTITY };
    let layout = stage.animator.palette_layout(stage.handle).unwrap().clone();
    let palette = stage.animator.palette(stage.id).unwrap().to_vec();
    assert_eq!(palette[layout.skin(0).unwrap()], [bounded; 3]);
    assert_eq!(palette[layout.skin(1).unwrap()], [JointMatrix::IDENTITY]);
    stage.animator.set_skin_palette(stage.id, 0, None).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.animator.palette(stage.id).unwrap()[..3], [JointMatrix::IDENTITY; 3]);
}

#[test]
fn a_skin_without_a_mesh_has_a_palette() {
    let mut stage = Stage::new();
    stage.animator.set_translation(stage.id, ROOT, Vec3::Y).unwrap();
    stage.animator.evaluate();
    let rows = stage.animator.palette_layout(stage.handle).unwrap().skin(1).unwrap();
    let palette = &stage.animator.palette(stage.id).unwrap()[rows];
    assert_eq!(palette, [JointMatrix { y: [0.0, 1.0, 0.0, 1.0], ..JointMatrix::IDENTITY }]);
}

#[test]
fn a_conversion_turns_everything_at_the_root() {
    let mut stage = Stage::new();
    let z_up = Mat3A::from_rotation_x(-FRAC_PI_2);
    stage.animator.set_translation(stage.id, HAND, Vec3::Z).unwrap();
    stage.animator.set_conversion(stage.id, z_up).unwrap();
    near(stage.world(HAND).translation.into(), Vec3::new(1.0, 1.0, 0.0));
}

#[test]
fn a_root_that_moves_three_metres_moves_attached_meshes_three_and_detached_ones_six() {
    let mut stage = Stage::new();
    stage.animator.set_transform(stage.id, Affine3A::from_translation(Vec3::X * 3.0)).unwrap();
    for (mode, expected) in [(BindMode::Attached, 3.0), (BindMode::Detached, 6.0)] {
        stage.animator.set_bind_mode(stage.id, mode).unwrap();
        stage.animator.evaluate();
        assert_eq!(stage.animator.palette(stage.id).unwrap()[..3], [JointMatrix::IDENTITY; 3], "{mode:?}");
        let drawn = stage.animator.draw_transform(stage.id).unwrap();
        near(drawn.translation.into(), Vec3::X * expected);
    }
}

#[test]
fn a_clone_starts_alike_and_goes_its_own_way() {
    let mut stage = Stage::new();
    stage.layer(0, 0.5, 1.0, LayerKind::Blend);
    stage.animator.set_translation(stage.id, ROOT, Vec3::Y).unwrap();
    stage.animator.show_node(stage.id, HAND, false).unwrap();
    let copy = stage.animator.clone_instance(stage.id).unwrap();
    stage.animator.evaluate();
    let palette = stage.animator.palette(stage.id).unwrap().to_vec();
    assert_eq!(stage.animator.palette(copy).unwrap(), palette);
    stage.animator.clear_overrides(stage.id).unwrap();
    stage.animator.show_node(stage.id, HAND, true).unwrap();
    stage.animator.evaluate();
    assert_ne!(stage.animator.palette(stage.id).unwrap(), palette);
    assert_eq!(stage.animator.palette(copy).unwrap(), palette);
}

// Events

/// What a player of `mode` passes in steps of `step`, as (position in hundredths, name).
fn passed(mode: LoopMode, start: f64, step: f64, steps: usize) -> Vec<(i64, &'static str)> {
    let events = Events::new(1.0, [(1.0, "end"), (0.0, "start"), (0.25, "a"), (0.75, "b")]).unwrap();
    let mut stage = Stage::new();
    let player = stage.animator.play(stage.id, 0).unwrap();
    player.set_mode(mode);
    player.seek(start);
    let mut seen = Vec::new();
    for _ in 0..steps {
        player.advance(step);
        seen.extend(events.passed(player).map(|(at, name)| ((at * 100.0).round() as i64, *name)));
    }
    seen
}

#[test]
fn events_of_a_looping_clip_happen_once_a_round_at_any_step() {
    let expected = [
        (0, "start"),
        (25, "a"),
        (75, "b"),
        (100, "end"),
        (100, "start"),
        (125, "a"),
        (175, "b"),
        (200, "end"),
        (200, "start"),
    ];
    for steps in [1, 2, 3, 7, 16, 100] {
        // Sums of binary fractions, so that both ends are met exactly.
        let step = if steps == 100 { 2.0 / 128.0 } else { 2.0 / steps as f64 };
        let count = if steps == 100 { 128 } else { steps };
        let seen = passed(LoopMode::Repeat, 0.0, step, count);
        if [1, 2, 16, 100].contains(&steps) {
            assert_eq!(seen, expected, "{steps} steps");
        } else {
            assert_eq!(seen[..7], expected[..7], "{steps} steps");
        }
    }
}

#[test]
fn events_happen_backwards_in_the_order_they_are_passed() {
    let seen = passed(LoopMode::Repeat, 0.5, -0.5, 3);
    assert_eq!(
        seen,
        [(25, "a"), (0, "start"), (0, "end"), (-25, "b"), (-75, "a"), (-100, "start"), (-100, "end")]
    );
}

#[test]
fn a_clip_that_turns_around_passes_its_ends_once() {
    let seen = passed(LoopMode::PingPong, 0.0, 0.5, 5);
    let names: Vec<_> = seen.iter().map(|event| event.1).collect();
    assert_eq!(names, ["start", "a", "b", "end", "b", "a", "start", "a"]);
}

#[test]
fn a_clip_played_once_passes_each_event_once_and_stays() {
    let seen = passed(LoopMode::Once, 0.0, 0.6, 4);
    assert_eq!(seen, [(0, "start"), (25, "a"), (75, "b"), (100, "end")]);
}

#[test]
fn a_seek_passes_nothing_but_what_lies_where_it_led() {
    let events = Events::new(1.0, [(0.25, "a"), (0.5, "b"), (0.75, "c")]).unwrap();
    let mut stage = Stage::new();
    let player = stage.animator.play(stage.id, 0).unwrap();
    player.advance(0.3);
    player.seek(0.5);
    assert_eq!(events.passed(player).map(|event| *event.1).collect::<Vec<_>>(), ["b"]);
    player.advance(0.1);
    player.advance(0.0);
    assert_eq!(events.passed(player).count(), 0);
}

#[test]
fn an_event_outside_its_clip_is_refused() {
    for time in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(Events::new(1.0, [(0.5, ()), (time, ())]).is_err());
    }
    let error = Events::new(1.0, [(0.5, ()), (1.5, ())]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 1 is at 1.5 seconds; events are at finite times from 0 to the clip's 1"
    );
}

#[test]
fn a_clip_without_duration_or_events_ends_the_search() {
    let travel = Travel { from: 0.0, to: 1e18, with_start: true };
    let none: Events<()> = Events::new(1.0, []).unwrap();
    assert_eq!(none.over(travel, LoopMode::Repeat, 1.0).count(), 0);
    let one = Events::new(0.0, [(0.0, ())]).unwrap();
    assert_eq!(one.over(travel, LoopMode::Repeat, 0.0).count(), 1);
}

// Root motion

/// A clip that walks along a quarter circle in one second: one metre forward (z), then turned to x.
fn walker(interpolation: Interpolation) -> Model {
    let way = [0.0, 0.5, 0.0, 0.0, 0.5, 1.0];
    let turns = [0.0, FRAC_PI_2].map(|angle| Quat::from_rotation_y(angle).to_array()).concat();
    let spline = |values: &[f32], width: usize| -> Vec<f32> {
        values
            .chunks(width)
            .flat_map(|key| [&vec![0.0; width][..], key, &vec![0.0; width][..]].concat())
            .collect()
    };
    let make = |channel, values: &[f32], width: u32| Track {
        interpolation,
        values: match interpolation {
            Interpolation::CubicSpline => spline(values, width as usize),
            _ => values.to_vec(),
        },
        width,
        times: vec![0.0, 1.0],
        ..track(ROOT, channel, values)
    };
    let clip =
        Clip::new("walk", vec![make(Channel::Translation, &way, 3), make(Channel::Rotation, &turns, 4)]);
    let skeleton = model().skeleton().clone();
    Model::new(ModelDesc { skeleton, clips: vec![clip.unwrap()], ..Default::default() }).unwrap()
}

fn way(from: f64, to: f64) -> Travel {
    Travel { from, to, with_start: false }
}

#[test]
fn root_motion_over_whole_rounds_goes_around_a_square() {
    let motion = RootMotion::new(&walker(Interpolation::Linear), 0, ROOT, true).unwrap();
    let ends =
        [(1.0, Vec3::Z), (2.0, Vec3::Z + Vec3::X), (3.0, Vec3::X), (4.0, Vec3::ZERO), (4000.0, Vec3::ZERO)];
    for (to, expected) in ends {
        let delta = motion.over(way(0.0, to), LoopMode::Repeat);
        assert!(delta.translation.distance(expected) < 1e-5, "{to}: {delta:?}");
    }
}

#[test]
fn root_motion_in_small_steps_adds_up_to_one_large_step() {
    let motion = RootMotion::new(&walker(Interpolation::Linear), 0, ROOT, true).unwrap();
    let whole = motion.over(way(0.3, 2.6), LoopMode::Repeat);
    let (mut place, mut heading) = (Vec3::ZERO, Quat::IDENTITY);
    for step in 0..23 {
        let (from, to) = (0.3 + 0.1 * f64::from(step), 0.3 + 0.1 * f64::from(step + 1));
        let delta = motion.over(way(from, to), LoopMode::Repeat);
        place += heading * delta.translation;
        heading *= delta.rotation;
    }
    assert!(place.distance(whole.translation) < 1e-5, "{place} {whole:?}");
    assert!(heading.dot(whole.rotation).abs() > 1.0 - 1e-6);
    let back = motion.over(way(2.6, 0.3), LoopMode::Repeat);
    assert!((whole.translation + whole.rotation * back.translation).length() < 1e-5);
}

#[test]
fn root_motion_that_turns_around_comes_back() {
    let motion = RootMotion::new(&walker(Interpolation::Linear), 0, ROOT, true).unwrap();
    assert!(motion.over(way(0.0, 2.0), LoopMode::PingPong).translation.length() < 1e-6);
    let once = motion.over(way(0.0, 9.0), LoopMode::Once);
    assert!(once.translation.distance(Vec3::Z) < 1e-6);
}

#[test]
fn what_is_left_of_the_clip_stays_in_one_place_and_faces_one_way() {
    for interpolation in [Interpolation::Linear, Interpolation::Step, Interpolation::CubicSpline] {
        let model = walker(interpolation);
        let left = RootMotion::new(&model, 0, ROOT, true).unwrap().in_place().unwrap();
        for time in [0.0, 0.3, 0.7, 1.0] {
            let pose = sample(&model, &left, time);
            assert!(pose.translations[0].distance(Vec3::Y * 0.5) < 1e-6, "{interpolation:?} {time}");
            assert!(pose.rotations[0].dot(Quat::IDENTITY).abs() > 1.0 - 1e-6, "{interpolation:?} {time}");
        }
    }
}

#[test]
fn without_the_turn_only_the_way_is_taken_out() {
    let model = walker(Interpolation::Linear);
    let motion = RootMotion::new(&model, 0, ROOT, false).unwrap();
    let delta = motion.over(way(0.0, 2.0), LoopMode::Repeat);
    assert!(delta.translation.distance(Vec3::Z * 2.0) < 1e-6 && delta.rotation == Quat::IDENTITY);
    let pose = sample(&model, &motion.in_place().unwrap(), 1.0);
    assert!((2.0 * pose.rotations[0].y.atan2(pose.rotations[0].w) - FRAC_PI_2).abs() < 1e-6);
}

#[test]
fn root_motion_of_what_does_not_exist_is_refused() {
    let model = walker(Interpolation::Linear);
    let clip = RootMotion::new(&model, 1, ROOT, true).unwrap_err();
    let node = RootMotion::new(&model, 0, 9, true).unwrap_err();
    let texts = [clip.to_string(), node.to_string()];
    assert_eq!(texts, ["there is no clip 1; the model has 1", "there is no node 9; the model has 4"]);
}

// Binding

#[test]
fn a_skin_bound_here_leaves_vertices_where_they_are() {
    let mut stage = Stage::new();
    stage.layer(0, 0.7, 1.0, LayerKind::Blend);
    stage.animator.evaluate();
    let world = stage.animator.world(stage.id).unwrap();
    let skin = bind_here(&stage.model.skins()[0], stage.model.skeleton(), world).unwrap();
    for (&node, inverse) in skin.joints().iter().zip(skin.inverse_binds()) {
        let row = world[node as usize] * *inverse;
        assert!(row.abs_diff_eq(Affine3A::IDENTITY, 1e-6));
    }
}

#[test]
fn a_joint_without_volume_cannot_be_bound_where_it_is() {
    let stage = Stage::new();
    let flat = [Affine3A::from_scale(Vec3::new(1.0, 0.0, 1.0)); 4];
    assert!(bind_here(&stage.model.skins()[0], stage.model.skeleton(), &flat).is_err());
}

#[test]
fn the_bind_pose_brings_the_palette_back_to_the_identity() {
    let mut stage = Stage::new();
    stage.animator.set_rotation(stage.id, ARM, Quat::from_rotation_x(1.0)).unwrap();
    stage.animator.set_translation(stage.id, HAND, Vec3::splat(3.0)).unwrap();
    let pose = bind_pose(&stage.model, 0);
    assert_eq!(pose.len(), 3);
    stage.animator.set_pose(stage.id, pose).unwrap();
    stage.animator.evaluate();
    for row in &stage.animator.palette(stage.id).unwrap()[..3] {
        let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        let identity = JointMatrix::IDENTITY;
        assert!(near(row.x, identity.x) && near(row.y, identity.y) && near(row.z, identity.z), "{row:?}");
    }
}
