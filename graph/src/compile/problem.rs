use crate::{
    compile::{csr::Csr, lifetime::Lives},
    decl::Declarations,
    limits::Limits,
};

/// Steps of time that loads are measured in. Longer frames are rounded to this many.
const STEPS: u64 = 64;

/// What is to be placed: transients as sizes and lifetimes, and who may not share an arena with whom.
pub(super) struct Problem {
    pub(super) items: Vec<Item>,
    /// By item: the items that some pass writes while it reads this one, or reads while it writes it.
    pub(super) conflicts: Csr,
    /// Steps of time.
    pub(super) steps: usize,
}

/// A transient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Index into the planned buffers.
    pub(super) buffer: u32,
    /// First and last pass.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The same in steps.
    pub(super) first_step: u32,
    pub(super) last_step: u32,
    /// Bytes.
    pub(super) size: u64,
    /// Of its offset.
    pub(super) alignment: u64,
}

impl Item {
    pub(super) fn steps(&self) -> std::ops::RangeInclusive<usize> {
        self.first_step as usize..=self.last_step as usize
    }

    /// Bytes times passes.
    pub(super) fn area(&self) -> u64 {
        self.size.saturating_mul(u64::from(self.last - self.first + 1))
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl Problem {
    pub(super) fn new(decl: &Declarations, order: &[u32], lives: &Lives, limits: &Limits) -> Self {
        let passes = order.len().max(1) as u64;
        let steps = passes.min(STEPS);
        let step = |pass: u32| (u64::from(pass) * steps / passes) as u32;
        let mut of_buffer = vec![u32::MAX; lives.buffers.len()];
        let mut items = Vec::with_capacity(lives.buffers.len());
        for (buffer, planned) in lives.buffers.iter().enumerate().filter(|(b, _)| lives.transient[*b]) {
            of_buffer[buffer] = items.len() as u32;
            let alignment = limits.alignment(lives.usage[buffer]);
            items.push(Item {
                buffer: buffer as u32,
                first: planned.first,
                last: planned.last,
                first_step: step(planned.first),
                last_step: step(planned.last),
                size: planned.size,
                alignment,
            });
        }
        let conflicts = conflicts(decl, order, lives, &of_buffer, items.len());
        Self { items, conflicts, steps: steps as usize }
    }
}

/// wgpu tracks usage per whole buffer: one arena bound read-only at one range and read-write at another in
/// one dispatch is a validation error, and so is a copy inside one buffer.
fn conflicts(decl: &Declarations, order: &[u32], lives: &Lives, of_buffer: &[u32], items: usize) -> Csr {
    let mut pairs = Vec::with_capacity(order.len() * 4);
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for &pass in order {
        read.clear();
        written.clear();
        for u in &decl.passes[pass as usize].uses {
            let buffer = decl.storage_of(u.target).and_then(|s| lives.of_storage[s as usize]);
            let item = buffer.map_or(u32::MAX, |buffer| of_buffer[buffer as usize]);
            if item != u32::MAX {
                if u.usage.writes() { written.push(item) } else { read.push(item) }
            }
        }
        for &a in &read {
            for &b in &written {
                pairs.push((a, b));
                pairs.push((b, a));
            }
        }
    }
    Csr::new(items, &pairs)
}
