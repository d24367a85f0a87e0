//! Joints that no vertex follows.

use super::{codes, draft::Draft};
use crate::{
    lint::Uses,
    model::{Diagnostic, Influence, Influences, Model},
};

/// Takes them out of their skins. Cut influences free no joints: what they followed is asked of the model.
pub(super) fn drop_unused(model: &Model, uses: &Uses, draft: &mut Draft, changes: &mut Vec<Diagnostic>) {
    for skin in 0..draft.skins.len() {
        let mut used = uses.used_joints(model, skin as u32);
        let all = used.len();
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
        let draft_skin = &mut draft.skins[skin];
        draft_skin.joints = kept.iter().map(|old| draft_skin.joints[*old]).collect();
        draft_skin.inverse_binds = kept.iter().map(|old| draft_skin.inverse_binds[*old]).collect();
        for mesh in meshes {
            for primitive in &mut draft.meshes[*mesh as usize].primitives {
                primitive.influences = primitive.influences.as_ref().map(|i| renumbered(i, &place_of));
            }
        }
        let numbers = [("dropped", (all - kept.len()) as f64), ("joints", all as f64)];
        let message = format!("{} of {all} joints, which move no vertex, were dropped", all - kept.len());
        changes.push(codes::JOINTS_DROPPED.at(place, message).with(numbers));
    }
}

fn renumbered(influences: &Influences, place_of: &[u32]) -> Influences {
    let mut out = Influences::with_capacity(influences.vertices());
    for vertex in 0..influences.vertices() {
        out.push(
            influences.row(vertex).iter().map(|i| Influence { joint: place_of[i.joint as usize], ..*i }),
        );
    }
    out
}
