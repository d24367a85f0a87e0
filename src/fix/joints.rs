//! Joints that no vertex follows, and joints that are others over again.

use std::collections::HashMap;

use super::{
    codes,
    draft::{Draft, SkinDraft},
};
use crate::{
    lint::Uses,
    model::{Diagnostic, Influence, Influences, Model},
};

/// Takes them out of their skins. Cut influences free no joints: what they followed is asked of the model.
pub(super) fn drop_unused(model: &Model, uses: &Uses, draft: &mut Draft, changes: &mut Vec<Diagnostic>) {
    for skin in 0..draft.skins.len() {
        let mut used = uses.used_joints(model, skin as u32);
        let all = used.len();
        let first_of = firsts(&draft.skins[skin]);
        for joint in (0..all).filter(|joint| first_of[*joint] != *joint) {
            let is_used = std::mem::take(&mut used[joint]);
            used[first_of[joint]] |= is_used;
        }
        let merged = (0..all).filter(|joint| first_of[*joint] != *joint).count();
        if used.iter().all(|used| *used) {
            continue;
        }
        let place = format!("skins[{skin}].joints");
        let meshes = &uses.meshes_of_skin[skin];
        let is_shared = |mesh: &u32| uses.skins_of_mesh[*mesh as usize].len() > 1;
        if let Some(mesh) = meshes.iter().find(|mesh| is_shared(mesh)) {
            let message = format!("meshes[{mesh}] is used with another skin as well; no joint was dropped");
            changes.push(codes::JOINTS_KEPT.at(place, message));
            continue;
        }
        // A skin has at least one joint.
        used[0] |= !used.contains(&true);
        let mut place_of = vec![0u32; all];
        let kept: Vec<usize> = (0..all).filter(|joint| used[*joint]).collect();
        (0u32..).zip(&kept).for_each(|(new, old)| place_of[*old] = new);
        (0..all).for_each(|joint| place_of[joint] = place_of[first_of[joint]]);
        let draft_skin = &mut draft.skins[skin];
        draft_skin.joints = kept.iter().map(|old| draft_skin.joints[*old]).collect();
        draft_skin.inverse_binds = kept.iter().map(|old| draft_skin.inverse_binds[*old]).collect();
        for mesh in meshes {
            for primitive in &mut draft.meshes[*mesh as usize].primitives {
                primitive.influences = primitive.influences.as_ref().map(|i| renumbered(i, &place_of));
            }
        }
        if merged > 0 {
            let message =
                format!("{merged} of {all} joints are others over again, and were merged with them");
            let numbers = [("merged", merged as f64), ("joints", all as f64)];
            changes.push(codes::SKIN_JOINTS_MERGED.at(place.clone(), message).with(numbers));
        }
        let dropped = all - merged - kept.len();
        if dropped > 0 {
            let message = format!("{dropped} of {all} joints, which move no vertex, were dropped");
            let numbers = [("dropped", dropped as f64), ("joints", all as f64)];
            changes.push(codes::JOINTS_DROPPED.at(place, message).with(numbers));
        }
    }
}

/// For each joint the first that is the same node with the same inverse bind.
fn firsts(skin: &SkinDraft) -> Vec<usize> {
    let mut known = HashMap::new();
    let joints = skin.joints.iter().zip(&skin.inverse_binds).enumerate();
    joints
        .map(|(joint, (node, bind))| {
            *known.entry((*node, bind.to_cols_array().map(f32::to_bits))).or_insert(joint)
        })
        .collect()
}

/// With a joint's weights added up where several became one.
fn renumbered(influences: &Influences, place_of: &[u32]) -> Influences {
    let mut out = Influences::with_capacity(influences.vertices());
    let mut row: Vec<Influence> = Vec::new();
    for vertex in 0..influences.vertices() {
        row.clear();
        for influence in influences.row(vertex) {
            let joint = place_of[influence.joint as usize];
            match row.iter_mut().find(|known| known.joint == joint) {
                Some(known) => known.weight += influence.weight,
                None => row.push(Influence { joint, ..*influence }),
            }
        }
        out.push(row.iter().copied());
    }
    out
}
