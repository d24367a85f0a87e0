//! Which instances are in view.

use super::{DeformError, cast::Cast, frustum::Frustum};
use crate::{animate::InstanceId, model::Bounds};

/// What the cast is culled by, with memory that is kept so that no frame allocates.
#[derive(Debug, Default)]
pub(crate) struct Culling {
    views: Option<Vec<Frustum>>,
    instances: Vec<InstanceId>,
    seen: Vec<bool>,
}

impl Cast {
    /// The regions of which an instance must meet one to be deformed; `None` deforms all again.
    pub(crate) fn set_views(&mut self, views: Option<&[Frustum]>) -> Result<(), DeformError> {
        match (views, &mut self.culling.views) {
            (Some(views), Some(known)) => {
                known.clear();
                known.extend_from_slice(views);
            }
            (Some(views), none) => *none = Some(views.to_vec()),
            (None, known) => {
                if known.take().is_some() {
                    self.animator.set_in_view(None)?;
                }
            }
        }
        Ok(())
    }

    /// Whether instances are culled.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_culled(&self) -> bool {
        self.culling.views.is_some()
    }

    /// The box of the parts of an instance that are not hidden, in its own space, as of the last evaluation.
    pub(crate) fn bounds(&self, id: InstanceId) -> Result<Bounds, DeformError> {
        let source = self.source_of(id)?;
        let (palette, weights) = (self.animator.palette(id)?, self.animator.weights(id)?);
        let mut bounds = Bounds::EMPTY;
        for (shown, part) in source.parts.iter().enumerate() {
            if !self.animator.hides_part(id, part.part)? {
                bounds = bounds.union(source.bounds().of_part(shown, palette, weights));
            }
        }
        Ok(bounds)
    }

    /// After an evaluation: finds out which instances are in view.
    pub(crate) fn cull(&mut self) -> Result<(), DeformError> {
        let Culling { views: Some(views), mut instances, mut seen } = std::mem::take(&mut self.culling)
        else {
            return Ok(());
        };
        let span =
            tracing::trace_span!("cull", instances = tracing::field::Empty, seen = tracing::field::Empty);
        let entered = span.enter();
        instances.clear();
        instances.extend(self.animator.instances().filter(|id| self.source_of(*id).is_ok()));
        seen.clear();
        seen.resize(instances.len(), false);
        let is_seen = |id: InstanceId| -> bool {
            if !self.animator.visible(id).unwrap_or_default() {
                return false;
            }
            let place = self.bounds(id).and_then(|bounds| Ok((bounds, self.animator.draw_transform(id)?)));
            // All of them are alive.
            place.is_ok_and(|(bounds, transform)| views.iter().any(|view| view.meets(bounds, transform)))
        };
        find(&instances, &mut seen, is_seen);
        span.record("instances", instances.len());
        let mut is_in_view = seen.iter();
        instances.retain(|_| is_in_view.next().is_some_and(|seen| *seen));
        span.record("seen", instances.len());
        drop(entered);
        let result = self.animator.set_in_view(Some(&instances));
        self.culling = Culling { views: Some(views), instances, seen };
        Ok(result?)
    }
}

#[cfg(feature = "threads")]
fn find(instances: &[InstanceId], seen: &mut [bool], is_seen: impl Fn(InstanceId) -> bool + Sync) {
    use rayon::prelude::*;
    /// Instances that are not worth another thread.
    const FEW: usize = 64;
    instances.par_iter().zip(seen).with_min_len(FEW).for_each(|(id, seen)| *seen = is_seen(*id));
}

#[cfg(not(feature = "threads"))]
fn find(instances: &[InstanceId], seen: &mut [bool], is_seen: impl Fn(InstanceId) -> bool) {
    instances.iter().zip(seen).for_each(|(id, seen)| *seen = is_seen(*id));
}
