//! Surfaces of any number of triangles: a skinned tube, which stands for a character, and a ball.

use glam::{Mat4, Quat, Vec3};
use sinew::model::{
    Channel, Clip, Influence, Influences, Interpolation, Mesh, Model, ModelDesc, Node, Part, PrimitiveDesc,
    Skeleton, Skin, Track, Transform,
};

/// A closed tube of half a metre's radius along y: `rings` rows of `2 * around` triangles, on a chain of `joints` joints a
/// metre apart that a clip of a second, `bend`, turns by a third of a radian each. Each vertex follows the joints
/// above and below it. Caps of `around` triangles each close it.
pub fn tube(rings: u32, around: u32, joints: u32) -> Model {
    let height = (joints - 1) as f32;
    let mut surface = Surface::default();
    for ring in 0..=rings {
        let y = height * ring as f32 / rings as f32;
        surface.ring(y, 0.5, around);
    }
    surface.close(around, [0.0, height]);
    let node = |j: u32| Node {
        name: format!("joint {j}"),
        parent: j.checked_sub(1),
        rest: Transform::from_translation(if j == 0 { Vec3::ZERO } else { Vec3::Y }),
    };
    let mut nodes: Vec<Node> = (0..joints).map(node).collect();
    nodes.push(Node { name: "tube".into(), ..Node::default() });
    let skeleton = Skeleton::new(nodes).unwrap();
    let binds: Vec<_> = (0..joints).map(|j| Mat4::from_translation(Vec3::NEG_Y * j as f32)).collect();
    let skin = Skin::new("skin", &skeleton, (0..joints).collect(), Some(&binds)).unwrap();
    let mut influences = Influences::with_capacity(surface.positions.len());
    for position in &surface.positions {
        let below = position.y.floor().clamp(0.0, (joints - 2) as f32);
        let share = position.y - below;
        let row = [(below, 1.0 - share), (below + 1.0, share)];
        influences.push(row.map(|(joint, weight)| Influence { joint: joint as u32, weight }));
    }
    let turn = |node: u32| Track {
        node,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: [Quat::IDENTITY, Quat::from_rotation_z(1.0 / 3.0)].map(|q| q.to_array()).concat(),
        width: 4,
    };
    let clip = Clip::new("bend", (1..joints).map(turn).collect()).unwrap();
    let desc = PrimitiveDesc { influences: Some(influences), ..surface.desc() };
    model(skeleton, vec![skin], desc, joints, vec![clip])
}

/// A closed ball of one metre's radius at the origin.
pub fn ball(around: u32, rings: u32) -> Model {
    let mut surface = Surface::default();
    for ring in 1..rings {
        let angle = std::f32::consts::PI * ring as f32 / rings as f32;
        surface.ring(-angle.cos(), angle.sin(), around);
    }
    surface.close(around, [-1.0, 1.0]);
    let skeleton = Skeleton::new(vec![Node { name: "ball".into(), ..Node::default() }]).unwrap();
    model(skeleton, Vec::new(), surface.desc(), 0, Vec::new())
}

#[derive(Default)]
struct Surface {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    indices: Vec<u32>,
}

impl Surface {
    /// One more ring, joined to the one below.
    fn ring(&mut self, y: f32, radius: f32, around: u32) {
        let first = self.positions.len() as u32;
        for i in 0..around {
            let (sin, cos) = (std::f32::consts::TAU * i as f32 / around as f32).sin_cos();
            self.positions.push(Vec3::new(radius * cos, y, radius * sin));
            self.normals.push(Vec3::new(cos, 0.0, sin));
        }
        let Some(below) = first.checked_sub(around) else { return };
        for i in 0..around {
            let next = (i + 1) % around;
            let (a, b, c, d) = (below + i, below + next, first + i, first + next);
            self.indices.extend([a, c, b, b, c, d]);
        }
    }

    /// A fan at each end.
    fn close(&mut self, around: u32, ends: [f32; 2]) {
        let last = self.positions.len() as u32 - around;
        for (end, first, up) in [(ends[0], 0, false), (ends[1], last, true)] {
            let middle = self.positions.len() as u32;
            self.positions.push(Vec3::Y * end);
            self.normals.push(if up { Vec3::Y } else { Vec3::NEG_Y });
            for i in 0..around {
                let (a, b) = (first + i, first + (i + 1) % around);
                self.indices.extend(if up { [middle, b, a] } else { [middle, a, b] });
            }
        }
    }

    fn desc(self) -> PrimitiveDesc {
        PrimitiveDesc {
            positions: self.positions,
            normals: self.normals,
            indices: Some(self.indices),
            ..PrimitiveDesc::default()
        }
    }
}

fn model(skeleton: Skeleton, skins: Vec<Skin>, desc: PrimitiveDesc, node: u32, clips: Vec<Clip>) -> Model {
    let part = Part { node, mesh: 0, skin: (!skins.is_empty()).then_some(0), weights: Vec::new() };
    Model::new(ModelDesc {
        skeleton,
        skins,
        meshes: vec![Mesh::new("surface", vec![desc], Vec::new()).unwrap()],
        parts: vec![part],
        clips,
        ..ModelDesc::default()
    })
    .unwrap()
}
