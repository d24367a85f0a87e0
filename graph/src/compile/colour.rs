//! Which transients share an arena.
//!
//! Each colour is an arena, and needs as many bytes as its fullest moment. Conflicting transients must differ;
//! the rest is free, and chosen such that the arenas' fullest moments add up to as little as possible: taken
//! one by one, each where it raises the sum least: largest first and, unless that reached the bound, largest times
//! longest first. The better result is then settled by moving single items while that lowers the sum.

use crate::compile::{
    CompileOptions,
    problem::{Item, Problem},
};

/// Colours that items share; one that finds none of them allowed gets its own.
const SHARED: usize = 8;

/// Colours that are tried before another is opened.
const FIRST: usize = 5;

/// Rounds of moving.
const ROUNDS: usize = 8;

/// By shared colour. Bytes as f64: whole numbers far beyond any device's memory, and compared several at once.
type Lanes = [f64; SHARED];

/// Items by colour.
pub(super) struct Colours {
    /// By item.
    pub(super) of_item: Vec<u32>,
    pub(super) count: u32,
}

pub(super) fn colour(problem: &Problem, options: CompileOptions) -> Colours {
    let of_item = match options.colour {
        Colouring::None => vec![0; problem.items.len()],
        Colouring::Greedy => greedy(problem),
        Colouring::Balanced => {
            let mut best = Balance::of(problem, &problem.by_size);
            // At the bound already: another order cannot do better.
            if best.total() > problem.fullest {
                let other = Balance::of(problem, &problem.by_area());
                if other.total() < best.total() {
                    best = other;
                }
                best.settle();
            }
            best.colours
        }
    };
    // Dense, so that no colour is empty.
    let mut dense = vec![u32::MAX; SHARED + problem.items.len()];
    let mut count = 0;
    let of_item = of_item.into_iter().map(|colour| {
        let dense = &mut dense[colour as usize];
        if *dense == u32::MAX {
            *dense = count;
            count += 1;
        }
        *dense
    });
    Colours { of_item: of_item.collect(), count }
}

/// How arenas are chosen.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colouring {
    /// One for everything, which wgpu refuses: shows that the check notices.
    None,
    /// The first that is allowed: what balancing is compared with.
    Greedy,
    /// As this module says.
    Balanced,
}

fn greedy(problem: &Problem) -> Vec<u32> {
    let mut colours = vec![u32::MAX; problem.items.len()];
    for item in 0..colours.len() {
        let free = (!forbidden(problem, &colours, item)).trailing_zeros() as usize;
        colours[item] = if free < SHARED { free } else { SHARED + item } as u32;
    }
    colours
}

/// The shared colours of an item's neighbours, as bits.
fn forbidden(problem: &Problem, colours: &[u32], item: usize) -> u32 {
    let mut mask = 0;
    for &other in problem.conflicts.of(item as u32) {
        // Colours of one's own fall off the end.
        mask |= 1u32.checked_shl(colours[other as usize]).unwrap_or(0);
    }
    mask
}

struct Balance<'p> {
    problem: &'p Problem,
    colours: Vec<u32>,
    /// By step: bytes alive of each colour.
    loads: Vec<Lanes>,
    /// Bytes of each colour at its fullest step.
    peaks: Lanes,
    /// Colours in use, at least [`FIRST`].
    open: usize,
    /// Bytes of what has a colour of its own.
    alone: u64,
}

impl<'p> Balance<'p> {
    fn of(problem: &'p Problem, order: &[u32]) -> Self {
        let mut balance = Self {
            problem,
            colours: vec![u32::MAX; problem.items.len()],
            loads: vec![[0.0; SHARED]; problem.steps],
            peaks: [0.0; SHARED],
            open: FIRST,
            alone: 0,
        };
        for &item in order {
            let item = item as usize;
            let colour = balance.cheapest(item, SHARED).map_or(SHARED + item, |(colour, _)| colour);
            balance.put(item, colour);
        }
        balance
    }

    /// Moves single items until none is worth it.
    fn settle(&mut self) {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for item in 0..self.problem.items.len() {
                moved |= self.improve(item);
            }
            if !moved {
                break;
            }
        }
    }

    fn total(&self) -> u64 {
        self.peaks.iter().sum::<f64>() as u64 + self.alone
    }

    /// Most bytes of each colour that are alive at once during an item's life.
    fn fullest(&self, item: &Item) -> Lanes {
        let mut fullest = [0.0f64; SHARED];
        for load in &self.loads[item.steps()] {
            for (most, load) in fullest.iter_mut().zip(load) {
                *most = if *load > *most { *load } else { *most };
            }
        }
        fullest
    }

    /// The allowed colour other than `own` whose peak an item raises least, and by how much. Of equal ones
    /// the fullest, so that room is left where there is most.
    fn cheapest(&self, item: usize, own: usize) -> Option<(usize, f64)> {
        let data = &self.problem.items[item];
        let (size, fullest) = (data.size as f64, self.fullest(data));
        let excluded =
            forbidden(self.problem, &self.colours, item) | 1u32.checked_shl(own as u32).unwrap_or(0);
        let mut best = (f64::INFINITY, f64::INFINITY, SHARED);
        // One beyond those in use, so that a colour can be opened.
        let open = fullest.iter().zip(&self.peaks).take(self.open + 1);
        for (colour, (fullest, peak)) in open.enumerate() {
            let over = fullest + size - peak;
            let (cost, slack) = (over.max(0.0), (-over).max(0.0));
            let better = cost < best.0 || (cost == best.0 && slack < best.1);
            if excluded >> colour & 1 == 0 && better {
                best = (cost, slack, colour);
            }
        }
        (best.2 < SHARED).then_some((best.2, best.0))
    }

    fn put(&mut self, item: usize, colour: usize) {
        self.colours[item] = colour as u32;
        let data = &self.problem.items[item];
        if colour >= SHARED {
            self.alone += data.size;
            return;
        }
        self.open = self.open.max(colour + 1);
        let mut peak = self.peaks[colour];
        for load in &mut self.loads[data.steps()] {
            load[colour] += data.size as f64;
            peak = peak.max(load[colour]);
        }
        self.peaks[colour] = peak;
    }

    /// Moves an item where it lowers the sum of the peaks; returns whether it did.
    fn improve(&mut self, item: usize) -> bool {
        let own = self.colours[item] as usize;
        let data = &self.problem.items[item];
        if own >= SHARED {
            return false;
        }
        // Only what is part of its colour's peak can lower it.
        let peak = self.peaks[own];
        if !self.loads[data.steps()].iter().any(|load| load[own] == peak) {
            return false;
        }
        let size = data.size as f64;
        let (before, rest) = self.loads.split_at(data.steps().start);
        let (during, after) = rest.split_at(data.steps().len());
        let most = |loads: &[Lanes]| loads.iter().map(|load| load[own]).fold(0.0, f64::max);
        let lowered = most(before).max(most(during) - size).max(most(after));
        let gain = peak - lowered;
        let found = if gain > 0.0 { self.cheapest(item, own) } else { None };
        match found.filter(|(_, cost)| *cost < gain) {
            None => false,
            Some((colour, _)) => {
                self.loads[data.steps()].iter_mut().for_each(|load| load[own] -= size);
                self.peaks[own] = lowered;
                self.put(item, colour);
                true
            }
        }
    }
}
