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
    /// Largest first.
    pub(super) by_size: Vec<u32>,
    /// By item: the items that some pass writes while it reads this one, or reads while it writes it.
    pub(super) conflicts: Csr,
    /// Steps of time.
    pub(super) steps: usize,
    /// Bytes at the fullest step, in frames of over 64 passes an estimate from above: where balancing stops.
    pub(super) fullest: u64,
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
    first_step: u32,
    last_step: u32,
    /// Bytes.
    pub(super) size: u64,
    /// Of its offset.
    pub(super) alignment: u64,
}

impl Item {
    pub(super) fn steps(&self) -> std::ops::Range<usize> {
        self.first_step as usize..self.last_step as usize + 1
    }

    /// Bytes times passes.
    fn area(&self) -> u64 {
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
        let step = |pass: u32| if steps == passes { pass } else { (u64::from(pass) * steps / passes) as u32 };
        let mut of_buffer = vec![u32::MAX; lives.buffers.len()];
        let mut items = Vec::with_capacity(lives.buffers.len());
        let mut loads = vec![0u64; steps as usize];
        for (buffer, planned) in lives.buffers.iter().enumerate() {
            if !lives.transient[buffer] {
                continue;
            }
            of_buffer[buffer] = items.len() as u32;
            let item = Item {
                buffer: buffer as u32,
                first: planned.first,
                last: planned.last,
                first_step: step(planned.first),
                last_step: step(planned.last),
                size: planned.size,
                alignment: limits.alignment(lives.usage[buffer]),
            };
            loads[item.steps()].iter_mut().for_each(|load| *load += item.size);
            items.push(item);
        }
        let by_size = sorted(&items, |item| item.size);
        let conflicts = conflicts(decl, order, lives, &of_buffer, items.len());
        let fullest = loads.into_iter().max().unwrap_or(0);
        Self { items, by_size, conflicts, steps: steps as usize, fullest }
    }

    /// Largest times longest first.
    pub(super) fn by_area(&self) -> Vec<u32> {
        sorted(&self.items, Item::area)
    }
}

/// Items by falling key, equal ones by index.
fn sorted(items: &[Item], key: impl Fn(&Item) -> u64) -> Vec<u32> {
    // Key and index in one number, which sorts fastest; keys beyond the bits that are left count as equal.
    let bits = (items.len() as u64).next_power_of_two().trailing_zeros();
    let most = u64::MAX >> bits;
    let keys = items.iter().zip(0u64..).map(|(item, index)| (most - key(item).min(most)) << bits | index);
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| (key & ((1 << bits) - 1)) as u32).collect()
}

/// wgpu tracks usage per whole buffer: one arena bound read-only at one range and read-write at another in
/// one dispatch is a validation error, and so is a copy inside one buffer.
fn conflicts(decl: &Declarations, order: &[u32], lives: &Lives, of_buffer: &[u32], items: usize) -> Csr {
    let mut pairs = Vec::with_capacity(order.len() * 8);
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
