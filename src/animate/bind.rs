//! Binding a skin anew, and going back to where it was bound.

use glam::{Affine3A, DAffine3};

use super::{
    controls::under,
    exact::{ExactLocal, exact, inverse, rounded},
};
use crate::model::{Model, Skeleton, Skin, SkinError, Transform};

/// The skin bound where its joints stand now: the palette of that pose is the identity. `world` has a matrix
/// per node, as [`Animator::world`](super::Animator::world) gives it. A node that is several joints is bound as each of
/// them.
pub fn bind_here(skin: &Skin, skeleton: &Skeleton, world: &[Affine3A]) -> Result<Skin, SkinError> {
    let joints = skin.joints().to_vec();
    let mut matrices = Vec::with_capacity(joints.len());
    for (joint, &node) in joints.iter().enumerate() {
        let bind = world.get(node as usize).copied().unwrap_or(Affine3A::IDENTITY);
        let inverse = bind.inverse();
        if bind.matrix3.determinant() == 0.0 || inverse.matrix3.determinant() == 0.0 {
            return Err(SkinError::BoundAtZeroScale { joint, node });
        }
        matrices.push(inverse.into());
    }
    Skin::accept_duplicates(skin.name(), skeleton, joints, Some(&matrices))
}

/// Where the joints of a skin stood when it was bound, as local transforms to
/// [set](super::Animator::set_pose): under joints that stand there too and other nodes at rest, the palette is the
/// identity. Joints whose inverse bind matrix cannot be inverted are left out; a node that is several joints goes where
/// the first of them was bound.
#[must_use]
pub fn bind_pose(model: &Model, skin: u32) -> Vec<(u32, Transform)> {
    let Some(skin) = model.skins().get(skin as usize) else { return Vec::new() };
    let skeleton = model.skeleton();
    let mut bound: Vec<Option<DAffine3>> = vec![None; skeleton.len()];
    for (node, matrix) in skin.joints().iter().zip(bound_matrices(skin)) {
        bound[*node as usize] = bound[*node as usize].or(matrix);
    }
    let mut world = vec![DAffine3::IDENTITY; skeleton.len()];
    let mut locals: Vec<Option<Transform>> = vec![None; skeleton.len()];
    for &node in skeleton.order() {
        let n = node as usize;
        let above = skeleton.parents()[n].map_or(DAffine3::IDENTITY, |parent| world[parent as usize]);
        locals[n] = bound[n].and_then(|bound| under(rounded(above), rounded(bound)));
        world[n] = match bound[n].filter(|_| locals[n].is_some()) {
            Some(bound) => bound,
            None => above * ExactLocal::from(skeleton.rest()[n]).matrix(),
        };
    }
    skin.joints().iter().filter_map(|&node| Some((node, locals[node as usize].take()?))).collect()
}

/// Where each joint of a skin stood in the space of its mesh when it was bound; `None` where its inverse bind matrix
/// cannot be inverted.
pub(crate) fn bound_matrices(skin: &Skin) -> impl Iterator<Item = Option<DAffine3>> + '_ {
    skin.inverse_binds().iter().map(|matrix| inverse(exact(*matrix)))
}
