//! What shapes a pose after its layers are blended: inverse kinematics, springs, a caller's own constraints.

use std::{any::Any, error::Error, fmt};

use super::{AnimateError, Animator, InstanceId, posed::Posed};
use crate::model::Model;

/// Changes the pose of an instance in every frame, after blending and before world poses, visibility and
/// hierarchy, also where a [rate](Animator::set_rate) interpolates.
///
/// Each instance has modifiers of its own, with whatever they remember from frame to frame; derive `Clone` so that
/// [`clone_instance`](Animator::clone_instance) can copy them. Instances are evaluated in any order and on any thread: what
/// a modifier does should follow from its fields and the pose alone, and it should allocate nothing in
/// [`apply`](Self::apply).
///
/// ```
/// use sinew::animate::{Modifier, Posed};
///
/// /// Keeps a node above the ground.
/// #[derive(Clone, Debug)]
/// struct Grounded(u32);
///
/// impl Modifier for Grounded {
///     fn apply(&mut self, posed: &mut Posed<'_>) {
///         let depth = -posed.world(self.0).translation.y;
///         if depth > 0.0 {
///             let mut local = posed.local(self.0);
///             local.translation.y += depth;
///             posed.set_local(self.0, local);
///         }
///     }
/// }
/// ```
pub trait Modifier: fmt::Debug + Send + Sync + 'static {
    /// Changes the pose. What it does is blended with the pose before by the modifier's
    /// [weight](Animator::set_modifier_weight): do not look at that here.
    fn apply(&mut self, posed: &mut Posed<'_>);

    /// Whether it can work on instances of a model, such as because all its joints are there. Asked when it is added;
    /// any error refuses it.
    fn check(&self, _model: &Model) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

/// A modifier as it is kept.
trait Held: Modifier + Any {
    fn copy(&self) -> Box<dyn Held>;
    fn type_name(&self) -> &'static str;
}

impl<M: Modifier + Clone> Held for M {
    fn copy(&self) -> Box<dyn Held> {
        Box::new(self.clone())
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<M>()
    }
}

/// Names a modifier of an instance, and of its clones the copy there, as long as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModifierId(u64);

/// Why a call about modifiers was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModifierError {
    /// Something that every call may say.
    #[error(transparent)]
    Animate(#[from] AnimateError),
    /// The modifier does not suit the model.
    #[error("the modifier does not suit the model of instance {instance:?}: {reason}")]
    Refused {
        /// The instance.
        instance: InstanceId,
        /// What [`Modifier::check`] said.
        reason: Box<dyn Error + Send + Sync>,
    },
    /// It was removed, or belongs to another instance.
    #[error("instance {instance:?} has no such modifier; it was removed, or belongs to another one")]
    UnknownModifier {
        /// The instance.
        instance: InstanceId,
    },
    /// It is of another type.
    #[error("the modifier is a {found}, not a {asked}")]
    OtherType {
        /// The type that was asked for.
        asked: &'static str,
        /// The type of the modifier.
        found: &'static str,
    },
    /// A weight that is none.
    #[error("a modifier's weight is 0 to 1, not {weight}")]
    WeightOutOfRange {
        /// What was given.
        weight: f32,
    },
}

/// A modifier of an instance.
#[derive(Debug)]
struct Entry {
    id: ModifierId,
    weight: f32,
    /// What it remembers is of no use.
    is_first: bool,
    modifier: Box<dyn Held>,
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        Self { modifier: self.modifier.copy(), ..*self }
    }
}

/// All modifiers of an instance in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Modifiers(Vec<Entry>);

impl Modifiers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets none of them remember what was.
    pub(super) fn forget(&mut self) {
        self.0.iter_mut().for_each(|entry| entry.is_first = true);
    }

    /// Stage `modifiers`.
    pub(super) fn run(&mut self, posed: &mut Posed<'_>) {
        for entry in &mut self.0 {
            if entry.weight > 0.0 {
                posed.begin(entry.weight, entry.is_first);
                entry.modifier.apply(posed);
                posed.finish(entry.weight);
            }
            entry.is_first = entry.weight == 0.0;
        }
    }

    fn find(&self, instance: InstanceId, id: ModifierId) -> Result<&Entry, ModifierError> {
        let found = self.0.iter().find(|entry| entry.id == id);
        found.ok_or(ModifierError::UnknownModifier { instance })
    }

    fn find_mut(&mut self, instance: InstanceId, id: ModifierId) -> Result<&mut Entry, ModifierError> {
        let found = self.0.iter_mut().find(|entry| entry.id == id);
        found.ok_or(ModifierError::UnknownModifier { instance })
    }
}

/// # Modifiers
///
/// An instance with modifiers is evaluated stage by stage, as one with overrides is.
impl Animator {
    /// Adds a modifier with weight 1; it runs after those that the instance has.
    ///
    /// Fails where the modifier's [`check`](Modifier::check) refuses the model.
    pub fn add_modifier<M: Modifier + Clone>(
        &mut self,
        id: InstanceId,
        modifier: M,
    ) -> Result<ModifierId, ModifierError> {
        let checked = modifier.check(self.place(id)?.0.model());
        checked.map_err(|reason| ModifierError::Refused { instance: id, reason })?;
        let number = ModifierId(self.next_number());
        let modifier = Box::new(modifier);
        self.modifiers_of(id)?.0.push(Entry { id: number, weight: 1.0, is_first: true, modifier });
        Ok(number)
    }

    /// Takes a modifier away.
    pub fn remove_modifier(&mut self, id: InstanceId, modifier: ModifierId) -> Result<(), ModifierError> {
        let modifiers = self.modifiers_of(id)?;
        modifiers.find(id, modifier)?;
        modifiers.0.retain(|entry| entry.id != modifier);
        Ok(())
    }

    /// The modifiers of an instance in the order in which they run.
    pub fn modifiers(
        &self,
        id: InstanceId,
    ) -> Result<impl ExactSizeIterator<Item = (ModifierId, &dyn Modifier)>, AnimateError> {
        let (batch, slot) = self.place(id)?;
        let entries = batch.controls(slot).special().map_or(&[][..], |special| &special.modifiers.0);
        Ok(entries.iter().map(|entry| (entry.id, &*entry.modifier as &dyn Modifier)))
    }

    /// One modifier, such as to read what it has found.
    pub fn modifier<M: Modifier>(&self, id: InstanceId, modifier: ModifierId) -> Result<&M, ModifierError> {
        let (batch, slot) = self.place(id)?;
        let special = batch.controls(slot).special();
        let special = special.ok_or(ModifierError::UnknownModifier { instance: id })?;
        let held = &*special.modifiers.find(id, modifier)?.modifier;
        (held as &dyn Any).downcast_ref().ok_or(other_type::<M>(held.type_name()))
    }

    /// One modifier, such as to move its target.
    pub fn modifier_mut<M: Modifier>(
        &mut self,
        id: InstanceId,
        modifier: ModifierId,
    ) -> Result<&mut M, ModifierError> {
        let held = &mut *self.modifiers_of(id)?.find_mut(id, modifier)?.modifier;
        let found = held.type_name();
        (held as &mut dyn Any).downcast_mut().ok_or(other_type::<M>(found))
    }

    /// How much of what a modifier does is taken, from 0 to 1: local translations, scales and morph weights on a line,
    /// rotations along the shorter arc from what they were before it. At 0 it does not run.
    pub fn set_modifier_weight(
        &mut self,
        id: InstanceId,
        modifier: ModifierId,
        weight: f32,
    ) -> Result<(), ModifierError> {
        let entry = self.modifiers_of(id)?.find_mut(id, modifier)?;
        if !(0.0..=1.0).contains(&weight) {
            return Err(ModifierError::WeightOutOfRange { weight });
        }
        entry.weight = weight;
        Ok(())
    }

    /// The weight of a modifier.
    pub fn modifier_weight(&self, id: InstanceId, modifier: ModifierId) -> Result<f32, ModifierError> {
        let (batch, slot) = self.place(id)?;
        let special = batch.controls(slot).special();
        let special = special.ok_or(ModifierError::UnknownModifier { instance: id })?;
        Ok(special.modifiers.find(id, modifier)?.weight)
    }

    fn modifiers_of(&mut self, id: InstanceId) -> Result<&mut Modifiers, AnimateError> {
        let (batch, slot) = self.place_mut(id)?;
        Ok(&mut batch.controls_mut(slot).1.special_mut().modifiers)
    }
}

fn other_type<M>(found: &'static str) -> ModifierError {
    ModifierError::OtherType { asked: std::any::type_name::<M>(), found }
}
