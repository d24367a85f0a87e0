//! Characters made of numbers: a spine with limbs of eight joints each, and vertices along them, as skinned meshes are:
//! neighbours in the list are neighbours in space and share joints.

use glam::{Quat, Vec3, Vec4};
use sinew::model::{
    Channel, Clip, Delta, Influence, Influences, Interpolation, Mesh, Model, ModelDesc, MorphTarget, Node,
    Part, PrimitiveDesc, Skeleton, Skin, Topology, Track, Transform,
};

/// A small reproducible generator (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(n)) as u32
    }

    /// -1..1
    pub(crate) fn unit(&mut self) -> f32 {
        self.below(2_000_001) as f32 / 1e6 - 1.0
    }

    pub(crate) fn direction(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()).try_normalize().unwrap_or(Vec3::X)
    }
}

/// How many influences a vertex has.
#[derive(Clone, Copy)]
pub(crate) enum Counts {
    /// All the same.
    All(u32),
    /// One to four, as characters have them: 15, 30, 30 and 25 of a hundred.
    Mixed,
}

/// What a character is like.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) vertices: u32,
    pub(crate) joints: u32,
    pub(crate) influences: Counts,
    pub(crate) targets: u32,
    /// Of a hundred vertices, how many a target moves.
    pub(crate) covered: u32,
}

impl Shape {
    pub(crate) const fn of(vertices: u32, joints: u32, influences: Counts) -> Self {
        Self { vertices, joints, influences, targets: 0, covered: 0 }
    }
}

/// Joints of a limb, its place on the spine included.
const LIMB: u32 = 8;

/// A character with a clip of one second.
pub(crate) fn character(seed: u64, shape: Shape) -> Model {
    let mut random = Random::new(seed);
    let joints = shape.joints;
    let limbs = joints.div_ceil(LIMB) as f32;
    let node = |j: u32| Node {
        name: format!("joint {j}"),
        parent: j.checked_sub(if j.is_multiple_of(LIMB) { LIMB } else { 1 }),
        rest: Transform::from_translation(match j {
            0 => Vec3::ZERO,
            j if j.is_multiple_of(LIMB) => Vec3::Y * 1.8 / limbs,
            _ => Vec3::X * 0.1,
        }),
    };
    let mut nodes: Vec<Node> = (0..joints).map(node).collect();
    nodes.push(Node { name: "body".into(), ..Default::default() });
    let skeleton = Skeleton::new(nodes).unwrap();
    let skin = Skin::bind_at_rest("skin", &skeleton, (0..joints).collect()).unwrap();
    let mesh =
        Mesh::new("mesh", vec![primitive(&mut random, shape)], vec![0.0; shape.targets as usize]).unwrap();
    let part = Part { node: joints, mesh: 0, skin: Some(0), weights: vec![0.0; shape.targets as usize] };
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        parts: vec![part],
        clips: vec![clip(&mut random, joints)],
        ..Default::default()
    })
    .unwrap()
}

fn primitive(random: &mut Random, shape: Shape) -> PrimitiveDesc {
    let (mut positions, mut normals, mut tangents) = (Vec::new(), Vec::new(), Vec::new());
    let mut influences = Influences::with_capacity(shape.vertices as usize);
    for v in 0..shape.vertices {
        let along = v as f32 / shape.vertices as f32;
        let around = Quat::from_rotation_y(v as f32 * 2.4) * Vec3::X;
        let normal = (around + 0.3 * random.direction()).normalize();
        positions.push(Vec3::Y * 1.8 * along + around * (0.15 + 0.02 * random.unit()));
        normals.push(normal);
        tangents.push(normal.any_orthonormal_vector().extend(if random.below(2) == 0 { 1.0 } else { -1.0 }));
        influences.push(row(random, shape, along));
    }
    let targets = (0..shape.targets).map(|_| target(random, shape)).collect();
    let tangents: Vec<Vec4> = tangents;
    let topology = Topology::Points;
    let influences = Some(influences);
    PrimitiveDesc { topology, positions, normals, tangents, influences, targets, ..Default::default() }
}

/// The nearest joints, with weights that are whole steps of 1/65535 and sum up to 1: packing changes nothing.
fn row(random: &mut Random, shape: Shape, along: f32) -> Vec<Influence> {
    let count = match shape.influences {
        Counts::All(count) => count,
        Counts::Mixed => match random.below(100) {
            0..15 => 1,
            15..45 => 2,
            45..75 => 3,
            _ => 4,
        },
    }
    .min(shape.joints);
    let nearest = (along * shape.joints as f32) as u32;
    // Of one limb: beyond it the next joint in the list is somewhere else.
    let limb = nearest / LIMB * LIMB;
    let last = (limb + LIMB.max(count)).min(shape.joints) - count;
    let first = nearest.saturating_sub((count - 1) / 2).clamp(limb.min(last), last);
    let mut left = 65535;
    let mut row = Vec::new();
    for k in 0..count {
        let most = left - (count - 1 - k);
        let steps = if k + 1 == count { left } else { 1 + random.below((most / 2).max(1)) };
        left -= steps;
        row.push(Influence { joint: first + k, weight: steps as f32 / 65535.0 });
    }
    row
}

fn target(random: &mut Random, shape: Shape) -> MorphTarget {
    let all: Vec<u32> = if shape.covered >= 100 {
        (0..shape.vertices).collect()
    } else {
        // In runs, as a smile moves a mouth.
        let run = shape.vertices * shape.covered / 100;
        let first = random.below((shape.vertices - run).max(1));
        (first..first + run).collect()
    };
    let mut delta = |_| Delta {
        position: random.direction() * 0.02,
        normal: random.direction() * 0.1,
        tangent: random.direction() * 0.1,
    };
    let rows: Vec<_> = all.into_iter().map(|v| (v, delta(v))).collect();
    MorphTarget::from_rows(true, true, rows)
}

/// Every joint turns, and some grow.
fn clip(random: &mut Random, joints: u32) -> Clip {
    let times: Vec<f32> = (0..=15).map(|k| k as f32 / 15.0).collect();
    let mut tracks = Vec::new();
    for node in 0..joints {
        let axis = random.direction();
        let turn = |t: &f32| Quat::from_axis_angle(axis, 0.3 * (t * std::f32::consts::TAU).sin());
        tracks.push(Track {
            node,
            channel: Channel::Rotation,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values: times.iter().flat_map(|t| turn(t).to_array()).collect(),
            width: 4,
        });
    }
    Clip::new("move", tracks).unwrap()
}
