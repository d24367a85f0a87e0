use std::cell::RefCell;

use glam::{Affine3A, DAffine3};

use super::{
    PoseMut,
    exact::{ExactLocal, exact, rounded},
};
use crate::model::Skeleton;

/// Levels up to which rounding stays within two millionths of a chain's length in f32.
const DEEP: u32 = 32;

/// Whether rounding would add up along the chains, which is why they are computed in f64.
pub(super) fn is_deep(skeleton: &Skeleton) -> bool {
    skeleton.depth() > DEEP
}

/// Stage `hierarchy`: local transforms to model space, parents first, without recursion. `root` stands above
/// every node without a parent: the identity, or a conversion of axes. `world` has one matrix per node.
///
/// Skeletons of more than 32 levels, such as ropes, are computed in f64.
pub fn set_world(skeleton: &Skeleton, root: Affine3A, pose: &PoseMut<'_>, world: &mut [Affine3A]) {
    set_world_with(skeleton, root, pose, |_| None, world);
}

/// As [`set_world`], with nodes whose matrix is `given` whatever their parents do.
pub(super) fn set_world_with(
    skeleton: &Skeleton,
    root: Affine3A,
    pose: &PoseMut<'_>,
    given: impl Fn(usize) -> Option<Affine3A>,
    world: &mut [Affine3A],
) {
    if is_deep(skeleton) {
        return set_deep_world(skeleton, root, pose, given, world);
    }
    let is_plain = root == Affine3A::IDENTITY;
    for &node in skeleton.order() {
        let n = node as usize;
        if let Some(matrix) = given(n) {
            world[n] = matrix;
            continue;
        }
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

fn set_deep_world(
    skeleton: &Skeleton,
    root: Affine3A,
    pose: &PoseMut<'_>,
    given: impl Fn(usize) -> Option<Affine3A>,
    world: &mut [Affine3A],
) {
    thread_local! {
        /// Kept so that no frame allocates.
        static EXACT: RefCell<Vec<DAffine3>> = const { RefCell::new(Vec::new()) };
    }
    EXACT.with_borrow_mut(|matrices| {
        matrices.resize(skeleton.len(), DAffine3::IDENTITY);
        let root = exact(root);
        for &node in skeleton.order() {
            let n = node as usize;
            if let Some(matrix) = given(n) {
                (matrices[n], world[n]) = (exact(matrix), matrix);
                continue;
            }
            let above = skeleton.parents()[n].map_or(root, |parent| matrices[parent as usize]);
            matrices[n] = above * ExactLocal::of(pose.as_ref(), n).matrix();
            world[n] = rounded(matrices[n]);
        }
    });
}
