use smallvec::SmallVec;

use crate::{
    compile::{CompileOptions, lifetime::Lives},
    decl::Declarations,
};

/// By buffer: a colour, such that no pass reads one buffer and writes another of the same colour.
///
/// wgpu tracks usage per whole buffer: one arena bound read-only at one range and read-write at another in
/// one dispatch is a validation error, and so is a copy inside one buffer. Each colour is an arena.
pub(super) fn colour(decl: &Declarations, order: &[u32], lives: &Lives, options: CompileOptions) -> Vec<u32> {
    let mut colours = vec![0; lives.buffers.len()];
    if !options.colour {
        return colours;
    }
    let conflicts = conflicts(decl, order, lives);
    for buffer in 0..colours.len() {
        let earlier = conflicts[buffer].iter().filter(|&&other| (other as usize) < buffer);
        let mut taken: SmallVec<[u32; 16]> = earlier.map(|&other| colours[other as usize]).collect();
        taken.sort_unstable();
        taken.dedup();
        let free = taken.iter().enumerate().find(|(at, colour)| *at as u32 != **colour);
        colours[buffer] = free.map_or(taken.len(), |(at, _)| at) as u32;
    }
    colours
}

/// By buffer: the transients that some pass writes while it reads this one, or reads while it writes it.
fn conflicts(decl: &Declarations, order: &[u32], lives: &Lives) -> Vec<Vec<u32>> {
    let mut conflicts = vec![Vec::new(); lives.buffers.len()];
    for &pass in order {
        let (mut read, mut written) = (SmallVec::<[u32; 16]>::new(), SmallVec::<[u32; 16]>::new());
        for u in &decl.passes[pass as usize].uses {
            let buffer = decl.storage_of(u.target).and_then(|s| lives.of_storage[s as usize]);
            let Some(buffer) = buffer.filter(|&buffer| lives.transient[buffer as usize]) else { continue };
            if u.usage.writes() { written.push(buffer) } else { read.push(buffer) }
        }
        for &a in &read {
            for &b in &written {
                conflicts[a as usize].push(b);
                conflicts[b as usize].push(a);
            }
        }
    }
    conflicts
}
