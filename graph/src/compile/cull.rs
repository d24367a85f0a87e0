use crate::{
    access::Target,
    compile::{csr::Csr, edges::Edges},
    decl::{Declarations, PassDecl},
    error::GraphError,
    plan::{CullReason, CulledPass},
};

/// Walks back from what the caller can observe; the rest is not in the plan. By pass: whether it stays.
pub(super) fn cull(
    decl: &Declarations,
    edges: &Edges,
    exported: &[u32],
    errors: &mut Vec<GraphError>,
) -> Vec<bool> {
    let mut alive: Vec<bool> =
        decl.passes.iter().map(|pass| pass.enabled && is_observed(decl, pass)).collect();
    for &value in exported {
        // The writer of what an export stands for while its modifiers are disabled.
        if let Some(writer) = decl.values[value as usize].writer {
            alive[writer as usize] |= decl.passes[writer as usize].enabled;
        }
    }
    let mut open: Vec<u32> = (0..alive.len() as u32).filter(|&pass| alive[pass as usize]).collect();
    if open.is_empty() {
        errors.push(GraphError::NothingObservable);
    }
    let needs = Csr::new(alive.len(), &edges.needs);
    while let Some(pass) = open.pop() {
        for &needed in needs.of(pass) {
            if !alive[needed as usize] {
                alive[needed as usize] = true;
                open.push(needed);
            }
        }
    }
    for orphan in edges.orphans.iter().filter(|orphan| alive[orphan.pass as usize]) {
        errors.push(GraphError::WriterDisabled {
            pass: decl.pass_label(orphan.pass),
            resource: orphan.resource.clone(),
            writer: decl.pass_label(orphan.writer),
        });
    }
    alive
}

/// The exported values, after disabled modifiers are skipped.
pub(super) fn exported(decl: &Declarations, edges: &Edges) -> Vec<u32> {
    let values = decl.values.iter().zip(&edges.stands_for).filter(|(value, _)| value.exported);
    values.map(|(_, &stands_for)| stands_for).collect()
}

fn is_observed(decl: &Declarations, pass: &PassDecl) -> bool {
    let mut written = pass.uses.iter().filter(|u| u.usage.writes());
    pass.keep
        || written.any(|u| match u.target {
            Target::Texture(texture) => decl.textures[texture as usize].home.outlives_frame(),
            target => {
                let storage = decl.storage_of(target).map(|storage| &decl.storages[storage as usize]);
                storage.is_some_and(|storage| storage.home.outlives_frame())
            }
        })
}

/// Why each pass that is not in the plan is not.
pub(super) fn reasons(decl: &Declarations, alive: &[bool]) -> Vec<CulledPass> {
    let culled = decl.passes.iter().zip(alive).filter(|(_, alive)| !**alive);
    culled.map(|(pass, _)| CulledPass { label: pass.label.clone(), reason: reason(decl, pass) }).collect()
}

fn reason(decl: &Declarations, pass: &PassDecl) -> CullReason {
    let written = pass.uses.iter().filter(|u| u.usage.writes());
    let resources: Vec<_> = written.map(|u| decl.label_of(u.target)).collect();
    match (pass.enabled, resources.is_empty()) {
        (false, _) => CullReason::Disabled,
        (true, true) => CullReason::WritesNothing,
        (true, false) => CullReason::Unread { resources },
    }
}
