//! What outlives a run: persistent and history resources, by graph.

use std::sync::{Arc, Weak};

use crate::{
    decl::{Declarations, KeptDecl},
    handle::{Buffer, GraphId, Label, Texture},
    plan::{KeptBuffer, KeptPlace, KeptTexture, Plan},
    runtime::pool::{self, SlotViews},
};

/// The kept resources of all graphs that are alive.
#[derive(Debug, Default)]
pub(crate) struct Keep(Vec<Kept>);

/// The kept resources of one graph, by their place in its declarations.
#[derive(Debug)]
pub(crate) struct Kept {
    owner: Weak<()>,
    pub(crate) graph: GraphId,
    buffers: Vec<Entry<KeptBuffer, wgpu::Buffer>>,
    textures: Vec<Entry<KeptTexture, SlotViews>>,
}

#[derive(Debug)]
struct Entry<D, O> {
    label: Label,
    /// How many earlier resources have the same name.
    occurrence: u32,
    made: Option<Made<D, O>>,
}

/// Current and previous; the same twice for a persistent one.
#[derive(Debug)]
struct Made<D, O> {
    desc: D,
    sides: [O; 2],
    is_history: bool,
    /// Whether the two have changed places.
    flipped: bool,
    /// Filled by the newest run.
    filled: bool,
    /// Filled by a run before that.
    has_previous: bool,
}

impl<D: PartialEq, O> Entry<D, O> {
    fn side(&self, is_previous: bool) -> Option<&O> {
        self.made.as_ref().map(|made| &made.sides[usize::from(is_previous != made.flipped)])
    }

    fn flipped(&self) -> bool {
        self.made.as_ref().is_some_and(|made| made.flipped)
    }

    /// What the newest run filled becomes what this one finds.
    fn begin(&mut self) {
        if let Some(made) = self.made.as_mut().filter(|made| made.filled) {
            made.flipped ^= made.is_history;
            made.filled = false;
            made.has_previous = true;
        }
    }

    fn end(&mut self) {
        if let Some(made) = &mut self.made {
            made.filled = true;
        }
    }

    /// Makes both sides unless they are there. Returns what had to go for them.
    fn make(&mut self, desc: D, is_history: bool, make: impl Fn(&Label) -> O) -> Option<Made<D, O>>
    where
        O: Clone,
    {
        if self.made.as_ref().is_some_and(|made| made.desc == desc) {
            return None;
        }
        let current = make(&self.label);
        let previous = if is_history { make(&self.label) } else { current.clone() };
        let sides = [current, previous];
        let made = Made { desc, sides, is_history, flipped: false, filled: false, has_previous: false };
        self.made.replace(made)
    }
}

impl std::ops::Index<usize> for Keep {
    type Output = Kept;

    fn index(&self, at: usize) -> &Kept {
        &self.0[at]
    }
}

impl std::ops::IndexMut<usize> for Keep {
    fn index_mut(&mut self, at: usize) -> &mut Kept {
        &mut self.0[at]
    }
}

impl Keep {
    /// The place of the kept resources of the graph whose `alive` this is. Those of graphs that are gone are dropped, and
    /// those that this one no longer declares.
    pub(crate) fn of(&mut self, alive: &Arc<()>, decl: &Declarations) -> usize {
        self.0.retain(|kept| kept.owner.strong_count() > 0);
        let found = self.0.iter().position(|kept| kept.is_of(alive));
        let at = found.unwrap_or_else(|| {
            self.0.push(Kept {
                owner: Arc::downgrade(alive),
                graph: decl.id,
                buffers: entries(&decl.kept, |storage| &decl.storages[storage as usize].label),
                textures: entries(&decl.kept_textures, |texture| &decl.textures[texture as usize].label),
            });
            self.0.len() - 1
        });
        self.0[at].redeclare(decl);
        at
    }

    /// Those of a graph; `None` if it never ran as it is declared now.
    pub(crate) fn get(&self, graph: GraphId) -> Option<&Kept> {
        self.0.iter().find(|kept| kept.graph == graph)
    }

    /// Of buffers.
    pub(crate) fn bytes(&self) -> u64 {
        let made = self.0.iter().flat_map(|kept| &kept.buffers).filter_map(|entry| entry.made.as_ref());
        made.map(|made| if made.is_history { 2 * made.desc.size } else { made.desc.size }).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Kept {
    fn is_of(&self, alive: &Arc<()>) -> bool {
        std::ptr::eq(self.owner.as_ptr(), Arc::as_ptr(alive))
    }

    /// Takes over what has the same name after the graph was declared anew.
    fn redeclare(&mut self, decl: &Declarations) {
        if self.graph == decl.id {
            return;
        }
        self.graph = decl.id;
        let buffers = entries(&decl.kept, |storage| &decl.storages[storage as usize].label);
        let textures = entries(&decl.kept_textures, |texture| &decl.textures[texture as usize].label);
        take_over(buffers, &mut self.buffers);
        take_over(textures, &mut self.textures);
    }

    /// Makes what `plan` needs and is not there yet. A buffer that only lacked a use takes its contents over.
    /// Returns whether something was replaced that another plan may hold.
    pub(crate) fn prepare(
        &mut self,
        device: &wgpu::Device,
        plan: &Plan,
        encoder: &mut wgpu::CommandEncoder,
    ) -> bool {
        let mut replaced = false;
        for (entry, desc) in self.buffers.iter_mut().zip(&plan.body.kept) {
            let Some(desc) = *desc else { continue };
            let create = |label: &Label| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(&**label),
                    size: desc.size,
                    usage: desc.usage,
                    mapped_at_creation: false,
                })
            };
            let Some(before) = entry.make(desc, desc.is_history, create) else { continue };
            replaced = true;
            let Some(made) = &mut entry.made else { continue };
            if (before.desc.size, before.desc.layout, before.is_history)
                != (desc.size, desc.layout, desc.is_history)
            {
                continue;
            }
            let sides = if desc.is_history { 2 } else { 1 };
            for (from, to) in before.sides.iter().zip(&made.sides).take(sides) {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, desc.size);
            }
            (made.flipped, made.filled) = (before.flipped, before.filled);
            made.has_previous = before.has_previous;
        }
        for (entry, desc) in self.textures.iter_mut().zip(&plan.body.kept_textures) {
            let Some(desc) = *desc else { continue };
            let before = entry.make(desc, desc.is_history, |_| pool::create(device, &desc.slot));
            replaced |= before.is_some();
        }
        replaced
    }

    /// Before the passes of a run.
    pub(crate) fn begin(&mut self) {
        self.buffers.iter_mut().for_each(Entry::begin);
        self.textures.iter_mut().for_each(Entry::begin);
    }

    /// After they did; `skipped` are those that nothing was written into.
    pub(crate) fn end(&mut self, plan: &Plan, skipped: &[u32]) {
        for &kept in plan.body.filled.iter().filter(|kept| !skipped.contains(kept)) {
            self.buffers[kept as usize].end();
        }
        for &kept in &plan.body.filled_textures {
            self.textures[kept as usize].end();
        }
    }

    pub(crate) fn buffer(&self, place: KeptPlace) -> Option<&wgpu::Buffer> {
        self.buffers.get(place.index as usize)?.side(place.is_previous)
    }

    pub(crate) fn texture(&self, place: KeptPlace) -> Option<&SlotViews> {
        self.textures.get(place.index as usize)?.side(place.is_previous)
    }

    pub(crate) fn is_buffer_flipped(&self, index: u32) -> bool {
        self.buffers.get(index as usize).is_some_and(Entry::flipped)
    }

    pub(crate) fn is_texture_flipped(&self, index: u32) -> bool {
        self.textures.get(index as usize).is_some_and(Entry::flipped)
    }
}

/// Whether an earlier run filled the kept resource that `value` belongs to.
pub(crate) fn has_previous(kept: &Kept, plan: &Plan, value: Buffer) -> bool {
    let index = (value.graph == plan.graph).then(|| kept_of(plan, value.index)).flatten();
    let entry = index.and_then(|index| kept.buffers.get(index as usize));
    entry.and_then(|entry| entry.made.as_ref()).is_some_and(|made| made.has_previous)
}

pub(crate) fn texture_has_previous(kept: &Kept, plan: &Plan, texture: Texture) -> bool {
    let known = plan.body.kept_texture_values.iter();
    let mut known = known.filter(|(index, _)| (texture.graph, texture.index) == (plan.graph, *index));
    let entry = known.next().and_then(|(_, index)| kept.textures.get(*index as usize));
    entry.and_then(|entry| entry.made.as_ref()).is_some_and(|made| made.has_previous)
}

/// The kept resource that a value belongs to, used or not.
pub(super) fn kept_of(plan: &Plan, value: u32) -> Option<u32> {
    let declared = plan.body.kept_values.iter().find(|(values, _)| values.contains(&value));
    let changed = || {
        let place = plan.body.values.get(value as usize)?.as_ref()?;
        Some(plan.body.buffers[place.buffer as usize].kept?.index)
    };
    declared.map(|(_, index)| *index).or_else(changed)
}

fn entries<'d, D, O>(kept: &[KeptDecl], label: impl Fn(u32) -> &'d Label) -> Vec<Entry<D, O>> {
    let mut entries: Vec<Entry<D, O>> = Vec::with_capacity(kept.len());
    for decl in kept {
        let label = label(decl.resource);
        let occurrence = entries.iter().filter(|entry| entry.label == *label).count() as u32;
        entries.push(Entry { label: label.clone(), occurrence, made: None });
    }
    entries
}

/// Moves what was made into the entries of the same name; the rest is dropped.
fn take_over<D, O>(mut into: Vec<Entry<D, O>>, from: &mut Vec<Entry<D, O>>) {
    for entry in &mut into {
        let same = from.iter_mut().find(|old| old.label == entry.label && old.occurrence == entry.occurrence);
        entry.made = same.and_then(|old| old.made.take());
    }
    *from = into;
}
