use glam::{Affine3A, Quat, Vec3};

use super::{
    Instance, JointMatrix, PaletteLayout,
    blend::Blend,
    controls::Controls,
    handle::Handle,
    hierarchy::set_world,
    palette::set_palette,
    pose::{PoseMut, set_rest},
    sample::set_channels,
};
use crate::model::{Model, Transform};

/// The stages of a frame, in the order they run for every instance. `Modifiers` has its place in the order and
/// nothing to do yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Every component to the model's rest pose.
    Rest,
    /// Components set by the caller.
    Overrides,
    /// Components driven by clips: of a single layer straight into the pose, of several into weighted sums.
    Channels,
    /// The sums into one pose, then additive layers on top.
    Blend,
    /// Constraints on the blended pose.
    Modifiers,
    /// World transforms from elsewhere, such as physics.
    WorldPoses,
    /// Hidden joints to zero scale.
    Visibility,
    /// Local transforms to model space.
    Hierarchy,
    /// Model space to palette rows.
    Palette,
}

impl Stage {
    /// All stages in order.
    pub const ORDER: [Self; 9] = [
        Self::Rest,
        Self::Overrides,
        Self::Channels,
        Self::Blend,
        Self::Modifiers,
        Self::WorldPoses,
        Self::Visibility,
        Self::Hierarchy,
        Self::Palette,
    ];
}

/// All instances of one model, as structures of arrays across them: a spawn is a slot at the end, a
/// despawn moves the last slot into the gap, so slots are always dense.
#[derive(Debug)]
pub(crate) struct Batch {
    model: Model,
    layout: PaletteLayout,
    owners: Vec<Handle<Instance>>,
    controls: Vec<Controls>,
    blend: Blend,
    transforms: Vec<Affine3A>,
    visible: Vec<bool>,
    /// `slots * nodes` each.
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
        Self {
            model: model.clone(),
            layout: PaletteLayout::new(model),
            owners: Vec::new(),
            controls: Vec::new(),
            blend: Blend::new(model),
            transforms: Vec::new(),
            visible: Vec::new(),
            translations: Vec::new(),
            rotations: Vec::new(),
            scales: Vec::new(),
            world: Vec::new(),
            weights: Vec::new(),
            palette: Vec::new(),
            previous_palette: Vec::new(),
            keeps_previous,
            evaluated_transforms: Vec::new(),
            previous_transforms: Vec::new(),
            fresh: Vec::new(),
            was_fresh: Vec::new(),
        }
    }

    /// Adds an instance in the rest pose with an identity palette (the bind pose) and returns its slot.
    pub(crate) fn push(&mut self, owner: Handle<Instance>) -> u32 {
        let slot = self.owners.len();
        let nodes = self.model.skeleton().len();
        self.owners.push(owner);
        self.controls.push(Controls::default());
        self.transforms.push(Affine3A::IDENTITY);
        self.visible.push(true);
        self.translations.resize((slot + 1) * nodes, Vec3::ZERO);
        self.rotations.resize((slot + 1) * nodes, Quat::IDENTITY);
        self.scales.resize((slot + 1) * nodes, Vec3::ONE);
        self.world.resize((slot + 1) * nodes, Affine3A::IDENTITY);
        self.weights.resize((slot + 1) * self.model.weight_count(), 0.0);
        self.palette.resize((slot + 1) * self.layout.len(), JointMatrix::IDENTITY);
        self.keep_previous(self.keeps_previous);
        self.evaluated_transforms.push(Affine3A::IDENTITY);
        self.previous_transforms.push(Affine3A::IDENTITY);
        self.fresh.push(true);
        self.was_fresh.push(true);
        self.run(Stage::Rest, slot);
        slot as u32
    }

    /// Removes a slot; returns the owner of the slot that moved into its place.
    pub(crate) fn swap_remove(&mut self, slot: u32) -> Option<Handle<Instance>> {
        let (slot, nodes) = (slot as usize, self.model.skeleton().len());
        self.owners.swap_remove(slot);
        self.controls.swap_remove(slot);
        self.transforms.swap_remove(slot);
        self.visible.swap_remove(slot);
        swap_remove_rows(&mut self.translations, slot, nodes);
        swap_remove_rows(&mut self.rotations, slot, nodes);
        swap_remove_rows(&mut self.scales, slot, nodes);
        swap_remove_rows(&mut self.world, slot, nodes);
        swap_remove_rows(&mut self.weights, slot, self.model.weight_count());
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
        &self.model
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
        (&self.model, &mut self.controls[slot as usize])
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

    pub(crate) fn world(&self, slot: u32) -> &[Affine3A] {
        rows(&self.world, slot as usize, self.model.skeleton().len())
    }

    pub(crate) fn local(&self, slot: u32, node: u32) -> Option<Transform> {
        let nodes = self.model.skeleton().len();
        let at = (node as usize) < nodes;
        let at = at.then_some(slot as usize * nodes + node as usize)?;
        Some(Transform {
            translation: self.translations[at],
            rotation: self.rotations[at],
            scale: self.scales[at],
        })
    }

    pub(crate) fn weights(&self, slot: u32) -> &[f32] {
        rows(&self.weights, slot as usize, self.model.weight_count())
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
    }

    pub(crate) fn was_fresh(&self, slot: u32) -> bool {
        self.was_fresh[slot as usize]
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        for controls in &mut self.controls {
            controls.layers.retain_mut(|layer| layer.advance(seconds));
        }
    }

    /// Runs all stages for every instance. Allocates nothing.
    pub(crate) fn evaluate(&mut self) {
        if self.keeps_previous {
            // Every row is written below.
            std::mem::swap(&mut self.palette, &mut self.previous_palette);
        }
        for slot in 0..self.len() {
            self.evaluate_slot(slot as u32);
            self.turn(slot);
        }
    }

    /// Runs all stages for one instance.
    pub(crate) fn evaluate_slot(&mut self, slot: u32) {
        for stage in Stage::ORDER {
            self.run(stage, slot as usize);
        }
    }

    /// What stood is previous now; what is evaluated for the first time stood where it stands.
    fn turn(&mut self, slot: usize) {
        let is_fresh = std::mem::take(&mut self.fresh[slot]);
        let transform = self.transforms[slot];
        let evaluated = std::mem::replace(&mut self.evaluated_transforms[slot], transform);
        self.previous_transforms[slot] = if is_fresh { transform } else { evaluated };
        self.was_fresh[slot] = is_fresh;
        if is_fresh && self.keeps_previous {
            let current = rows(&self.palette, slot, self.layout.len());
            rows_mut(&mut self.previous_palette, slot, self.layout.len()).copy_from_slice(current);
        }
    }

    fn run(&mut self, stage: Stage, slot: usize) {
        let nodes = self.model.skeleton().len();
        let pose = &mut PoseMut {
            translations: rows_mut(&mut self.translations, slot, nodes),
            rotations: rows_mut(&mut self.rotations, slot, nodes),
            scales: rows_mut(&mut self.scales, slot, nodes),
            weights: rows_mut(&mut self.weights, slot, self.model.weight_count()),
        };
        let world = rows_mut(&mut self.world, slot, nodes);
        let controls = &self.controls[slot];
        match stage {
            Stage::Rest => set_rest(&self.model, pose),
            Stage::Overrides => controls.set_overrides(pose),
            Stage::Channels => match controls.single() {
                // A layer copied from another model's instance may name a clip that is not here.
                Some(layer) => {
                    if let Some(clip) = self.model.clips().get(layer.player.clip() as usize) {
                        set_channels(&self.model, clip, layer.player.time() as f32, pose);
                    }
                }
                None if controls.layers.is_empty() => {}
                None => self.blend.gather(&self.model, &controls.layers),
            },
            Stage::Blend => {
                if controls.single().is_none() && !controls.layers.is_empty() {
                    self.blend.resolve(controls.threshold, pose);
                    self.blend.add(&self.model, &controls.layers, pose);
                }
            }
            Stage::Modifiers => {}
            Stage::WorldPoses => controls.set_world_poses(self.model.skeleton(), pose, world),
            Stage::Visibility => controls.set_visibility(pose),
            Stage::Hierarchy => match &controls.world {
                Some(own) => world.copy_from_slice(own),
                None => set_world(self.model.skeleton(), controls.conversion, pose, world),
            },
            Stage::Palette => {
                let palette = rows_mut(&mut self.palette, slot, self.layout.len());
                set_palette(&self.model, &self.layout, world, palette);
                controls.set_palettes(&self.layout, palette);
            }
        }
    }
}

fn rows<T>(list: &[T], slot: usize, width: usize) -> &[T] {
    &list[slot * width..(slot + 1) * width]
}

fn rows_mut<T>(list: &mut [T], slot: usize, width: usize) -> &mut [T] {
    &mut list[slot * width..(slot + 1) * width]
}

/// Moves the last row of `width` values into row `slot` and shortens the list.
fn swap_remove_rows<T: Copy>(list: &mut Vec<T>, slot: usize, width: usize) {
    let last = list.len() - width;
    list.copy_within(last.., slot * width);
    list.truncate(last);
}
