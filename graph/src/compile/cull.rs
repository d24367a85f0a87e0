use crate::{
    access::Target,
    compile::edges::Edges,
    decl::{Declarations, PassDecl},
    error::GraphError,
    plan::{CullReason, CulledPass},
};

/// Walks back from what the caller can observe; the rest is not in the plan. By pass: whether it stays.
pub(super) fn cull(decl: &Declarations, edges: &Edges, errors: &mut Vec<GraphError>) -> Vec<bool> {
    let exported = exported(decl, edges);
    let mut alive: Vec<bool> =
        decl.passes.iter().map(|pass| pass.enabled && is_observed(decl, pass, &exported)).collect();
    for (value, _) in exported.iter().enumerate().filter(|(_, exported)| **exported) {
        // The writer of what an export stands for while its modifiers are disabled.
        if let Some(writer) = decl.values[value].writer {
            alive[writer as usize] |= decl.passes[writer as usize].enabled;
        }
    }
    let mut open: Vec<u32> = (0..alive.len() as u32).filter(|&pass| alive[pass as usize]).collect();
    if open.is_empty() {
        errors.push(GraphError::NothingObservable);
    }
    while let Some(pass) = open.pop() {
        for &needed in &edges.needs[pass as usize] {
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

/// By value: whether it is exported, after disabled modifiers are skipped.
pub(super) fn exported(decl: &Declarations, edges: &Edges) -> Vec<bool> {
    let mut exported = vec![false; decl.values.len()];
    for (value, &stands_for) in decl.values.iter().zip(&edges.stands_for) {
        exported[stands_for as usize] |= value.exported;
    }
    exported
}

fn is_observed(decl: &Declarations, pass: &PassDecl, exported: &[bool]) -> bool {
    let mut written = pass.uses.iter().filter(|u| u.usage.writes());
    pass.keep
        || written.any(|u| match u.target {
            Target::Texture(texture) => decl.textures[texture as usize].home.outlives_frame(),
            target => decl.touched(target).any(|value| {
                let storage = decl.values[value as usize].storage;
                exported[value as usize] || decl.storages[storage as usize].home.outlives_frame()
            }),
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
