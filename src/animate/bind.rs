//! Binding a skin anew, and going back to where it was bound.

use glam::Affine3A;

use super::controls::under;
use crate::model::{Model, Skeleton, Skin, SkinError, Transform};

/// The skin bound where its joints stand now: the palette of that pose is the identity. `world` has a matrix
/// per node, as [`Animator::world`](super::Animator::world) gives it.
pub fn bind_here(skin: &Skin, skeleton: &Skeleton, world: &[Affine3A]) -> Result<Skin, SkinError> {
    let joints = skin.joints().to_vec();
    let mut matrices = Vec::with_capacity(joints.len());
    for (joint, &node) in joints.iter().enumerate() {
        let bind = world.get(node as usize).copied().unwrap_or(Affine3A::IDENTITY);
        if bind.matrix3.determinant() == 0.0 {
            return Err(SkinError::BoundAtZeroScale { joint, node });
        }
        matrices.push(bind.inverse().into());
    }
    Skin::new(skin.name(), skeleton, joints, Some(&matrices))
}

/// Where the joints of a skin stood when it was bound, as local transforms to
/// [set](super::Animator::set_pose). A joint with a joint for a parent goes back under it; any other stands
/// where it was bound. Joints whose inverse bind matrix cannot be inverted are left out.
#[must_use]
pub fn bind_pose(model: &Model, skin: u32) -> Vec<(u32, Transform)> {
    let Some(skin) = model.skins().get(skin as usize) else { return Vec::new() };
    let bound = |joint: usize| {
        let inverse = skin.inverse_binds()[joint];
        (inverse.matrix3.determinant() != 0.0).then(|| inverse.inverse())
    };
    let joints = skin.joints().iter().zip(skin.joint_parents()).enumerate();
    let local = joints.filter_map(|(joint, (&node, parent))| {
        let parent = match parent {
            Some(parent) => bound(*parent as usize)?,
            None => Affine3A::IDENTITY,
        };
        Some((node, under(parent, bound(joint)?)?))
    });
    local.collect()
}
