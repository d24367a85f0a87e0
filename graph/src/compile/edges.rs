use crate::{
    access::Target,
    decl::{Declarations, TextureDecl},
    error::GraphError,
    handle::Label,
};

/// What each pass waits for.
pub(super) struct Edges {
    /// By pass: the passes whose results it reads. They keep each other in the plan.
    pub(super) needs: Vec<Vec<u32>>,
    /// By pass: passes that must come earlier because this one overwrites what they touch.
    pub(super) after: Vec<Vec<u32>>,
    /// By value: the value whose bytes it stands for while some modifiers are disabled.
    pub(super) stands_for: Vec<u32>,
    /// Reads of what a disabled pass would have written; errors if the reader is in the plan.
    pub(super) orphans: Vec<Orphan>,
}

pub(super) struct Orphan {
    pub(super) pass: u32,
    pub(super) resource: Label,
    pub(super) writer: u32,
}

pub(super) fn edges(decl: &Declarations, errors: &mut Vec<GraphError>) -> Edges {
    let passes = decl.passes.len();
    let mut edges = Edges {
        needs: vec![Vec::new(); passes],
        after: vec![Vec::new(); passes],
        stands_for: stands_for(decl),
        orphans: Vec::new(),
    };
    let readers = buffer_reads(decl, &mut edges, errors);
    modifications(decl, &readers, &mut edges, errors);
    for texture in 0..decl.textures.len() as u32 {
        texture_uses(decl, texture, &mut edges, errors);
    }
    edges
}

/// A disabled modifier leaves its value as it was. Values come after those they are made from.
fn stands_for(decl: &Declarations) -> Vec<u32> {
    let mut stands_for: Vec<u32> = (0..decl.values.len() as u32).collect();
    for (index, value) in decl.values.iter().enumerate() {
        if let (Some(previous), Some(writer)) = (value.previous, value.writer)
            && !decl.passes[writer as usize].enabled
        {
            stands_for[index] = stands_for[previous as usize];
        }
    }
    stands_for
}

/// Writer before reader. Returns the readers of each value.
fn buffer_reads(decl: &Declarations, edges: &mut Edges, errors: &mut Vec<GraphError>) -> Vec<Vec<u32>> {
    let mut readers = vec![Vec::new(); decl.values.len()];
    for (pass, uses) in enabled(decl) {
        for value in uses.filter(|u| !u.1).flat_map(|(target, _)| decl.touched(target)) {
            let value = edges.stands_for[value as usize];
            readers[value as usize].push(pass);
            need_writer(decl, pass, value, edges, errors);
        }
    }
    readers
}

/// The value's writer, and everyone who still reads the value, before the pass that changes it in place.
fn modifications(decl: &Declarations, readers: &[Vec<u32>], edges: &mut Edges, errors: &mut Vec<GraphError>) {
    for value in &decl.values {
        let (Some(previous), Some(pass)) = (value.previous, value.writer) else { continue };
        if !decl.passes[pass as usize].enabled {
            continue;
        }
        let previous = edges.stands_for[previous as usize];
        if decl.values[previous as usize].writer == Some(pass) {
            let (pass, resource) = (decl.pass_label(pass), value.label.clone());
            errors.push(GraphError::ReadAndWrite { pass, resource });
            continue;
        }
        need_writer(decl, pass, previous, edges, errors);
        let earlier = readers[previous as usize].iter().filter(|&&reader| reader != pass);
        edges.after[pass as usize].extend(earlier);
    }
}

fn need_writer(decl: &Declarations, pass: u32, value: u32, edges: &mut Edges, errors: &mut Vec<GraphError>) {
    let value = &decl.values[value as usize];
    let is_filled = decl.storages[value.storage as usize].home.has_contents();
    match value.writer {
        // Reading and writing in one pass is reported where uses are validated.
        Some(writer) if writer == pass => {}
        Some(writer) if decl.passes[writer as usize].enabled => edges.needs[pass as usize].push(writer),
        Some(writer) if !is_filled => {
            edges.orphans.push(Orphan { pass, resource: value.label.clone(), writer });
        }
        None if !is_filled => {
            let (pass, resource) = (decl.pass_label(pass), value.label.clone());
            errors.push(GraphError::ReadBeforeWrite { pass, resource });
        }
        _ => {}
    }
}

/// Writers of a texture in the order of declaration, each reader after the last writer declared before it.
fn texture_uses(decl: &Declarations, texture: u32, edges: &mut Edges, errors: &mut Vec<GraphError>) {
    let touches = |pass: u32, write: bool| {
        let uses = &decl.passes[pass as usize].uses;
        uses.iter().any(|u| u.target == Target::Texture(texture) && u.usage.writes() == write)
    };
    let all = 0..decl.passes.len() as u32;
    let (writers, disabled): (Vec<u32>, Vec<u32>) =
        all.clone().filter(|&p| touches(p, true)).partition(|&p| decl.passes[p as usize].enabled);
    let missing = |pass: u32, edges: &mut Edges, errors: &mut Vec<GraphError>| {
        let TextureDecl { label, home, .. } = &decl.textures[texture as usize];
        let resource = label.clone();
        match disabled.first() {
            _ if home.has_contents() => {}
            Some(&writer) => edges.orphans.push(Orphan { pass, resource, writer }),
            None => errors.push(GraphError::ReadBeforeWrite { pass: decl.pass_label(pass), resource }),
        }
    };

    for (at, &pass) in writers.iter().enumerate() {
        let loads = decl.passes[pass as usize].loads(texture);
        match at.checked_sub(1).map(|before| writers[before]) {
            Some(before) if loads => edges.needs[pass as usize].push(before),
            Some(before) => edges.after[pass as usize].push(before),
            None if loads => missing(pass, edges, errors),
            None => {}
        }
    }
    for pass in all.filter(|&p| decl.passes[p as usize].enabled && touches(p, false)) {
        let later = writers.iter().position(|&writer| writer > pass).unwrap_or(writers.len());
        let seen = later.saturating_sub(1);
        match writers.get(seen) {
            Some(&writer) if writer != pass => edges.needs[pass as usize].push(writer),
            Some(_) => {}
            None => missing(pass, edges, errors),
        }
        if let Some(&overwriter) = writers.get(seen + 1) {
            edges.after[overwriter as usize].push(pass);
        }
    }
}

/// The enabled passes with their uses, each as (target, writes).
fn enabled(decl: &Declarations) -> impl Iterator<Item = (u32, impl Iterator<Item = (Target, bool)>)> {
    let passes = decl.passes.iter().enumerate().filter(|(_, pass)| pass.enabled);
    passes.map(|(index, pass)| (index as u32, pass.uses.iter().map(|u| (u.target, u.usage.writes()))))
}
