//! One vertex by the kernel's arithmetic, straight from its primitive: for readers of a few.

use glam::{Vec3, Vec4};
use smallvec::SmallVec;

use super::{
    morph::bounded,
    output::directions,
    skin::{Rows, added, mirrors, skin_tangent, skin_vertex},
    source::Vertex,
};
use crate::{
    animate::JointMatrix,
    deform::{frame::active_weight, source::kept_influences},
    model::{Influence, InfluenceClass, Primitive},
};

/// A vertex where the exact kernel puts it.
pub(crate) struct Single {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) tangent: Vec3,
    pub(crate) is_mirrored: bool,
}

/// `palette` starts at the part's first row, `weights` has one per target. `skinned` is false for a part that rides
/// on its node. The vertex exists.
pub(crate) fn deform_single(
    primitive: &Primitive,
    skinned: bool,
    palette: &[JointMatrix],
    weights: &[f32],
    vertex: u32,
) -> Single {
    let source = morphed(primitive, weights, vertex);
    let whole = [Influence { joint: 0, weight: 1.0 }];
    let influences = primitive.influences().filter(|_| skinned);
    let row: SmallVec<[Influence; 8]> = influences.map_or(&whole[..], |i| i.row(vertex as usize)).into();
    let mut m = Rows::default();
    for Influence { joint, weight } in kept_influences(row) {
        m = added(m, palette[joint as usize].into(), weight);
    }
    let skin = skin_vertex(m, &source, true, may_mirror(primitive, skinned, palette, vertex));
    let [normal, tangent] = directions(&source, &skin, skin_tangent(m, source.tangent, true));
    Single { position: skin.position, normal, tangent, is_mirrored: skin.determinant < 0.0 }
}

fn morphed(primitive: &Primitive, weights: &[f32], at: u32) -> Vertex {
    let tangent = primitive.tangents().get(at as usize).copied().unwrap_or(Vec4::W);
    let mut vertex = Vertex {
        position: primitive.positions()[at as usize],
        normal: primitive.normals().get(at as usize).copied().unwrap_or(Vec3::ZERO),
        tangent: tangent.truncate(),
        handedness: tangent.w,
        tangent_word: 0,
    };
    let mut is_morphed = false;
    for (target, weight) in primitive.targets().iter().zip(weights) {
        let Some(weight) = active_weight(*weight) else { continue };
        is_morphed = true;
        if let Ok(row) = target.vertices().binary_search(&at) {
            let delta = target.delta(row);
            vertex.position += weight * delta.position;
            vertex.normal += weight * delta.normal;
            vertex.tangent += weight * delta.tangent;
        }
    }
    if is_morphed { bounded(vertex) } else { vertex }
}

/// Whether a joint of the vertex's chunk mirrors, as a workgroup finds out.
fn may_mirror(primitive: &Primitive, skinned: bool, palette: &[JointMatrix], vertex: u32) -> bool {
    let does = |joint: u32| mirrors(palette[joint as usize].into(), true);
    if !skinned {
        return does(0);
    }
    let chunks = primitive.chunks();
    let at = chunks.partition_point(|chunk| chunk.first + chunk.count <= vertex);
    chunks.get(at).is_some_and(|chunk| {
        chunk.class == InfluenceClass::Any || chunk.joints.iter().any(|joint| does(*joint))
    })
}
