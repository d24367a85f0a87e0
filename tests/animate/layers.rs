//! Layers: weights, masks, additive ones, cross-fades.

use super::*;

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
