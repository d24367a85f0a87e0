//! Crowds of one model, and the ways to evaluate them.

use glam::{Affine3A, EulerRot, Mat4, Quat, Vec3};
use sinew::{
    Animator, InstanceId, Model, ModelId,
    animate::{CompressOptions, CompressedClips, JointMatrix, LayerKind},
    model::{Channel, Clip, Interpolation, ModelDesc, Node, Skeleton, Skin, Track, Transform},
};

/// Numbers that look random.
pub struct Random(u64);

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
pub const LOOSE: u32 = 0;
pub const CLIPS: u32 = 5;

/// A model and its compressed clips, rough enough for any rig.
pub struct Rig {
    pub model: Model,
    pub compressed: CompressedClips,
}

impl Rig {
    pub fn new(model: Model) -> Self {
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
pub fn rig(nodes: u32) -> Rig {
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

pub fn track(random: &mut Random, node: u32, channel: Channel, kind: u32) -> Track {
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
pub struct Crowd {
    pub animator: Animator,
    pub model: ModelId,
    pub ids: Vec<InstanceId>,
}

/// How a crowd is evaluated.
#[derive(Clone, Copy)]
pub struct Ways {
    pub compressed: bool,
    pub keep_poses: bool,
    pub simd: bool,
    pub layers: u32,
    /// Every so many frames.
    pub rate: u32,
}

pub const PLAIN: Ways = Ways { compressed: false, keep_poses: false, simd: true, layers: 1, rate: 1 };

impl Crowd {
    pub fn new(model: &Rig, numbers: impl IntoIterator<Item = u32>, ways: Ways) -> Self {
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

    pub fn frame(&mut self) {
        self.animator.advance(1.0 / 60.0);
        self.animator.evaluate();
    }

    pub fn palettes(&self) -> Vec<JointMatrix> {
        self.ids.iter().flat_map(|id| self.animator.palette(*id).unwrap()).copied().collect()
    }

    pub fn after(mut self, frames: usize) -> Vec<JointMatrix> {
        (0..frames).for_each(|_| self.frame());
        self.palettes()
    }
}

pub fn bytes(palettes: &[JointMatrix]) -> &[u8] {
    bytemuck::cast_slice(palettes)
}

pub fn furthest(a: &[JointMatrix], b: &[JointMatrix]) -> f32 {
    assert_eq!(a.len(), b.len());
    let numbers = |m: &JointMatrix| [m.x, m.y, m.z].concat();
    let pairs = a.iter().zip(b).flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)));
    // A NaN is further than anything.
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, |most, v| if v <= most { most } else { v })
}

/// All there is but rates.
pub fn all_ways() -> impl Iterator<Item = Ways> {
    let flags = [false, true];
    flags.into_iter().flat_map(move |compressed| {
        flags.into_iter().flat_map(move |keep_poses| {
            [0, 1, 2, 3].map(|layers| Ways { compressed, keep_poses, layers, ..PLAIN })
        })
    })
}

/// One joint that turns about z, `angle` degrees in a second.
pub fn turning(angle: f32) -> Rig {
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

pub fn angle_about_z(m: &Affine3A) -> f64 {
    let x = m.matrix3.x_axis;
    f64::from(x.y).atan2(f64::from(x.x)).to_degrees()
}
