//! The frame of all instances: first those that follow nobody, then the others.

use super::{AnimateError, Animator, InstanceId, JointMatrix, batch::Batch, rows::Which};

/// # The frame
impl Animator {
    /// Runs the stages of a frame for every instance.
    ///
    /// Call it once a frame: what is *previous* counts evaluations. [`Deformer::record`](crate::Deformer) and
    /// every run of a graph that declares a deformer do so themselves.
    pub fn evaluate(&mut self) {
        let _span = tracing::trace_span!("evaluate", instances = self.instance_total()).entered();
        self.budget.plan(&mut self.batches);
        self.batches.values_mut().for_each(Batch::start);
        self.batches.values_mut().for_each(|batch| batch.evaluate(Which::Leaders));
        if self.has_followers() {
            self.follow_all();
            let with_followers = self.batches.values_mut().filter(|batch| batch.followers() > 0);
            with_followers.for_each(|batch| batch.evaluate(Which::Followers));
        }
        self.batches.values_mut().for_each(Batch::finish);
    }

    /// Runs the stages of a frame for every instance and puts the palettes straight where they are needed, such as
    /// into a mapped upload buffer: instance after instance as in [`instances`](Self::instances). Nothing is read
    /// from there. [`palette`](Self::palette) and [`previous_palette`](Self::previous_palette) stay as they are;
    /// apart from that it is an [evaluation](Self::evaluate) like any other.
    ///
    /// Fails unless `palettes` has [`palette_rows`](Self::palette_rows) rows.
    pub fn evaluate_into(&mut self, palettes: &mut [JointMatrix]) -> Result<(), AnimateError> {
        let expected = self.palette_rows();
        if palettes.len() != expected {
            return Err(AnimateError::WrongCount { what: "palette rows", found: palettes.len(), expected });
        }
        let _span = tracing::trace_span!("evaluate", instances = self.instance_total()).entered();
        self.budget.plan(&mut self.batches);
        self.evaluate_those_into(palettes, Which::Leaders);
        if self.has_followers() {
            self.follow_all();
            self.evaluate_those_into(palettes, Which::Followers);
        }
        self.batches.values_mut().for_each(Batch::finish_elsewhere);
        Ok(())
    }

    fn evaluate_those_into(&mut self, palettes: &mut [JointMatrix], which: Which) {
        let mut left = palettes;
        for batch in self.batches.values_mut() {
            let own = left.split_off_mut(..batch.palettes().len()).unwrap_or_default();
            if which == Which::Leaders || batch.followers() > 0 {
                batch.evaluate_into(own, which);
            }
        }
    }

    /// Evaluates one instance now, so that readers see what was set without waiting for the frame. The frame
    /// before stays the frame before. A follower takes its leader as that is now, which is not evaluated for it.
    pub fn refresh(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        self.follow(id);
        let (batch, slot) = self.place_mut(id)?;
        batch.evaluate_slot(slot);
        Ok(())
    }
}
