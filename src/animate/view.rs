//! What is deformed and drawn of all that is evaluated.

use super::{AnimateError, Animator, InstanceId};

/// State of the visible set.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Whether the caller has given a set.
    is_limited: bool,
    /// Rises whenever something is shown or hidden.
    revision: u64,
}

impl View {
    pub(super) fn takes_in_new(&self) -> bool {
        !self.is_limited
    }

    pub(super) fn changed(&mut self, changed: bool) {
        self.revision += u64::from(changed);
    }
}

/// # Visibility
impl Animator {
    /// Shows or hides the instance: hidden ones are evaluated but not deformed.
    pub fn set_visible(&mut self, id: InstanceId, visible: bool) -> Result<(), AnimateError> {
        let (batch, slot) = self.place_mut(id)?;
        let changed = std::mem::replace(batch.visible_mut(slot), visible) != visible;
        self.view.changed(changed);
        Ok(())
    }

    /// Whether the instance is shown, as far as [`set_visible`](Self::set_visible) says.
    pub fn visible(&self, id: InstanceId) -> Result<bool, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.visible(slot))
    }

    /// The only instances that are in view, such as those that culling has left: the others are evaluated, but
    /// neither deformed nor drawn. `None` takes all of them in again. Holds until the next call; what is spawned
    /// meanwhile is out of view unless all are in.
    ///
    /// Fails, and changes nothing, where one of them does not exist.
    pub fn set_in_view(&mut self, instances: Option<&[InstanceId]>) -> Result<(), AnimateError> {
        let seen = instances.unwrap_or_default();
        seen.iter().try_for_each(|id| self.place(*id).map(|_| ()))?;
        self.view.is_limited = instances.is_some();
        let sees_all = self.view.takes_in_new();
        self.batches.values_mut().for_each(|batch| batch.start_view(sees_all));
        for id in seen {
            let (batch, slot) = self.place_mut(*id)?;
            batch.take_in_view(slot);
        }
        let mut changed = false;
        for batch in self.batches.values_mut() {
            changed |= batch.finish_view();
        }
        self.view.changed(changed);
        Ok(())
    }

    /// Whether the instance is deformed and drawn: neither it nor the one that it
    /// [follows](Self::spawn_following) is hidden, and it is not out of view.
    pub fn is_shown(&self, id: InstanceId) -> Result<bool, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.is_in_view(slot) && self.is_unhidden(id)?)
    }

    /// Whether neither the instance nor the one that it follows is hidden, in view or not.
    fn is_unhidden(&self, id: InstanceId) -> Result<bool, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.visible(slot) && (batch.followers() == 0 || self.visible(self.placed_by(id)?)?))
    }

    /// Whether the caller has hidden a part: itself, its instance, or the one that this follows. Being out of view
    /// hides nothing.
    pub(crate) fn is_part_hidden(&self, id: InstanceId, part: u32) -> Result<bool, AnimateError> {
        Ok(!self.is_unhidden(id)? || self.hides_part(id, part)?)
    }

    /// Chooses one of parts that stand for the same thing, such as levels of detail of one mesh on one skin: shows
    /// `parts[level]` and leaves the others out. Takes effect with the next frame, under the same plan.
    ///
    /// Fails, and changes nothing, where the model has no such part or `level` is past the last.
    pub fn choose_level(&mut self, id: InstanceId, parts: &[u32], level: usize) -> Result<(), AnimateError> {
        let model = self.model(self.model_of(id)?)?;
        let count = model.parts().len();
        if let Some(&part) = parts.iter().find(|part| **part as usize >= count) {
            return Err(AnimateError::UnknownPart { part, parts: count });
        }
        if level >= parts.len() {
            return Err(AnimateError::WrongCount { what: "levels", found: parts.len(), expected: level + 1 });
        }
        (0..).zip(parts).try_for_each(|(at, part)| self.show_part(id, *part, at == level))
    }

    /// Rises whenever something is shown or hidden.
    pub(crate) fn visibility(&self) -> u64 {
        self.view.revision
    }
}
