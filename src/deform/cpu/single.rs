//! One vertex by the kernel's arithmetic, straight from its primitive: for readers of a few.

use glam::{Vec3, Vec4};
use smallvec::SmallVec;

use super::{
    dual,
    morph::bounded,
    output::directions,
    skin::{Rows, added, mirrors, skin_tangent, skin_vertex},
    source::Vertex,
};
use crate::{
    animate::JointMatrix,
    deform::{frame::active_weight, source::kept_influences},
    model::{Chunk, Influence, InfluenceClass, Influences, Primitive, Skinning},
};

/// A vertex where the exact kernel puts it.
pub(crate) struct Single {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) tangent: Vec3,
    pub(crate) is_mirrored: bool,
}

/// `palette` starts at the part's first row, `weights` has one per target. `skinning` is that of the mesh, none for a
/// part that rides on its node. The vertex exists.
pub(crate) fn deform_single(
    primitive: &Primitive,
    skinning: Option<Skinning>,
    palette: &[JointMatrix],
    weights: &[f32],
    vertex: u32,
) -> Single {
    let source = morphed(primitive, weights, vertex);
    let (m, may_mirror) = match (skinning, primitive.influences(), chunk_of(primitive, vertex)) {
        (Some(skinning), Some(influences), Some(chunk)) => {
            (blended(skinning, influences, palette, vertex), may_mirror(chunk, palette))
        }
        _ => {
            let node = Rows::from(palette[0]);
            (node, mirrors(node, true))
        }
    };
    let skin = skin_vertex(m, &source, true, may_mirror);
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

fn chunk_of(primitive: &Primitive, vertex: u32) -> Option<&Chunk> {
    let chunks = primitive.chunks();
    chunks.get(chunks.partition_point(|chunk| chunk.first + chunk.count <= vertex))
}

/// The matrix that a vertex is moved by.
fn blended(skinning: Skinning, influences: &Influences, palette: &[JointMatrix], vertex: u32) -> Rows {
    let row: SmallVec<[Influence; 8]> = influences.row(vertex as usize).into();
    let row = kept_influences(row);
    match skinning {
        Skinning::Linear => row.iter().fold(Rows::default(), |sum, influence| {
            added(sum, palette[influence.joint as usize].into(), influence.weight)
        }),
        Skinning::DualQuaternion => dual::blend_single(palette, &row),
    }
}

/// Whether a joint of a chunk mirrors, as a workgroup finds out.
fn may_mirror(chunk: &Chunk, palette: &[JointMatrix]) -> bool {
    let does = |joint: &u32| mirrors(palette[*joint as usize].into(), true);
    chunk.class == InfluenceClass::Any || chunk.joints.iter().any(does)
}
