use std::sync::{Mutex, PoisonError};

use glam::{Affine3A, Quat, Vec3};

use super::{
    CompressedClips, Instance, JointMatrix, PaletteLayout,
    clips::Clips,
    controls::Controls,
    evaluate::{Shared, Work},
    handle::Handle,
    pose::PoseMut,
    rows::{Rows, Which, rows_mut},
    slice::{Slice, Turn},
};
use crate::model::{Model, Transform};

#[cfg(feature = "threads")]
use super::evaluate::PIECE;

/// All instances of one model, as structures of arrays across them: a spawn is a slot at the end, a
/// despawn moves the last slot into the gap, so slots are always dense.
#[derive(Debug)]
pub(crate) struct Batch {
    clips: Clips,
    layout: PaletteLayout,
    owners: Vec<Handle<Instance>>,
    controls: Vec<Controls>,
    /// Of those that are not evaluated every frame.
    slices: Vec<Option<Box<Slice>>>,
    transforms: Vec<Affine3A>,
    /// Seconds that were advanced since the last evaluation.
    elapsed: f64,
    visible: Vec<bool>,
    in_view: Vec<bool>,
    /// How many follow another instance.
    followers: usize,
    /// The last evaluation went elsewhere than into `palette`.
    is_mirror_stale: bool,
    /// Of the view before, while the next one is set.
    was_in_view: Vec<bool>,
    /// `slots * nodes` each if poses are kept, empty otherwise.
    translations: Vec<Vec3>,
    rotations: Vec<Quat>,
    scales: Vec<Vec3>,
    world: Vec<Affine3A>,
    /// `slots * weight_count`.
    weights: Vec<f32>,
    /// `slots * layout.len()`.
    palette: Vec<JointMatrix>,
    /// The palette of the evaluation before; as long as `palette` if it is kept, empty otherwise.
    previous_palette: Vec<JointMatrix>,
    keeps_previous: bool,
    keeps_poses: bool,
    /// One per thread.
    works: Vec<Mutex<Work>>,
    /// Root transforms at the last evaluation and at the one before.
    evaluated_transforms: Vec<Affine3A>,
    previous_transforms: Vec<Affine3A>,
    /// To be evaluated as if for the first time.
    fresh: Vec<bool>,
    /// Evaluated that way by the last evaluation.
    was_fresh: Vec<bool>,
}

impl Batch {
    pub(crate) fn new(model: &Model, keeps_previous: bool) -> Self {
        let layout = PaletteLayout::new(model);
        let clips = Clips::new(model, &layout, true);
        Self {
            works: vec![Mutex::new(Work::new(&clips))],
            clips,
            layout,
            owners: Vec::new(),
            controls: Vec::new(),
            slices: Vec::new(),
            transforms: Vec::new(),
            elapsed: 0.0,
            visible: Vec::new(),
            in_view: Vec::new(),
            followers: 0,
            was_in_view: Vec::new(),
            is_mirror_stale: false,
            translations: Vec::new(),
            rotations: Vec::new(),
            scales: Vec::new(),
            world: Vec::new(),
            weights: Vec::new(),
            palette: Vec::new(),
            previous_palette: Vec::new(),
            keeps_previous,
            keeps_poses: true,
            evaluated_transforms: Vec::new(),
            previous_transforms: Vec::new(),
            fresh: Vec::new(),
            was_fresh: Vec::new(),
        }
    }

    /// Adds an instance in the rest pose with an identity palette (the bind pose) and returns its slot.
    pub(crate) fn push(&mut self, owner: Handle<Instance>, is_in_view: bool) -> u32 {
        let slot = self.owners.len();
        self.owners.push(owner);
        self.controls.push(Controls::default());
        self.slices.push(None);
        self.transforms.push(Affine3A::IDENTITY);
        self.visible.push(true);
        self.in_view.push(is_in_view);
        self.weights.resize((slot + 1) * self.model().weight_count(), 0.0);
        self.resize_poses();
        self.palette.resize((slot + 1) * self.layout.len(), JointMatrix::IDENTITY);
        self.keep_previous(self.keeps_previous);
        self.evaluated_transforms.push(Affine3A::IDENTITY);
        self.previous_transforms.push(Affine3A::IDENTITY);
        self.fresh.push(true);
        self.was_fresh.push(true);
        self.set_rest(slot);
        slot as u32
    }

    /// Removes a slot; returns the owner of the slot that moved into its place.
    pub(crate) fn swap_remove(&mut self, slot: u32) -> Option<Handle<Instance>> {
        let (slot, nodes) = (slot as usize, self.nodes_kept());
        self.owners.swap_remove(slot);
        self.controls.swap_remove(slot);
        self.slices.swap_remove(slot);
        self.transforms.swap_remove(slot);
        self.visible.swap_remove(slot);
        self.in_view.swap_remove(slot);
        swap_remove_rows(&mut self.translations, slot, nodes);
        swap_remove_rows(&mut self.rotations, slot, nodes);
        swap_remove_rows(&mut self.scales, slot, nodes);
        swap_remove_rows(&mut self.world, slot, nodes);
        swap_remove_rows(&mut self.weights, slot, self.clips.model().weight_count());
        swap_remove_rows(&mut self.palette, slot, self.layout.len());
        if self.keeps_previous {
            swap_remove_rows(&mut self.previous_palette, slot, self.layout.len());
        }
        self.evaluated_transforms.swap_remove(slot);
        self.previous_transforms.swap_remove(slot);
        self.fresh.swap_remove(slot);
        self.was_fresh.swap_remove(slot);
        self.owners.get(slot).copied()
    }

    pub(crate) fn model(&self) -> &Model {
        self.clips.model()
    }

    /// Nodes of which poses are kept.
    fn nodes_kept(&self) -> usize {
        if self.keeps_poses { self.model().skeleton().len() } else { 0 }
    }

    fn resize_poses(&mut self) {
        let rows = self.len() * self.nodes_kept();
        self.translations.resize(rows, Vec3::ZERO);
        self.rotations.resize(rows, Quat::IDENTITY);
        self.scales.resize(rows, Vec3::ONE);
        self.world.resize(rows, Affine3A::IDENTITY);
    }

    /// Keeps local transforms and world matrices for readers from now on, or gives them up.
    pub(crate) fn keep_poses(&mut self, keep: bool) {
        if self.keeps_poses == keep {
            return;
        }
        self.keeps_poses = keep;
        self.set_compressed(self.clips.compressed_clips().cloned());
        self.resize_poses();
        if keep {
            (0..self.len()).for_each(|slot| self.set_rest(slot));
        }
    }

    pub(crate) fn keeps_poses(&self) -> bool {
        self.keeps_poses
    }

    pub(crate) fn set_compressed(&mut self, clips: Option<CompressedClips>) {
        self.clips.rebuild(&self.layout, self.keeps_poses, clips);
        self.works = vec![Mutex::new(Work::new(&self.clips))];
        let rest = &self.clips.rig().rest;
        self.slices.iter_mut().flatten().for_each(|slice| slice.reshape(rest));
    }

    pub(super) fn slice(&self, slot: u32) -> Option<&Slice> {
        self.slices[slot as usize].as_deref()
    }

    /// Evaluates a slot every so many frames from now on.
    pub(super) fn set_rate(&mut self, slot: u32, every: u32, turn: impl FnOnce() -> Turn) {
        let slice = &mut self.slices[slot as usize];
        match slice {
            _ if every <= 1 => *slice = None,
            Some(slice) => slice.set_every(every),
            None => {
                let rest = &self.clips.rig().rest;
                *slice = Some(Box::new(Slice::new(self.clips.model(), rest, turn(), every)));
            }
        }
    }

    pub(super) fn slices_mut(&mut self) -> impl Iterator<Item = (u32, &mut Slice)> {
        (0..).zip(&mut self.slices).filter_map(|(slot, slice)| Some((slot, slice.as_deref_mut()?)))
    }

    pub(super) fn slice_mut(&mut self, slot: u32) -> Option<&mut Slice> {
        self.slices[slot as usize].as_deref_mut()
    }

    pub(crate) fn set_simd(&mut self, simd: bool) {
        self.clips.set_simd(simd);
    }

    pub(super) fn followers(&self) -> usize {
        self.followers
    }

    pub(super) fn followers_mut(&mut self) -> &mut usize {
        &mut self.followers
    }

    /// Whether the next evaluation is, or that which is going on was, the slot's first.
    pub(super) fn is_fresh(&self, slot: u32) -> bool {
        self.fresh[slot as usize]
    }

    pub(crate) fn layout(&self) -> &PaletteLayout {
        &self.layout
    }

    pub(crate) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(crate) fn owners(&self) -> &[Handle<Instance>] {
        &self.owners
    }

    pub(super) fn controls(&self, slot: u32) -> &Controls {
        &self.controls[slot as usize]
    }

    pub(super) fn controls_mut(&mut self, slot: u32) -> (&Model, &mut Controls) {
        (self.clips.model(), &mut self.controls[slot as usize])
    }

    pub(crate) fn transform_mut(&mut self, slot: u32) -> &mut Affine3A {
        &mut self.transforms[slot as usize]
    }

    pub(crate) fn transform(&self, slot: u32) -> Affine3A {
        self.transforms[slot as usize]
    }

    pub(crate) fn visible_mut(&mut self, slot: u32) -> &mut bool {
        &mut self.visible[slot as usize]
    }

    pub(crate) fn visible(&self, slot: u32) -> bool {
        self.visible[slot as usize]
    }

    pub(crate) fn is_in_view(&self, slot: u32) -> bool {
        self.in_view[slot as usize]
    }

    pub(crate) fn start_view(&mut self, sees_all: bool) {
        self.was_in_view.clone_from(&self.in_view);
        self.in_view.fill(sees_all);
    }

    pub(crate) fn take_in_view(&mut self, slot: u32) {
        self.in_view[slot as usize] = true;
    }

    /// Whether anything is different from the view before.
    pub(crate) fn finish_view(&mut self) -> bool {
        self.in_view != self.was_in_view
    }

    pub(crate) fn world(&self, slot: u32) -> &[Affine3A] {
        rows(&self.world, slot as usize, self.nodes_kept())
    }

    pub(crate) fn local(&self, slot: u32, node: u32) -> Option<Transform> {
        let nodes = self.nodes_kept();
        let at = (node as usize) < nodes;
        let at = at.then_some(slot as usize * nodes + node as usize)?;
        Some(Transform {
            translation: self.translations[at],
            rotation: self.rotations[at],
            scale: self.scales[at],
        })
    }

    pub(crate) fn weights(&self, slot: u32) -> &[f32] {
        rows(&self.weights, slot as usize, self.model().weight_count())
    }

    /// Of all slots, one after another.
    pub(crate) fn palettes(&self) -> &[JointMatrix] {
        &self.palette
    }

    /// Keeps the palettes of the evaluation before from now on, or gives them up.
    pub(crate) fn keep_previous(&mut self, keep: bool) {
        if keep && !self.keeps_previous {
            self.previous_palette.clone_from(&self.palette);
        }
        self.keeps_previous = keep;
        let rows = if keep { self.palette.len() } else { 0 };
        self.previous_palette.resize(rows, JointMatrix::IDENTITY);
    }

    /// Of all slots, one after another; the current ones where none are kept.
    pub(crate) fn previous_palettes(&self) -> &[JointMatrix] {
        if self.keeps_previous { &self.previous_palette } else { &self.palette }
    }

    pub(crate) fn previous_transform(&self, slot: u32) -> Affine3A {
        self.previous_transforms[slot as usize]
    }

    pub(crate) fn forget_previous(&mut self, slot: u32) {
        self.fresh[slot as usize] = true;
        self.slice_mut(slot).into_iter().for_each(Slice::forget);
        let special = self.controls[slot as usize].special_if_any();
        special.into_iter().for_each(|special| special.modifiers.forget());
    }

    pub(crate) fn was_fresh(&self, slot: u32) -> bool {
        self.was_fresh[slot as usize]
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        // What remembers time lives forwards, as fades do.
        self.elapsed += if seconds.is_finite() { seconds.abs() } else { 0.0 };
        for controls in &mut self.controls {
            let mut all_stay = true;
            for layer in &mut controls.layers {
                all_stay &= layer.advance(seconds);
            }
            if !all_stay {
                controls.layers.retain(|layer| layer.stays());
            }
        }
    }

    /// Before an evaluation into the palettes here.
    pub(super) fn start(&mut self) {
        if self.keeps_previous {
            // Every row is written below.
            std::mem::swap(&mut self.palette, &mut self.previous_palette);
        }
    }

    /// Runs all stages for those whose turn it is. Allocates nothing.
    pub(super) fn evaluate(&mut self, which: Which) {
        let mut palette = std::mem::take(&mut self.palette);
        self.evaluate_all(&mut palette, which, false);
        self.palette = palette;
    }

    /// After all were evaluated.
    pub(super) fn finish(&mut self) {
        self.turn();
        let rows = self.layout.len();
        if self.keeps_previous && std::mem::take(&mut self.is_mirror_stale) {
            // What was evaluated before is not here.
            self.previous_palette.copy_from_slice(&self.palette);
        } else if self.keeps_previous {
            for (slot, _) in self.was_fresh.iter().enumerate().filter(|(_, is_fresh)| **is_fresh) {
                let current = &self.palette[slot * rows..(slot + 1) * rows];
                rows_mut(&mut self.previous_palette, slot, rows).copy_from_slice(current);
            }
        }
    }

    /// The same with palettes of someone else, as many rows as there are.
    pub(super) fn evaluate_into(&mut self, palette: &mut [JointMatrix], which: Which) {
        self.evaluate_all(palette, which, true);
    }

    /// After all were evaluated into palettes of someone else.
    pub(super) fn finish_elsewhere(&mut self) {
        self.turn();
        self.is_mirror_stale = true;
    }

    #[cfg(not(feature = "threads"))]
    fn evaluate_all(&mut self, palette: &mut [JointMatrix], which: Which, is_elsewhere: bool) {
        let (shared, rows, works) = self.split(palette, which, is_elsewhere);
        shared.evaluate(rows, own(works));
    }

    /// On the threads of the pool that is current, if there is enough to do.
    #[cfg(feature = "threads")]
    fn evaluate_all(&mut self, palette: &mut [JointMatrix], which: Which, is_elsewhere: bool) {
        if self.len() <= PIECE {
            let (shared, rows, works) = self.split(palette, which, is_elsewhere);
            return shared.evaluate(rows, own(works));
        }
        let threads = rayon::current_num_threads();
        while self.works.len() < threads {
            self.works.push(Mutex::new(Work::new(&self.clips)));
        }
        let (shared, rows, works) = self.split(palette, which, is_elsewhere);
        shared.evaluate_on(rows, &works[..threads]);
    }

    /// Runs all stages for one instance.
    pub(crate) fn evaluate_slot(&mut self, slot: u32) {
        self.slice_mut(slot).into_iter().for_each(Slice::forget);
        let mut palette = std::mem::take(&mut self.palette);
        let (shared, rows, works) = self.split(&mut palette, Which::Both, false);
        // No time passes.
        let shared = Shared { elapsed: 0.0, ..shared };
        shared.evaluate(rows.only(slot as usize), own(works));
        self.palette = palette;
    }

    fn split<'a>(
        &'a mut self,
        palette: &'a mut [JointMatrix],
        which: Which,
        is_elsewhere: bool,
    ) -> (Shared<'a>, Rows<'a>, &'a mut [Mutex<Work>]) {
        let (clips, layout, elapsed) = (&self.clips, &self.layout, self.elapsed);
        let shared = Shared { clips, layout, is_elsewhere, elapsed, which };
        let rows = Rows {
            controls: &mut self.controls,
            transforms: &self.transforms,
            slices: &mut self.slices,
            pose: PoseMut {
                translations: &mut self.translations,
                rotations: &mut self.rotations,
                scales: &mut self.scales,
                weights: &mut self.weights,
            },
            world: &mut self.world,
            palette,
        };
        (shared, rows, &mut self.works)
    }

    /// The rest pose, for whoever reads before the first evaluation.
    fn set_rest(&mut self, slot: usize) {
        let (nodes, weights) = (self.nodes_kept(), self.model().weight_count());
        let model = self.clips.model();
        let pose = rows_mut(&mut self.weights, slot, weights);
        for (index, part) in (0u32..).zip(model.parts()) {
            pose[model.weight_range(index)].copy_from_slice(&part.weights);
        }
        for (at, rest) in (slot * nodes..(slot + 1) * nodes).zip(model.skeleton().rest()) {
            self.translations[at] = rest.translation;
            self.rotations[at] = rest.rotation;
            self.scales[at] = rest.scale;
        }
    }

    /// What stood is previous now; what is evaluated for the first time stood where it stands.
    fn turn(&mut self) {
        self.elapsed = 0.0;
        std::mem::swap(&mut self.evaluated_transforms, &mut self.previous_transforms);
        self.evaluated_transforms.copy_from_slice(&self.transforms);
        std::mem::swap(&mut self.fresh, &mut self.was_fresh);
        self.fresh.fill(false);
        for (slot, _) in self.was_fresh.iter().enumerate().filter(|(_, is_fresh)| **is_fresh) {
            self.previous_transforms[slot] = self.transforms[slot];
        }
    }
}

/// The memory of the thread that evaluates alone.
fn own(works: &mut [Mutex<Work>]) -> &mut Work {
    works[0].get_mut().unwrap_or_else(PoisonError::into_inner)
}

fn rows<T>(list: &[T], slot: usize, width: usize) -> &[T] {
    &list[slot * width..(slot + 1) * width]
}

/// Moves the last row of `width` values into row `slot` and shortens the list.
fn swap_remove_rows<T: Copy>(list: &mut Vec<T>, slot: usize, width: usize) {
    let last = list.len() - width;
    list.copy_within(last.., slot * width);
    list.truncate(last);
}
