use crate::{
    compile::{
        CompileOptions,
        colour::Colours,
        csr::Csr,
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

/// Each at the lowest offset that is free over its whole life, largest first or, where that wastes space and
/// this does not, largest times longest first. A colour opens another arena when the next item would grow
/// it past the limit of one buffer.
pub(super) fn pack(
    problem: &Problem,
    colours: &Colours,
    lives: &Lives,
    limits: &Limits,
    options: CompileOptions,
) -> Packed {
    let mut packed = Packed { arenas: Vec::new(), placements: vec![None; lives.buffers.len()] };
    let grouped = |order: &[u32]| {
        let pairs: Vec<_> = order.iter().map(|&item| (colours.of_item[item as usize], item)).collect();
        Csr::new(colours.count as usize, &pairs)
    };
    let by_size = grouped(&problem.by_size);
    let mut by_area: Option<Csr> = None;
    let (mut best, mut other) = (Attempt::default(), Attempt::default());
    for colour in 0..colours.count {
        let items = by_size.of(colour);
        best.run(problem, items, limits, options);
        if best.bytes() > fullest(problem, items) {
            let by_area = by_area.get_or_insert_with(|| grouped(&problem.by_area()));
            other.run(problem, by_area.of(colour), limits, options);
            if other.bytes() < best.bytes() {
                std::mem::swap(&mut best, &mut other);
            }
        }
        let first = packed.arenas.len() as u32;
        let arena = |&size: &u64| Arena { size, usage: wgpu::BufferUsages::empty() };
        packed.arenas.extend(best.arenas.iter().map(arena));
        for &(item, place) in &best.items {
            let place = Placement { arena: place.arena + first, ..place };
            packed.arenas[place.arena as usize].usage |= lives.usage[item.buffer as usize];
            packed.placements[item.buffer as usize] = Some(place);
        }
    }
    packed
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

/// One way to place the items of a colour. Its lists are used again for the next colour.
#[derive(Default)]
struct Attempt {
    items: Vec<(Item, Placement)>,
    /// Bytes of each arena.
    arenas: Vec<u64>,
    /// By step: the placed items alive in it; empty where there are few.
    by_step: Vec<Vec<u32>>,
    /// Byte ranges taken during the life of the item at hand.
    taken: Vec<(u64, u64)>,
    /// By placed item: the last query that saw it.
    seen: Vec<u32>,
    query: u32,
}

impl Attempt {
    fn bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }

    fn run(&mut self, problem: &Problem, items: &[u32], limits: &Limits, options: CompileOptions) {
        self.items.clear();
        self.arenas.clear();
        self.seen.clear();
        self.by_step.clear();
        self.query = 0;
        if items.len() > MANY {
            self.by_step.resize(problem.steps, Vec::new());
        }
        for &index in items {
            let item = problem.items[index as usize];
            let found = (0..self.arenas.len() as u32).find_map(|arena| {
                let offset = if options.lifetimes { self.gap(&item, arena) } else { 0 };
                let end = offset.saturating_add(item.size);
                (end <= limits.max_buffer_size).then_some((arena, offset))
            });
            let (arena, offset) = found.unwrap_or_else(|| {
                self.arenas.push(0);
                (self.arenas.len() as u32 - 1, 0)
            });
            let size = &mut self.arenas[arena as usize];
            *size = (*size).max(offset.saturating_add(item.size));
            self.push(item, Placement { arena, offset, size: item.size });
        }
    }

    fn push(&mut self, item: Item, place: Placement) {
        if !self.by_step.is_empty() {
            let index = self.items.len() as u32;
            self.by_step[item.steps()].iter_mut().for_each(|list| list.push(index));
            self.seen.push(0);
        }
        self.items.push((item, place));
    }

    /// The lowest offset in `arena` where an item is alone while it is alive.
    fn gap(&mut self, item: &Item, arena: u32) -> u64 {
        self.taken.clear();
        let mut take = |(other, place): &(Item, Placement)| {
            if other.overlaps(item) && place.arena == arena {
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

pub(super) fn place(buffers: &mut [PlannedBuffer], placements: &[Option<Placement>]) {
    buffers.iter_mut().zip(placements).for_each(|(buffer, &place)| buffer.placement = place);
}
