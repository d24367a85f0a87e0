//! Morph targets and channels that do nothing.

use super::{Uses, codes, counted, named};
use crate::model::{Channel, Clip, Diagnostic, Interpolation, Mesh, Model, Track};

pub(super) fn check(model: &Model, uses: &Uses, found: &mut Vec<Diagnostic>) {
    let driven = driven(model, uses);
    for (at, mesh) in model.meshes().iter().enumerate() {
        for (target, is_driven) in driven[at].iter().enumerate() {
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

/// For each mesh and target whether something gives it another weight than 0.
fn driven(model: &Model, uses: &Uses) -> Vec<Vec<bool>> {
    let is_set = |driven: &mut Vec<bool>, weights: &[f32]| {
        driven.iter_mut().zip(weights).for_each(|(driven, weight)| *driven |= *weight != 0.0);
    };
    let mut all: Vec<Vec<bool>> = Vec::new();
    for (mesh, parts) in model.meshes().iter().zip(&uses.parts_of_mesh) {
        let mut driven = vec![false; mesh.weights().len()];
        is_set(&mut driven, mesh.weights());
        parts.iter().for_each(|part| is_set(&mut driven, &model.parts()[*part as usize].weights));
        all.push(driven);
    }
    let tracks = model.clips().iter().flat_map(Clip::tracks);
    for track in tracks.filter(|track| track.channel == Channel::Weights) {
        let Some(part) = model.part_of_node(track.node) else { continue };
        let driven = &mut all[model.parts()[part as usize].mesh as usize];
        track.values.chunks_exact(track.width as usize).for_each(|row| is_set(driven, row));
    }
    all
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
