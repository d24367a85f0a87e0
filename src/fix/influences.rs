//! Vertices with more influences than wanted.

use super::{codes, draft::Draft};
use crate::{
    lint::{LintOptions, Poses, Uses, where_to, worst_cut_of},
    model::{Diagnostic, Model},
};

/// Keeps the strongest and says what that does.
pub(super) fn reduce(
    model: &Model,
    uses: &Uses,
    draft: &mut Draft,
    kept: usize,
    changes: &mut Vec<Diagnostic>,
) {
    let mut poses = None;
    for (m, mesh) in draft.meshes.iter_mut().enumerate() {
        for (p, primitive) in mesh.primitives.iter_mut().enumerate() {
            let Some(influences) = primitive.influences.as_mut().filter(|i| i.max_per_vertex() > kept) else {
                continue;
            };
            *influences = influences.strongest(kept);
            let poses = poses.get_or_insert_with(|| Poses::new(model, LintOptions::default().times));
            let primitive = &model.meshes()[m].primitives()[p];
            let place = format!("meshes[{m}].primitives[{p}].attributes.WEIGHTS_n");
            let change = match worst_cut_of(primitive, &uses.skins_of_mesh[m], kept, poses) {
                Some(cut) => {
                    let message = format!(
                        "{} vertices cut to {kept} influences; vertex {} moves by {:.3e} m at most ({})",
                        cut.vertices,
                        cut.vertex,
                        cut.displacement,
                        where_to(model, &cut),
                    );
                    codes::INFLUENCES_REDUCED.at(place, message).with([
                        ("vertices", cut.vertices as f64),
                        ("influences", kept as f64),
                        ("displacement", f64::from(cut.displacement)),
                        ("vertex", f64::from(cut.vertex)),
                    ])
                }
                None => codes::INFLUENCES_REDUCED
                    .at(place, format!("cut to {kept} influences; no skin uses it"))
                    .with([("influences", kept as f64)]),
            };
            changes.push(change);
        }
    }
}
