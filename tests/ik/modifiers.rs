//! Modifiers of an instance: when they run, how much of them counts, who has them.

use std::error::Error;

use sinew::{
    CpuDeformer, Precision,
    animate::{JointMatrix, ModifierError, Posed, WorldPose},
    model::{Channel, Clip, Interpolation, Track},
};

use super::*;

/// Moves a node along, by this much more in every evaluation.
#[derive(Clone, Debug)]
struct Push {
    node: u32,
    by: Vec3,
    runs: u32,
}

impl Push {
    fn new(node: u32, by: Vec3) -> Self {
        Self { node, by, runs: 0 }
    }
}

impl Modifier for Push {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        self.runs += 1;
        let translation = posed.local(self.node).translation + self.by * self.runs as f32;
        posed.set_translation(self.node, translation);
    }

    fn check(&self, model: &Model) -> Result<(), Box<dyn Error + Send + Sync>> {
        let nodes = model.skeleton().len() as u32;
        (self.node < nodes).then_some(()).ok_or_else(|| format!("no node {} to push", self.node).into())
    }
}

/// Turns, moves and scales a node, all at once.
#[derive(Clone, Debug)]
struct Put(u32, Transform);

impl Modifier for Put {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        // What comes first is overwritten, and does not count.
        posed.set_local(self.0, at(9.0, 9.0, 9.0));
        posed.set_local(self.0, self.1);
    }
}

/// Three nodes along y; a clip of a second moves the middle one a metre along x.
fn moving() -> Model {
    let node = |parent, y| Node { parent, rest: at(0.0, y, 0.0), ..Default::default() };
    let skeleton = Skeleton::new(vec![node(None, 0.0), node(Some(0), 1.0), node(Some(1), 1.0)]).unwrap();
    let track = Track {
        node: 1,
        channel: Channel::Translation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0],
        width: 3,
    };
    model_of(skeleton, vec![Clip::new("move", vec![track]).unwrap()])
}

#[test]
fn modifiers_run_after_blending_and_before_world_poses_and_visibility() {
    let mut stage = Stage::new(moving());
    stage.animator.play(stage.id, 0).unwrap().seek(0.5);
    stage.add(Push::new(1, Vec3::Z));
    stage.animator.evaluate();
    near(stage.place(2), Vec3::new(0.5, 2.0, 1.0), 1e-6);
    // Where something else wants the node to be it is, whatever modifiers did.
    let pose = WorldPose { node: 1, transform: at(7.0, 0.0, 0.0), weight: 1.0 };
    stage.animator.set_world_poses(stage.id, [pose]).unwrap();
    stage.animator.evaluate();
    near(stage.place(1), Vec3::X * 7.0, 1e-6);
    // A hidden node is a point, whatever modifiers did.
    stage.add(Put(1, Transform { scale: Vec3::splat(3.0), ..Transform::IDENTITY }));
    stage.animator.show_node(stage.id, 1, false).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.world(2).matrix3, glam::Mat3A::ZERO);
}

#[test]
fn modifiers_run_in_the_order_in_which_they_were_added() {
    let mut stage = Stage::new(moving());
    let first = stage.add(Put(1, at(5.0, 0.0, 0.0)));
    let second = stage.add(Push::new(1, Vec3::Y));
    let third = stage.add(Put(2, at(0.0, 0.0, 3.0)));
    let ids: Vec<_> = stage.animator.modifiers(stage.id).unwrap().map(|(id, _)| id).collect();
    assert_eq!(ids, [first, second, third]);
    stage.animator.evaluate();
    near(stage.place(2), Vec3::new(5.0, 1.0, 3.0), 1e-6);
    stage.animator.remove_modifier(stage.id, first).unwrap();
    stage.add(Put(1, at(6.0, 0.0, 0.0)));
    stage.animator.evaluate();
    near(stage.place(1), Vec3::X * 6.0, 1e-6);
}

#[test]
fn of_a_modifier_with_a_weight_so_much_is_taken() {
    let turned = Transform {
        translation: Vec3::new(4.0, 1.0, 0.0),
        rotation: Quat::from_rotation_z(1.0),
        scale: Vec3::new(3.0, 1.0, 1.0),
    };
    for weight in [0.25, 0.5, 1.0] {
        let mut stage = Stage::new(moving());
        let id = stage.add(Put(1, turned));
        stage.animator.set_modifier_weight(stage.id, id, weight).unwrap();
        assert_eq!(stage.animator.modifier_weight(stage.id, id).unwrap(), weight);
        stage.animator.evaluate();
        let local = stage.animator.local(stage.id, 1).unwrap();
        near(local.translation, Vec3::new(4.0 * weight, 1.0, 0.0), 1e-6);
        near(local.scale, Vec3::new(1.0 + 2.0 * weight, 1.0, 1.0), 1e-6);
        assert!(local.rotation.angle_between(Quat::from_rotation_z(weight)) < 1e-3, "{weight}");
    }
}

#[test]
fn what_a_modifier_did_not_change_keeps_every_bit_under_any_weight() {
    let mut random = noise(3);
    let mut stage = Stage::new(moving());
    for node in 0..3 {
        let rotation = Quat::from_xyzw(random(), random(), random(), random());
        stage.animator.set_rotation(stage.id, node, rotation).unwrap();
        stage.animator.set_scale(stage.id, node, Vec3::new(random(), random(), random())).unwrap();
    }
    stage.animator.evaluate();
    let before = stage.pose();
    let id = stage.add(Push::new(1, Vec3::X));
    stage.animator.set_modifier_weight(stage.id, id, 0.37).unwrap();
    stage.animator.evaluate();
    let mut after = stage.pose();
    assert_ne!(after[1].translation, before[1].translation);
    after[1].translation = before[1].translation;
    assert_eq!(after, before);
}

#[test]
fn two_modifiers_with_weights_share_what_each_finds() {
    let mut stage = Stage::new(moving());
    for x in [4.0, 8.0] {
        let id = stage.add(Put(1, at(x, 1.0, 0.0)));
        stage.animator.set_modifier_weight(stage.id, id, 0.5).unwrap();
    }
    stage.animator.evaluate();
    // Half way from 0 to 4, half way from there to 8.
    near(stage.place(1), Vec3::new(5.0, 1.0, 0.0), 1e-6);
}

#[test]
fn without_a_weight_a_modifier_does_not_run_and_a_weight_that_is_none_is_refused() {
    let mut stage = Stage::new(moving());
    let id = stage.add(Push::new(1, Vec3::X));
    stage.animator.set_modifier_weight(stage.id, id, 0.0).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.animator.modifier::<Push>(stage.id, id).unwrap().runs, 0);
    near(stage.place(1), Vec3::Y, 0.0);
    for weight in [f32::NAN, -0.1, 1.5, f32::INFINITY] {
        let error = stage.animator.set_modifier_weight(stage.id, id, weight).unwrap_err();
        assert_eq!(error.to_string(), format!("a modifier's weight is 0 to 1, not {weight}"));
    }
    assert_eq!(stage.animator.modifier_weight(stage.id, id).unwrap(), 0.0);
}

#[test]
fn a_modifier_can_be_told_something_new_and_taken_away() {
    let mut stage = Stage::new(moving());
    let id = stage.add(Push::new(1, Vec3::X));
    stage.animator.modifier_mut::<Push>(stage.id, id).unwrap().by = Vec3::Z;
    stage.animator.evaluate();
    near(stage.place(1), Vec3::new(0.0, 1.0, 1.0), 1e-6);
    stage.animator.remove_modifier(stage.id, id).unwrap();
    stage.animator.evaluate();
    near(stage.place(1), Vec3::Y, 0.0);
    assert_eq!(stage.animator.modifiers(stage.id).unwrap().len(), 0);
}

#[test]
fn wrong_calls_are_refused_and_say_why() {
    let mut stage = Stage::new(moving());
    let refused = stage.animator.add_modifier(stage.id, Push::new(3, Vec3::X)).unwrap_err();
    assert!(refused.to_string().ends_with(": no node 3 to push"), "{refused}");
    let id = stage.add(Push::new(1, Vec3::X));
    let other = stage.animator.spawn(stage.handle).unwrap();
    let animator = &mut stage.animator;
    for instance in [other, stage.id] {
        if instance == stage.id {
            animator.remove_modifier(instance, id).unwrap();
        }
        let unknown = |error: ModifierError| matches!(error, ModifierError::UnknownModifier { .. });
        assert!(unknown(animator.modifier::<Push>(instance, id).unwrap_err()));
        assert!(unknown(animator.modifier_mut::<Push>(instance, id).unwrap_err()));
        assert!(unknown(animator.modifier_weight(instance, id).unwrap_err()));
        assert!(unknown(animator.set_modifier_weight(instance, id, 1.0).unwrap_err()));
        assert!(unknown(animator.remove_modifier(instance, id).unwrap_err()));
    }
    let id = animator.add_modifier(stage.id, Push::new(1, Vec3::X)).unwrap();
    let errors = [
        animator.modifier::<Put>(stage.id, id).map(|_| ()).unwrap_err(),
        animator.modifier_mut::<Put>(stage.id, id).map(|_| ()).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "the modifier is a ik::modifiers::Push, not a ik::modifiers::Put");
    }
    animator.despawn(other).unwrap();
    let stale = animator.add_modifier(other, Push::new(1, Vec3::X)).unwrap_err();
    assert!(matches!(stale, ModifierError::Animate(_)), "{stale}");
}

#[test]
fn a_clone_has_the_same_modifiers_with_what_they_remember_and_from_then_on_its_own() {
    let mut stage = Stage::new(moving());
    let id = stage.add(Push::new(1, Vec3::X));
    stage.animator.set_modifier_weight(stage.id, id, 0.5).unwrap();
    stage.animator.evaluate();
    stage.animator.evaluate();
    let copy = stage.animator.clone_instance(stage.id).unwrap();
    stage.animator.modifier_mut::<Push>(stage.id, id).unwrap().by = Vec3::Z;
    stage.animator.evaluate();
    let place = |animator: &Animator, id| Vec3::from(animator.world(id).unwrap()[1].translation);
    near(place(&stage.animator, stage.id), Vec3::new(0.0, 1.0, 1.5), 1e-6);
    near(place(&stage.animator, copy), Vec3::new(1.5, 1.0, 0.0), 1e-6);
    assert_eq!(stage.animator.modifier::<Push>(copy, id).unwrap().runs, 3);
}

#[test]
fn modifiers_run_in_every_frame_where_a_rate_interpolates() {
    let mut stage = Stage::new(moving());
    stage.animator.set_rate(stage.id, 4).unwrap();
    stage.animator.play(stage.id, 0).unwrap();
    let id = stage.add(Push::new(1, Vec3::Z));
    let mut shown = Vec::new();
    for frame in 1..=12 {
        stage.step(1.0 / 64.0);
        // Anew in every frame, on top of the pose between two evaluations, which does not take it in.
        let place = stage.place(1);
        assert_eq!((place.y, place.z), (1.0, frame as f32));
        shown.push(place.x * 64.0);
    }
    assert_eq!(stage.animator.modifier::<Push>(stage.id, id).unwrap().runs, 12);
    assert!(shown.windows(2).all(|pair| pair[0] <= pair[1]) && shown[11] > shown[8], "{shown:?}");
}

/// Palettes of a crowd in which every third instance has modifiers, after some frames.
fn crowd(keeps_poses: bool, threads: Option<usize>, only: Option<usize>) -> Vec<[f32; 12]> {
    let run = move || {
        let model = moving();
        let mut animator = Animator::new();
        let handle = animator.add_model(&model);
        animator.keep_poses(handle, keeps_poses).unwrap();
        for number in (0..300).filter(|number| only.is_none_or(|only| only == *number)) {
            let id = animator.spawn(handle).unwrap();
            let speed = 0.1 + number as f32 / 100.0;
            animator.play(id, 0).unwrap().speed = f64::from(speed);
            if number % 3 == 0 {
                let place = Affine3A::from_translation(Vec3::X * number as f32);
                animator.set_transform(id, place).unwrap();
                let spring = sinew::ik::SpringJoint { gravity: Vec3::NEG_Z, ..Default::default() };
                let spring = sinew::ik::Spring::new(model.skeleton(), 0, 2, spring).unwrap();
                animator.add_modifier(id, spring).unwrap();
                let pushed = animator.add_modifier(id, Push::new(2, Vec3::X * 0.01)).unwrap();
                animator.set_modifier_weight(id, pushed, 0.3).unwrap();
            }
        }
        for _ in 0..9 {
            animator.advance(1.0 / 60.0);
            animator.evaluate();
        }
        animator.instances().flat_map(|id| animator.palette(id).unwrap().iter().map(numbers)).collect()
    };
    #[cfg(feature = "threads")]
    if let Some(threads) = threads {
        return rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run);
    }
    let _ = threads;
    run()
}

fn numbers(row: &JointMatrix) -> [f32; 12] {
    *bytemuck::cast_ref(row)
}

#[test]
fn every_number_of_threads_and_every_batch_gives_the_same_bytes() {
    let reference = crowd(true, None, None);
    for threads in [1, 2, 8] {
        assert!(crowd(true, Some(threads), None) == reference, "{threads} threads");
    }
    assert!(crowd(false, Some(2), None) == reference, "without poses");
    let rows = reference.len() / 300;
    for number in [0, 1, 2, 150, 151, 299] {
        let alone = crowd(true, None, Some(number));
        assert!(alone == reference[number * rows..][..rows], "instance {number} alone");
    }
}

#[test]
fn deformed_vertices_follow_modifiers() {
    let mut deformer = CpuDeformer::new();
    let handle = deformer.add_model(&moving(), Precision::Exact).unwrap();
    let id = deformer.spawn(handle).unwrap();
    deformer.animator_mut().add_modifier(id, Push::new(2, Vec3::Z)).unwrap();
    for frame in 1..4 {
        deformer.run().unwrap();
        // The point is a metre beside the last node, two metres up.
        assert_eq!(deformer.bake(id).unwrap()[0].vertices.positions, [Vec3::new(1.0, 2.0, frame as f32)]);
    }
}

#[cfg(feature = "gpu")]
#[test]
fn vertices_on_the_gpu_follow_modifiers_whether_palettes_are_kept_or_not() {
    use sinew::{Deformer, DeformerOptions};
    for keep_palettes in [true, false] {
        let (device, queue) = common::gpu::device();
        let mut deformer =
            Deformer::with(&device, DeformerOptions { keep_palettes, ..DeformerOptions::default() });
        let handle = deformer.add_model(&queue, &moving()).unwrap();
        let id = deformer.spawn(handle).unwrap();
        deformer.animator_mut().add_modifier(id, Push::new(2, Vec3::Z)).unwrap();
        for frame in 1..4 {
            let mut encoder = device.create_command_encoder(&Default::default());
            deformer.record(&mut encoder).unwrap();
            let back = deformer.read_back(&mut encoder).unwrap();
            common::gpu::submit(&device, &queue, encoder);
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            let baked = back.bake(&deformer, id).unwrap().unwrap();
            near(baked[0].vertices.positions[0], Vec3::new(1.0, 2.0, frame as f32), 1e-6);
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_run_of_a_graph_runs_modifiers_once() {
    use sinew::{
        Deformer, declare,
        graph::{Graph, Limits, Runtime, RuntimeOptions},
    };
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let mut deformer = Deformer::new(&device);
    let handle = deformer.add_model(&queue, &moving()).unwrap();
    let id = deformer.spawn(handle).unwrap();
    let pushed = deformer.animator_mut().add_modifier(id, Push::new(2, Vec3::Z)).unwrap();
    let mut graph = Graph::new();
    let skinned = declare(&mut graph, &deformer, [id], |deformer: &mut Deformer| deformer).unwrap();
    skinned.all().iter().for_each(|part| graph.export(part.a));
    let plan = graph.compile(&Limits::from(&device.limits())).unwrap();
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    for frame in 1..4 {
        let mut encoder = device.create_command_encoder(&Default::default());
        runtime.run(&mut graph, &plan, &mut encoder, &mut deformer).unwrap();
        queue.submit([encoder.finish()]);
        let animator = deformer.animator();
        assert_eq!(animator.modifier::<Push>(id, pushed).unwrap().runs, frame);
        assert_eq!(animator.world(id).unwrap()[2].translation, glam::Vec3A::new(0.0, 2.0, frame as f32));
    }
}
