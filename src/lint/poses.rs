//! Palettes at rest and over the clips.

use crate::{
    animate::{JointMatrix, PaletteLayout, Pose, sample, set_palette, set_world},
    model::Model,
};

/// Most matrices that are kept at once: 48 MiB of palettes.
const MOST_ROWS: usize = 1 << 20;

/// Palettes of a model at rest and at times of its clips.
#[derive(Debug)]
pub struct Poses {
    layout: PaletteLayout,
    /// Clip and time of each; without a clip, at rest.
    pub(super) times: Vec<(Option<u32>, f32)>,
    palettes: Vec<JointMatrix>,
}

impl Poses {
    /// The rest pose and `times` times of each clip, from its first key to its last; fewer where they would take more
    /// than some tens of megabytes.
    #[must_use]
    pub fn new(model: &Model, times: usize) -> Self {
        let layout = PaletteLayout::new(model);
        let most = MOST_ROWS / layout.len().max(model.skeleton().len()).max(1);
        let each = times.min(most / model.clips().len().max(1)).max(1);
        let mut out = Self { layout, times: Vec::new(), palettes: Vec::new() };
        out.push(model, None, 0.0, Pose::rest(model));
        for (index, clip) in (0u32..).zip(model.clips()).take(most.saturating_sub(1)) {
            for i in 0..each {
                let share = i as f32 / (each - 1).max(1) as f32;
                let time = clip.start() + (clip.duration() - clip.start()) * share;
                out.push(model, Some(index), time, sample(model, clip, time));
            }
        }
        out
    }

    fn push(&mut self, model: &Model, clip: Option<u32>, time: f32, mut pose: Pose) {
        let mut world = vec![glam::Affine3A::IDENTITY; model.skeleton().len()];
        set_world(model.skeleton(), glam::Affine3A::IDENTITY, &pose.as_mut(), &mut world);
        let from = self.palettes.len();
        self.palettes.resize(from + self.layout.len(), JointMatrix::IDENTITY);
        set_palette(model, &self.layout, &world, &mut self.palettes[from..]);
        self.times.push((clip, time));
    }

    /// The rows of one skin in every pose, in order; none where nothing that is shown uses the skin.
    pub(super) fn of_skin(&self, skin: u32) -> impl Iterator<Item = &[JointMatrix]> {
        let range = self.layout.skin(skin);
        let palettes = self.palettes.chunks(self.layout.len().max(1));
        palettes.filter_map(move |palette| palette.get(range.clone()?))
    }
}
