use std::cmp::Reverse;

use crate::{
    compile::{
        CompileOptions,
        lifetime::{Lives, aligned},
        problem::{Item, Problem},
    },
    limits::Limits,
    plan::{Arena, Placement, PlannedBuffer},
};

/// Items of one colour from which on placed ones are looked up by time.
const MANY: usize = 64;

pub(super) struct Packed {
    pub(super) arenas: Vec<Arena>,
    /// By buffer; `None` for what is not transient.
    pub(super) placements: Vec<Option<Placement>>,
}

/// One attempt at a colour: where each of its items lies, and the sizes of its arenas.
#[derive(Default)]
struct Attempt {
    places: Vec<(u32, Placement)>,
    arenas: Vec<u64>,
}

impl Attempt {
    fn bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }
}

/// Each at the lowest offset that is free over its whole life, largest first or, where that wastes space and
/// this does not, largest times longest first. A colour opens another arena when the next item would grow
/// it past the limit of one buffer.
pub(super) fn pack(
    problem: &Problem,
    colours: &[u32],
    lives: &Lives,
    limits: &Limits,
    options: CompileOptions,
) -> Packed {
    let mut packed = Packed { arenas: Vec::new(), placements: vec![None; lives.buffers.len()] };
    for mut items in by_colour(colours) {
        let item = |index: &u32| &problem.items[*index as usize];
        items.sort_by_cached_key(|index| (Reverse(item(index).size), *index));
        let mut best = attempt(problem, &items, limits, options);
        if best.bytes() > fullest(problem, &items) {
            items.sort_by_cached_key(|index| (Reverse(item(index).area()), *index));
            let other = attempt(problem, &items, limits, options);
            if other.bytes() < best.bytes() {
                best = other;
            }
        }
        let first = packed.arenas.len() as u32;
        let arena = |size| Arena { size, usage: wgpu::BufferUsages::empty() };
        packed.arenas.extend(best.arenas.into_iter().map(arena));
        for (index, mut place) in best.places {
            place.arena += first;
            let buffer = problem.items[index as usize].buffer as usize;
            packed.arenas[place.arena as usize].usage |= lives.usage[buffer];
            packed.placements[buffer] = Some(place);
        }
    }
    packed
}

fn by_colour(colours: &[u32]) -> impl Iterator<Item = Vec<u32>> {
    let mut pairs: Vec<(u32, u32)> = colours.iter().copied().zip(0..).collect();
    pairs.sort_unstable();
    let groups = pairs.chunk_by(|a, b| a.0 == b.0).map(|group| group.iter().map(|pair| pair.1).collect());
    groups.collect::<Vec<_>>().into_iter()
}

/// Bytes of some items at their fullest step; in frames of many passes an estimate from above.
fn fullest(problem: &Problem, items: &[u32]) -> u64 {
    let mut loads = vec![0u64; problem.steps];
    for &index in items {
        let item = &problem.items[index as usize];
        loads[item.steps()].iter_mut().for_each(|load| *load += item.size);
    }
    loads.into_iter().max().unwrap_or(0)
}

fn attempt(problem: &Problem, items: &[u32], limits: &Limits, options: CompileOptions) -> Attempt {
    let mut attempt = Attempt { places: Vec::with_capacity(items.len()), arenas: Vec::new() };
    let mut placed = Placed::new(problem, items.len());
    for &index in items {
        let item = &problem.items[index as usize];
        let found = (0..attempt.arenas.len() as u32).find_map(|arena| {
            let offset = if options.lifetimes { placed.gap(item, arena) } else { 0 };
            let end = offset.saturating_add(item.size);
            (end <= limits.max_buffer_size).then_some((arena, offset))
        });
        let (arena, offset) = found.unwrap_or_else(|| {
            attempt.arenas.push(0);
            (attempt.arenas.len() as u32 - 1, 0)
        });
        let place = Placement { arena, offset, size: item.size };
        placed.push(item, place);
        let size = &mut attempt.arenas[arena as usize];
        *size = (*size).max(offset.saturating_add(item.size));
        attempt.places.push((index, place));
    }
    attempt
}

/// What was placed so far.
struct Placed {
    items: Vec<(Item, Placement)>,
    /// By step: the placed items alive in it; empty where there are few.
    by_step: Vec<Vec<u32>>,
    /// Byte ranges taken during the life of the item at hand, kept to save allocations.
    taken: Vec<(u64, u64)>,
    /// By placed item: the last query that saw it.
    seen: Vec<u32>,
    query: u32,
}

impl Placed {
    fn new(problem: &Problem, count: usize) -> Self {
        let steps = if count > MANY { problem.steps } else { 0 };
        Self {
            items: Vec::with_capacity(count),
            by_step: vec![Vec::new(); steps],
            taken: Vec::new(),
            seen: Vec::new(),
            query: 0,
        }
    }

    fn push(&mut self, item: &Item, place: Placement) {
        if !self.by_step.is_empty() {
            let index = self.items.len() as u32;
            self.by_step[item.steps()].iter_mut().for_each(|list| list.push(index));
            self.seen.push(0);
        }
        self.items.push((*item, place));
    }

    /// The lowest offset in `arena` where an item is alone while it is alive.
    fn gap(&mut self, item: &Item, arena: u32) -> u64 {
        self.taken.clear();
        let mut take = |(other, place): &(Item, Placement)| {
            if place.arena == arena && other.overlaps(item) {
                self.taken.push((place.offset, place.offset + place.size));
            }
        };
        if self.by_step.is_empty() {
            self.items.iter().for_each(take);
        } else {
            self.query += 1;
            for &other in self.by_step[item.steps()].iter().flatten() {
                if std::mem::replace(&mut self.seen[other as usize], self.query) != self.query {
                    take(&self.items[other as usize]);
                }
            }
        }
        self.taken.sort_unstable();
        let mut offset = 0;
        for &(start, end) in &self.taken {
            if offset + item.size <= start {
                break;
            }
            offset = aligned(end, item.alignment).max(offset);
        }
        offset
    }
}

pub(super) fn place(buffers: Vec<PlannedBuffer>, placements: &[Option<Placement>]) -> Vec<PlannedBuffer> {
    let both = buffers.into_iter().zip(placements);
    both.map(|(buffer, &placement)| PlannedBuffer { placement, ..buffer }).collect()
}
