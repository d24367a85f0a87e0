//! The lists that instances of one model are evaluated in, and how they are cut.

use glam::Affine3A;

use super::{
    JointMatrix,
    controls::Controls,
    pose::{Pose, PoseMut},
    slice::Slice,
};
use crate::model::Model;

/// Which instances are evaluated: those that follow another one come when all others are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that follow nobody.
    Leaders,
    /// Those that follow another one.
    Followers,
    /// All.
    Both,
}

/// Some instances, one after another. The lists of poses and matrices may be empty: then none are kept.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub(super) controls: &'a mut [Controls],
    pub(super) transforms: &'a [Affine3A],
    pub(super) slices: &'a mut [Option<Box<Slice>>],
    pub(super) pose: PoseMut<'a>,
    pub(super) world: &'a mut [Affine3A],
    pub(super) palette: &'a mut [JointMatrix],
}

impl Rows<'_> {
    /// One of them.
    pub(super) fn only(self, slot: usize) -> Self {
        self.split_at(slot).1.split_at(1).0
    }

    /// The first `slots` and the others.
    pub(super) fn split_at(self, slots: usize) -> (Self, Self) {
        let all = self.controls.len();
        let (controls, other_controls) = self.controls.split_at_mut(slots);
        let (transforms, other_transforms) = self.transforms.split_at(slots);
        let (slices, other_slices) = self.slices.split_at_mut(slots);
        let (translations, other_translations) = split(self.pose.translations, slots, all);
        let (rotations, other_rotations) = split(self.pose.rotations, slots, all);
        let (scales, other_scales) = split(self.pose.scales, slots, all);
        let (weights, other_weights) = split(self.pose.weights, slots, all);
        let (world, other_world) = split(self.world, slots, all);
        let (palette, other_palette) = split(self.palette, slots, all);
        let pose = PoseMut { translations, rotations, scales, weights };
        let other_pose = PoseMut {
            translations: other_translations,
            rotations: other_rotations,
            scales: other_scales,
            weights: other_weights,
        };
        (
            Self { controls, transforms, slices, pose, world, palette },
            Self {
                controls: other_controls,
                transforms: other_transforms,
                slices: other_slices,
                pose: other_pose,
                world: other_world,
                palette: other_palette,
            },
        )
    }
}

/// A list with rows for `all` behind its first `slots` of them.
fn split<T>(list: &mut [T], slots: usize, all: usize) -> (&mut [T], &mut [T]) {
    let width = list.len() / all.max(1);
    list.split_at_mut(width * slots)
}

/// Where the pose of an instance lies: among those that are kept, or in memory for one.
pub(super) fn pose_of<'p>(
    model: &Model,
    slot: usize,
    kept: &'p mut PoseMut<'_>,
    one: &'p mut Pose,
) -> PoseMut<'p> {
    let weights = rows_mut(kept.weights, slot, model.weight_count());
    if kept.rotations.is_empty() {
        return PoseMut { weights, ..one.as_mut() };
    }
    let nodes = model.skeleton().len();
    PoseMut {
        translations: rows_mut(kept.translations, slot, nodes),
        rotations: rows_mut(kept.rotations, slot, nodes),
        scales: rows_mut(kept.scales, slot, nodes),
        weights,
    }
}

/// The row of one instance.
pub(super) fn rows_mut<T>(list: &mut [T], slot: usize, width: usize) -> &mut [T] {
    &mut list[slot * width..(slot + 1) * width]
}
