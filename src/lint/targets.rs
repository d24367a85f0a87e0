//! Morph targets and channels that do nothing.

use super::{codes, counted, named};
use crate::model::{Channel, Clip, Diagnostic, Interpolation, Mesh, Model, Track};

pub(super) fn check(model: &Model, found: &mut Vec<Diagnostic>) {
    for (at, mesh) in model.meshes().iter().enumerate() {
        for (target, is_driven) in driven(model, at as u32).into_iter().enumerate() {
            let place =
                named(format!("meshes[{at}].primitives[*].targets[{target}]"), &mesh.target_names()[target]);
            let numbers = [("target", target as f64)];
            if is_dead(mesh, target) {
                found.push(codes::TARGET_DEAD.at(place, "moves no vertex").with(numbers));
            } else if !model.clips().is_empty() && !is_driven {
                let message = "no clip drives it, and it rests at 0";
                found.push(codes::TARGET_UNDRIVEN.at(place, message).with(numbers));
            }
        }
    }
    for (at, clip) in model.clips().iter().enumerate() {
        let constant = clip.tracks().iter().filter(|track| is_constant(track)).count();
        if constant > 0 {
            let message = format!(
                "{} of {} whose keys never differ",
                constant,
                counted(clip.tracks().len(), "channel", "channels")
            );
            let numbers = [("constant", constant as f64), ("channels", clip.tracks().len() as f64)];
            let place = named(format!("animations[{at}].channels"), clip.name());
            found.push(codes::CHANNELS_CONSTANT.at(place, message).with(numbers));
        }
    }
}

/// Whether a target moves nothing in any primitive.
pub(crate) fn is_dead(mesh: &Mesh, target: usize) -> bool {
    mesh.primitives().iter().all(|primitive| primitive.targets()[target].vertices().is_empty())
}

/// For each target of a mesh whether something gives it another weight than 0.
fn driven(model: &Model, mesh: u32) -> Vec<bool> {
    let mut driven: Vec<bool> = model.meshes()[mesh as usize].weights().iter().map(|w| *w != 0.0).collect();
    let parts = || model.parts().iter().filter(|part| part.mesh == mesh);
    for part in parts() {
        driven.iter_mut().zip(&part.weights).for_each(|(driven, weight)| *driven |= *weight != 0.0);
    }
    let of_mesh =
        |track: &&Track| track.channel == Channel::Weights && parts().any(|part| part.node == track.node);
    for track in model.clips().iter().flat_map(Clip::tracks).filter(of_mesh) {
        for row in track.values.chunks_exact(track.width as usize) {
            driven.iter_mut().zip(row).for_each(|(driven, weight)| *driven |= *weight != 0.0);
        }
    }
    driven
}

fn is_constant(track: &Track) -> bool {
    let width = track.width as usize;
    let rows: Vec<&[f32]> = track.values.chunks_exact(width).collect();
    match track.interpolation {
        Interpolation::Step | Interpolation::Linear => rows.iter().all(|row| row == &rows[0]),
        // In-tangent, value, out-tangent.
        Interpolation::CubicSpline => rows
            .chunks_exact(3)
            .all(|key| key[1] == rows[1] && key[0].iter().chain(key[2]).all(|tangent| *tangent == 0.0)),
    }
}
