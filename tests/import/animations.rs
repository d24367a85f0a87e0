use serde_json::json;
use sinew::model::{Channel, Interpolation};

use crate::glb::Glb;

#[test]
fn times_must_rise_from_zero_or_later() {
    for (times, message) in [
        ([1.0, 0.5], "key 1 at 0.5 s must be later than key 0 at 1 s"),
        ([0.5, 0.5], "key 1 at 0.5 s must be later than key 0 at 0.5 s"),
        ([-1.0, 0.5], "key 0 is at -1 s; times start at 0 or later"),
        ([0.0, f32::NAN], "element 1 holds NaN"),
    ] {
        let mut glb = Glb::triangle();
        let input = glb.floats("SCALAR", &times);
        glb.json["animations"][0]["samplers"][0]["input"] = input.into();
        assert_eq!(glb.error(), format!("animations[0].samplers[0].input: {message}"));
    }
}

#[test]
fn values_must_match_the_keys() {
    let mut glb = Glb::triangle();
    let output = glb.floats("VEC4", &[0.0, 0.0, 0.0, 1.0].repeat(3));
    glb.json["animations"][0]["samplers"][0]["output"] = output.into();
    assert_eq!(glb.error(), "animations[0].samplers[0].output has 3 values, but 2 are needed");
    glb.json["animations"][0]["samplers"][0]["interpolation"] = "CUBICSPLINE".into();
    assert_eq!(glb.error(), "animations[0].samplers[0].output has 3 values, but 6 are needed");
}

#[test]
fn a_cubic_spline_with_one_key_is_constant() {
    let mut glb = Glb::triangle();
    let input = glb.floats("SCALAR", &[0.5]);
    let output = glb.floats("VEC4", &[9.0, 9.0, 9.0, 9.0, 0.0, 1.0, 0.0, 0.0, 8.0, 8.0, 8.0, 8.0]);
    glb.json["animations"][0]["samplers"] =
        json!([{ "input": input, "output": output, "interpolation": "CUBICSPLINE" }]);
    assert_eq!(glb.codes(), ["spline-single-key"]);
    let model = glb.model();
    let track = &model.clips()[0].tracks()[0];
    assert_eq!((track.interpolation, &track.values[..]), (Interpolation::Step, &[0.0, 1.0, 0.0, 0.0][..]));
}

#[test]
fn a_zero_rotation_key_becomes_the_identity() {
    let mut glb = Glb::triangle();
    let output = glb.floats("VEC4", &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    glb.json["animations"][0]["samplers"][0]["output"] = output.into();
    assert_eq!(glb.codes(), ["key-rotation-zero"]);
    assert_eq!(glb.model().clips()[0].tracks()[0].values[..4], [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn normalised_integer_rotations_are_decoded() {
    let mut glb = Glb::triangle();
    let bytes: Vec<u8> = [0i16, 0, 0, 32767, 0, -32768, 0, 0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let output = glb.bytes_of(5122, "VEC4", 2, &bytes);
    glb.json["accessors"][output]["normalized"] = true.into();
    glb.json["animations"][0]["samplers"][0]["output"] = output.into();
    assert_eq!(glb.model().clips()[0].tracks()[0].values, [0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0]);
}

#[test]
fn channels_without_a_node_or_with_an_unknown_path_are_dropped() {
    let mut glb = Glb::triangle();
    let channels = glb.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.push(json!({ "sampler": 0, "target": { "path": "rotation" } }));
    channels.push(json!({ "sampler": 0, "target": { "node": 1, "path": "pointer" } }));
    assert_eq!(glb.codes(), ["channel-without-node", "channel-path-unknown"]);
    assert_eq!(glb.model().clips()[0].tracks().len(), 1);
}

#[test]
fn the_first_of_two_channels_wins() {
    let mut glb = Glb::triangle();
    let channels = glb.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.push(channels[0].clone());
    assert_eq!(glb.codes(), ["channel-duplicate"]);
}

#[test]
fn a_weights_channel_needs_targets() {
    let mut glb = Glb::triangle();
    glb.json["animations"][0]["channels"][0]["target"] = json!({ "node": 0, "path": "weights" });
    assert_eq!(glb.codes(), ["channel-without-targets"]);
    let deltas = glb.floats("VEC3", &[1.0; 9]);
    let output = glb.floats("SCALAR", &[0.0, 0.1, 1.0, 0.9]);
    glb.primitive()["targets"] = json!([{ "POSITION": deltas }, { "POSITION": deltas }]);
    glb.json["animations"][0]["samplers"][0]["output"] = output.into();
    let model = glb.model();
    let track = &model.clips()[0].tracks()[0];
    assert_eq!((track.channel, track.width), (Channel::Weights, 2));
}
