use std::cmp::Reverse;

use smallvec::SmallVec;

use crate::{
    compile::{
        CompileOptions,
        lifetime::{Lives, aligned},
    },
    limits::Limits,
    plan::{Arena, Placement, PlannedBuffer},
};

pub(super) struct Packed {
    pub(super) arenas: Vec<Arena>,
    /// By buffer; `None` for imported ones.
    pub(super) placements: Vec<Option<Placement>>,
}

/// Largest first, at the lowest offset that is free over the whole lifetime. A colour opens another arena
/// when the next transient would grow it past the limit of one buffer.
pub(super) fn pack(lives: &Lives, colours: &[u32], limits: &Limits, options: CompileOptions) -> Packed {
    let mut packed = Packed { arenas: Vec::new(), placements: vec![None; lives.buffers.len()] };
    let mut arena_colours: Vec<u32> = Vec::new();
    let mut by_size: Vec<usize> = (0..lives.buffers.len()).filter(|&b| lives.transient[b]).collect();
    by_size.sort_by_key(|&buffer| (Reverse(lives.buffers[buffer].size), buffer));

    for (at, &buffer) in by_size.iter().enumerate() {
        let alignment = limits.alignment(lives.usage[buffer]);
        let size = aligned(lives.buffers[buffer].size, alignment);
        let placed = if options.lifetimes { &by_size[..at] } else { &[] };
        let found = (0..packed.arenas.len() as u32).find_map(|arena| {
            let same_colour = arena_colours[arena as usize] == colours[buffer];
            let offset = same_colour.then(|| gap(lives, &packed, placed, buffer, arena, size, alignment))?;
            let end = offset.saturating_add(size);
            (end <= limits.max_buffer_size).then_some((arena, offset))
        });
        let (arena, offset) = found.unwrap_or_else(|| {
            arena_colours.push(colours[buffer]);
            packed.arenas.push(Arena { size: 0, usage: wgpu::BufferUsages::empty() });
            (packed.arenas.len() as u32 - 1, 0)
        });
        packed.placements[buffer] = Some(Placement { arena, offset, size });
        let arena = &mut packed.arenas[arena as usize];
        arena.size = arena.size.max(offset.saturating_add(size));
        arena.usage |= lives.usage[buffer];
    }
    packed
}

/// The lowest offset in `arena` where `size` bytes are free while `buffer` is alive.
fn gap(
    lives: &Lives,
    packed: &Packed,
    placed: &[usize],
    buffer: usize,
    arena: u32,
    size: u64,
    alignment: u64,
) -> u64 {
    let life = &lives.buffers[buffer];
    let together = |other: &PlannedBuffer| other.first <= life.last && life.first <= other.last;
    let mut taken: SmallVec<[(u64, u64); 32]> = placed
        .iter()
        .filter(|&&other| together(&lives.buffers[other]))
        .filter_map(|&other| packed.placements[other].filter(|place| place.arena == arena))
        .map(|place| (place.offset, place.offset + place.size))
        .collect();
    taken.sort_unstable();
    let mut offset = 0;
    for (start, end) in taken {
        if offset + size <= start {
            break;
        }
        offset = aligned(end, alignment).max(offset);
    }
    offset
}

pub(super) fn place(buffers: Vec<PlannedBuffer>, placements: &[Option<Placement>]) -> Vec<PlannedBuffer> {
    let both = buffers.into_iter().zip(placements);
    both.map(|(buffer, &placement)| PlannedBuffer { placement, ..buffer }).collect()
}
