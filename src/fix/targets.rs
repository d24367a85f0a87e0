//! Morph targets that move nothing.

use super::{codes, draft::Draft};
use crate::{
    lint::is_dead,
    model::{Channel, Diagnostic, Model, Track},
};

/// Takes them out of their meshes, and their weights out of nodes and clips.
pub(super) fn drop_dead(model: &Model, draft: &mut Draft, changes: &mut Vec<Diagnostic>) {
    // Of each mesh, which targets live; none where all do.
    let mut lives: Vec<Option<Vec<bool>>> = Vec::new();
    for (m, mesh) in model.meshes().iter().enumerate() {
        let all = mesh.weights().len();
        let own: Vec<bool> = (0..all).map(|target| !is_dead(mesh, target)).collect();
        let dropped: Vec<usize> = (0..all).filter(|target| !own[*target]).collect();
        if dropped.is_empty() {
            lives.push(None);
            continue;
        }
        let draft = &mut draft.meshes[m];
        keep(&mut draft.weights, &own);
        keep(&mut draft.target_names, &own);
        draft.primitives.iter_mut().for_each(|primitive| keep(&mut primitive.targets, &own));
        let numbers = [("dropped", dropped.len() as f64), ("targets", all as f64)];
        let few = &dropped[..dropped.len().min(8)];
        let more = if few.len() < dropped.len() { " and more" } else { "" };
        let message =
            format!("{} of {all} targets, which move no vertex, were dropped: {few:?}{more}", dropped.len());
        let place = format!("meshes[{m}].primitives[*].targets");
        changes.push(codes::TARGETS_DROPPED.at(place, message).with(numbers));
        lives.push(Some(own));
    }
    for part in &mut draft.parts {
        lives[part.mesh as usize].iter().for_each(|lives| keep(&mut part.weights, lives));
    }
    let lives_at =
        |node: u32| lives[model.parts()[model.part_of_node(node)? as usize].mesh as usize].as_ref();
    let mut touched = vec![false; draft.clips.len()];
    for (clip, touched) in draft.clips.iter_mut().zip(&mut touched) {
        for track in clip.tracks.iter_mut().filter(|track| track.channel == Channel::Weights) {
            if let Some(lives) = lives_at(track.node) {
                narrow(track, lives);
                *touched = true;
            }
        }
    }
    drop_tracks(draft, &touched, changes);
}

/// Weights tracks without weights, and clips that hold nothing else.
fn drop_tracks(draft: &mut Draft, touched: &[bool], changes: &mut Vec<Diagnostic>) {
    for (at, (clip, _)) in
        draft.clips.iter_mut().zip(touched).enumerate().filter(|(_, (_, touched))| **touched)
    {
        let before = clip.tracks.len();
        clip.tracks.retain(|track| track.width > 0);
        let dropped = before - clip.tracks.len();
        if dropped > 0 {
            let end = if clip.tracks.is_empty() { "; the clip is left out" } else { "" };
            let message = format!("{dropped} of {before} channels drove dropped targets only{end}");
            let numbers = [("dropped", dropped as f64), ("channels", before as f64)];
            changes
                .push(codes::TRACKS_DROPPED.at(format!("animations[{at}].channels"), message).with(numbers));
        }
    }
    let mut touched = touched.iter();
    draft.clips.retain(|clip| !(touched.next() == Some(&true) && clip.tracks.is_empty()));
}

fn keep<T>(list: &mut Vec<T>, lives: &[bool]) {
    let mut lives = lives.iter();
    list.retain(|_| lives.next() == Some(&true));
}

/// Values are rows of a weight per target.
fn narrow(track: &mut Track, lives: &[bool]) {
    let mut lives_of_rows = lives.iter().cycle();
    track.values.retain(|_| lives_of_rows.next() == Some(&true));
    track.width = lives.iter().filter(|lives| **lives).count() as u32;
}
