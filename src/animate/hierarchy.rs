use glam::Affine3A;

use super::PoseMut;
use crate::model::Skeleton;

/// Stage `hierarchy`: local transforms to model space, parents first, without recursion.
/// `world` has one matrix per node.
pub fn set_world(skeleton: &Skeleton, pose: &PoseMut<'_>, world: &mut [Affine3A]) {
    for &node in skeleton.order() {
        let n = node as usize;
        let local = Affine3A::from_scale_rotation_translation(
            pose.scales[n],
            pose.rotations[n],
            pose.translations[n],
        );
        world[n] = match skeleton.parents()[n] {
            Some(parent) => world[parent as usize] * local,
            None => local,
        };
    }
}
