//! Components that the caller sets, and what is hidden.

use super::*;

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
