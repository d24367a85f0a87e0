//! Many instances at once: every way to evaluate gives the same bytes, whatever the lanes, the batch and the
//! threads are; compressed clips keep their bound; rates interpolate poses.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use glam::{Affine3A, EulerRot, Mat3, Mat4, Quat, Vec3};
use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{
        AnimateError, CompressError, CompressOptions, CompressedClips, JointMatrix, LayerKind, LoopMode,
        Mask, PaletteLayout, sample, set_palette, set_world,
    },
    model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Skin, Track, Transform},
};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn within(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.next()
    }

    fn below(&mut self, count: u32) -> u32 {
        (self.next() * count as f32) as u32
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.within(-size, size), self.within(-size, size), self.within(-size, size))
    }

    fn rotation(&mut self) -> Quat {
        let [a, b, c] = self.vector(3.0).to_array();
        Quat::from_euler(EulerRot::XYZ, a, b, c)
    }
}

/// In no skin and nobody's parent: hiding it changes nothing but the way the instance is evaluated.
const LOOSE: u32 = 0;
const CLIPS: u32 = 5;

/// A model and its compressed clips, rough enough for any rig.
struct Rig {
    model: Model,
    compressed: CompressedClips,
}

impl Rig {
    fn new(model: Model) -> Self {
        let compressed = CompressedClips::new(&model, &CompressOptions::default().with_tolerance(1.0));
        Self { model, compressed }
    }
}

impl std::ops::Deref for Rig {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

/// A rig of any shape. Clips: even frames, sparse keys, those with steps and splines, one key per track, none.
fn rig(nodes: u32) -> Rig {
    let random = &mut Random(u64::from(nodes) * 77 + 5);
    let mut list = vec![Node::default()];
    for node in 1..nodes {
        let parent = (node > 1).then(|| 1 + random.below(node - 1));
        let rest = Transform {
            translation: random.vector(0.5),
            rotation: random.rotation(),
            scale: if node % 7 == 3 { Vec3::new(1.0, 0.8, 1.25) } else { Vec3::ONE },
        };
        list.push(Node { name: format!("n{node}"), parent, rest });
    }
    let skeleton = Skeleton::new(list).unwrap();
    // Not all nodes; some feed rows of two skins.
    let joints: Vec<u32> = (1..nodes).filter(|node| node % 5 != 4).collect();
    let binds: Vec<_> = joints
        .iter()
        .map(|_| Mat4::from_rotation_translation(random.rotation(), random.vector(0.3)))
        .collect();
    let skins = vec![
        Skin::new("bound", &skeleton, joints.clone(), Some(&binds)).unwrap(),
        Skin::new("free", &skeleton, joints[..joints.len() / 2 + 1].to_vec(), None).unwrap(),
    ];
    let mut clips = Vec::new();
    for kind in 0..CLIPS {
        let mut tracks = Vec::new();
        for node in (1..nodes).filter(|_| kind != 4) {
            for channel in [Channel::Translation, Channel::Rotation, Channel::Scale] {
                if channel == Channel::Rotation || random.below(4) == 0 {
                    tracks.push(track(random, node, channel, kind));
                }
            }
        }
        clips.push(Clip::new(format!("c{kind}"), tracks).unwrap());
    }
    Rig::new(Model::new(ModelDesc { skeleton, skins, clips, ..ModelDesc::default() }).unwrap())
}

fn track(random: &mut Random, node: u32, channel: Channel, kind: u32) -> Track {
    let times: Vec<f32> = match kind {
        0 => (0..31).map(|key| key as f32 / 30.0).collect(),
        3 => vec![0.25],
        _ => {
            let inner = 2 + random.below(6);
            let mut times: Vec<_> = (0..inner).map(|_| random.within(0.01, 0.99)).chain([0.0, 1.0]).collect();
            times.sort_by(f32::total_cmp);
            times.dedup();
            times
        }
    };
    let interpolation = match (kind, random.below(3)) {
        (2, 0) => Interpolation::Step,
        (2, 1) => Interpolation::CubicSpline,
        _ => Interpolation::Linear,
    };
    let start = random.rotation();
    let mut values = Vec::new();
    for _ in &times {
        let value = |random: &mut Random, size: f32| match channel {
            Channel::Rotation => {
                let q = start * Quat::from_scaled_axis(random.vector(size));
                q.to_array().to_vec()
            }
            Channel::Scale => (Vec3::ONE + random.vector(size * 0.3)).to_array().to_vec(),
            _ => random.vector(size).to_array().to_vec(),
        };
        if interpolation == Interpolation::CubicSpline {
            values.extend(value(random, 0.1));
        }
        values.extend(value(random, 0.6));
        if interpolation == Interpolation::CubicSpline {
            values.extend(value(random, 0.1));
        }
    }
    let width = if channel == Channel::Rotation { 4 } else { 3 };
    Track { node, channel, interpolation, times, values, width }
}

/// Instances of one model.
struct Crowd {
    animator: Animator,
    model: ModelId,
    ids: Vec<InstanceId>,
}

/// How a crowd is evaluated.
#[derive(Clone, Copy)]
struct Ways {
    compressed: bool,
    keep_poses: bool,
    simd: bool,
    layers: u32,
    /// Every so many frames.
    rate: u32,
}

const PLAIN: Ways = Ways { compressed: false, keep_poses: false, simd: true, layers: 1, rate: 1 };

impl Crowd {
    fn new(model: &Rig, numbers: impl IntoIterator<Item = u32>, ways: Ways) -> Self {
        let mut animator = Animator::new();
        let handle = animator.add_model(model);
        animator.keep_poses(handle, ways.keep_poses).unwrap();
        animator.set_compressed(handle, ways.compressed.then(|| model.compressed.clone())).unwrap();
        animator.use_simd(ways.simd);
        let mut ids = Vec::new();
        for number in numbers {
            let id = animator.spawn(handle).unwrap();
            for layer in 0..ways.layers {
                // Layers of one instance drive the same nodes.
                let clip = if ways.layers > 1 { (number + layer) % 2 } else { number % CLIPS };
                let own = animator.add_layer(id, clip, LayerKind::Blend).unwrap();
                own.weight = 1.0 + layer as f32;
                own.player.seek(f64::from(number) * 0.137 % 1.0);
            }
            animator.set_rate(id, ways.rate).unwrap();
            ids.push(id);
        }
        Self { animator, model: handle, ids }
    }

    fn frame(&mut self) {
        self.animator.advance(1.0 / 60.0);
        self.animator.evaluate();
    }

    fn palettes(&self) -> Vec<JointMatrix> {
        self.ids.iter().flat_map(|id| self.animator.palette(*id).unwrap()).copied().collect()
    }

    fn after(mut self, frames: usize) -> Vec<JointMatrix> {
        (0..frames).for_each(|_| self.frame());
        self.palettes()
    }
}

fn bytes(palettes: &[JointMatrix]) -> &[u8] {
    bytemuck::cast_slice(palettes)
}

fn furthest(a: &[JointMatrix], b: &[JointMatrix]) -> f32 {
    assert_eq!(a.len(), b.len());
    let numbers = |m: &JointMatrix| [m.x, m.y, m.z].concat();
    let pairs = a.iter().zip(b).flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)));
    // A NaN is further than anything.
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, |most, v| if v <= most { most } else { v })
}

/// All there is but rates.
fn all_ways() -> impl Iterator<Item = Ways> {
    let flags = [false, true];
    flags.into_iter().flat_map(move |compressed| {
        flags.into_iter().flat_map(move |keep_poses| {
            [0, 1, 2, 3].map(|layers| Ways { compressed, keep_poses, layers, ..PLAIN })
        })
    })
}

#[test]
fn simd_and_portable_code_give_the_same_bytes() {
    for nodes in [2, 3, 9, 40, 100] {
        let model = rig(nodes);
        for ways in all_ways() {
            let [simd, portable] =
                [true, false].map(|simd| Crowd::new(&model, 0..19, Ways { simd, ..ways }).after(3));
            assert!(bytes(&simd) == bytes(&portable), "{nodes} nodes");
        }
    }
}

#[test]
fn an_instance_has_the_same_bytes_alone_and_in_a_batch_of_any_size() {
    let model = rig(30);
    for ways in all_ways() {
        let alone: Vec<_> = (0..17).flat_map(|i| Crowd::new(&model, [i], ways).after(2)).collect();
        let rows = alone.len() / 17;
        for size in 1..=17 {
            let batch = Crowd::new(&model, 0..size, ways).after(2);
            assert!(bytes(&batch) == bytes(&alone[..size as usize * rows]), "{size} instances");
        }
        let mut backwards = Crowd::new(&model, (0..17).rev(), ways);
        backwards.ids.reverse();
        assert!(bytes(&backwards.after(2)) == bytes(&alone), "the other way round");
    }
}

#[cfg(feature = "threads")]
#[test]
fn one_two_and_eight_threads_give_the_same_bytes() {
    let model = rig(20);
    for rate in [1, 3] {
        for ways in all_ways() {
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| Crowd::new(&model, 0..500, Ways { rate, ..ways }).after(3))
            };
            let [one, two, eight] = [1, 2, 8].map(on);
            assert!(bytes(&one) == bytes(&two), "two threads");
            assert!(bytes(&one) == bytes(&eight), "eight threads");
        }
    }
}

#[test]
fn exact_clips_give_the_bytes_of_the_stages_called_one_by_one() {
    for nodes in [2, 9, 40] {
        let model = rig(nodes);
        let layout = PaletteLayout::new(&model);
        let mut crowd = Crowd::new(&model, 0..13, Ways { keep_poses: true, ..PLAIN });
        crowd.frame();
        for &id in &crowd.ids {
            let player = crowd.animator.player(id).unwrap().unwrap();
            let clip = &model.clips()[player.clip() as usize];
            let mut pose = sample(&model, clip, player.time() as f32);
            let mut world = vec![Affine3A::IDENTITY; model.skeleton().len()];
            set_world(model.skeleton(), Affine3A::IDENTITY, &pose.as_mut(), &mut world);
            let mut palette = vec![JointMatrix::IDENTITY; layout.len()];
            set_palette(&model, &layout, &world, &mut palette);
            assert!(bytes(&palette) == bytes(crowd.animator.palette(id).unwrap()));
            assert_eq!(world, crowd.animator.world(id).unwrap());
            for node in 0..nodes {
                assert_eq!(pose.transform(node), crowd.animator.local(id, node).unwrap());
            }
        }
    }
}

#[test]
fn an_instance_that_is_told_more_keeps_its_bytes() {
    for nodes in [2, 9, 40] {
        let model = rig(nodes);
        for ways in all_ways().filter(|ways| ways.layers < 2) {
            let plain = Crowd::new(&model, 0..13, ways).after(2);
            let mut told = Crowd::new(&model, 0..13, ways);
            for &id in &told.ids {
                told.animator.show_node(id, LOOSE, false).unwrap();
            }
            assert!(bytes(&told.after(2)) == bytes(&plain));
        }
    }
}

#[test]
fn blended_layers_are_as_close_to_the_reference_as_rounding_lets_them() {
    let model = rig(40);
    for ways in all_ways().filter(|ways| ways.layers > 1) {
        let plain = Crowd::new(&model, 0..13, ways).after(2);
        let mut told = Crowd::new(&model, 0..13, ways);
        for &id in &told.ids {
            told.animator.show_node(id, LOOSE, false).unwrap();
        }
        let off = furthest(&told.after(2), &plain);
        assert!(off < 2e-5, "{off}");
    }
}

#[test]
fn a_mask_of_ones_changes_nothing_but_rounding() {
    let model = rig(12);
    let ways = Ways { layers: 2, ..PLAIN };
    let plain = Crowd::new(&model, 0..9, ways).after(1);
    let mut masked = Crowd::new(&model, 0..9, ways);
    for &id in &masked.ids {
        let layers: Vec<_> = masked.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect();
        for layer in layers {
            masked.animator.layer_mut(id, layer).unwrap().mask = Some(Mask::new(&model, 1.0));
        }
    }
    assert!(furthest(&masked.after(1), &plain) < 2e-5);
}

#[test]
fn palettes_written_past_the_caches_have_the_same_bytes() {
    let model = rig(12);
    let rows = PaletteLayout::new(&model).len();
    // More than 8 MiB, and not whole eights.
    let count = (9 << 20) / (rows as u32 * 48) / 8 * 8 + 5;
    let many = Crowd::new(&model, 0..count, Ways { compressed: true, ..PLAIN }).after(2);
    for first in (0..count).step_by(997) {
        let few =
            Crowd::new(&model, first..count.min(first + 11), Ways { compressed: true, ..PLAIN }).after(2);
        let at = first as usize * rows;
        assert!(bytes(&few) == bytes(&many[at..at + few.len()]), "from {first}");
    }
    let last = Crowd::new(&model, count - 5..count, Ways { compressed: true, ..PLAIN }).after(2);
    assert!(bytes(&last) == bytes(&many[(count as usize - 5) * rows..]));
}

#[test]
fn palettes_go_straight_into_memory_of_the_callers() {
    let (first, second) = (rig(12), rig(20));
    let mut animator = Animator::new();
    let models = [animator.add_model(&first), animator.add_model(&second)];
    for i in 0..21u32 {
        let id = animator.spawn(models[i as usize % 2]).unwrap();
        animator.play(id, i % CLIPS).unwrap().seek(f64::from(i) * 0.1);
    }
    animator.evaluate();
    let before: Vec<_> = animator.instances().collect();
    let kept: Vec<_> = before.iter().flat_map(|id| animator.palette(*id).unwrap()).copied().collect();
    animator.advance(0.1);
    let mut own = vec![JointMatrix { x: [f32::NAN; 4], ..JointMatrix::IDENTITY }; animator.palette_rows()];
    animator.evaluate_into(&mut own).unwrap();
    let still: Vec<_> = before.iter().flat_map(|id| animator.palette(*id).unwrap()).copied().collect();
    assert_eq!(kept, still, "the animator's own stay");
    animator.evaluate();
    let expected: Vec<_> = before.iter().flat_map(|id| animator.palette(*id).unwrap()).copied().collect();
    assert!(bytes(&own) == bytes(&expected));
    let rows = own.len();
    own.pop();
    let error = animator.evaluate_into(&mut own).unwrap_err();
    assert_eq!(error.to_string(), format!("{} palette rows given, {rows} needed", rows - 1));
}

/// One joint that turns about z, `angle` degrees in a second.
fn turning(angle: f32) -> Rig {
    let nodes = ["root", "arm"].map(|name| Node { name: name.into(), ..Node::default() });
    let [root, arm] = nodes;
    let arm = Node { parent: Some(0), rest: Transform::from_translation(Vec3::X), ..arm };
    let skeleton = Skeleton::new(vec![root, arm]).unwrap();
    let skin = Skin::bind_at_rest("skin", &skeleton, vec![0, 1]).unwrap();
    let [from, to] = [0.0, angle].map(|angle| Quat::from_rotation_z(angle.to_radians()).to_array());
    let turn = Track {
        node: 1,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: [from, to].concat(),
        width: 4,
    };
    let clips = vec![Clip::new("turn", vec![turn]).unwrap()];
    Rig::new(Model::new(ModelDesc { skeleton, skins: vec![skin], clips, ..ModelDesc::default() }).unwrap())
}

fn angle_about_z(m: &Affine3A) -> f64 {
    let x = m.matrix3.x_axis;
    f64::from(x.y).atan2(f64::from(x.x)).to_degrees()
}

#[test]
fn a_turn_of_any_size_is_within_a_hundredth_of_a_degree_of_slerp() {
    let mut worst = 0.0f64;
    for angle in (1..=179).map(|angle| angle as f32) {
        let model = turning(angle);
        let mut crowd = Crowd::new(&model, [0], Ways { compressed: true, keep_poses: true, ..PLAIN });
        let id = crowd.ids[0];
        for step in 0..=100 {
            let time = f64::from(step) / 100.0;
            crowd.animator.player_mut(id).unwrap().unwrap().set_mode(LoopMode::Once);
            crowd.animator.player_mut(id).unwrap().unwrap().seek(time);
            crowd.animator.evaluate();
            let own = angle_about_z(&crowd.animator.world(id).unwrap()[1]);
            worst = worst.max((own - f64::from(angle) * time).abs());
        }
    }
    // The bar is 0.05; the correction's own error is 0.002, 16 bits add the rest.
    assert!(worst < 0.01, "{worst} degrees");
}

#[test]
fn a_clip_that_would_be_too_coarse_is_refused_with_the_place_and_played_exactly() {
    let model = rig(12);
    let clips = CompressedClips::new(&model, &CompressOptions::default().with_tolerance(1e-9));
    let error = clips.get(0).unwrap().unwrap_err();
    let CompressError::TooCoarse { error: off, node, time, .. } = error else { panic!("{error}") };
    assert_eq!(
        error.to_string(),
        format!(
            "the clip would be off by {off} at node {node} and {time} s, more than the tolerance of \
             0.000000001; raise the tolerance or play it as it is"
        )
    );
    let mut crowd = Crowd::new(&model, 0..9, PLAIN);
    crowd.animator.set_compressed(crowd.model, Some(clips)).unwrap();
    let expected = Crowd::new(&model, 0..9, PLAIN).after(1);
    assert!(bytes(&crowd.after(1)) == bytes(&expected));
}

#[test]
fn a_smaller_tolerance_is_kept_whatever_the_tip_is() {
    let model = rig(30);
    for tip in [0.0, 0.1, 2.0] {
        for tolerance in [1e-4, 1e-3, 1e-2] {
            let options = CompressOptions::default().with_tip(tip).with_tolerance(tolerance);
            let clips = CompressedClips::new(&model, &options);
            for clip in 0..CLIPS {
                if let Ok(packed) = clips.get(clip).unwrap() {
                    assert!(packed.error() <= tolerance);
                }
            }
        }
    }
}

#[test]
fn poses_that_are_not_kept_cannot_be_read() {
    let model = rig(9);
    let mut crowd = Crowd::new(&model, 0..3, PLAIN);
    crowd.frame();
    let (id, handle) = (crowd.ids[0], crowd.model);
    let error = AnimateError::PosesNotKept { model: handle };
    assert_eq!(crowd.animator.world(id).unwrap_err(), error);
    assert_eq!(crowd.animator.local(id, 1).unwrap_err(), error);
    assert_eq!(
        error.to_string(),
        format!("poses of model {handle:?} are not kept; call keep_poses(model, true) before the evaluation")
    );
    crowd.animator.keep_poses(handle, true).unwrap();
    assert_eq!(crowd.animator.local(id, 1).unwrap(), model.skeleton().rest()[1], "rest until evaluated");
    crowd.frame();
    assert_ne!(crowd.animator.world(id).unwrap()[1], Affine3A::IDENTITY);
}

#[test]
fn compressed_clips_of_another_model_are_refused() {
    let (own, other) = (rig(9), rig(9));
    let mut animator = Animator::new();
    let model = animator.add_model(&own);
    let error = animator.set_compressed(model, Some(other.compressed.clone())).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the compressed clips are those of another model than {model:?}; compress the clips of this one"
        )
    );
}

#[test]
fn whatever_is_said_to_layers_no_number_is_lost() {
    let model = rig(20);
    for compressed in [false, true] {
        let mut crowd = Crowd::new(&model, 0..24, Ways { compressed, layers: 2, ..PLAIN });
        for (i, &id) in crowd.ids.iter().enumerate() {
            let layers: Vec<_> = crowd.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect();
            let layer = crowd.animator.layer_mut(id, layers[0]).unwrap();
            match i % 8 {
                0 => layer.weight = f32::NAN,
                1 => layer.weight = f32::MAX,
                2 => layer.weight = -3.0,
                3 => layer.player.seek(f64::NAN),
                4 => layer.player.seek(1e300),
                5 => layer.player.speed = f64::INFINITY,
                6 => layer.player.seek(-7.3),
                // More layers than are blended in lanes.
                _ => {
                    for _ in 0..9 {
                        crowd.animator.add_layer(id, 0, LayerKind::Blend).unwrap();
                    }
                }
            }
        }
        let all = crowd.after(3);
        let is_fine = |v: &f32| v.is_finite() && v.abs() < 1e4;
        assert!(all.iter().all(|m| [m.x, m.y, m.z].concat().iter().all(is_fine)), "{compressed}");
    }
}

#[test]
fn opposite_rotations_leave_the_rest_pose() {
    let model = turning(0.0);
    let node = |angle: f32| Track {
        node: 1,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: [Quat::from_rotation_z(angle).to_array(), Quat::from_rotation_z(angle + 0.1).to_array()]
            .concat(),
        width: 4,
    };
    let clips = [0.0, std::f32::consts::PI].map(|angle| Clip::new("c", vec![node(angle)]).unwrap());
    let desc = ModelDesc {
        skeleton: model.skeleton().clone(),
        skins: model.skins().to_vec(),
        clips: clips.to_vec(),
        ..ModelDesc::default()
    };
    let model = Rig::new(Model::new(desc).unwrap());
    let mut crowd = Crowd::new(&model, 0..8, Ways { layers: 2, keep_poses: true, ..PLAIN });
    for &id in &crowd.ids {
        for layer in crowd.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect::<Vec<_>>() {
            let layer = crowd.animator.layer_mut(id, layer).unwrap();
            layer.weight = 1.0;
            layer.player.seek(0.0);
        }
    }
    crowd.animator.evaluate();
    for &id in &crowd.ids {
        let q = crowd.animator.local(id, 1).unwrap().rotation;
        assert!(q.is_normalized(), "{q}");
    }
}

/// The arm's angle in degrees.
fn angle(crowd: &Crowd, id: InstanceId) -> f64 {
    angle_about_z(&crowd.animator.world(id).unwrap()[1])
}

/// Arms that turn a degree per frame, and a function that advances by a frame.
fn arms(count: u32, rate: u32) -> (Crowd, impl Fn(&mut Crowd)) {
    let crowd = Crowd::new(&turning(100.0), (0..count).map(|_| 0), Ways { keep_poses: true, rate, ..PLAIN });
    let step = |crowd: &mut Crowd| {
        crowd.animator.evaluate();
        crowd.animator.advance(0.01);
    };
    (crowd, step)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-3
}

#[test]
fn between_evaluations_local_poses_are_interpolated() {
    let (mut crowd, step) = arms(1, 4);
    let id = crowd.ids[0];
    let mut shown = Vec::new();
    for _ in 0..14 {
        step(&mut crowd);
        shown.push(angle(&crowd, id).round());
    }
    // Evaluated at 0 (its share of the first four frames is one), 1, 5, 9 and 13, and reached three later.
    assert_eq!(shown, [0., 0.25, 0.5, 0.75, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.].map(f64::round));
    assert_eq!(crowd.animator.rate(id).unwrap(), 4);
}

#[test]
fn a_rate_of_one_is_every_frame() {
    for rate in [0, 1] {
        let (mut crowd, step) = arms(1, 7);
        let id = crowd.ids[0];
        crowd.animator.set_rate(id, rate).unwrap();
        assert_eq!(crowd.animator.rate(id).unwrap(), 1);
        for frame in 0..9 {
            step(&mut crowd);
            assert!(near(angle(&crowd, id), f64::from(frame)), "{frame}");
        }
    }
}

#[test]
fn instances_of_one_rate_are_spread_over_its_frames() {
    let (mut crowd, step) = arms(8, 4);
    crowd.animator.set_frame_budget(Some(2));
    for _ in 0..3 {
        step(&mut crowd);
    }
    for _ in 0..20 {
        step(&mut crowd);
        assert!(crowd.animator.budget_satisfied(), "two of eight in each of four frames");
    }
}

#[test]
fn those_that_are_latest_come_first_when_the_budget_is_short() {
    let (mut crowd, step) = arms(4, 2);
    crowd.animator.set_frame_budget(Some(1));
    step(&mut crowd);
    assert!(crowd.animator.budget_satisfied(), "without a pose nobody waits");
    let mut last = vec![0; 4];
    for frame in 1..40 {
        let before: Vec<_> = crowd.ids.iter().map(|id| angle(&crowd, *id)).collect();
        step(&mut crowd);
        assert!(!crowd.animator.budget_satisfied() || frame < 3, "{frame}");
        let moved = crowd.ids.iter().zip(before).map(|(id, before)| !near(angle(&crowd, *id), before));
        for (last, _) in last.iter_mut().zip(moved).filter(|(_, moved)| *moved) {
            *last = frame;
        }
        assert!(last.iter().all(|last| frame < 8 || frame - last <= 4), "{frame}: {last:?}");
    }
    crowd.animator.set_frame_budget(None);
    step(&mut crowd);
    assert!(crowd.animator.budget_satisfied());
}

#[test]
fn a_budget_is_kept_the_same_way_on_every_run() {
    let model = rig(12);
    let run = || {
        let mut crowd = Crowd::new(&model, 0..40, Ways { rate: 3, ..PLAIN });
        crowd.animator.set_frame_budget(Some(5));
        crowd.after(17)
    };
    assert!(bytes(&run()) == bytes(&run()));
}

#[test]
fn a_cut_is_shown_at_once() {
    let (mut crowd, step) = arms(1, 50);
    let id = crowd.ids[0];
    for _ in 0..10 {
        step(&mut crowd);
    }
    crowd.animator.player_mut(id).unwrap().unwrap().seek(0.9);
    step(&mut crowd);
    assert!(angle(&crowd, id) < 10.0, "between two poses");
    crowd.animator.player_mut(id).unwrap().unwrap().seek(0.9);
    crowd.animator.refresh(id).unwrap();
    assert!(near(angle(&crowd, id), 90.0));
    crowd.animator.player_mut(id).unwrap().unwrap().seek(0.3);
    crowd.animator.forget_previous(id).unwrap();
    step(&mut crowd);
    assert!(near(angle(&crowd, id), 30.0));
}

#[test]
fn what_is_hidden_disappears_at_once_whatever_the_rate() {
    let (mut crowd, step) = arms(2, 40);
    let id = crowd.ids[0];
    for _ in 0..3 {
        step(&mut crowd);
    }
    crowd.animator.show_node(id, 1, false).unwrap();
    step(&mut crowd);
    assert_eq!(crowd.animator.world(id).unwrap()[1].matrix3.determinant(), 0.0);
    crowd.animator.show_node(id, 1, true).unwrap();
    step(&mut crowd);
    assert!(near(crowd.animator.world(id).unwrap()[1].matrix3.determinant().into(), 1.0));
}

#[test]
fn an_instance_that_is_told_more_is_interpolated_alike() {
    let model = rig(20);
    for ways in all_ways() {
        let plain = Crowd::new(&model, 0..9, Ways { rate: 4, ..ways }).after(11);
        let mut told = Crowd::new(&model, 0..9, Ways { rate: 4, ..ways });
        for &id in &told.ids {
            told.animator.show_node(id, LOOSE, false).unwrap();
        }
        let off = furthest(&told.after(11), &plain);
        assert!(off < 2e-5, "{off}");
    }
}

#[test]
fn rates_outlive_other_clips_and_instances_that_go() {
    let model = rig(20);
    let mut crowd = Crowd::new(&model, 0..9, Ways { rate: 4, ..PLAIN });
    crowd.frame();
    crowd.animator.despawn(crowd.ids.remove(2)).unwrap();
    crowd.frame();
    crowd.animator.set_compressed(crowd.model, Some(model.compressed.clone())).unwrap();
    crowd.animator.keep_poses(crowd.model, true).unwrap();
    crowd.frame();
    let ways = Ways { compressed: true, keep_poses: true, ..PLAIN };
    let expected = Crowd::new(&model, [0, 1, 3, 4, 5, 6, 7, 8], ways).after(3);
    assert!(bytes(&crowd.palettes()) == bytes(&expected), "evaluated anew");
    assert!(crowd.ids.iter().all(|id| crowd.animator.rate(*id).unwrap() == 4));
}

#[test]
fn a_first_frame_shows_what_an_evaluation_makes_whatever_the_rate() {
    let model = rig(20);
    for ways in all_ways() {
        let every = Crowd::new(&model, 0..9, ways).after(1);
        let seldom = Crowd::new(&model, 0..9, Ways { rate: 9, ..ways }).after(1);
        assert!(bytes(&every) == bytes(&seldom));
    }
}

#[test]
fn a_sheared_inverse_bind_matrix_and_mirrored_nodes_keep_the_bytes() {
    let nodes = vec![
        Node::default(),
        Node {
            parent: None,
            rest: Transform { scale: Vec3::new(-1.0, 2.0, 0.0), ..Transform::default() },
            ..Node::default()
        },
        Node {
            parent: Some(1),
            rest: Transform::from_translation(Vec3::new(-0.0, 1.0, -1.0)),
            ..Node::default()
        },
    ];
    let skeleton = Skeleton::new(nodes).unwrap();
    let shear = Mat4::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.5, -1.0, 0.0), Vec3::Z));
    let skin = Skin::new("s", &skeleton, vec![2, 1], Some(&[shear, Mat4::IDENTITY])).unwrap();
    let model =
        Rig::new(Model::new(ModelDesc { skeleton, skins: vec![skin], ..ModelDesc::default() }).unwrap());
    let layout = PaletteLayout::new(&model);
    let mut pose = sinew::animate::Pose::rest(&model);
    let mut world = vec![Affine3A::IDENTITY; 3];
    set_world(model.skeleton(), Affine3A::IDENTITY, &pose.as_mut(), &mut world);
    let mut expected = vec![JointMatrix::IDENTITY; layout.len()];
    set_palette(&model, &layout, &world, &mut expected);
    for count in [1, 9] {
        for simd in [false, true] {
            let all = Crowd::new(&model, 0..count, Ways { layers: 0, simd, ..PLAIN }).after(1);
            for own in all.chunks_exact(expected.len()) {
                assert!(bytes(own) == bytes(&expected), "{count} {simd}");
            }
        }
    }
}

#[test]
fn between_two_signs_of_a_rotation_the_shorter_arc_is_taken() {
    let skeleton = Skeleton::new(vec![Node::default(), Node { parent: Some(0), ..Node::default() }]).unwrap();
    let [from, to] = [0.0, 20.0f32].map(|angle| Quat::from_rotation_z(angle.to_radians()));
    let step = Track {
        node: 1,
        channel: Channel::Rotation,
        interpolation: Interpolation::Step,
        times: vec![0.0, 0.005, 1.0],
        values: [from, -to, -to].map(|q| q.to_array()).concat(),
        width: 4,
    };
    let clips = vec![Clip::new("step", vec![step]).unwrap()];
    let model = Rig::new(Model::new(ModelDesc { skeleton, clips, ..ModelDesc::default() }).unwrap());
    for told_more in [false, true] {
        let mut crowd = Crowd::new(&model, [0, 0], Ways { keep_poses: true, rate: 4, ..PLAIN });
        let id = crowd.ids[0];
        if told_more {
            crowd.animator.set_translation(id, 1, Vec3::ZERO).unwrap();
        }
        let shown = [(); 5].map(|()| {
            crowd.animator.evaluate();
            crowd.animator.advance(0.01);
            angle(&crowd, id)
        });
        // The second evaluation comes with the second frame; a line between both is a little off the arc.
        let expected = [0.0, 5.0, 10.0, 15.0, 20.0];
        assert!(shown.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.1), "{told_more}: {shown:?}");
    }
}

#[test]
fn a_chain_whose_scales_leave_f32_and_come_back_keeps_its_palette_finite() {
    let node = |n: u32, scale: f32| Node {
        parent: n.checked_sub(1),
        rest: Transform { scale: Vec3::splat(scale), ..Transform::default() },
        ..Node::default()
    };
    let nodes = [1e30, 1e30, 1e-30, 1e-30].into_iter().zip(0..).map(|(scale, n)| node(n, scale));
    let skeleton = Skeleton::new(nodes.collect()).unwrap();
    let skin = Skin::new("s", &skeleton, vec![3], None).unwrap();
    let model =
        Rig::new(Model::new(ModelDesc { skeleton, skins: vec![skin], ..ModelDesc::default() }).unwrap());
    for count in [1, 9] {
        let all = Crowd::new(&model, 0..count, Ways { layers: 0, ..PLAIN }).after(1);
        assert!(all.iter().all(|m| [m.x, m.y, m.z].concat().iter().all(|v| v.is_finite())));
    }
}

#[test]
fn weights_next_to_nothing_still_make_a_pose() {
    let model = rig(12);
    let mut crowd = Crowd::new(&model, 0..9, Ways { layers: 2, ..PLAIN });
    for &id in &crowd.ids {
        crowd.animator.set_threshold(id, 0.0).unwrap();
        for layer in crowd.animator.layers(id).unwrap().iter().map(|layer| layer.id()).collect::<Vec<_>>() {
            crowd.animator.layer_mut(id, layer).unwrap().weight = 1e-39;
        }
    }
    assert!(crowd.after(1).iter().all(|m| [m.x, m.y, m.z].concat().iter().all(|v| v.is_finite())));
}
