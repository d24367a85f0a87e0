use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{compile::edges::Edges, decl::Declarations, error::GraphError};

/// Kahn's algorithm; among passes that could run, the one declared first does, so that a valid program
/// keeps its order.
pub(super) fn order(
    decl: &Declarations,
    edges: &Edges,
    alive: &[bool],
    errors: &mut Vec<GraphError>,
) -> Vec<u32> {
    let earlier = earlier(edges, alive);
    let mut waiting: Vec<usize> = earlier.iter().map(Vec::len).collect();
    let mut later = vec![Vec::new(); alive.len()];
    for (pass, earlier) in earlier.iter().enumerate() {
        for &before in earlier {
            later[before as usize].push(pass as u32);
        }
    }

    let startable = |pass: &u32| alive[*pass as usize] && waiting[*pass as usize] == 0;
    let mut ready: BinaryHeap<_> = (0..alive.len() as u32).filter(startable).map(Reverse).collect();
    let mut order = Vec::with_capacity(alive.len());
    while let Some(Reverse(pass)) = ready.pop() {
        order.push(pass);
        for &next in &later[pass as usize] {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if let Some(stuck) = waiting.iter().position(|&count| count > 0) {
        let cycle = cycle(stuck as u32, &earlier, &waiting);
        let passes = cycle.into_iter().map(|pass| decl.pass_label(pass)).collect();
        errors.push(GraphError::Cycle { passes });
    }
    order
}

/// By pass in the plan: the passes in the plan that come before it, each once.
fn earlier(edges: &Edges, alive: &[bool]) -> Vec<Vec<u32>> {
    let both = edges.needs.iter().zip(&edges.after).zip(alive);
    both.map(|((needs, after), &is_alive)| {
        let both = needs.iter().chain(after).copied();
        let mut earlier: Vec<u32> = both.filter(|&pass| is_alive && alive[pass as usize]).collect();
        earlier.sort_unstable();
        earlier.dedup();
        earlier
    })
    .collect()
}

/// Walks back from a pass that waits until a pass repeats. Every waiting pass waits for a waiting one.
fn cycle(start: u32, earlier: &[Vec<u32>], waiting: &[usize]) -> Vec<u32> {
    let mut walk = vec![start];
    let mut at = start;
    while let Some(&before) = earlier[at as usize].iter().find(|&&pass| waiting[pass as usize] > 0) {
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
