use crate::{
    access::Target,
    compile::csr::Csr,
    decl::{Declarations, TextureDecl},
    error::GraphError,
    handle::Label,
};

/// What each pass waits for, as (pass, earlier pass) pairs.
pub(super) struct Edges {
    /// The earlier pass makes what the pass reads: they keep each other in the plan.
    pub(super) needs: Vec<(u32, u32)>,
    /// The pass overwrites what the earlier one touches.
    pub(super) after: Vec<(u32, u32)>,
    /// By value: the value whose bytes it stands for while some modifiers are disabled.
    pub(super) stands_for: Vec<u32>,
    /// How many of `needs` and `after` are of buffers; those of textures follow.
    buffers: (usize, usize),
    /// Reads of what a disabled pass would have written; errors if the reader is in the plan.
    pub(super) orphans: Vec<Orphan>,
}

pub(super) struct Orphan {
    pub(super) pass: u32,
    pub(super) resource: Label,
    pub(super) writer: u32,
}

pub(super) fn edges(decl: &Declarations, errors: &mut Vec<GraphError>) -> Edges {
    let mut edges = Edges {
        needs: Vec::with_capacity(decl.passes.len() * 2),
        after: Vec::new(),
        stands_for: stands_for(decl),
        buffers: (0, 0),
        orphans: Vec::new(),
    };
    let readers = buffer_reads(decl, &mut edges, errors);
    modifications(decl, &readers, &mut edges, errors);
    edges.buffers = (edges.needs.len(), edges.after.len());
    let enabled: Vec<bool> = decl.passes.iter().map(|pass| pass.enabled).collect();
    texture_uses(decl, &enabled, &mut edges, errors);
    edges
}

impl Edges {
    /// Orders the passes of the plan around those that were culled: a texture's writers are ordered through each
    /// other, so one that is gone must not take the order of its neighbours with it.
    pub(super) fn bridge(&mut self, decl: &Declarations, alive: &[bool]) {
        if decl.textures.is_empty() || alive.iter().all(|alive| *alive) {
            return;
        }
        self.needs.truncate(self.buffers.0);
        self.after.truncate(self.buffers.1);
        // Every mistake was found before.
        texture_uses(decl, alive, self, &mut Vec::new());
    }
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

/// Writer before reader. Returns (value, reader) for the values that some pass changes in place.
fn buffer_reads(decl: &Declarations, edges: &mut Edges, errors: &mut Vec<GraphError>) -> Vec<(u32, u32)> {
    let mut readers = Vec::new();
    for (pass, uses) in enabled(decl) {
        for value in uses.filter(|u| !u.1).flat_map(|(target, _)| decl.touched(target)) {
            let value = edges.stands_for[value as usize];
            if decl.values[value as usize].modifier.is_some() {
                readers.push((value, pass));
            }
            need_writer(decl, pass, value, edges, errors);
        }
    }
    readers
}

/// The value's writer, and everyone who still reads the value, before the pass that changes it in place.
fn modifications(
    decl: &Declarations,
    readers: &[(u32, u32)],
    edges: &mut Edges,
    errors: &mut Vec<GraphError>,
) {
    let mut lists: Option<Csr> = None;
    for value in decl.values.iter().filter(|value| value.previous.is_some()) {
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
        let lists = lists.get_or_insert_with(|| Csr::new(decl.values.len(), readers));
        let earlier = lists.of(previous).iter().filter(|&&reader| reader != pass);
        edges.after.extend(earlier.map(|&reader| (pass, reader)));
    }
}

fn need_writer(decl: &Declarations, pass: u32, value: u32, edges: &mut Edges, errors: &mut Vec<GraphError>) {
    let value = &decl.values[value as usize];
    match value.writer {
        // Reading and writing in one pass is reported where uses are validated.
        Some(writer) if writer == pass => {}
        Some(writer) if decl.passes[writer as usize].enabled => edges.needs.push((pass, writer)),
        _ if decl.storages[value.storage as usize].home.has_contents() => {}
        Some(writer) => edges.orphans.push(Orphan { pass, resource: value.label.clone(), writer }),
        None => {
            let (pass, resource) = (decl.pass_label(pass), value.label.clone());
            errors.push(GraphError::ReadBeforeWrite { pass, resource });
        }
    }
}

/// How one pass touches one texture.
#[derive(Clone, Copy)]
struct Touch {
    pass: u32,
    reads: bool,
    writes: bool,
}

/// Between the passes that `takes_part` names.
fn texture_uses(decl: &Declarations, takes_part: &[bool], edges: &mut Edges, errors: &mut Vec<GraphError>) {
    if decl.textures.is_empty() {
        return;
    }
    let mut pairs = Vec::new();
    for (pass, decl) in decl.passes.iter().enumerate() {
        for u in &decl.uses {
            if let Target::Texture(texture) = u.target {
                pairs.push((texture, (pass as u32) << 1 | u32::from(u.usage.writes())));
            }
        }
    }
    let by_texture = Csr::new(decl.textures.len(), &pairs);
    let mut touches: Vec<Touch> = Vec::new();
    for texture in 0..decl.textures.len() as u32 {
        touches.clear();
        for &touch in by_texture.of(texture) {
            let (pass, writes) = (touch >> 1, touch & 1 == 1);
            match touches.last_mut().filter(|last| last.pass == pass) {
                Some(last) => {
                    last.writes |= writes;
                    last.reads |= !writes;
                }
                None => touches.push(Touch { pass, reads: !writes, writes }),
            }
        }
        order_texture(decl, texture, takes_part, &touches, edges, errors);
    }
}

/// Writers in the order of declaration, each reader after the last writer declared before it, or after the
/// first one if none was.
fn order_texture(
    decl: &Declarations,
    texture: u32,
    takes_part: &[bool],
    touches: &[Touch],
    edges: &mut Edges,
    errors: &mut Vec<GraphError>,
) {
    let is_enabled = |touch: &&Touch| takes_part[touch.pass as usize];
    let disabled = touches.iter().find(|touch| touch.writes && !is_enabled(touch)).map(|touch| touch.pass);
    let mut missing = |pass: u32, edges: &mut Edges| {
        let TextureDecl { label, home, .. } = &decl.textures[texture as usize];
        let resource = label.clone();
        match disabled {
            _ if home.has_contents() => {}
            Some(writer) => edges.orphans.push(Orphan { pass, resource, writer }),
            None => errors.push(GraphError::ReadBeforeWrite { pass: decl.pass_label(pass), resource }),
        }
    };
    let first = touches.iter().filter(is_enabled).find(|touch| touch.writes).map(|touch| touch.pass);
    let mut writer: Option<u32> = None;
    // Readers of what `writer` left, and those before the first writer, who wait for it.
    let mut readers: smallvec::SmallVec<[u32; 8]> = smallvec::SmallVec::new();
    for touch in touches.iter().filter(is_enabled) {
        if touch.writes {
            let loads = decl.passes[touch.pass as usize].loads(texture);
            match writer {
                Some(before) if loads => edges.needs.push((touch.pass, before)),
                Some(before) => edges.after.push((touch.pass, before)),
                None if loads => missing(touch.pass, edges),
                None => {}
            }
            if writer.is_some() {
                edges.after.extend(readers.iter().map(|&reader| (touch.pass, reader)));
                readers.clear();
            }
            writer = Some(touch.pass);
        } else if touch.reads {
            match writer.or(first) {
                Some(before) => edges.needs.push((touch.pass, before)),
                None => missing(touch.pass, edges),
            }
            readers.push(touch.pass);
        }
    }
}

/// The enabled passes with their uses, each as (target, writes).
fn enabled(decl: &Declarations) -> impl Iterator<Item = (u32, impl Iterator<Item = (Target, bool)>)> {
    let passes = decl.passes.iter().enumerate().filter(|(_, pass)| pass.enabled);
    passes.map(|(index, pass)| (index as u32, pass.uses.iter().map(|u| (u.target, u.usage.writes()))))
}
