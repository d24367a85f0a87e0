use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    compile::{csr::Csr, edges::Edges},
    decl::Declarations,
    error::GraphError,
};

/// Kahn's algorithm; among passes that could run, the one declared first does, so that a valid program
/// keeps its order.
pub(super) fn order(
    decl: &Declarations,
    edges: &Edges,
    alive: &[bool],
    errors: &mut Vec<GraphError>,
) -> Vec<u32> {
    let both = edges.needs.iter().chain(&edges.after);
    // The usual case: declared in an order that runs, which is then the one wanted.
    if both.clone().all(|(pass, before)| before < pass) {
        return (0..alive.len() as u32).filter(|&pass| alive[pass as usize]).collect();
    }
    let both = both.filter(|(pass, before)| alive[*pass as usize] && alive[*before as usize]);
    // (earlier, pass): an edge that was found twice is counted twice on both sides.
    let later: Vec<(u32, u32)> = both.map(|&(pass, before)| (before, pass)).collect();
    let mut waiting = vec![0u32; alive.len()];
    later.iter().for_each(|&(_, pass)| waiting[pass as usize] += 1);
    let later = Csr::new(alive.len(), &later);

    let startable = |pass: &u32| alive[*pass as usize] && waiting[*pass as usize] == 0;
    let mut ready: BinaryHeap<_> = (0..alive.len() as u32).filter(startable).map(Reverse).collect();
    let mut order = Vec::with_capacity(alive.len());
    while let Some(Reverse(pass)) = ready.pop() {
        order.push(pass);
        for &next in later.of(pass) {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if let Some(stuck) = waiting.iter().position(|&count| count > 0) {
        let passes = cycle(stuck as u32, edges, alive, &waiting);
        errors.push(GraphError::Cycle {
            passes: passes.into_iter().map(|pass| decl.pass_label(pass)).collect(),
        });
    }
    order
}

/// Walks back from a pass that waits until a pass repeats. Every waiting pass waits for a waiting one.
fn cycle(start: u32, edges: &Edges, alive: &[bool], waiting: &[u32]) -> Vec<u32> {
    let mut pairs: Vec<(u32, u32)> = edges.needs.iter().chain(&edges.after).copied().collect();
    pairs.retain(|&(_, before)| alive[before as usize] && waiting[before as usize] > 0);
    pairs.sort_unstable();
    let earlier = Csr::new(alive.len(), &pairs);
    let mut walk = vec![start];
    let mut at = start;
    while let Some(&before) = earlier.of(at).first() {
        if let Some(seen) = walk.iter().position(|&pass| pass == before) {
            walk.drain(..seen);
            break;
        }
        walk.push(before);
        at = before;
    }
    walk.reverse();
    // The pass declared first leads, whichever one the walk met first.
    let first = walk.iter().enumerate().min_by_key(|(_, pass)| **pass).map_or(0, |(at, _)| at);
    walk.rotate_left(first);
    walk
}
