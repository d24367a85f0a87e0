//! Clips: a sampler for each track.

use serde_json::{Value, json};

use super::{named, writer::Writer};
use crate::model::{Channel, Interpolation, Model};

pub(super) fn animations(model: &Model, writer: &mut Writer) -> Vec<Value> {
    let mut animations = Vec::new();
    for clip in model.clips() {
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (sampler, track) in clip.tracks().iter().enumerate() {
            let (path, kind) = match track.channel {
                Channel::Translation => ("translation", "VEC3"),
                Channel::Rotation => ("rotation", "VEC4"),
                Channel::Scale => ("scale", "VEC3"),
                Channel::Weights => ("weights", "SCALAR"),
            };
            let interpolation = match track.interpolation {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            let (input, output) =
                (writer.bounded(&track.times, "SCALAR"), writer.floats(&track.values, kind));
            samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
            channels.push(json!({ "sampler": sampler, "target": { "node": track.node, "path": path } }));
        }
        let mut object = named(clip.name());
        object.insert("channels".into(), channels.into());
        object.insert("samplers".into(), samplers.into());
        animations.push(Value::Object(object));
    }
    animations
}
