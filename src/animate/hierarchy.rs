use std::cell::RefCell;

use glam::{Affine3A, DAffine3, DMat3};

use super::PoseMut;
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
    EXACT.with_borrow_mut(|exact| {
        exact.resize(skeleton.len(), DAffine3::IDENTITY);
        let wide =
            |m: Affine3A| DAffine3 { matrix3: m.matrix3.as_dmat3(), translation: m.translation.as_dvec3() };
        let root = wide(root);
        for &node in skeleton.order() {
            let n = node as usize;
            if let Some(matrix) = given(n) {
                (exact[n], world[n]) = (wide(matrix), matrix);
                continue;
            }
            let turned = DMat3::from_quat(pose.rotations[n].as_dquat());
            let matrix3 = turned * DMat3::from_diagonal(pose.scales[n].as_dvec3());
            let local = DAffine3 { matrix3, translation: pose.translations[n].as_dvec3() };
            exact[n] = skeleton.parents()[n].map_or(root, |parent| exact[parent as usize]) * local;
            world[n] = Affine3A {
                matrix3: exact[n].matrix3.as_mat3().into(),
                translation: exact[n].translation.as_vec3a(),
            };
        }
    });
}
