use glam::Affine3A;

use super::{
    CompressedClips, FollowError, JointMatrix, LayerKind, PaletteLayout, Player,
    batch::Batch,
    handle::{Handle, Slots},
    rate::Budget,
    view::View,
};
use crate::model::{Model, Transform};

/// Marks handles of models.
#[derive(Debug)]
pub enum ModelKind {}
/// Marks handles of instances.
#[derive(Debug)]
pub enum Instance {}

/// A model that was added; valid until it is removed.
pub type ModelId = Handle<ModelKind>;
/// An instance that was spawned; valid until it is despawned.
pub type InstanceId = Handle<Instance>;

/// Which clip to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipRef<'a> {
    /// By index in the model.
    Index(u32),
    /// The first with this name.
    Name(&'a str),
}

impl From<u32> for ClipRef<'_> {
    fn from(index: u32) -> Self {
        Self::Index(index)
    }
}

impl<'a> From<&'a str> for ClipRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

/// Why a call on an [`Animator`] was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnimateError {
    /// The model was removed.
    #[error("model {0:?} was removed, or belongs to another animator")]
    StaleModel(ModelId),
    /// The instance was despawned.
    #[error("instance {0:?} was despawned, or belongs to another animator")]
    StaleInstance(InstanceId),
    /// Instances keep their model.
    #[error("model {model:?} still has {instances} instances; despawn them first")]
    ModelInUse {
        /// The model.
        model: ModelId,
        /// Its instances.
        instances: usize,
    },
    /// The model has no such clip.
    #[error("there is no clip {clip}; the model has {known}")]
    UnknownClip {
        /// What was asked for.
        clip: String,
        /// What exists.
        known: String,
    },
    /// The model has no such node.
    #[error("there is no node {node}; the model has {nodes}")]
    UnknownNode {
        /// What was asked for.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// The model has no such part.
    #[error("there is no part {part}; the model has {parts}")]
    UnknownPart {
        /// What was asked for.
        part: u32,
        /// How many there are.
        parts: usize,
    },
    /// The part has no such morph target.
    #[error("part {part} has no morph target {target}; it has {targets}")]
    UnknownTarget {
        /// The part.
        part: u32,
        /// What was asked for.
        target: usize,
        /// How many there are.
        targets: usize,
    },
    /// The model has no such skin.
    #[error("there is no skin {skin}; the model has {skins}")]
    UnknownSkin {
        /// What was asked for.
        skin: u32,
        /// How many there are.
        skins: usize,
    },
    /// The layer was removed, or belongs to another instance.
    #[error("instance {instance:?} has no such layer; it was removed, faded out, or belongs to another one")]
    UnknownLayer {
        /// The instance.
        instance: InstanceId,
    },
    /// Poses are not kept.
    #[error("poses of model {model:?} are not kept; call keep_poses(model, true) before the evaluation")]
    PosesNotKept {
        /// The model.
        model: ModelId,
    },
    /// Compressed clips of another model.
    #[error("the compressed clips are those of another model than {model:?}; compress the clips of this one")]
    OtherClips {
        /// The model.
        model: ModelId,
    },
    /// Of instances that follow others.
    #[error(transparent)]
    Follow(#[from] FollowError),
    /// A list of the wrong length.
    #[error("{found} {what} given, {expected} needed")]
    WrongCount {
        /// What the list holds.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
}

#[derive(Debug)]
struct Place {
    model: ModelId,
    slot: u32,
}

/// Models and instances with their poses, on the CPU alone. Every frame: [`Animator::advance`], then
/// [`Animator::evaluate`]; palettes and weights are then ready to read. Neither allocates once all that it needs has been used.
#[derive(Debug, Default)]
pub struct Animator {
    pub(super) batches: Slots<ModelKind, Batch>,
    instances: Slots<Instance, Place>,
    /// Rises whenever models or instances are added or removed.
    revision: u64,
    keeps_previous: bool,
    is_portable: bool,
    pub(super) view: View,
    pub(super) budget: Budget,
    /// Instances that follow another one, in the order in which they came.
    pub(super) followers: Vec<InstanceId>,
    /// Numbers layers and modifiers.
    numbers: u64,
}

impl Animator {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a model known; its data is shared, not copied.
    pub fn add_model(&mut self, model: &Model) -> ModelId {
        self.revision += 1;
        let mut batch = Batch::new(model, self.keeps_previous);
        batch.set_simd(!self.is_portable);
        self.batches.insert(batch)
    }

    /// Forgets a model that has no instances left.
    pub fn remove_model(&mut self, id: ModelId) -> Result<(), AnimateError> {
        let instances = self.batch(id)?.len();
        if instances > 0 {
            return Err(AnimateError::ModelInUse { model: id, instances });
        }
        self.batches.remove(id);
        self.revision += 1;
        Ok(())
    }

    /// Adds an instance: rest pose, no clip, identity transform, visible, bind-pose palette.
    pub fn spawn(&mut self, model: ModelId) -> Result<InstanceId, AnimateError> {
        self.batch(model)?;
        self.revision += 1;
        let id = self.instances.insert(Place { model, slot: 0 });
        if let (Some(batch), Some(place)) = (self.batches.get_mut(model), self.instances.get_mut(id)) {
            place.slot = batch.push(id, self.view.takes_in_new());
        }
        Ok(id)
    }

    /// Removes an instance.
    pub fn despawn(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        self.forget_follower(id)?;
        let place = self.instances.remove(id).ok_or(AnimateError::StaleInstance(id))?;
        self.revision += 1;
        let moved = self.batches.get_mut(place.model).and_then(|batch| batch.swap_remove(place.slot));
        if let Some(other) = moved.and_then(|moved| self.instances.get_mut(moved)) {
            other.slot = place.slot;
        }
        Ok(())
    }

    /// Plays one clip and no other from its start: looping, speed 1, unless the player that is returned is told otherwise.
    pub fn play<'c>(
        &mut self,
        id: InstanceId,
        clip: impl Into<ClipRef<'c>>,
    ) -> Result<&mut Player, AnimateError> {
        let clip = clip.into();
        self.clip_of(id, clip)?;
        self.stop(id)?;
        Ok(&mut self.add_layer(id, clip, LayerKind::Blend)?.player)
    }

    /// A player at the start of a clip of an instance's model.
    pub(super) fn clip_of(&self, id: InstanceId, clip: ClipRef<'_>) -> Result<Player, AnimateError> {
        let model = self.place(id)?.0.model();
        let index = match clip {
            ClipRef::Index(index) => Some(index).filter(|&i| (i as usize) < model.clips().len()),
            ClipRef::Name(name) => model.find_clip(name),
        };
        let Some(index) = index else { return Err(unknown_clip(model, clip)) };
        Ok(Player::new(index, model.clips()[index as usize].duration()))
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Takes all layers away: rest pose and overrides from the next evaluation on.
    pub fn stop(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        let (batch, slot) = self.place_mut(id)?;
        batch.controls_mut(slot).1.layers.clear();
        Ok(())
    }

    /// The player of the lowest layer, when a clip plays.
    pub fn player(&self, id: InstanceId) -> Result<Option<&Player>, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.controls(slot).layers.first().map(|layer| &layer.player))
    }

    /// The player of the lowest layer, to seek, pause or change the speed.
    pub fn player_mut(&mut self, id: InstanceId) -> Result<Option<&mut Player>, AnimateError> {
        let (batch, slot) = self.place_mut(id)?;
        Ok(batch.controls_mut(slot).1.layers.first_mut().map(|layer| &mut layer.player))
    }

    /// Places the instance in the world. Palettes are relative to this root, so moving costs nothing. Fails for one
    /// that [follows](Self::spawn_following) another.
    pub fn set_transform(&mut self, id: InstanceId, transform: Affine3A) -> Result<(), AnimateError> {
        self.check_placed_alone(id)?;
        let (batch, slot) = self.place_mut(id)?;
        *batch.transform_mut(slot) = transform;
        Ok(())
    }

    /// Where the instance stands.
    pub fn transform(&self, id: InstanceId) -> Result<Affine3A, AnimateError> {
        let (batch, slot) = self.place(self.placed_by(id)?)?;
        Ok(batch.transform(slot))
    }

    /// Where the instance stood at the evaluation before the last one; where it stood at the last one if that
    /// was its first.
    pub fn previous_transform(&self, id: InstanceId) -> Result<Affine3A, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.previous_transform(slot))
    }

    /// Makes the next evaluation of the instance its first: it leaves no motion behind. Call it after a
    /// teleport or a cut.
    pub fn forget_previous(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        let (batch, slot) = self.place_mut(id)?;
        batch.forget_previous(slot);
        Ok(())
    }

    /// Whether the last evaluation was the instance's first since it was spawned or
    /// [`forget_previous`](Self::forget_previous) was called.
    pub fn is_first(&self, id: InstanceId) -> Result<bool, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.was_fresh(slot))
    }

    /// Keeps the palettes of the evaluation before from the next one on; off at first, to save the memory.
    pub fn keep_previous_palettes(&mut self, keep: bool) {
        if self.keeps_previous != keep {
            self.keeps_previous = keep;
            self.batches.values_mut().for_each(|batch| batch.keep_previous(keep));
        }
    }

    /// Whether palettes of the evaluation before are kept.
    #[cfg(feature = "gpu")]
    pub(crate) fn keeps_previous_palettes(&self) -> bool {
        self.keeps_previous
    }

    /// Keeps local transforms and world matrices of a model's instances for [`local`](Self::local) and
    /// [`world`](Self::world), as at first, or gives them up: then an evaluation writes palettes alone, which
    /// for crowds is several times faster; they differ from those with poses in their last digits.
    ///
    /// Fails where an instance of it is [followed](Self::spawn_following).
    pub fn keep_poses(&mut self, model: ModelId, keep: bool) -> Result<(), AnimateError> {
        if !keep {
            self.check_not_followed(model)?;
        }
        self.batch_mut(model)?.keep_poses(keep);
        Ok(())
    }

    /// Plays the compressed form of a model's clips from the next evaluation on; `None` goes back to the exact
    /// ones.
    pub fn set_compressed(
        &mut self,
        model: ModelId,
        clips: Option<CompressedClips>,
    ) -> Result<(), AnimateError> {
        let batch = self.batch_mut(model)?;
        if clips.as_ref().is_some_and(|clips| !clips.are_of(batch.model())) {
            return Err(AnimateError::OtherClips { model });
        }
        batch.set_compressed(clips);
        Ok(())
    }

    /// Evaluates with the processor's vector instructions where the library knows them, as at first, or with
    /// portable code. The results are the same, byte for byte.
    pub fn use_simd(&mut self, simd: bool) {
        self.is_portable = !simd;
        self.batches.values_mut().for_each(|batch| batch.set_simd(simd));
    }

    /// The model behind a handle.
    pub fn model(&self, id: ModelId) -> Result<&Model, AnimateError> {
        Ok(self.batch(id)?.model())
    }

    /// The model of an instance.
    pub fn model_of(&self, id: InstanceId) -> Result<ModelId, AnimateError> {
        self.instances.get(id).map(|place| place.model).ok_or(AnimateError::StaleInstance(id))
    }

    /// Moves every player on by `seconds`.
    pub fn advance(&mut self, seconds: f64) {
        self.batches.values_mut().for_each(|batch| batch.advance(seconds));
    }

    /// Palette rows of all instances.
    #[must_use]
    pub fn palette_rows(&self) -> usize {
        self.batches.iter().map(|(_, batch)| batch.palettes().len()).sum()
    }

    /// A node's local transform, as of the last evaluation.
    pub fn local(&self, id: InstanceId, node: u32) -> Result<Transform, AnimateError> {
        let (batch, slot) = self.posed(id)?;
        let nodes = batch.model().skeleton().len();
        batch.local(slot, node).ok_or(AnimateError::UnknownNode { node, nodes })
    }

    /// Model-space matrix of every node, as of the last evaluation.
    pub fn world(&self, id: InstanceId) -> Result<&[Affine3A], AnimateError> {
        let (batch, slot) = self.posed(id)?;
        Ok(batch.world(slot))
    }

    /// Morph weights of all parts, as of the last evaluation.
    pub fn weights(&self, id: InstanceId) -> Result<&[f32], AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.weights(slot))
    }

    /// Palette rows of an instance, as of the last evaluation that kept them here
    /// ([`evaluate_into`](Self::evaluate_into) does not); the identity before the first.
    pub fn palette(&self, id: InstanceId) -> Result<&[JointMatrix], AnimateError> {
        let (batch, slot) = self.place(id)?;
        let rows = batch.layout().len();
        Ok(&batch.palettes()[slot as usize * rows..(slot as usize + 1) * rows])
    }

    /// Palette rows of an instance as of the evaluation before the last one; those of the last one if it was
    /// the instance's first, or if none are kept
    /// ([`keep_previous_palettes`](Self::keep_previous_palettes)).
    pub fn previous_palette(&self, id: InstanceId) -> Result<&[JointMatrix], AnimateError> {
        let (batch, slot) = self.place(id)?;
        let rows = batch.layout().len();
        Ok(&batch.previous_palettes()[slot as usize * rows..(slot as usize + 1) * rows])
    }

    /// Which palette rows belong to which part of a model.
    pub fn palette_layout(&self, id: ModelId) -> Result<&PaletteLayout, AnimateError> {
        Ok(self.batch(id)?.layout())
    }

    /// All instances, model after model.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.batches.iter().flat_map(|(_, batch)| batch.owners().iter().copied())
    }

    /// Rises whenever models or instances are added or removed.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of instances of a model.
    pub fn instance_count(&self, id: ModelId) -> Result<usize, AnimateError> {
        Ok(self.batch(id)?.len())
    }

    /// All models.
    pub fn models(&self) -> impl Iterator<Item = ModelId> + '_ {
        self.batches.iter().map(|(id, _)| id)
    }

    fn batch(&self, id: ModelId) -> Result<&Batch, AnimateError> {
        self.batches.get(id).ok_or(AnimateError::StaleModel(id))
    }

    fn batch_mut(&mut self, id: ModelId) -> Result<&mut Batch, AnimateError> {
        self.batches.get_mut(id).ok_or(AnimateError::StaleModel(id))
    }

    pub(super) fn has_followers(&self) -> bool {
        !self.followers.is_empty()
    }

    /// Number of instances.
    pub(super) fn instance_total(&self) -> usize {
        self.instances.iter().count()
    }

    /// Where an instance is whose pose is kept.
    pub(super) fn posed(&self, id: InstanceId) -> Result<(&Batch, u32), AnimateError> {
        let (batch, slot) = self.place(id)?;
        if batch.keeps_poses() {
            return Ok((batch, slot));
        }
        Err(AnimateError::PosesNotKept { model: self.model_of(id)? })
    }

    pub(super) fn place(&self, id: InstanceId) -> Result<(&Batch, u32), AnimateError> {
        let place = self.instances.get(id).ok_or(AnimateError::StaleInstance(id))?;
        Ok((self.batch(place.model)?, place.slot))
    }

    pub(super) fn place_mut(&mut self, id: InstanceId) -> Result<(&mut Batch, u32), AnimateError> {
        let place = self.instances.get(id).ok_or(AnimateError::StaleInstance(id))?;
        let batch = self.batches.get_mut(place.model).ok_or(AnimateError::StaleModel(place.model))?;
        Ok((batch, place.slot))
    }
}

fn unknown_clip(model: &Model, clip: ClipRef<'_>) -> AnimateError {
    let clip = match clip {
        ClipRef::Index(index) => index.to_string(),
        ClipRef::Name(name) => format!("`{name}`"),
    };
    let names = model.clips().iter().enumerate().map(|(i, c)| format!("{i} `{}`", c.name()));
    let names: Vec<_> = names.take(40).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    AnimateError::UnknownClip { clip, known }
}
