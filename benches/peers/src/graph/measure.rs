//! Time and heap allocations of a piece of work.

use std::time::{Duration, Instant};

use crate::counting;

/// What a piece of work took. Growing an allocation counts as one.
#[derive(Clone, Copy)]
pub struct Spent {
    pub time: Duration,
    pub allocations: u64,
}

impl Spent {
    fn min(self, other: Self) -> Self {
        Self { time: self.time.min(other.time), allocations: self.allocations.min(other.allocations) }
    }
}

/// Counts from its start.
pub struct Clock {
    start: Instant,
    allocations: u64,
}

impl Clock {
    #[must_use]
    pub fn start() -> Self {
        Self { allocations: counting::allocations(), start: Instant::now() }
    }

    #[must_use]
    pub fn spent(&self) -> Spent {
        let time = self.start.elapsed();
        Spent { time, allocations: counting::allocations() - self.allocations }
    }
}

/// One graph declared, compiled and dropped.
#[derive(Clone, Copy)]
pub struct Cost {
    /// From nothing to the compiled graph.
    pub whole: Spent,
    /// The part of `whole` after everything was declared.
    pub compile: Spent,
    /// Dropping the compiled graph, which `whole` does not include.
    pub release: Spent,
}

impl Cost {
    fn min(self, other: Self) -> Self {
        Self {
            whole: self.whole.min(other.whole),
            compile: self.compile.min(other.compile),
            release: self.release.min(other.release),
        }
    }
}

/// The least of each figure over as many repetitions as fit into `budget`, and at least ten.
pub fn best<E>(budget: Duration, mut work: impl FnMut() -> Result<Cost, E>) -> Result<Cost, E> {
    let start = Instant::now();
    let mut best = work()?;
    let mut repetitions = 1;
    while repetitions < 10 || start.elapsed() < budget {
        best = best.min(work()?);
        repetitions += 1;
    }
    Ok(best)
}
