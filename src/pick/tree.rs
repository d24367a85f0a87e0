//! A hierarchy of boxes over triangles: which triangles lie together is settled once, the boxes follow each pose.

use glam::Vec3;

use crate::model::Bounds;

/// Who lies with whom. Nodes stand parents first, left children right behind their parents.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Numbers of triangles, those of a leaf beside each other.
    triangles: Vec<u32>,
    /// Their corners, in that order.
    corners: Vec<[u32; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// A leaf's first place in the list of triangles; otherwise the right child.
    next: u32,
    /// Triangles of a leaf; 0 in others.
    count: u32,
}

/// Triangles that are not worth a node.
const FEW: usize = 4;
const BINS: usize = 16;
/// Levels that the surface heuristic may take; below, halves keep what is left to another 32.
const FREE_LEVELS: u32 = 32;
/// Most levels there are.
const LEVELS: usize = 64;

/// A range of triangles that becomes a node.
struct Task {
    range: std::ops::Range<usize>,
    level: u32,
    /// Whose right child it is.
    right_of: Option<usize>,
}

impl Tree {
    /// Over triangles as they lie at `positions`; the same for the same input. Triangles are split where the surface
    /// area heuristic finds it best over 16 bins along the longest axis of their middles (Wald, "On fast Construction of
    /// SAH-based Bounding Volume Hierarchies", 2007).
    pub(super) fn new(corners: &[[u32; 3]], positions: &[Vec3]) -> Self {
        let boxes: Vec<Bounds> = corners.iter().map(|triangle| box_of(*triangle, positions)).collect();
        let mut triangles: Vec<u32> = (0..corners.len() as u32).collect();
        let mut nodes = Vec::with_capacity(corners.len());
        let mut tasks = vec![Task { range: 0..corners.len(), level: 0, right_of: None }];
        if corners.is_empty() {
            tasks.clear();
        }
        while let Some(Task { range, level, right_of }) = tasks.pop() {
            let at = nodes.len();
            if let Some(parent) = right_of {
                let parent: &mut Node = &mut nodes[parent];
                parent.next = at as u32;
            }
            if range.len() <= FEW {
                nodes.push(Node { next: range.start as u32, count: range.len() as u32 });
                continue;
            }
            nodes.push(Node { next: 0, count: 0 });
            let middle = range.start + split(&mut triangles[range.clone()], &boxes, level < FREE_LEVELS);
            tasks.push(Task { range: middle..range.end, level: level + 1, right_of: Some(at) });
            tasks.push(Task { range: range.start..middle, level: level + 1, right_of: None });
        }
        let corners = triangles.iter().map(|triangle| corners[*triangle as usize]).collect();
        Self { nodes, triangles, corners }
    }

    /// Makes the boxes follow the positions: a pass over the triangles, then one over the nodes. Allocates only the
    /// first time.
    pub(super) fn refit(&self, positions: &[Vec3], boxes: &mut Vec<Bounds>) {
        boxes.resize(self.nodes.len(), Bounds::EMPTY);
        for (at, node) in self.nodes.iter().enumerate().rev() {
            boxes[at] = if node.count > 0 {
                let own = &self.corners[node.next as usize..][..node.count as usize];
                own.iter().fold(Bounds::EMPTY, |sum, triangle| sum.union(box_of(*triangle, positions)))
            } else {
                boxes[at + 1].union(boxes[node.next as usize])
            };
        }
    }

    /// Gives every leaf whose box `enter` finds met, the nearer of two first, until `visit` says that it is enough.
    /// `enter` gives a distance before which nothing in the box is met; boxes beyond the limit that `visit` returns are
    /// left out.
    pub(super) fn walk(
        &self,
        boxes: &[Bounds],
        mut limit: f32,
        enter: impl Fn(&Bounds) -> Option<f32>,
        mut visit: impl FnMut(u32, [u32; 3]) -> Walk,
    ) {
        let mut stack = [(0u32, 0.0f32); LEVELS + 1];
        let mut height = usize::from(boxes.first().is_some_and(|all| enter(all).is_some()));
        while let Some(top) = height.checked_sub(1) {
            height = top;
            let (at, near) = stack[top];
            if near > limit {
                continue;
            }
            let Some(node) = self.nodes.get(at as usize) else { continue };
            if node.count > 0 {
                for place in node.next as usize..(node.next + node.count) as usize {
                    match visit(self.triangles[place], self.corners[place]) {
                        Walk::Until(nearer) => limit = nearer,
                        Walk::Enough => return,
                    }
                }
                continue;
            }
            let [left, right] = [at + 1, node.next].map(|child| (child, enter(&boxes[child as usize])));
            let is_left_nearer = left.1.zip(right.1).is_none_or(|(left, right)| left <= right);
            let in_order = if is_left_nearer { [right, left] } else { [left, right] };
            for (child, near) in in_order {
                if let Some(near) = near.filter(|near| !(*near > limit)) {
                    stack[height] = (child, near);
                    height += 1;
                }
            }
        }
    }
}

/// How a walk goes on.
pub(super) enum Walk {
    /// Up to this distance.
    Until(f32),
    /// Not at all.
    Enough,
}

/// The box of a triangle; empty where a corner is not finite, which no ray meets.
fn box_of(triangle: [u32; 3], positions: &[Vec3]) -> Bounds {
    let [a, b, c] = triangle.map(|corner| positions[corner as usize]);
    if a.is_finite() && b.is_finite() && c.is_finite() {
        Bounds::new(a.min(b).min(c), a.max(b).max(c))
    } else {
        Bounds::EMPTY
    }
}

/// Half the surface, which is in proportion to how many rays meet it; nothing where it is empty.
fn area(own: Bounds) -> f32 {
    let Vec3 { x, y, z } = (own.max - own.min).max(Vec3::ZERO);
    x * y + y * z + z * x
}

/// Sorts a node's triangles into two, none of them empty; returns how many are left.
fn split(triangles: &mut [u32], boxes: &[Bounds], by_surface: bool) -> usize {
    let middle = |triangle: u32| boxes[triangle as usize].center();
    let middles: Bounds = triangles.iter().map(|triangle| middle(*triangle)).collect();
    let size = middles.max - middles.min;
    let axis = size.max_position();
    let key = |triangle: u32| middle(triangle)[axis];
    if by_surface && size[axis] > 0.0 {
        let scale = BINS as f32 / size[axis];
        // Out of range counts as the nearest.
        let bin = |triangle: u32| (((key(triangle) - middles.min[axis]) * scale) as usize).min(BINS - 1);
        if let Some(last) = best_bin(triangles, boxes, bin) {
            return partition(triangles, |triangle| bin(triangle) <= last);
        }
    }
    let half = triangles.len() / 2;
    triangles.select_nth_unstable_by(half, |a, b| key(*a).total_cmp(&key(*b)).then(a.cmp(b)));
    half
}

/// The last bin on the left side of the cheapest split; none where one bin has all.
fn best_bin(triangles: &[u32], boxes: &[Bounds], bin: impl Fn(u32) -> usize) -> Option<usize> {
    let mut bins = [(0u32, Bounds::EMPTY); BINS];
    for &triangle in triangles {
        let own = &mut bins[bin(triangle)];
        *own = (own.0 + 1, own.1.union(boxes[triangle as usize]));
    }
    let add = |(count, sum): (u32, Bounds), (more, other): (u32, Bounds)| (count + more, sum.union(other));
    let mut right = [(0, Bounds::EMPTY); BINS];
    for at in (1..BINS).rev() {
        right[at - 1] = add(right[at], bins[at]);
    }
    let mut left = (0, Bounds::EMPTY);
    let mut best: Option<(f32, usize)> = None;
    for (at, (own, right)) in bins.into_iter().zip(right).enumerate() {
        left = add(left, own);
        if left.0 > 0 && right.0 > 0 {
            let cost = area(left.1) * left.0 as f32 + area(right.1) * right.0 as f32;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, at));
            }
        }
    }
    best.map(|(_, at)| at)
}

/// Brings those that belong to the front there; returns how many.
fn partition(list: &mut [u32], is_front: impl Fn(u32) -> bool) -> usize {
    let mut front = 0;
    for at in 0..list.len() {
        if is_front(list[at]) {
            list.swap(front, at);
            front += 1;
        }
    }
    front
}
