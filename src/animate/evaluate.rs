//! A frame of some instances of one model: many at once where only clips shape them, one by one, stage after
//! stage, where more does.

#[cfg(feature = "threads")]
use std::sync::{Mutex, PoisonError};

use glam::{Affine3A, Quat, Vec3};

use super::{
    LayerKind, PaletteLayout,
    blend::Blend,
    clips::Clips,
    controls::Controls,
    hierarchy::set_world,
    kernel::{self, Drain, Eight, EightWorlds, One},
    lanes::with_lanes,
    mask::usable,
    moving::LanePose,
    palette::set_palette,
    pose::{Pose, PoseMut, set_rest},
    posed::PosedMemory,
    rows::{Rows, Which, pose_of, rows_mut},
    sample::Sink,
    slice::{Share, Slice},
    stage::Stage,
};

/// What all instances share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub(super) clips: &'a Clips,
    pub(super) layout: &'a PaletteLayout,
    /// Whether palettes go to memory of someone else, such as what a GPU reads: that may not be cached.
    pub(super) is_elsewhere: bool,
    /// Seconds since the evaluation before.
    pub(super) elapsed: f64,
    /// Whose turn it is.
    pub(super) which: Which,
}

/// Memory for one thread, kept so that no frame allocates.
#[derive(Debug)]
pub(super) struct Work {
    eight: Box<[LanePose; 8]>,
    /// Palettes of eight instances that do not lie side by side, or go elsewhere together.
    staged: Vec<f32>,
    /// Of one instance.
    layers: Vec<LanePose>,
    scratch: kernel::Scratch,
    blend: Blend,
    pose: Pose,
    world: Vec<Affine3A>,
    posed: PosedMemory,
}

impl Work {
    pub(super) fn new(clips: &Clips) -> Self {
        let rest = &clips.rig().rest;
        Self {
            eight: Box::new([(); 8].map(|()| rest.clone())),
            staged: vec![0.0; clips.rig().palette_len * 12 * 8],
            layers: vec![rest.clone(), rest.clone()],
            scratch: kernel::Scratch::new(clips.rig()),
            blend: Blend::new(clips.model()),
            pose: Pose::rest(clips.model()),
            world: vec![Affine3A::IDENTITY; clips.model().skeleton().len()],
            posed: PosedMemory::default(),
        }
    }
}

/// Up to so many instances are evaluated by one thread.
#[cfg(feature = "threads")]
pub(super) const PIECE: usize = 64;

/// With more, instances are evaluated stage by stage.
const MOST_LAYERS: usize = 8;

/// How an instance is evaluated; a matter of what is said about it alone, so that others change no byte of it.
enum Way {
    /// Rest pose.
    Rest,
    /// One clip.
    Clip,
    /// Several, whose weights sum up to this.
    Blend(f32),
    /// Stage after stage.
    Stages,
}

impl Shared<'_> {
    /// Runs all stages for all of `rows`.
    pub(super) fn evaluate(self, rows: Rows<'_>, work: &mut Work) {
        Evaluate { shared: self, rows, work }.run();
    }

    /// The same on the threads of the rayon pool that is current, with one of `works` each.
    #[cfg(feature = "threads")]
    pub(super) fn evaluate_on(self, rows: Rows<'_>, works: &[Mutex<Work>]) {
        // Each half of the memory goes with its half of the instances; more pieces than threads, so that no
        // thread waits long for another.
        let pieces = rows.controls.len().div_ceil(PIECE).min(works.len() * 4);
        self.evaluate_pieces(rows, pieces, works);
    }

    #[cfg(feature = "threads")]
    fn evaluate_pieces(self, rows: Rows<'_>, pieces: usize, works: &[Mutex<Work>]) {
        if pieces > 1 {
            let at = (rows.controls.len() * (pieces / 2) / pieces).next_multiple_of(8);
            let (left, right) = rows.split_at(at);
            rayon::join(
                || self.evaluate_pieces(left, pieces / 2, works),
                || self.evaluate_pieces(right, pieces - pieces / 2, works),
            );
            return;
        }
        let own = rayon::current_thread_index().unwrap_or(0) % works.len();
        // A piece is never interrupted by another on the same thread, so nobody waits here.
        let mut work = works[own].lock().unwrap_or_else(PoisonError::into_inner);
        self.evaluate(rows, &mut work);
    }

    fn way(self, controls: &Controls) -> Way {
        if !self.clips.rig().is_tame || !controls.is_plain() {
            return Way::Stages;
        }
        if controls.layers.is_empty() {
            return Way::Rest;
        }
        if let Some(layer) = controls.single() {
            let is_known = self.clips.facts(layer.player.clip()).is_some();
            return if is_known { Way::Clip } else { Way::Rest };
        }
        if controls.layers.len() > MOST_LAYERS {
            return Way::Stages;
        }
        let (mut total, mut class) = (0.0, None);
        for layer in &controls.layers {
            let Some((own, drives_weights)) = self.clips.facts(layer.player.clip()) else {
                return Way::Stages;
            };
            let is_alike = class.is_none_or(|class| class == own);
            if !is_alike || drives_weights || layer.kind != LayerKind::Blend || layer.mask.is_some() {
                return Way::Stages;
            }
            class = Some(own);
            total += usable(layer.weight);
        }
        if total >= f32::MIN_POSITIVE && total >= controls.threshold && total < f32::MAX {
            Way::Blend(total)
        } else {
            Way::Stages
        }
    }

    /// Whether an instance that more than clips shape is evaluated now.
    fn has_turn(self, controls: &Controls) -> bool {
        match self.which {
            Which::Both => true,
            Which::Leaders => controls.following().is_none(),
            Which::Followers => controls.following().is_some(),
        }
    }

    /// One instance, stage after stage: what every other way is held against.
    #[inline(never)]
    fn run_stages(self, slot: usize, rows: &mut Rows<'_>, work: &mut Work) {
        let mut slice = rows.slices[slot].take();
        let evaluates = slice.as_ref().is_none_or(|slice| slice.must_evaluate(false));
        for stage in Stage::ORDER {
            if evaluates || stage >= Stage::Modifiers {
                self.run(stage, slot, rows, work);
            }
            if stage == Stage::Blend
                && let Some(slice) = &mut slice
            {
                self.interpolate(slice, evaluates, slot, rows, work);
            }
        }
        rows.slices[slot] = slice;
    }

    /// What is blended goes into the slice, if it is new, and what the slice shows into the pose.
    fn interpolate(self, slice: &mut Slice, is_new: bool, slot: usize, rows: &mut Rows<'_>, work: &mut Work) {
        let pose = &mut pose_of(self.clips.model(), slot, &mut rows.pose, &mut work.pose);
        if is_new {
            slice.keep(pose);
        }
        slice.set_pose(pose);
    }

    fn run(self, stage: Stage, slot: usize, rows: &mut Rows<'_>, work: &mut Work) {
        let (clips, model) = (self.clips, self.clips.model());
        let nodes = model.skeleton().len();
        let world = match rows.world.is_empty() {
            false => rows_mut(rows.world, slot, nodes),
            true => &mut work.world[..],
        };
        let pose = &mut pose_of(model, slot, &mut rows.pose, &mut work.pose);
        let controls = &rows.controls[slot];
        let special = controls.special();
        let lanes = &mut work.layers[0];
        match stage {
            Stage::Rest => set_rest(model, pose),
            Stage::Overrides => special.into_iter().for_each(|special| special.set_overrides(pose)),
            Stage::Channels => match controls.single() {
                Some(layer) => clips.drive(layer.player.clip(), layer.player.time() as f32, lanes, pose),
                None if controls.layers.is_empty() => {}
                None => work.blend.gather(clips, &controls.layers, lanes),
            },
            Stage::Blend => {
                if controls.single().is_none() && !controls.layers.is_empty() {
                    work.blend.resolve(controls.threshold, pose);
                    work.blend.add(clips, &controls.layers, lanes, pose);
                }
            }
            Stage::Modifiers => {
                if let Some(special) = rows.controls[slot].special_if_any() {
                    let pose = pose.reborrow();
                    special.modify(model, pose, &mut work.posed, rows.transforms[slot], self.elapsed);
                }
            }
            Stage::WorldPoses => {
                special
                    .into_iter()
                    .for_each(|special| special.set_world_poses(model.skeleton(), pose, world));
            }
            Stage::Visibility => special.into_iter().for_each(|special| special.set_visibility(pose)),
            Stage::Hierarchy => {
                let root = special.map_or(Affine3A::IDENTITY, |special| special.conversion);
                let hidden = special.map_or(&[][..], |special| &special.hidden_nodes);
                match (special.and_then(|special| special.world.as_ref()), controls.following()) {
                    (Some(own), following) => {
                        world.copy_from_slice(own);
                        following.into_iter().for_each(|following| following.replace(world));
                    }
                    (None, Some(following)) => {
                        following.set_world(model.skeleton(), root, pose, hidden, world);
                    }
                    (None, None) => set_world(model.skeleton(), root, pose, world),
                }
            }
            Stage::Palette => {
                let palette = rows_mut(rows.palette, slot, self.layout.len());
                set_palette(model, self.layout, world, palette);
                special.into_iter().for_each(|special| special.set_palettes(self.layout, palette));
            }
        }
    }
}

/// All of some instances.
struct Evaluate<'a, 'r> {
    shared: Shared<'a>,
    rows: Rows<'r>,
    work: &'a mut Work,
}

impl Evaluate<'_, '_> {
    fn run(mut self) {
        let (mut waiting, mut count) = ([0usize; 8], 0);
        for slot in 0..self.rows.controls.len() {
            let way = self.shared.way(&self.rows.controls[slot]);
            if matches!(way, Way::Stages) {
                if self.shared.has_turn(&self.rows.controls[slot]) {
                    self.shared.run_stages(slot, &mut self.rows, self.work);
                }
                continue;
            }
            if self.shared.which == Which::Followers {
                continue;
            }
            self.set_pose(slot, count, &way);
            waiting[count] = slot;
            count += 1;
            if count == 8 {
                self.finish_eight(waiting, 8);
                count = 0;
            }
        }
        // With idle lanes where that is less work than one by one.
        if count > 3 {
            let (first, idle) = self.work.eight.split_at_mut(count);
            idle.iter_mut().for_each(|pose| pose.copy_from(&first[0]));
            let slot = waiting[0];
            waiting[count..].fill(slot);
            self.finish_eight(waiting, count);
        } else {
            for (place, &slot) in waiting[..count].iter().enumerate() {
                self.finish_one(slot, place);
            }
        }
    }
}

/// Takes morph weights.
struct WeightSink<'a>(&'a mut [f32]);

impl Sink for WeightSink<'_> {
    fn translation(&mut self, _node: usize, _value: Vec3) {}
    fn rotation(&mut self, _node: usize, _value: Quat) {}
    fn scale(&mut self, _node: usize, _value: Vec3) {}
    fn weight(&mut self, _node: usize, index: usize, value: f32) {
        self.0[index] = value;
    }
}

impl Evaluate<'_, '_> {
    /// What moves of an instance, to a place among eight, and its morph weights.
    fn set_pose(&mut self, slot: usize, place: usize, way: &Way) {
        let Shared { clips, .. } = self.shared;
        let Work { eight, layers, .. } = &mut *self.work;
        let controls = &self.rows.controls[slot];
        let weights = rows_mut(self.rows.pose.weights, slot, clips.model().weight_count());
        let Some(slice) = &mut self.rows.slices[slot] else {
            return sample(clips, controls, way, layers, &mut eight[place], weights);
        };
        if slice.must_evaluate(true) {
            let (pose, weights) = slice.turn_lanes();
            sample(clips, controls, way, layers, pose, weights);
        }
        match slice.lanes() {
            ([_, newer], Share::Newer) => eight[place].copy_from(newer),
            (layers, Share::Of(t)) => {
                let (rest, out) = (&clips.rig().rest, &mut eight[place]);
                with_lanes(clips.simd(), kernel::Blend { layers, weights: &[1.0 - t, t], rest, out });
            }
        }
        slice.set_weights(weights);
    }

    fn finish_eight(&mut self, slots: [usize; 8], count: usize) {
        let (rig, simd) = (self.shared.clips.rig(), self.shared.clips.simd());
        let Work { eight: poses, scratch, staged, .. } = &mut *self.work;
        let width = rig.palette_len * 12;
        let palettes: &mut [f32] = bytemuck::cast_slice_mut(self.rows.palette);
        if self.shared.is_elsewhere {
            with_lanes(simd, Eight { rig, poses, scratch, palettes: staged, next: &[] });
            let places = slots.map(|slot| slot * width);
            with_lanes(simd, Drain { from: staged, to: palettes, places: &places[..count], width });
        } else if (slots[0]..).zip(slots).all(|(expected, slot)| expected == slot) {
            let (palettes, next) = palettes[slots[0] * width..].split_at_mut(8 * width);
            let next = &next[..next.len().min(8 * width)];
            with_lanes(simd, Eight { rig, poses, scratch, palettes, next });
        } else {
            // Others lie between them, or they are fewer than eight.
            with_lanes(simd, Eight { rig, poses, scratch, palettes: staged, next: &[] });
            let own = &staged[..];
            for (lane, &slot) in slots[..count].iter().enumerate() {
                palettes[slot * width..][..width].copy_from_slice(&own[lane * width..][..width]);
            }
        }
        if !self.rows.world.is_empty() {
            let nodes = self.shared.clips.model().skeleton().len();
            let world = &mut *self.rows.world;
            let take = |lane: usize, node, matrix| world[slots[lane] * nodes + node as usize] = matrix;
            with_lanes(simd, EightWorlds { rig, scratch, take });
            for (place, slot) in slots.into_iter().enumerate().take(count) {
                self.keep_pose(slot, place);
            }
        }
    }

    fn finish_one(&mut self, slot: usize, place: usize) {
        let rig = self.shared.clips.rig();
        let palette = rows_mut(self.rows.palette, slot, rig.palette_len);
        let (pose, scratch) = (&self.work.eight[place], &mut self.work.scratch);
        with_lanes(self.shared.clips.simd(), One { rig, pose, scratch, palette });
        if !self.rows.world.is_empty() {
            let world = rows_mut(self.rows.world, slot, self.shared.clips.model().skeleton().len());
            kernel::one_worlds(rig, &self.work.scratch, |node, matrix| world[node as usize] = matrix);
            self.keep_pose(slot, place);
        }
    }

    fn keep_pose(&mut self, slot: usize, place: usize) {
        let model = self.shared.clips.model();
        let nodes = model.skeleton().len();
        let pose = &mut PoseMut {
            translations: rows_mut(self.rows.pose.translations, slot, nodes),
            rotations: rows_mut(self.rows.pose.rotations, slot, nodes),
            scales: rows_mut(self.rows.pose.scales, slot, nodes),
            weights: &mut [],
        };
        for (node, rest) in model.skeleton().rest().iter().enumerate() {
            pose.translations[node] = rest.translation;
            pose.rotations[node] = rest.rotation;
            pose.scales[node] = rest.scale;
        }
        self.work.eight[place].spread(&self.shared.clips.rig().moving, pose);
    }
}

/// Samples what moves of an instance, and its morph weights.
fn sample(
    clips: &Clips,
    controls: &Controls,
    way: &Way,
    scratch: &mut Vec<LanePose>,
    pose: &mut LanePose,
    weights: &mut [f32],
) {
    if !weights.is_empty() {
        sample_weights(clips, controls, way, weights);
    }
    match (way, &controls.layers[..]) {
        (Way::Clip, [layer]) => clips.sample(layer.player.clip(), layer.player.time() as f32, pose),
        (Way::Blend(total), layers) => {
            let share = 1.0 / total;
            let (mut weights, mut count) = ([0.0; MOST_LAYERS], 0);
            for layer in layers.iter().filter(|layer| usable(layer.weight) > 0.0) {
                if count == scratch.len() {
                    scratch.push(clips.rig().rest.clone());
                }
                clips.sample(layer.player.clip(), layer.player.time() as f32, &mut scratch[count]);
                weights[count] = usable(layer.weight) * share;
                count += 1;
            }
            let (layers, weights) = (&scratch[..count], &weights[..count]);
            let rest = &clips.rig().rest;
            with_lanes(clips.simd(), kernel::Blend { layers, weights, rest, out: pose });
        }
        _ => pose.copy_from(&clips.rig().rest),
    }
}

#[inline(never)]
fn sample_weights(clips: &Clips, controls: &Controls, way: &Way, weights: &mut [f32]) {
    let model = clips.model();
    for (index, part) in (0u32..).zip(model.parts()) {
        weights[model.weight_range(index)].copy_from_slice(&part.weights);
    }
    if let (Way::Clip, Some(layer)) = (way, controls.layers.first()) {
        clips.drive_weights(layer.player.clip(), layer.player.time() as f32, &mut WeightSink(weights));
    }
}
