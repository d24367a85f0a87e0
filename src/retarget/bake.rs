//! Whole clips, sampled as `SkeletonUtils.retargetClip` does.

use glam::Quat;

use super::{BakeOptions, Keep, Retarget, RetargetError};
use crate::{
    animate::{Pose, set_channels, set_rest},
    model::{Channel, Clip, Interpolation, Track},
};

/// Keys of a track: at 60 a second more than four hours.
const MOST_FRAMES: u64 = 1_000_000;
/// Scales that differ less, relative to rest, are the same.
const SCALE_TOLERANCE: f32 = 1e-4;

impl Retarget {
    /// A clip of the source as one of the target, with the same name. It has `duration · fps` keys a track, rounded,
    /// at least one, evenly spread from 0 to the clip's end; the target is otherwise in its rest pose. Rotations
    /// follow each other in one hemisphere.
    pub fn clip(&mut self, clip: u32, options: &BakeOptions) -> Result<Clip, RetargetError> {
        let model = self.source.clone();
        let clips = model.clips();
        let Some(source) = clips.get(clip as usize) else {
            return Err(RetargetError::UnknownClip { clip, clips: clips.len() });
        };
        self.check_clip(source, options)?;
        let times = times(source, options)?;
        let mut tracks = self.tracks(&times, options.keep);
        let (mut source_pose, mut target_pose) = (Pose::rest(&model), Pose::rest(&self.target));
        for time in &times {
            set_rest(&model, &mut source_pose.as_mut());
            set_channels(&model, source, *time as f32, &mut source_pose.as_mut());
            set_rest(&self.target, &mut target_pose.as_mut());
            self.pose(source_pose.as_ref(), &mut target_pose.as_mut())?;
            tracks.iter_mut().for_each(|track| push(track, &target_pose));
        }
        Ok(Clip::new(source.name(), tracks)?)
    }

    /// Whether anything of a clip can be taken over, and all that matters.
    fn check_clip(&self, clip: &Clip, options: &BakeOptions) -> Result<(), RetargetError> {
        let name = || clip.name().to_owned();
        if clip.tracks().is_empty() {
            return Err(RetargetError::NoTracks { clip: name() });
        }
        let skeleton = self.source.skeleton();
        let mut counts = vec![false; skeleton.len()];
        self.worlds.chain().iter().for_each(|(node, _)| counts[*node as usize] = true);
        let driven = || {
            clip.tracks()
                .iter()
                .filter(|track| track.channel != Channel::Weights && counts[track.node as usize])
        };
        if let Some(track) = driven().find(|track| !options.drop_scale && self.scales(track)) {
            let name_of = skeleton.names()[track.node as usize].clone();
            return Err(RetargetError::ScaleTrack { clip: name(), node: track.node, name: name_of });
        }
        if driven().all(|track| track.channel == Channel::Scale) {
            return Err(RetargetError::NothingDriven { clip: name(), tracks: clip.tracks().len() });
        }
        Ok(())
    }

    /// Whether a track takes a node's scale away from rest.
    fn scales(&self, track: &Track) -> bool {
        if track.channel != Channel::Scale {
            return false;
        }
        let rest = self.source.skeleton().rest()[track.node as usize].scale.to_array();
        let differs =
            |(found, rest): (&f32, f32)| (found - rest).abs() > SCALE_TOLERANCE * rest.abs().max(1e-3);
        // Of a cubic spline's three the value; a tangent that leads away from equal values matters as well, but not to
        // the keys.
        let keys: Vec<&[f32]> = match track.interpolation {
            Interpolation::CubicSpline => track.values.chunks_exact(9).map(|key| &key[3..6]).collect(),
            _ => track.values.chunks_exact(3).collect(),
        };
        keys.into_iter().any(|key| key.iter().zip(rest).any(differs))
    }

    /// Without values.
    fn tracks(&self, times: &[f64], keep: Keep) -> Vec<Track> {
        let mut tracks = Vec::new();
        let keys: Vec<f32> = times.iter().map(|&time| time as f32).collect();
        for joint in &self.report.mapped {
            let all = keep == Keep::All;
            let channels = [
                (Channel::Translation, 3, all || joint.is_hip),
                (Channel::Rotation, 4, true),
                (Channel::Scale, 3, all),
            ];
            for (channel, width, _) in channels.into_iter().filter(|(_, _, is_kept)| *is_kept) {
                tracks.push(Track {
                    node: joint.target,
                    channel,
                    interpolation: Interpolation::Linear,
                    times: keys.clone(),
                    values: Vec::with_capacity(keys.len() * width as usize),
                    width,
                });
            }
        }
        tracks
    }
}

/// A node's value in a pose as the next key.
fn push(track: &mut Track, pose: &Pose) {
    let node = track.node as usize;
    match track.channel {
        Channel::Translation => track.values.extend(pose.translations[node].to_array()),
        Channel::Scale => track.values.extend(pose.scales[node].to_array()),
        Channel::Rotation => {
            let rotation = pose.rotations[node];
            let before =
                track.values.last_chunk().map_or(rotation, |last: &[f32; 4]| Quat::from_array(*last));
            track.values.extend(if before.dot(rotation) < 0.0 { -rotation } else { rotation }.to_array());
        }
        Channel::Weights => {}
    }
}

/// Seconds of the keys.
fn times(clip: &Clip, options: &BakeOptions) -> Result<Vec<f64>, RetargetError> {
    let duration = f64::from(clip.duration());
    let most_keys = clip.tracks().iter().map(|track| track.times.len()).max().unwrap_or(1);
    let frames = match options.fps {
        Some(fps) if !(fps > 0.0 && fps.is_finite()) => return Err(RetargetError::Fps { fps }),
        Some(fps) => (duration * f64::from(fps)).round(),
        None => most_keys as f64,
    };
    if frames > MOST_FRAMES as f64 {
        let (clip, frames) = (clip.name().into(), frames as u64);
        return Err(RetargetError::TooManyFrames { clip, frames, most: MOST_FRAMES });
    }
    let frames = if duration > 0.0 { frames.max(1.0) as u32 } else { 1 };
    let step = duration / f64::from(frames.max(2) - 1);
    Ok((0..frames).map(|frame| f64::from(frame) * step).collect())
}
