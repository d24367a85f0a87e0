//! Models made of numbers, for tests that need no file.

use glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use sinew::model::{
    Channel, Clip, Delta, Influence, Influences, Interpolation, MAX_COORDINATE, Mesh, Model, ModelDesc,
    MorphTarget, Node, Part, PrimitiveDesc, Skeleton, Skin, Skinning, Topology, Track, Transform,
    normalize_weights,
};

/// A small reproducible generator (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(n)) as u32
    }

    /// -1..1
    pub fn unit(&mut self) -> f32 {
        self.below(2_000_001) as f32 / 1e6 - 1.0
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }

    pub fn direction(&mut self) -> Vec3 {
        self.vector().try_normalize().unwrap_or(Vec3::X)
    }
}

pub const SKINNINGS: [Skinning; 2] = [Skinning::Linear, Skinning::DualQuaternion];

/// The same model with all meshes skinned this way.
pub fn skinned(model: &Model, skinning: Skinning) -> Model {
    let meshes = 0..model.meshes().len() as u32;
    meshes.fold(model.clone(), |model, mesh| model.with_skinning(mesh, skinning).expect("a mesh"))
}

/// What a made-up character is like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub vertices: u32,
    pub joints: u32,
    /// Influences of every vertex; 0 makes a rigid mesh.
    pub influences: u32,
    pub targets: u32,
}

/// A chain of joints that a clip of one second bends, with random vertices around it.
pub fn character(seed: u64, shape: Shape) -> Model {
    character_with(seed, shape, bend, Size::USUAL)
}

/// As [`character`], with a clip of everything that a file may hold and nobody wants: rotations of any
/// length, scales of zero, of mixed signs, tiny and large.
pub fn hostile(seed: u64, shape: Shape) -> Model {
    character_with(seed, shape, distort, Size::USUAL)
}

/// Coordinates, normals, tangents and deltas as large as a model may hold, inverse binds that scale as much, and
/// weights of every vertex that sum up to `sum`, under keys of any finite size.
pub fn extreme(seed: u64, shape: Shape, sum: f32) -> Model {
    character_with(seed, shape, overflow, Size { coordinates: Some(MAX_COORDINATE), sum })
}

/// How large the numbers of a mesh are.
#[derive(Clone, Copy)]
struct Size {
    /// Every coordinate is this or its negative; otherwise of a character about a metre tall.
    coordinates: Option<f32>,
    /// Of the weights of a vertex.
    sum: f32,
}

impl Size {
    const USUAL: Self = Self { coordinates: None, sum: 1.0 };

    fn of(self, usual: Vec3) -> Vec3 {
        self.coordinates.map_or(usual, |size| Vec3::splat(size).copysign(usual))
    }
}

fn character_with(seed: u64, shape: Shape, clip: fn(&mut Random, u32, u32) -> Clip, size: Size) -> Model {
    let mut random = Random::new(seed);
    let joints = shape.joints.max(1);
    let node = |j: u32| Node {
        name: format!("joint {j}"),
        parent: j.checked_sub(1),
        rest: Transform::from_translation(Vec3::Y / joints as f32),
    };
    let mut nodes: Vec<Node> = (0..joints).map(node).collect();
    nodes.push(Node { name: "body".into(), ..Default::default() });
    let skeleton = Skeleton::new(nodes).expect("a chain");
    let bind = |j: u32| {
        Mat4::from_translation(Vec3::NEG_Y * j as f32 / joints as f32)
            * Mat4::from_scale(Vec3::splat(size.coordinates.unwrap_or(1.0)))
    };
    let binds: Vec<_> = (0..joints).map(bind).collect();
    let skin = Skin::new("skin", &skeleton, (0..joints).collect(), Some(&binds)).expect("binds");
    let mesh =
        Mesh::new("mesh", vec![primitive(&mut random, shape, size)], vec![0.0; shape.targets as usize]);
    let mesh = mesh.expect("a mesh");
    let part = Part {
        node: joints,
        mesh: 0,
        skin: (shape.influences > 0).then_some(0),
        weights: vec![0.0; shape.targets as usize],
    };
    let clip = clip(&mut random, joints, shape.targets);
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        parts: vec![part],
        clips: vec![clip],
        ..Default::default()
    })
    .expect("a model")
}

fn primitive(random: &mut Random, shape: Shape, size: Size) -> PrimitiveDesc {
    let count = shape.vertices as usize;
    let normals: Vec<Vec3> = (0..count).map(|_| random.direction()).collect();
    let tangent = |n: &Vec3| n.any_orthonormal_vector().extend(if n.x > 0.0 { 1.0 } else { -1.0 });
    let tangents: Vec<Vec4> = normals.iter().map(tangent).collect();
    let mut influences = Influences::with_capacity(count);
    for _ in 0..count {
        let mut weights: Vec<f32> = (0..shape.influences).map(|_| random.unit().abs() + 0.01).collect();
        normalize_weights(&mut weights);
        if size.sum != 1.0 {
            // A little less, so that rounding does not lead past the limit.
            weights.iter_mut().for_each(|weight| *weight *= size.sum * 0.999);
        }
        let first = random.below(shape.joints.max(1));
        let joint = |i: u32| (first + i * 7) % shape.joints.max(1);
        let row = (0..shape.influences).zip(&weights).map(|(i, &w)| Influence { joint: joint(i), weight: w });
        influences.push(row);
    }
    let targets = (0..shape.targets).map(|_| {
        let rows = (0..shape.vertices).filter_map(|v| {
            let moved = random.below(4) == 0;
            let delta = Delta {
                position: size.of(random.vector() * 0.1),
                normal: size.of(random.vector() * 0.2),
                tangent: size.of(random.vector() * 0.2),
            };
            moved.then_some((v, delta))
        });
        MorphTarget::from_rows(true, true, rows.collect::<Vec<_>>())
    });
    PrimitiveDesc {
        topology: Topology::Points,
        targets: targets.collect(),
        positions: (0..count).map(|_| size.of(random.vector())).collect(),
        uv_sets: vec![vec![Vec2::ZERO; count]],
        influences: (shape.influences > 0).then_some(influences),
        normals: normals.into_iter().map(|n| size.of(n)).collect(),
        tangents: tangents.into_iter().map(|t| size.of(t.truncate()).extend(t.w)).collect(),
        ..Default::default()
    }
}

fn bend(random: &mut Random, joints: u32, targets: u32) -> Clip {
    let mut tracks: Vec<Track> = (0..joints)
        .map(|node| {
            let key = |angle: f32, axis: Vec3| Quat::from_axis_angle(axis, angle).to_array();
            let axis = random.direction();
            let angle = random.unit() * 2.0;
            Track {
                node,
                channel: Channel::Rotation,
                interpolation: Interpolation::Linear,
                times: vec![0.0, 1.0],
                values: [key(0.0, axis), key(angle, axis)].concat(),
                width: 4,
            }
        })
        .collect();
    if targets > 0 {
        tracks.push(Track {
            node: joints,
            channel: Channel::Weights,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: (0..targets).map(|_| 0.0).chain((0..targets).map(|t| 0.5 - t as f32)).collect(),
            width: targets,
        });
    }
    Clip::new("bend", tracks).expect("a clip")
}

fn distort(random: &mut Random, joints: u32, targets: u32) -> Clip {
    let mut tracks = Vec::new();
    let step = |node, channel, values: Vec<f32>, width| Track {
        node,
        channel,
        interpolation: Interpolation::Step,
        times: vec![0.0],
        values,
        width,
    };
    for node in 0..joints {
        let length = [0.0, 1e-20, 1.0, 1e3][random.below(4) as usize];
        let rotation = (0..4).map(|_| random.unit() * length).collect();
        tracks.push(step(node, Channel::Rotation, rotation, 4));
        let mut scale = || [0.0, -1.0, 1e-12, 1.0, -0.5, 1e3][random.below(6) as usize];
        tracks.push(step(node, Channel::Scale, vec![scale(), scale(), scale()], 3));
    }
    if targets > 0 {
        let weights = (0..targets).map(|_| random.unit() * 1e3).collect();
        tracks.push(step(joints, Channel::Weights, weights, targets));
    }
    Clip::new("distort", tracks).expect("a clip")
}

/// Keys of any finite size, on splines too.
fn overflow(random: &mut Random, joints: u32, targets: u32) -> Clip {
    let mut tracks = Vec::new();
    let mut any = |count: u32| -> Vec<f32> {
        let one = |_| [1e38, -1e38, 1e19, 1.0, 0.0, 1e-38][random.below(6) as usize];
        (0..count).map(one).collect()
    };
    // Two keys of in-tangent, value and out-tangent.
    let mut spline = |node, channel, width| {
        let values = any(6 * width);
        let (interpolation, times) = (Interpolation::CubicSpline, vec![0.0, 1.0]);
        tracks.push(Track { node, channel, interpolation, times, values, width });
    };
    for node in 0..joints {
        spline(node, Channel::Translation, 3);
        spline(node, Channel::Rotation, 4);
        spline(node, Channel::Scale, 3);
    }
    if targets > 0 {
        spline(joints, Channel::Weights, targets);
    }
    Clip::new("overflow", tracks).expect("a clip")
}
