use glam::Affine3A;

use super::PoseMut;
use crate::model::Skeleton;

/// Stage `hierarchy`: local transforms to model space, parents first, without recursion. `root` stands above
/// every node without a parent: the identity, or a conversion of axes. `world` has one matrix per node.
pub fn set_world(skeleton: &Skeleton, root: Affine3A, pose: &PoseMut<'_>, world: &mut [Affine3A]) {
    let is_plain = root == Affine3A::IDENTITY;
    for &node in skeleton.order() {
        let n = node as usize;
        let local = local(pose, n);
        world[n] = match skeleton.parents()[n] {
            Some(parent) => world[parent as usize] * local,
            None if is_plain => local,
            None => root * local,
        };
    }
}

/// A node's transform as a matrix.
pub(super) fn local(pose: &PoseMut<'_>, node: usize) -> Affine3A {
    let (scale, rotation) = (pose.scales[node], pose.rotations[node]);
    Affine3A::from_scale_rotation_translation(scale, rotation, pose.translations[node])
}
