//! Graphs as plain data, so that every peer is given the same ones.

use std::ops::Range;

/// Compute passes over buffers, in an order that can run.
pub(crate) struct Passes {
    /// Bytes, by buffer.
    pub(crate) buffers: Vec<u64>,
    pub(crate) passes: Vec<Pass>,
    /// The buffers whose contents are wanted after the last pass, ascending, each once.
    pub(crate) roots: Vec<usize>,
}

/// One compute pass. Every buffer is written by exactly one pass, before any that reads it.
pub(crate) struct Pass {
    /// Bound as read-only storage; ascending, each once.
    pub(crate) reads: Vec<usize>,
    /// Bound as storage and overwritten completely.
    pub(crate) writes: Vec<usize>,
}

impl Passes {
    fn new() -> Self {
        Self { buffers: Vec::new(), passes: Vec::new(), roots: Vec::new() }
    }

    /// Appends a pass that writes `writes` new buffers of random size.
    fn push(&mut self, mut reads: Vec<usize>, writes: usize, rng: &mut Rng) {
        reads.sort_unstable();
        reads.dedup();
        let first = self.buffers.len();
        self.buffers.extend((0..writes).map(|_| 4 * (1 + rng.below(4096) as u64)));
        self.passes.push(Pass { reads, writes: (first..first + writes).collect() });
    }

    fn set_roots(&mut self, mut roots: Vec<usize>) {
        roots.sort_unstable();
        roots.dedup();
        self.roots = roots;
    }

    /// The passes that the roots need, directly or through others.
    fn kept(&self) -> Vec<&Pass> {
        let mut wanted = vec![false; self.buffers.len()];
        for &root in &self.roots {
            wanted[root] = true;
        }
        // Writers come before readers, so one walk backwards finds everything.
        let mut kept = Vec::new();
        for pass in self.passes.iter().rev() {
            if pass.writes.iter().any(|&buffer| wanted[buffer]) {
                pass.reads.iter().for_each(|&buffer| wanted[buffer] = true);
                kept.push(pass);
            }
        }
        kept.reverse();
        kept
    }

    /// Bytes of the buffers alive at the fullest of the kept passes, without padding: in this order of passes
    /// no placement needs less. A buffer lives from its writer to its last reader, a root to the last pass.
    #[must_use]
    pub(crate) fn live_bytes(&self) -> u64 {
        let kept = self.kept();
        let mut lives: Vec<Option<Range<usize>>> = vec![None; self.buffers.len()];
        for (at, pass) in kept.iter().enumerate() {
            for &buffer in pass.reads.iter().chain(&pass.writes) {
                lives[buffer].get_or_insert(at..at).end = at + 1;
            }
        }
        for &root in &self.roots {
            if let Some(life) = &mut lives[root] {
                life.end = kept.len();
            }
        }
        let mut change = vec![0; kept.len() + 1];
        for (life, &size) in lives.iter().zip(&self.buffers) {
            if let Some(life) = life {
                change[life.start] += size as i64;
                change[life.end] -= size as i64;
            }
        }
        let alive = change.iter().scan(0, |alive, change| {
            *alive += change;
            Some(*alive as u64)
        });
        alive.max().unwrap_or(0)
    }
}

/// A small graph: 2 to 15 passes that read any earlier values; most graphs have passes that nobody needs.
#[must_use]
pub(crate) fn fuzz(seed: u64) -> Passes {
    let mut rng = Rng::new(seed);
    let passes = 2 + rng.below(14);
    scattered(&mut rng, passes)
}

/// Like [`fuzz`], with a given number of passes.
#[must_use]
pub(crate) fn random(seed: u64, passes: usize) -> Passes {
    scattered(&mut Rng::new(seed), passes)
}

/// A frame like a renderer's: a pass reads the previous pass's first value and up to three others of the last
/// eight passes, and the last value is the root, so that every pass is needed.
#[must_use]
pub(crate) fn frame(passes: usize) -> Passes {
    let mut rng = Rng::new(passes as u64);
    let mut graph = Passes::new();
    for at in 0..passes {
        let mut reads = Vec::new();
        if let Some(previous) = graph.passes.last() {
            let oldest = graph.passes[at.saturating_sub(8)].writes[0];
            reads.push(previous.writes[0]);
            reads.extend((0..rng.below(4)).map(|_| oldest + rng.below(graph.buffers.len() - oldest)));
        }
        let writes = 1 + rng.below(2);
        graph.push(reads, writes, &mut rng);
    }
    graph.set_roots(graph.buffers.len().checked_sub(1).into_iter().collect());
    graph
}

fn scattered(rng: &mut Rng, passes: usize) -> Passes {
    let mut graph = Passes::new();
    for _ in 0..passes {
        let values = graph.buffers.len();
        let reads = if values == 0 { 0 } else { rng.below(4) };
        let writes = 1 + rng.below(2);
        let reads = (0..reads).map(|_| rng.below(values)).collect();
        graph.push(reads, writes, rng);
    }
    let values = graph.buffers.len();
    let mut roots: Vec<usize> = values.checked_sub(1).into_iter().collect();
    if values > 0 {
        roots.extend((0..rng.below(3)).map(|_| rng.below(values)));
    }
    graph.set_roots(roots);
    graph
}

/// Xorshift: the same numbers on every machine.
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Self {
        let mut rng = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Small seeds start alike.
        (0..8).for_each(|_| {
            rng.below(2);
        });
        rng
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
