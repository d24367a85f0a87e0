//! Instances that are evaluated less often than every frame.

use std::cmp::Reverse;

use super::{
    animator::{AnimateError, Animator, InstanceId, ModelKind},
    batch::Batch,
    handle::Slots,
    slice::{Age, Slice, Turn},
};

/// How many slices are evaluated in a frame, and which.
#[derive(Debug, Default)]
pub(super) struct Budget {
    limit: Option<usize>,
    was_exceeded: bool,
    /// Numbers those that are sliced.
    numbers: u64,
    /// How many have got each rate.
    rates: Vec<(u32, u32)>,
    /// Of this frame; kept so that none allocates.
    waiting: Vec<Waiting>,
}

/// An instance that is due: by how many frames it is late, its number, and where it is.
#[derive(Debug)]
struct Waiting {
    late: u32,
    number: u64,
    batch: usize,
    slot: u32,
}

impl Budget {
    /// The next one's, with this rate.
    fn turn(&mut self, every: u32) -> Turn {
        self.numbers += 1;
        let known = self.rates.iter().position(|(rate, _)| *rate == every).unwrap_or_else(|| {
            self.rates.push((every, 0));
            self.rates.len() - 1
        });
        let count = &mut self.rates[known].1;
        let phase = *count;
        *count = count.wrapping_add(1);
        Turn { number: self.numbers, phase }
    }

    /// Says which slices are evaluated in this frame.
    pub(super) fn plan(&mut self, batches: &mut Slots<ModelKind, Batch>) {
        self.waiting.clear();
        let mut without_pose = 0;
        for (place, batch) in batches.values_mut().enumerate() {
            for (slot, slice) in batch.slices_mut() {
                match slice.age() {
                    Age::WithoutPose => without_pose += 1,
                    Age::Due { late } => {
                        self.waiting.push(Waiting { late, number: slice.number(), batch: place, slot });
                    }
                    Age::Fresh => {}
                }
            }
        }
        let room = self.limit.map_or(usize::MAX, |limit| limit.saturating_sub(without_pose));
        self.was_exceeded = self.waiting.len() > room;
        if self.was_exceeded {
            self.waiting.sort_unstable_by_key(|waiting| (Reverse(waiting.late), waiting.number));
            self.waiting.truncate(room);
            self.waiting.sort_unstable_by_key(|waiting| (waiting.batch, waiting.slot));
        }
        let mut waiting = self.waiting.iter().peekable();
        for (place, batch) in batches.values_mut().enumerate() {
            while let Some(waiting) = waiting.next_if(|waiting| waiting.batch == place) {
                batch.slice_mut(waiting.slot).into_iter().for_each(Slice::set_due);
            }
        }
    }
}

impl Animator {
    /// Evaluates the layers of an instance every so many frames, 0 and 1 both for every frame, as at first. In the
    /// frames between, its **local poses** are interpolated: rotations along the shorter arc, everything else on
    /// a line. What is shown is `every - 1` frames old at most, plus what a
    /// [budget](Self::set_frame_budget) adds. Layers, overrides and modes that change are seen when the instance
    /// is evaluated next; world poses, visibility and palettes set from outside at once.
    ///
    /// Instances with the same rate are spread over its frames in the order in which they got it. One that is
    /// evaluated in another way from then on, such as with its first override, is without a pose for a frame.
    /// [`forget_previous`](Self::forget_previous) and [`refresh`](Self::refresh) make the next frame, or this one,
    /// show an evaluation of its own.
    pub fn set_rate(&mut self, id: InstanceId, every: u32) -> Result<(), AnimateError> {
        let mut budget = std::mem::take(&mut self.budget);
        let placed =
            self.place_mut(id).map(|(batch, slot)| batch.set_rate(slot, every, || budget.turn(every)));
        self.budget = budget;
        placed
    }

    /// Every how many frames an instance is evaluated.
    pub fn rate(&self, id: InstanceId) -> Result<u32, AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok(batch.slice(slot).map_or(1, Slice::every))
    }

    /// At most so many of the instances that have a [rate](Self::set_rate) are evaluated in a frame; `None`, as at
    /// first, for all that are due. Those that are latest come first, then those that got their rate first;
    /// an instance without a pose never waits, whatever the budget.
    pub fn set_frame_budget(&mut self, evaluations: Option<usize>) {
        self.budget.limit = evaluations;
    }

    /// Whether nothing that was due had to wait at the last evaluation.
    #[must_use]
    pub fn budget_satisfied(&self) -> bool {
        !self.budget.was_exceeded
    }
}
