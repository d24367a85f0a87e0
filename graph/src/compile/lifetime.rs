use std::hash::{Hash, Hasher};

use crate::{
    access::Target,
    decl::{Declarations, Home, Side, Storage, Value},
    fingerprint::Fingerprint,
    limits::Limits,
    plan::{KeptBuffer, KeptPlace, PlannedBuffer, ValuePlace},
};

/// The buffers that the plan uses: how long, for what, and where their parts lie inside them.
pub(super) struct Lives {
    /// Not placed yet.
    pub(super) buffers: Vec<PlannedBuffer>,
    /// By buffer: everything it is used for.
    pub(super) usage: Vec<wgpu::BufferUsages>,
    /// By storage: its buffer.
    pub(super) of_storage: Vec<Option<u32>>,
    pub(super) transient: Vec<bool>,
    pub(super) values: Vec<Option<ValuePlace>>,
    pub(super) packs: Vec<Option<u32>>,
    /// By kept storage, if the plan uses it.
    pub(super) kept: Vec<Option<KeptBuffer>>,
}

impl Lives {
    /// Bytes of transients alive at the fullest pass.
    pub(super) fn lower_bound(&self, passes: usize) -> u64 {
        let (mut born, mut dies) = (vec![0u64; passes + 1], vec![0u64; passes + 1]);
        for (buffer, _) in self.buffers.iter().zip(&self.transient).filter(|(_, transient)| **transient) {
            born[buffer.first as usize] += buffer.size;
            dies[buffer.last as usize + 1] += buffer.size;
        }
        let mut alive = 0;
        let totals = born.iter().zip(&dies).map(|(born, dies)| {
            alive = alive + born - dies;
            alive
        });
        totals.max().unwrap_or(0)
    }
}

#[derive(Clone, Copy)]
struct Life {
    first: u32,
    last: u32,
    usage: wgpu::BufferUsages,
}

pub(super) fn lifetimes(decl: &Declarations, order: &[u32], exported: &[u32], limits: &Limits) -> Lives {
    let (lives, placed) = lives(decl, order, exported);
    let mut result = Lives {
        buffers: Vec::with_capacity(decl.storages.len()),
        usage: Vec::with_capacity(decl.storages.len()),
        of_storage: vec![None; decl.storages.len()],
        transient: Vec::with_capacity(decl.storages.len()),
        values: vec![None; decl.values.len()],
        packs: vec![None; decl.packs.len()],
        kept: vec![None; decl.kept.len()],
    };
    let kept_usage = kept_usage(decl);
    for (index, storage) in decl.storages.iter().enumerate() {
        if let Some(mut life) = lives[index] {
            if let Home::Kept(kept, _) = storage.home {
                life.usage = kept_usage[kept as usize];
            }
            lay_out(decl, limits, index as u32, storage, life, &placed, &mut result);
        }
    }
    for (pack, &storage) in decl.packs.iter().enumerate() {
        result.packs[pack] = result.of_storage[storage as usize];
    }
    for (value, decl) in decl.values.iter().enumerate().filter(|(_, value)| value.previous.is_some()) {
        result.values[value] = result.values[decl.member as usize];
    }
    result
}

/// By storage: first and last pass, and inferred usage. By value: whether its member gets memory.
///
/// An exported value lives to the end of the frame. A member that is only written as part of its pack gets no
/// memory, unless nobody reads any of the pack and its writer stays for another reason: then the first does.
fn lives(decl: &Declarations, order: &[u32], exported: &[u32]) -> (Vec<Option<Life>>, Vec<bool>) {
    let mut lives: Vec<Option<Life>> = vec![None; decl.storages.len()];
    let mut placed = vec![false; decl.values.len()];
    for (at, &pass) in (0..).zip(order) {
        for u in &decl.passes[pass as usize].uses {
            let storage = match u.target {
                Target::Buffer(value) => {
                    let value = &decl.values[value as usize];
                    placed[value.member as usize] = true;
                    value.storage
                }
                Target::Pack(pack) => {
                    let storage = decl.packs[pack as usize];
                    if !u.usage.writes() {
                        placed[decl.storages[storage as usize].member_range()].fill(true);
                    }
                    storage
                }
                Target::Texture(_) | Target::Unknown => continue,
            };
            let usage = decl.storages[storage as usize].extra_usage;
            let life = lives[storage as usize].get_or_insert(Life { first: at, last: at, usage });
            life.last = at;
            life.usage |= u.usage.buffer_usage();
        }
    }
    for &value in exported {
        let value = &decl.values[value as usize];
        placed[value.member as usize] = true;
        let storage = &decl.storages[value.storage as usize];
        let last = order.len().saturating_sub(1) as u32;
        let life = &mut lives[value.storage as usize];
        // What outlives the frame can be exported though no pass of it uses it.
        if life.is_none() && storage.home.has_contents() {
            *life = Some(Life { first: last, last, usage: storage.extra_usage });
        }
        if let Some(life) = life {
            life.last = last;
        }
    }
    for &storage in &decl.packs {
        let members = decl.storages[storage as usize].member_range();
        // A kept writer of a pack that nobody reads needs something to bind.
        if lives[storage as usize].is_some() && !placed[members.clone()].contains(&true) {
            placed[members].iter_mut().take(1).for_each(|first| *first = true);
        }
    }
    for kept in &decl.kept {
        // Every plan of the graph, and the frames to come, find it laid out alike.
        for storage in std::iter::once(kept.resource).chain(kept.previous) {
            placed[decl.storages[storage as usize].member_range()].fill(true);
        }
    }
    (lives, placed)
}

/// By kept storage: everything that both of its sides are ever used for, so that every plan of the graph
/// finds the same buffers. Both sides, because they change places.
fn kept_usage(decl: &Declarations) -> Vec<wgpu::BufferUsages> {
    // What a later declaration of another use takes over is copied.
    let copied = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let mut usage = vec![copied; decl.kept.len()];
    if usage.is_empty() {
        return usage;
    }
    for u in decl.passes.iter().flat_map(|pass| &pass.uses) {
        let storage = decl.storage_of(u.target).map(|storage| &decl.storages[storage as usize]);
        if let Some(Storage { home: Home::Kept(kept, _), .. }) = storage {
            usage[*kept as usize] |= u.usage.buffer_usage();
        }
    }
    for storage in &decl.storages {
        if let Home::Kept(kept, _) = storage.home {
            usage[kept as usize] |= storage.extra_usage;
        }
    }
    usage
}

/// Places the members of one storage back to back, each where it can be bound.
fn lay_out(
    decl: &Declarations,
    limits: &Limits,
    index: u32,
    storage: &Storage,
    life: Life,
    placed: &[bool],
    result: &mut Lives,
) {
    let buffer = result.buffers.len() as u32;
    let alignment = limits.alignment(life.usage);
    let mut layout = Fingerprint::new();
    let mut size = 0u64;
    for member in storage.members.clone().filter(|&member| placed[member as usize]) {
        let Value { size: bytes, .. } = decl.values[member as usize];
        let offset = aligned(size, alignment);
        result.values[member as usize] =
            Some(ValuePlace { buffer, offset, size: bytes, in_pack: storage.is_pack });
        size = offset.saturating_add(bytes);
        if let Home::Kept(..) = storage.home {
            // Both sides of a history are laid out alike, under names of their own.
            let of_member = member - storage.members.start;
            let first = decl.kept_members(index).start;
            (&decl.values[(first + of_member) as usize].label, offset, bytes).hash(&mut layout);
        }
    }
    if !matches!(storage.home, Home::External(_)) {
        // A pack without members is bound too.
        size = size.max(wgpu::COPY_BUFFER_ALIGNMENT);
    }
    result.of_storage[index as usize] = Some(buffer);
    result.transient.push(storage.home.is_transient());
    let kept = if let Home::Kept(kept, side) = storage.home {
        let is_history = decl.kept[kept as usize].previous.is_some();
        result.kept[kept as usize] =
            Some(KeptBuffer { size, usage: life.usage, is_history, layout: layout.finish() });
        Some(KeptPlace { index: kept, is_previous: side == Side::Previous })
    } else {
        None
    };
    result.usage.push(life.usage);
    result.buffers.push(PlannedBuffer {
        label: storage.label.clone(),
        size,
        first: life.first,
        last: life.last,
        placement: None,
        kept,
        storage: index,
    });
}

/// The kept storages and textures that a pass of the plan fills, or changes, for the frames to come.
pub(super) fn filled(decl: &Declarations, order: &[u32]) -> [Vec<u32>; 2] {
    let mut filled = [Vec::new(), Vec::new()];
    if decl.kept.is_empty() && decl.kept_textures.is_empty() {
        return filled;
    }
    let uses = order.iter().flat_map(|&pass| &decl.passes[pass as usize].uses);
    for u in uses.filter(|u| u.usage.writes()) {
        let (list, home) = match u.target {
            Target::Texture(texture) => (1, decl.textures[texture as usize].home),
            target => {
                let storage = decl.storage_of(target).map(|storage| &decl.storages[storage as usize]);
                (0, storage.map_or(Home::Transient, |storage| storage.home.place()))
            }
        };
        if let Home::Kept(kept, Side::Persistent | Side::Current) = home {
            filled[list].push(kept);
        }
    }
    for list in &mut filled {
        list.sort_unstable();
        list.dedup();
    }
    filled
}

pub(super) fn aligned(bytes: u64, alignment: u64) -> u64 {
    bytes.checked_next_multiple_of(alignment).unwrap_or(u64::MAX)
}
