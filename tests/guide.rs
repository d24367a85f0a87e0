//! docs/guide.md says what compiles and runs: every line of its code is one of this file.
#![cfg(all(feature = "gltf", feature = "gpu"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    unused_assignments,
    unused_variables,
    reason = "lines as they stand in the guide"
)]

mod common;

use std::error::Error;

use common::gpu;
use glam::{Affine3A, Mat4, Vec3};
use sinew::{
    CpuDeformer, Deformer, DeformerOptions, Frustum, GroupOptions, JointMap, Model, PickOptions, Picker,
    Precision, Ray, Socket,
    animate::{CompressOptions, CompressedClips, LayerKind, Mask, Reference},
    declare_group, deform,
    graph::Graph,
    ik::{Aim, Target, TwoBone},
};

struct Frame {
    deformer: Deformer,
}

fn mascot() -> Model {
    Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap()
}

#[test]
fn the_lines_of_the_guide_run() -> Result<(), Box<dyn Error>> {
    let (device, queue) = gpu::device();
    let (model, coat_model) = (mascot(), mascot());
    let skeleton = model.skeleton();
    let node = |name: &str| skeleton.find(name).unwrap();
    let mut deformer = Deformer::new(&device);
    let (fox, coat_id) = (deformer.add_model(&queue, &model)?, deformer.add_model(&queue, &coat_model)?);
    let runner = deformer.spawn(fox)?;
    {
        let spine = node("spine1");
        let animator = deformer.animator_mut();
        animator.play(runner, "walk")?;
        animator.cross_fade(runner, "run", 0.3)?;
        let wave = animator.add_layer(runner, "wave", LayerKind::Additive(Reference::Rest))?;
        (wave.weight, wave.mask) = (0.8, Some(Mask::new(&model, 0.0).with_tree(skeleton, spine, 1.0)));
    }
    let map = JointMap::by_name(&coat_model, &model);
    let coat = deformer.spawn_following(coat_id, runner, &map)?;
    {
        let [hip, knee, foot] = ["thigh_l", "shin_l", "foot_l"].map(node);
        let (animator, step) = (deformer.animator_mut(), Vec3::Y * 0.1);
        let (head, eye) = (node("head"), Vec3::Z);
        let aim = animator.add_modifier(runner, Aim::new(skeleton, head)?)?;
        animator.modifier_mut::<Aim>(runner, aim)?.target = Target::Scene(eye);
        let leg = animator.add_modifier(runner, TwoBone::new(skeleton, [hip, knee, foot])?)?;
        animator.modifier_mut::<TwoBone>(runner, leg)?.target = Target::Scene(step);
    }
    let [camera, shadow] = [Mat4::IDENTITY; 2];
    let views = [Frustum::from_view_projection(camera), Frustum::from_view_projection(shadow)];
    deformer.set_views(Some(&views))?;
    let box_of_it = deformer.bounds(runner)?;
    {
        let mut graph = Graph::new();
        let (ids, i) = ([runner], 0);
        let room = GroupOptions { capacity: Some(4 << 20), bounds: true };
        let crowd = declare_group(&mut graph, &deformer, ids, room, |f: &mut Frame| &mut f.deformer)?;
        let first = crowd.first_vertex(i);
        assert_eq!(first, None, "before a run");
    }
    {
        let mut twin = CpuDeformer::new();
        let id = twin.add_model(&model, Precision::Packed)?;
        let standing = twin.spawn(id)?;
        twin.run()?;
        deformer.animator_mut().evaluate();
        let (eye, direction) = (Vec3::new(0.0, 0.5, 5.0), Vec3::NEG_Z);
        let (hand, grip) = (node("hand_l"), Affine3A::IDENTITY);
        let mut picker = Picker::new(&model)?;
        picker.refit(&twin, standing)?;
        let hit = picker.nearest(twin.animator(), Ray::new(eye, direction)?, &PickOptions::default())?;
        let sword = Socket::joint(hand, grip).world(deformer.animator(), runner)?;
        let pose = deform::posed_model(deformer.animator(), runner)?.to_glb()?;
        assert!(hit.is_some() && !pose.is_empty());
    }
    let mut encoder = device.create_command_encoder(&Default::default());
    let warm_up = deformer.warm_up(&mut encoder);
    {
        let options = DeformerOptions { keep_palettes: false, ..Default::default() };
        let mut deformer = Deformer::with(&device, options);
        let fox = deformer.add_model(&queue, &model)?;
        let far_away = deformer.spawn(fox)?;
        let seen = [far_away];
        let packed = CompressedClips::new(&model, &CompressOptions::default());
        let animator = deformer.animator_mut();
        animator.set_compressed(fox, Some(packed))?;
        animator.keep_poses(fox, false)?;
        animator.set_rate(far_away, 4)?;
        animator.set_in_view(Some(&seen))?;
    }
    Ok(())
}

#[test]
fn every_line_of_the_guide_is_one_of_these() {
    let guide = include_str!("../docs/guide.md");
    let own: Vec<_> = include_str!("guide.rs").lines().map(str::trim).collect();
    let mut is_code = false;
    for line in guide.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let code = line.split("//").next().unwrap_or_default().trim();
        assert!(!is_code || code.is_empty() || own.contains(&code), "{line}");
    }
}
