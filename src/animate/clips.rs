use super::{
    CompressedClips, PaletteLayout,
    compressed::CompressedClip,
    lanes::with_lanes,
    moving::{LanePose, Moving, NONE, constant_rotation, read, write},
    rig::Rig,
    sample::{Sink, drive_track},
    sampling::SampleTask,
};
use crate::model::{Channel, Clip, Model};

/// The clips of a model, exact or compressed.
#[derive(Debug)]
pub(super) struct Clips {
    model: Model,
    rig: Rig,
    compressed: Option<CompressedClips>,
    facts: Vec<Facts>,
    simd: bool,
}

/// About one clip.
#[derive(Debug)]
struct Facts {
    /// Equal for clips that drive the same components among those that move.
    class: u32,
    /// Tracks of morph weights.
    weights: Vec<u32>,
    /// What stays where it is while compressed keys are taken back from bind space.
    still: StillRotations,
}

/// Rotations that a clip leaves where they are: their places and values, not rounded on the way from bind space.
#[derive(Debug, Default)]
struct StillRotations(Vec<(u32, [f32; 4])>);

impl StillRotations {
    fn new(model: &Model, moving: &Moving, clip: &Clip) -> Self {
        let mut rotations: Vec<_> = model.skeleton().rest().iter().map(|rest| Some(rest.rotation)).collect();
        for track in clip.tracks().iter().filter(|track| track.channel == Channel::Rotation) {
            rotations[track.node as usize] = constant_rotation(track);
        }
        let places = (0..).zip(&moving.rotations.nodes);
        let still = places.filter_map(|(place, node)| Some((place, rotations[*node as usize]?.to_array())));
        Self(still.collect())
    }

    fn set(&self, pose: &mut LanePose) {
        for &(place, value) in &self.0 {
            write(&mut pose.rotations, place as usize, value);
        }
    }
}

impl Clips {
    /// Exact ones. `all_nodes`: not only those that palettes need.
    pub(super) fn new(model: &Model, layout: &PaletteLayout, all_nodes: bool) -> Self {
        let mut clips = Self {
            model: model.clone(),
            rig: Rig::new(model, layout, &Moving::exactly(model), all_nodes),
            compressed: None,
            facts: Vec::new(),
            simd: true,
        };
        clips.set_facts();
        clips
    }

    /// With this compressed form, if any, for these nodes.
    pub(super) fn rebuild(
        &mut self,
        layout: &PaletteLayout,
        all_nodes: bool,
        compressed: Option<CompressedClips>,
    ) {
        let exact = compressed.is_none().then(|| Moving::exactly(&self.model));
        let moving = compressed.as_ref().map(CompressedClips::moving).or(exact.as_ref());
        if let Some(moving) = moving {
            self.rig = Rig::new(&self.model, layout, moving, all_nodes);
        }
        self.compressed = compressed;
        self.set_facts();
    }

    fn set_facts(&mut self) {
        let mut classes = Vec::new();
        let facts = self.model.clips().iter().map(|clip| {
            let driven = driven(clip, &self.rig.moving);
            let class = classes.iter().position(|known| *known == driven).unwrap_or_else(|| {
                classes.push(driven);
                classes.len() - 1
            });
            let tracks = (0u32..).zip(clip.tracks());
            let weights = tracks.filter(|(_, track)| track.channel == Channel::Weights).map(|(i, _)| i);
            let still =
                self.compressed.is_some().then(|| StillRotations::new(&self.model, &self.rig.moving, clip));
            Facts { class: class as u32, weights: weights.collect(), still: still.unwrap_or_default() }
        });
        self.facts = facts.collect();
    }

    pub(super) fn model(&self) -> &Model {
        &self.model
    }

    pub(super) fn rig(&self) -> &Rig {
        &self.rig
    }

    pub(super) fn compressed_clips(&self) -> Option<&CompressedClips> {
        self.compressed.as_ref()
    }

    pub(super) fn simd(&self) -> bool {
        self.simd
    }

    pub(super) fn set_simd(&mut self, simd: bool) {
        self.simd = simd;
    }

    /// The class of a clip and whether it drives morph weights; `None` for a clip of another model.
    pub(super) fn facts(&self, clip: u32) -> Option<(u32, bool)> {
        self.facts.get(clip as usize).map(|facts| (facts.class, !facts.weights.is_empty()))
    }

    fn compressed(&self, clip: u32) -> Option<&CompressedClip> {
        self.compressed.as_ref()?.clip(clip)
    }

    /// Samples every track of a clip into `sink`. One of another model, which a layer copied from there may
    /// name, drives nothing. `lanes` is scratch.
    pub(super) fn drive(&self, clip: u32, time: f32, lanes: &mut LanePose, sink: &mut impl Sink) {
        let Some(source) = self.model.clips().get(clip as usize) else { return };
        let Some(packed) = self.compressed(clip) else {
            return source.tracks().iter().for_each(|track| drive_track(&self.model, track, time, sink));
        };
        let moving = &self.rig.moving;
        self.sample_locals(clip, packed, time, lanes);
        let rest = self.model.skeleton().rest();
        for track in source.tracks() {
            let node = track.node as usize;
            match track.channel {
                Channel::Translation => sink.translation(
                    node,
                    match moving.translations.places[node] {
                        NONE => rest[node].translation,
                        place => read(&lanes.translations, place as usize).into(),
                    },
                ),
                Channel::Rotation => sink.rotation(
                    node,
                    match moving.rotations.places[node] {
                        NONE => rest[node].rotation,
                        place => glam::Quat::from_array(read(&lanes.rotations, place as usize)),
                    },
                ),
                Channel::Scale => sink.scale(
                    node,
                    match moving.scales.places[node] {
                        NONE => rest[node].scale,
                        place => read(&lanes.scales, place as usize).into(),
                    },
                ),
                Channel::Weights => drive_track(&self.model, track, time, sink),
            }
        }
    }

    /// Samples what moves, without morph weights.
    pub(super) fn sample(&self, clip: u32, time: f32, pose: &mut LanePose) {
        let source = &self.model.clips()[clip as usize];
        match self.compressed(clip) {
            Some(packed) if self.rig.space().is_some() => {
                with_lanes(self.simd, SampleTask { clip: packed, time, pose });
                packed.drive_exact(&self.model, source, time, &mut self.rig.sink(pose));
            }
            Some(packed) => self.sample_locals(clip, packed, time, pose),
            None => self.sample_exactly(source, time, pose),
        }
    }

    /// Local transforms of what moves.
    #[inline(never)]
    fn sample_locals(&self, clip: u32, packed: &CompressedClip, time: f32, pose: &mut LanePose) {
        let (source, moving) = (&self.model.clips()[clip as usize], &self.rig.moving);
        packed.sample_locals(&self.model, moving, source, time, self.simd, pose);
        self.facts[clip as usize].still.set(pose);
    }

    #[inline(never)]
    fn sample_exactly(&self, source: &Clip, time: f32, pose: &mut LanePose) {
        pose.copy_from(&self.rig.rest);
        let sink = &mut self.rig.sink(pose);
        for track in source.tracks().iter().filter(|track| track.channel != Channel::Weights) {
            drive_track(&self.model, track, time, sink);
        }
    }

    /// Samples morph weights.
    pub(super) fn drive_weights(&self, clip: u32, time: f32, sink: &mut impl Sink) {
        for &track in &self.facts[clip as usize].weights {
            drive_track(&self.model, &self.model.clips()[clip as usize].tracks()[track as usize], time, sink);
        }
    }
}

/// Which of the moving components a clip drives: rotations, translations, scales.
fn driven(clip: &Clip, moving: &Moving) -> Vec<bool> {
    let counts = [&moving.rotations, &moving.translations, &moving.scales].map(|c| c.nodes.len());
    let mut driven = vec![false; counts.iter().sum()];
    for track in clip.tracks() {
        let (component, before) = match track.channel {
            Channel::Rotation => (&moving.rotations, 0),
            Channel::Translation => (&moving.translations, counts[0]),
            Channel::Scale => (&moving.scales, counts[0] + counts[1]),
            Channel::Weights => continue,
        };
        match component.places[track.node as usize] {
            NONE => {}
            place => driven[before + place as usize] = true,
        }
    }
    driven
}
