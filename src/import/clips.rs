//! Animations to clips.

use std::collections::HashSet;

use gltf::json::{
    self,
    animation::{Interpolation as Kind, Property},
    validation::Checked,
};

use super::{
    ImportError,
    accessor::Reader,
    codes,
    document::Document,
    format::{self, Format},
    stage::{Stage, Steps},
};
use crate::model::{Channel, Clip, Interpolation, Part, Track};

pub(super) fn build(
    document: &Document,
    parts: &[Part],
    reader: &mut Reader<'_>,
    steps: Steps<'_>,
) -> Result<Vec<Clip>, ImportError> {
    let mut clips = Vec::new();
    for (index, animation) in document.animations.iter().enumerate() {
        steps.counted(Stage::Clips, index, document.animations.len());
        let place = format!("animations[{index}]");
        let tracks = tracks(&place, animation, parts, reader)?;
        if animation.channels.is_empty() {
            reader.report.add(codes::CLIP_EMPTY, format!("{place}.channels"), "a clip without channels")?;
        }
        let name = animation.name.clone().unwrap_or_default();
        clips.push(Clip::new(name, tracks).map_err(|source| ImportError::Clip { place, source })?);
    }
    Ok(clips)
}

fn tracks(
    place: &str,
    animation: &json::Animation,
    parts: &[Part],
    reader: &mut Reader<'_>,
) -> Result<Vec<Track>, ImportError> {
    let mut driven = HashSet::new();
    let mut tracks = Vec::new();
    for (index, source) in animation.channels.iter().enumerate() {
        let at = format!("{place}.channels[{index}]");
        let node = source.target.node.value() as u32;
        let Checked::Valid(path) = source.target.path else {
            return Err(ImportError::schema(format!("{at}.target.path"), "is not known"));
        };
        let channel = match path {
            Property::Translation => Channel::Translation,
            Property::Rotation => Channel::Rotation,
            Property::Scale => Channel::Scale,
            Property::MorphTargetWeights => Channel::Weights,
        };
        let targets = targets_at(parts, node);
        if channel == Channel::Weights && targets == 0 {
            let message = format!("node {node} has no morph targets; the channel was dropped");
            reader.report.add(codes::CHANNEL_WITHOUT_TARGETS, at, message)?;
            continue;
        }
        if !driven.insert((node, channel)) {
            let message = format!("{channel:?} of node {node} is driven already; the channel was dropped");
            reader.report.add(codes::CHANNEL_DUPLICATE, at, message)?;
            continue;
        }
        let sampler = source.sampler.value();
        let place = format!("{place}.samplers[{sampler}]");
        tracks.push(track(&place, &animation.samplers[sampler], node, channel, targets, reader)?);
    }
    Ok(tracks)
}

fn targets_at(parts: &[Part], node: u32) -> usize {
    parts.binary_search_by_key(&node, |p| p.node).map_or(0, |at| parts[at].weights.len())
}

fn track(
    place: &str,
    sampler: &json::animation::Sampler,
    node: u32,
    channel: Channel,
    targets: usize,
    reader: &mut Reader<'_>,
) -> Result<Track, ImportError> {
    let Checked::Valid(kind) = sampler.interpolation else {
        return Err(ImportError::schema(format!("{place}.interpolation"), "is not known"));
    };
    let interpolation = match kind {
        Kind::Linear => Interpolation::Linear,
        Kind::Step => Interpolation::Step,
        Kind::CubicSpline => Interpolation::CubicSpline,
    };
    let (times, _) = reader.finite(sampler.input, &format!("{place}.input"), &format::TIMES)?;
    check_times(&format!("{place}.input"), &times)?;
    let (format, width): (&Format, usize) = match channel {
        Channel::Translation | Channel::Scale => (&format::KEYS_VEC3, 3),
        Channel::Rotation => (&format::KEYS_ROTATION, 4),
        Channel::Weights => (&format::KEYS_WEIGHTS, targets),
    };
    let place = format!("{place}.output");
    let (values, layout) = reader.finite(sampler.output, &place, format)?;
    let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let each = if channel == Channel::Weights { targets } else { 1 };
    let expected = times.len() as u64 * per_key * each as u64;
    if layout.count as u64 != expected {
        let found = layout.count as u64;
        return Err(ImportError::Count { place, what: "values", found, expected });
    }
    let mut track = Track { node, channel, interpolation, times, values, width: width as u32 };
    if interpolation == Interpolation::CubicSpline && track.times.len() == 1 {
        track.values = track.values[width..2 * width].to_vec();
        track.interpolation = Interpolation::Step;
        let message = "a cubic spline needs two keys; its one value is constant";
        reader.report.add(codes::SPLINE_SINGLE_KEY, &place, message)?;
    }
    let zeros = replace_zero_rotations(&mut track);
    if zeros > 0 {
        let message = format!("{zeros} zero quaternions became the identity");
        reader.report.add_with(codes::KEY_ROTATION_ZERO, &place, message, [("keys", zeros as f64)])?;
    }
    Ok(track)
}

fn check_times(place: &str, times: &[f32]) -> Result<(), ImportError> {
    if let Some(first) = times.first().filter(|t| **t < 0.0) {
        return Err(ImportError::value(place, format!("key 0 is at {first} s; times start at 0 or later")));
    }
    match times.windows(2).position(|w| w[1] <= w[0]) {
        Some(at) => {
            let problem = format!(
                "key {} at {} s must be later than key {at} at {} s",
                at + 1,
                times[at + 1],
                times[at]
            );
            Err(ImportError::value(place, problem))
        }
        None => Ok(()),
    }
}

/// Tangents of splines may be zero, values may not.
fn replace_zero_rotations(track: &mut Track) -> usize {
    if track.channel != Channel::Rotation {
        return 0;
    }
    let (skip, step) = if track.interpolation == Interpolation::CubicSpline { (1, 3) } else { (0, 1) };
    let mut zeros = 0;
    for value in track.values.as_chunks_mut::<4>().0.iter_mut().skip(skip).step_by(step) {
        if *value == [0.0; 4] {
            *value = [0.0, 0.0, 0.0, 1.0];
            zeros += 1;
        }
    }
    zeros
}
