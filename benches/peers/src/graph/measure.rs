//! Time and heap allocations of a piece of work.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
        Self { allocations: ALLOCATIONS.load(Ordering::Relaxed), start: Instant::now() }
    }

    #[must_use]
    pub fn spent(&self) -> Spent {
        let time = self.start.elapsed();
        Spent { time, allocations: ALLOCATIONS.load(Ordering::Relaxed) - self.allocations }
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
