/// Lists of numbers by key, one after another in memory.
#[derive(Debug)]
pub(super) struct Csr {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Csr {
    /// Groups (key, item) pairs by key; items of one key keep their order.
    pub(super) fn new(keys: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; keys + 2];
        for &(key, _) in pairs {
            starts[key as usize + 2] += 1;
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut items = vec![0u32; pairs.len()];
        for &(key, item) in pairs {
            let next = &mut starts[key as usize + 1];
            items[*next as usize] = item;
            *next += 1;
        }
        Self { starts, items }
    }

    pub(super) fn of(&self, key: u32) -> &[u32] {
        &self.items[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }
}
