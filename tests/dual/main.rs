//! Dual quaternion skinning: against f64, closed forms, and input that nobody wants.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod closed_forms;
#[cfg(all(feature = "gltf", feature = "meshopt"))]
mod files;
mod hostile;
mod reference;
mod tube;

#[path = "../common/mod.rs"]
mod common;
#[path = "../../benches/gpu/models.rs"]
#[allow(dead_code, reason = "the bench uses more of it")]
mod models;

use common::sides::Sides;
use glam::{Mat4, Vec3, Vec4};
use sinew::{
    Model, Packing, Precision,
    animate::JointMatrix,
    deform::BakedPrimitive,
    model::{
        Influence, Influences, Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton, Skin, Skinning, Topology,
    },
};

const BOTH: [Precision; 2] = [Precision::Packed, Precision::Exact];

/// GPU against twin and either against f64: of the diagonal, and not less than two ulp.
const POSITION: f64 = 1e-5;

/// Joints that its palette places, and vertices with influences of them; dual quaternions.
fn skinned(joints: u32, vertices: &[(Vec3, &[(u32, f32)])]) -> Model {
    let mut influences = Influences::default();
    for (_, row) in vertices {
        influences.push(row.iter().map(|&(joint, weight)| Influence { joint, weight }));
    }
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vertices.iter().map(|(position, _)| *position).collect(),
        normals: vec![Vec3::Y; vertices.len()],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); vertices.len()],
        influences: Some(influences),
        ..Default::default()
    };
    of_primitive(joints, primitive)
}

fn of_primitive(joints: u32, primitive: PrimitiveDesc) -> Model {
    let skeleton = Skeleton::new(vec![Node::default(); joints as usize]).unwrap();
    let skin = Skin::bind_at_rest("", &skeleton, (0..joints).collect()).unwrap();
    let mesh = Mesh::new("", vec![primitive], Vec::new()).unwrap();
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh.with_skinning(Skinning::DualQuaternion)],
        parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: Vec::new() }],
        ..Default::default()
    })
    .unwrap()
}

fn linear(model: &Model) -> Model {
    model.clone().with_skinning(0, Skinning::Linear).unwrap()
}

fn row(m: Mat4) -> JointMatrix {
    glam::Affine3A::from_mat4(m).into()
}

/// On the GPU and on the twin.
fn posed(
    sides: &mut Sides,
    model: &Model,
    packing: impl Into<Packing>,
    palette: &[JointMatrix],
) -> [Vec<BakedPrimitive>; 2] {
    sides.bake(model, packing, |animator, id| animator.set_skin_palette(id, 0, Some(palette)).unwrap())
}

/// Positions of the only primitive on either side.
fn positions(sides: &mut Sides, model: &Model, precision: Precision, joints: &[Mat4]) -> [Vec<Vec3>; 2] {
    let palette: Vec<_> = joints.iter().copied().map(row).collect();
    posed(sides, model, precision, &palette).map(|baked| baked[0].vertices.positions.clone())
}

fn assert_close(found: &[Vec3], expected: &[Vec3], within: f32, case: &str) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = found.distance(*expected);
        assert!(off <= within, "{case}: vertex {at} is at {found}, expected {expected}, {off:e} off");
    }
}
