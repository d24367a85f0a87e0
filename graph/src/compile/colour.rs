//! Which transients share an arena.
//!
//! Each colour is an arena, and needs as many bytes as its fullest moment. Conflicting transients must differ;
//! the rest is free, and chosen such that the arenas' fullest moments add up to as little as possible: taken
//! one by one, each where it raises the sum least, then moved one by one while that lowers it.

use std::cmp::Reverse;

use crate::compile::{
    CompileOptions,
    problem::{Item, Problem},
};

/// Colours that are tried for each item before another is opened.
const COLOURS: usize = 5;

/// Colours from here on belong to one item each.
const SHARED: u32 = 64;

/// Rounds of moving.
const ROUNDS: usize = 8;

/// By item: its colour.
pub(super) fn colour(problem: &Problem, options: CompileOptions) -> Vec<u32> {
    match options.colour {
        _ if problem.items.is_empty() => Vec::new(),
        Colouring::None => vec![0; problem.items.len()],
        Colouring::Greedy => greedy(problem),
        Colouring::Balanced => {
            let by_size = balanced(problem, |item| item.size);
            let by_area = balanced(problem, Item::area);
            if by_area.total() < by_size.total() { by_area.colours } else { by_size.colours }
        }
    }
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
    for item in 0..colours.len() as u32 {
        let free = (!forbidden(problem, &colours, item)).trailing_zeros();
        colours[item as usize] = if free < SHARED { free } else { SHARED + item };
    }
    colours
}

/// The shared colours of an item's neighbours, as bits.
fn forbidden(problem: &Problem, colours: &[u32], item: u32) -> u64 {
    let neighbours = problem.conflicts.of(item).iter().map(|&other| colours[other as usize]);
    neighbours.filter(|&colour| colour < SHARED).fold(0, |mask, colour| mask | 1 << colour)
}

struct Balance<'p> {
    problem: &'p Problem,
    colours: Vec<u32>,
    /// By colour and step: bytes alive.
    loads: Vec<u64>,
    /// By colour: bytes at its fullest step.
    peaks: Vec<u64>,
    /// Bytes of what has a colour of its own.
    alone: u64,
}

fn balanced<K: Ord>(problem: &Problem, key: impl Fn(&Item) -> K) -> Balance<'_> {
    let mut balance = Balance {
        problem,
        colours: vec![u32::MAX; problem.items.len()],
        loads: vec![0; COLOURS * problem.steps],
        peaks: vec![0; COLOURS],
        alone: 0,
    };
    let mut largest_first: Vec<u32> = (0..problem.items.len() as u32).collect();
    largest_first.sort_by_cached_key(|&item| Reverse(key(&problem.items[item as usize])));
    for &item in &largest_first {
        let colour = balance.cheapest(item, u32::MAX).map_or(SHARED + item, |(colour, _)| colour);
        balance.put(item, colour);
    }
    let mut moved = true;
    for _ in 0..ROUNDS {
        if !std::mem::take(&mut moved) {
            break;
        }
        for item in 0..problem.items.len() as u32 {
            moved |= balance.improve(item);
        }
    }
    balance
}

impl Balance<'_> {
    fn total(&self) -> u64 {
        self.peaks.iter().sum::<u64>() + self.alone
    }

    /// The allowed colour other than `own` whose peak an item raises least, and by how much. Of equal ones
    /// the fullest, so that room is left where there is most.
    fn cheapest(&self, item: u32, own: u32) -> Option<(u32, u64)> {
        let Item { size, .. } = self.problem.items[item as usize];
        let forbidden = forbidden(self.problem, &self.colours, item);
        let mut best: Option<(u64, u64, u32)> = None;
        // One beyond those in use, so that a colour can be opened.
        for colour in 0..(self.peaks.len() as u32 + 1).min(SHARED) {
            if colour == own || forbidden >> colour & 1 == 1 {
                continue;
            }
            let peak = self.peaks.get(colour as usize).copied().unwrap_or(0);
            let raised = size + self.fullest(item, colour);
            let cost = (raised.saturating_sub(peak), peak.saturating_sub(raised), colour);
            if best.is_none_or(|best| cost < best) {
                best = Some(cost);
            }
            if colour as usize >= self.peaks.len() {
                break;
            }
        }
        best.map(|(cost, _, colour)| (colour, cost))
    }

    /// Most bytes of a colour that are alive at once during an item's life.
    fn fullest(&self, item: u32, colour: u32) -> u64 {
        let start = colour as usize * self.problem.steps;
        let loads = self.loads.get(start..start + self.problem.steps);
        loads.map_or(0, |loads| {
            loads[self.problem.items[item as usize].steps()].iter().copied().max().unwrap_or(0)
        })
    }

    fn put(&mut self, item: u32, colour: u32) {
        self.colours[item as usize] = colour;
        let data = self.problem.items[item as usize];
        if colour >= SHARED {
            self.alone += data.size;
            return;
        }
        let steps = self.problem.steps;
        let start = colour as usize * steps;
        if self.peaks.len() <= colour as usize {
            self.peaks.push(0);
            self.loads.resize(start + steps, 0);
        }
        let peak = &mut self.peaks[colour as usize];
        for load in &mut self.loads[start..start + steps][data.steps()] {
            *load += data.size;
            *peak = (*peak).max(*load);
        }
    }

    /// Moves an item where it lowers the sum of the peaks; returns whether it did.
    fn improve(&mut self, item: u32) -> bool {
        let own = self.colours[item as usize];
        let data = self.problem.items[item as usize];
        // Only what is part of its colour's peak can lower it.
        if own >= SHARED || self.fullest(item, own) < self.peaks[own as usize] {
            return false;
        }
        let start = own as usize * self.problem.steps;
        let loads = &self.loads[start..start + self.problem.steps];
        let without = |(step, &load): (usize, &u64)| {
            if data.steps().contains(&step) { load - data.size } else { load }
        };
        let lowered = loads.iter().enumerate().map(without).max().unwrap_or(0);
        let gain = self.peaks[own as usize] - lowered;
        match self.cheapest(item, own).filter(|(_, cost)| *cost < gain) {
            None => false,
            Some((colour, _)) => {
                self.loads[start..start + self.problem.steps][data.steps()]
                    .iter_mut()
                    .for_each(|load| *load -= data.size);
                self.peaks[own as usize] = lowered;
                self.put(item, colour);
                true
            }
        }
    }
}
