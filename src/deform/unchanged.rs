use super::{DeformError, cast::Cast, frame::Job};
use crate::animate::JointMatrix;

/// Finds the instances whose output would come out as it already is: their palettes, morph weights and shown parts
/// are those of their last deformation.
#[derive(Debug, Default)]
pub(crate) struct Unchanged {
    palettes: Vec<JointMatrix>,
    weights: Vec<f32>,
    parts: Vec<bool>,
    /// By job: whether the lists hold what it was last deformed with.
    known: Vec<bool>,
    left_out: Vec<bool>,
}

impl Unchanged {
    /// Nothing is known to be there any more.
    pub(crate) fn forget(&mut self) {
        self.known.fill(false);
    }

    /// What the job at `at` was deformed with is not there.
    pub(crate) fn forget_job(&mut self, at: usize) {
        if let Some(known) = self.known.get_mut(at) {
            *known = false;
        }
    }

    /// By job, whether it can be left out of this frame. The others, where they are shown, count as deformed with
    /// what they now have. `jobs` are the same in every call, or [`forget`](Self::forget) comes first.
    pub(crate) fn update(&mut self, cast: &Cast, jobs: &[Job]) -> Result<&[bool], DeformError> {
        if self.known.len() != jobs.len() {
            self.known = vec![false; jobs.len()];
        }
        self.left_out.clear();
        let (mut row, mut weight, mut part) = (0, 0, 0);
        for (at, job) in jobs.iter().enumerate() {
            let palette = cast.animator.palette(job.instance)?;
            let weights = cast.animator.weights(job.instance)?;
            let source = cast.source_of(job.instance)?;
            let (rows, parts) = (row..row + palette.len(), part..part + source.parts.len());
            let weight_range = weight..weight + weights.len();
            (row, weight, part) = (rows.end, weight_range.end, parts.end);
            self.palettes.resize(self.palettes.len().max(row), JointMatrix::IDENTITY);
            self.weights.resize(self.weights.len().max(weight), 0.0);
            self.parts.resize(self.parts.len().max(part), false);

            let is_shown = |part: u32| cast.animator.is_part_shown(job.instance, part);
            let mut same_parts = true;
            for (known, part) in self.parts[parts.clone()].iter().zip(&source.parts) {
                same_parts &= *known == is_shown(part.part)?;
            }
            let same = self.known[at]
                && same_parts
                && bytes(&self.palettes[rows.clone()]) == bytes(palette)
                && bytes(&self.weights[weight_range.clone()]) == bytes(weights);
            self.left_out.push(same);
            // A hidden instance keeps what was deformed last.
            if !same && cast.animator.is_shown(job.instance)? {
                self.palettes[rows].copy_from_slice(palette);
                self.weights[weight_range].copy_from_slice(weights);
                for (known, part) in self.parts[parts].iter_mut().zip(&source.parts) {
                    *known = is_shown(part.part)?;
                }
                self.known[at] = true;
            }
        }
        Ok(&self.left_out)
    }
}

fn bytes<T: bytemuck::NoUninit>(list: &[T]) -> &[u8] {
    bytemuck::cast_slice(list)
}
