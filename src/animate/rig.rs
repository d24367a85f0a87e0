//! What is the same for all instances of a model, laid out for evaluating many at once.

use std::collections::VecDeque;

use glam::{Affine3A, Quat, Vec3};

use super::{
    JointMatrix, PaletteLayout,
    bind_space::BindSpace,
    hierarchy::is_deep,
    lanes::{F8, Places},
    moving::{LanePose, LaneSink, Moving, NONE, depth_first, write},
    reach::Reach,
};
use crate::model::{Model, Skeleton, Transform};

/// One node on the way from local transforms to the palette.
#[derive(Clone, Debug)]
pub(super) struct RigNode {
    pub(super) node: u32,
    /// Where its matrix is kept, and its parent's, or [`NONE`]; one that no other node needs is kept in the last
    /// place of all.
    pub(super) slot: u32,
    pub(super) parent: u32,
    /// Where one instance's matrices of it lie among those of [`Rig::pairs`].
    pub(super) half: Half,
    /// Places among what moves, or [`NONE`].
    pub(super) rotation: u32,
    pub(super) translation: u32,
    pub(super) scale: u32,
    /// For what does not move.
    pub(super) rest: Transform,
    pub(super) is_scaled: bool,
    /// What takes a translation that moves to bind space.
    pub(super) placement: Option<Matrix<f32>>,
    /// What the linear part moves on top of the translation.
    pub(super) pivot: Option<[f32; 3]>,
    /// The rotation of `rest` as the rows of a matrix.
    pub(super) rest_rows: [[f32; 3]; 3],
    /// The first palette row that this node feeds, and the others, in [`Rig::rows`].
    pub(super) row: Option<Row>,
    pub(super) first_row: u32,
    pub(super) end_row: u32,
}

impl RigNode {
    /// Sets what comes from the rest pose.
    fn set_rest(&mut self, node: usize, space: Option<&BindSpace>) {
        let mut pivot = Vec3::ZERO;
        if let Some(space) = space {
            self.rest = space.rest(node, self.rest);
            self.placement = space.placement(node).map(matrix_rows);
            pivot = space.pivot(node);
        }
        self.is_scaled = self.rest.scale != Vec3::ONE;
        self.rest_rows = rotation_rows(self.rest.rotation);
        self.pivot = (pivot != Vec3::ZERO).then(|| pivot.to_array());
        let is_still = [self.rotation, self.translation, self.scale] == [NONE; 3];
        if let Some(pivot) = self.pivot.take_if(|_| is_still) {
            let scale = self.rest.scale.to_array();
            for (i, row) in self.rest_rows.into_iter().enumerate() {
                let row = [row[0] * scale[0], row[1] * scale[1], row[2] * scale[2]];
                self.rest.translation[i] = affine(row, pivot, self.rest.translation[i]);
            }
        }
    }
}

/// Rows of three coefficients and a translation.
pub(super) type Matrix<T> = [[T; 4]; 3];

fn matrix_rows(m: Affine3A) -> Matrix<f32> {
    let JointMatrix { x, y, z } = m.into();
    [x, y, z]
}

/// A row of a matrix, its translation beside it, times a place.
pub(super) fn affine(row: [f32; 3], place: [f32; 3], translation: f32) -> f32 {
    row[0] * place[0] + row[1] * place[1] + row[2] * place[2] + translation
}

/// A matrix in a list of pairs of them whose rows lie side by side: its first row, in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half(u32);

impl Half {
    /// The left one of a pair, or the right one.
    fn of(pair: usize, side: usize) -> Self {
        Self((pair * 6 + side) as u32)
    }

    /// Its pair.
    fn pair(self) -> usize {
        self.0 as usize / 6
    }

    /// The number that it starts at.
    fn start(self) -> usize {
        self.0 as usize * 4
    }

    #[inline(always)]
    pub(super) fn rows(self, all: &[[f32; 4]]) -> [&[f32; 4]; 3] {
        let from = self.0 as usize;
        let [x, _, y, _, z] = &all[from..from + 5] else { unreachable!() };
        [x, y, z]
    }

    #[inline(always)]
    pub(super) fn rows_mut(self, all: &mut [[f32; 4]]) -> [&mut [f32; 4]; 3] {
        let from = self.0 as usize;
        let [x, _, y, _, z] = &mut all[from..from + 5] else { unreachable!() };
        [x, y, z]
    }
}

/// Two nodes, or one and nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// `None` for roots.
    pub(super) parents: Option<[Half; 2]>,
    /// The first palette rows of both, where both have inverse bind matrices.
    pub(super) bound: Option<Bound>,
    /// The same where neither has one.
    pub(super) free: Option<[u32; 2]>,
}

/// Two palette rows, twice the same one for a node alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) rows: [u32; 2],
    /// Rows of both inverse bind matrices, side by side.
    pub(super) inverses: [F8; 3],
}

/// Two palette rows, each a node's matrix times an inverse bind matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundRows {
    pub(super) nodes: [Half; 2],
    pub(super) bound: Bound,
}

impl Bound {
    /// `None` unless both have inverse bind matrices.
    fn new(left: &Row, right: &Row) -> Option<Self> {
        let (a, b) = (left.inverse?, right.inverse?);
        let inverses = [0, 1, 2].map(|i: usize| F8(bytemuck::cast([a[i], b[i]])));
        Some(Self { rows: [left.row, right.row], inverses })
    }
}

/// Eight of the rotations that move, as one instance's local matrices need them.
#[derive(Clone, Debug)]
pub(super) struct TurnedGroup {
    /// Where their matrices lie among those of [`Rig::pairs`], or behind them all, in numbers.
    pub(super) places: Places,
    /// What stays next to the rotation; a scale of one where that moves.
    pub(super) scale: [F8; 3],
    pub(super) translation: [F8; 3],
    pub(super) pivot: [F8; 3],
}

/// A translation that moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifted {
    pub(super) place: u32,
    /// Where the rotation of its node is, if that moves too.
    pub(super) rotation: u32,
    pub(super) half: Half,
    pub(super) pivot: Option<[f32; 3]>,
}

/// A palette row: a node's matrix times an inverse bind matrix, or as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) row: u32,
    pub(super) inverse: Option<Matrix<f32>>,
}

/// The nodes that are needed, parents first.
#[derive(Clone, Debug)]
pub(super) struct Rig {
    pub(super) nodes: Vec<RigNode>,
    pub(super) rows: Vec<Row>,
    /// All nodes for one instance, in an order in which neighbours do not wait for each other.
    pub(super) pairs: Vec<Pair>,
    /// The rows that no pair holds: those that have inverse bind matrices, and the others.
    pub(super) bound_rows: Vec<BoundRows>,
    pub(super) free_rows: Vec<(u32, Half)>,
    pub(super) turned: Vec<TurnedGroup>,
    /// Places in [`nodes`](Self::nodes) of those whose scale moves.
    pub(super) stretched: Vec<u32>,
    pub(super) shifted: Vec<Shifted>,
    /// Whether any of [`turned`](Self::turned) has a pivot.
    pub(super) has_pivots: bool,
    /// What takes translations that move to bind space, eight nodes side by side, a list per row; and whether any is
    /// more than the identity.
    pub(super) placements: [Vec<[F8; 4]>; 3],
    pub(super) has_placements: bool,
    pub(super) moving: Moving,
    /// Whether all of it is in the bind space of [`moving`](Self::moving).
    is_in_bind_space: bool,
    pub(super) rest: LanePose,
    /// How many matrices are kept.
    pub(super) slots: usize,
    /// Rows of one instance.
    pub(super) palette_len: usize,
    /// Whether no palette coefficient can reach its bound, whatever clips are blended at whatever time, nor
    /// rounding add up along chains.
    pub(super) is_tame: bool,
}

impl Rig {
    /// For the palette alone, in bind space, or for all nodes.
    pub(super) fn new(model: &Model, layout: &PaletteLayout, moving: &Moving, all_nodes: bool) -> Self {
        let skeleton = model.skeleton();
        let reach = Reach::new(model);
        let is_tame = reach.is_tame(model, layout) && !is_deep(skeleton);
        let space =
            Some(&moving.space).filter(|space| !all_nodes && reach.keeps_digits(model, layout, space));
        let mut rows_of = vec![Vec::new(); skeleton.len()];
        layout.each_row(model, |row, node, inverse| {
            let inverse = match space {
                Some(space) => space.remainder(node as usize, inverse),
                None => inverse,
            };
            let inverse = inverse.map(matrix_rows);
            rows_of[node as usize].push(Row { row: row as u32, inverse });
        });
        let mut is_needed: Vec<_> = rows_of.iter().map(|rows| all_nodes || !rows.is_empty()).collect();
        for &node in skeleton.order().iter().rev() {
            if let Some(parent) = skeleton.parents()[node as usize].filter(|_| is_needed[node as usize]) {
                is_needed[parent as usize] = true;
            }
        }
        let mut rig = Self {
            nodes: Vec::new(),
            rows: Vec::new(),
            pairs: Vec::new(),
            bound_rows: Vec::new(),
            free_rows: Vec::new(),
            turned: Vec::new(),
            stretched: Vec::new(),
            shifted: Vec::new(),
            has_pivots: false,
            placements: [const { Vec::new() }; 3],
            has_placements: false,
            is_in_bind_space: space.is_some(),
            rest: LanePose::rest(model, moving, space),
            moving: moving.clone(),
            slots: 0,
            palette_len: layout.len(),
            is_tame,
        };
        let order = depth_first(skeleton);
        let mut slots = vec![NONE; skeleton.len()];
        let needed = || order.iter().filter(|&&node| is_needed[node as usize]);
        let mut has_children = vec![false; skeleton.len()];
        for &node in needed() {
            if let Some(parent) = skeleton.parents()[node as usize] {
                has_children[parent as usize] = true;
            }
        }
        // By depth: when a node is reached, whatever was kept there is needed no more.
        let mut depths = vec![0u32; skeleton.len()];
        for (place, &node) in needed().enumerate() {
            let n = node as usize;
            let parent = skeleton.parents()[n];
            depths[n] = parent.map_or(0, |parent| depths[parent as usize] + 1);
            let first_row = rig.rows.len() as u32;
            let mut rows_of = rows_of[n].drain(..);
            let row = rows_of.next();
            rig.rows.extend(rows_of);
            let end_row = rig.rows.len() as u32;
            let kept = |node: usize| if all_nodes { place as u32 } else { depths[node] };
            let slot = if all_nodes || has_children[n] { kept(n) } else { NONE };
            rig.slots = rig.slots.max(if slot == NONE { 0 } else { slot as usize + 1 });
            slots[n] = slot;
            let mut own = RigNode {
                node,
                slot,
                parent: parent.map_or(NONE, |parent| slots[parent as usize]),
                half: Half::of(0, 0),
                rotation: moving.rotations.places[n],
                translation: moving.translations.places[n],
                scale: moving.scales.places[n],
                rest: skeleton.rest()[n],
                is_scaled: false,
                placement: None,
                pivot: None,
                rest_rows: [[0.0; 3]; 3],
                row,
                first_row,
                end_row,
            };
            own.set_rest(n, space);
            rig.nodes.push(own);
        }
        if rig.nodes.iter().any(|node| node.pivot.is_some() || node.placement.is_some()) {
            // One instance has eight nodes side by side: the same operations for all, and no negative zeros, so that a
            // pivot at the origin is the same as none.
            let identity = matrix_rows(Affine3A::IDENTITY);
            for node in &mut rig.nodes {
                node.rest.translation += 0.0;
                node.placement.get_or_insert(identity);
            }
        }
        // The place of those that nobody needs.
        for node in rig.nodes.iter_mut().filter(|node| node.slot == NONE) {
            node.slot = rig.slots as u32;
        }
        rig.slots += 1;
        rig.set_pairs(skeleton);
        rig.set_turned();
        rig
    }

    /// Where poses are in bind space, if they are.
    pub(super) fn space(&self) -> Option<&BindSpace> {
        Some(&self.moving.space).filter(|_| self.is_in_bind_space)
    }

    /// Takes local transforms.
    pub(super) fn sink<'a>(&'a self, pose: &'a mut LanePose) -> LaneSink<'a> {
        LaneSink { pose, moving: &self.moving, space: self.space() }
    }

    fn set_pairs(&mut self, skeleton: &Skeleton) {
        let mut children = vec![Vec::new(); skeleton.len()];
        let mut waiting = VecDeque::new();
        for (place, node) in self.nodes.iter().enumerate() {
            match skeleton.parents()[node.node as usize] {
                Some(parent) => children[parent as usize].push(place),
                None => waiting.push_back(place),
            }
        }
        let mut halves = vec![None; skeleton.len()];
        // Whose parent is done stands in line; so a pair's parents lie before it.
        while let Some(first) = waiting.pop_front() {
            let parent = |place: usize| {
                let parent = skeleton.parents()[self.nodes[place].node as usize];
                parent.and_then(|parent| halves[parent as usize])
            };
            let own = parent(first);
            let second = waiting.front().copied().filter(|next| parent(*next).is_some() == own.is_some());
            let parents = own.zip(second.map_or(own, parent)).map(<[Half; 2]>::from);
            waiting.drain(..usize::from(second.is_some()));
            for (side, place) in [Some(first), second].into_iter().flatten().enumerate() {
                let node = &mut self.nodes[place];
                node.half = Half::of(self.pairs.len(), side);
                halves[node.node as usize] = Some(node.half);
                waiting.extend(&children[node.node as usize]);
            }
            let (first, second) = (&self.nodes[first], &self.nodes[second.unwrap_or(first)]);
            let both = first.row.zip(second.row);
            let bound = both.and_then(|(a, b)| Bound::new(&a, &b));
            let free = both.filter(|(a, b)| a.inverse.is_none() && b.inverse.is_none());
            self.pairs.push(Pair { parents, bound, free: free.map(|(a, b)| [a.row, b.row]) });
        }
        let mut bound = Vec::new();
        for node in &self.nodes {
            let pair = &self.pairs[node.half.pair()];
            let first = node.row.iter().filter(|_| pair.bound.is_none() && pair.free.is_none());
            for row in first.chain(&self.rows[node.first_row as usize..node.end_row as usize]) {
                match row.inverse {
                    Some(_) => bound.push((node.half, *row)),
                    None => self.free_rows.push((row.row, node.half)),
                }
            }
        }
        let two = bound.chunks(2).filter_map(|two| {
            let ((node, row), (node_2, row_2)) = (two[0], two[two.len() - 1]);
            Some(BoundRows { nodes: [node, node_2], bound: Bound::new(&row, &row_2)? })
        });
        self.bound_rows = two.collect();
    }

    fn set_turned(&mut self) {
        let count = self.moving.rotations.nodes.len().div_ceil(8);
        let behind = self.pairs.len() * 24;
        let mut places = vec![[behind; 8]; count];
        let mut placements = [0, 1, 2].map(|row: usize| {
            let identity = std::array::from_fn(|c| F8([if c == row { 1.0 } else { 0.0 }; 8]));
            vec![identity; self.moving.translations.nodes.len().div_ceil(8)]
        });
        let mut scales = vec![[F8([1.0; 8]); 3]; count];
        let (mut translations, mut pivots) =
            (vec![[F8::default(); 3]; count], vec![[F8::default(); 3]; count]);
        for (at, node) in self.nodes.iter().enumerate() {
            if node.scale != NONE {
                self.stretched.push(at as u32);
            }
            if node.translation != NONE {
                let RigNode { translation: place, rotation, half, pivot, .. } = *node;
                self.shifted.push(Shifted { place, rotation, half, pivot });
                if let Some(placement) = &node.placement {
                    self.has_placements = true;
                    for (rows, row) in placements.iter_mut().zip(placement) {
                        write(rows, place as usize, *row);
                    }
                }
            }
            if node.rotation != NONE {
                let place = node.rotation as usize;
                places[place / 8][place % 8] = node.half.start();
                write(&mut translations, place, node.rest.translation.to_array());
                write(&mut pivots, place, node.pivot.unwrap_or_default());
                self.has_pivots |= node.pivot.is_some();
                if node.scale == NONE {
                    write(&mut scales, place, node.rest.scale.to_array());
                }
            }
        }
        let groups = places.into_iter().zip(scales).zip(translations.into_iter().zip(pivots));
        let groups = groups.map(|((places, scale), (translation, pivot))| TurnedGroup {
            places: Places::new(places),
            scale,
            translation,
            pivot,
        });
        self.turned = groups.collect();
        self.placements = placements;
    }
}

/// Rows of a rotation matrix, in the order of operations of [`set_world`](super::set_world).
fn rotation_rows(q: Quat) -> [[f32; 3]; 3] {
    let m = glam::Mat3::from_quat(q);
    [0, 1, 2].map(|i| m.row(i).to_array())
}
