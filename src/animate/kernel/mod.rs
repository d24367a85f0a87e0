//! From local transforms of what moves to palettes: for eight instances at once, one in each lane, and for one
//! alone. Both give the same bytes: where poses are kept those of [`set_world`](super::set_world) and
//! [`set_palette`](super::set_palette), whose operations they do one by one; otherwise those of bind space.

#![allow(
    clippy::needless_range_loop,
    reason = "closures and iterators of lanes are not inlined into kernels"
)]

mod one;

use std::hint::black_box;

use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

pub(super) use one::{One, one_worlds};

use super::{
    lanes::{F8, Lanes, Parts, Task, load, splat, store},
    math::normalize as normalize_one,
    moving::{Component, LanePose, NONE},
    rig::{Matrix, Rig, Row},
    sampling::{dot, normalize},
};

/// Numbers on the way, kept so that no frame allocates.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// Of eight instances: rows of three coefficients and a translation, per slot of the rig.
    world: Vec<Matrix<F8>>,
    /// Of eight instances: components that move, per group of nodes and node.
    rotations: Vec<[[F8; 4]; 8]>,
    translations: Vec<[[F8; 3]; 8]>,
    scales: Vec<[[F8; 3]; 8]>,
    /// Of one instance: translations that move as the rig has them, and those next to rotations that move.
    placed: Vec<[F8; 3]>,
    beside: Vec<[F8; 3]>,
    /// Of one instance, per pair of the rig.
    one: Vec<[F8; 3]>,
    /// Local matrices of one instance, per pair of the rig, and one that takes what is of no use. Those that do
    /// not move are as in the rest pose.
    local: Vec<[F8; 3]>,
}

impl Scratch {
    pub(super) fn new(rig: &Rig) -> Self {
        let groups = |component: &Component| component.nodes.len().div_ceil(8);
        let mut local = vec![[F8::default(); 3]; rig.pairs.len() + 1];
        for node in &rig.nodes {
            let scale = if node.scale == NONE { node.rest.scale } else { Vec3::ONE };
            let own = node.half.rows_mut(bytemuck::cast_slice_mut(&mut local));
            for (i, own) in own.into_iter().enumerate() {
                *own = (Vec3::from(node.rest_rows[i]) * scale).extend(node.rest.translation[i]).to_array();
            }
        }
        Self {
            world: vec![[[F8::default(); 4]; 3]; rig.slots],
            rotations: vec![[[F8::default(); 4]; 8]; groups(&rig.moving.rotations)],
            translations: vec![[[F8::default(); 3]; 8]; groups(&rig.moving.translations)],
            scales: vec![[[F8::default(); 3]; 8]; groups(&rig.moving.scales)],
            placed: vec![[F8::default(); 3]; groups(&rig.moving.translations)],
            beside: rig.turned.iter().map(|turned| turned.translation).collect(),
            one: vec![[F8::default(); 3]; rig.pairs.len()],
            local,
        }
    }
}

/// Components that move, from eight nodes side by side to eight instances side by side.
#[inline(always)]
fn turn<L: Lanes, const C: usize>(poses: [&[[F8; C]]; 8], nodes: &mut [[[F8; C]; 8]]) {
    for (group, nodes) in nodes.iter_mut().enumerate() {
        for c in 0..C {
            let mut rows = [L::splat(0.0); 8];
            for pose in 0..8 {
                rows[pose] = L::load(&poses[pose][group][c]);
            }
            let rows = L::transpose(rows);
            for node in 0..8 {
                rows[node].store(&mut nodes[node][c]);
            }
        }
    }
}

/// Finished palettes to memory that may not be cached, where pieces of lines take as long as whole ones.
#[derive(Debug)]
pub(super) struct Drain<'a> {
    pub(super) from: &'a [f32],
    pub(super) to: &'a mut [f32],
    /// Where each palette goes.
    pub(super) places: &'a [usize],
    /// Numbers of one palette.
    pub(super) width: usize,
}

impl Task for Drain<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for i in 0..self.places.len() {
            let (from, to) = (i * self.width, self.places[i]);
            L::stream(&self.from[from..from + self.width], &mut self.to[to..to + self.width]);
        }
        L::streamed();
    }
}

/// Palettes of eight instances, one behind the other.
pub(super) struct Eight<'a> {
    pub(super) rig: &'a Rig,
    pub(super) poses: &'a [LanePose; 8],
    pub(super) scratch: &'a mut Scratch,
    pub(super) palettes: &'a mut [f32],
    /// What is written next, to be fetched meanwhile.
    pub(super) next: &'a [f32],
}

impl Task for Eight<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { rig, poses, scratch, palettes, next } = self;
        let mut next = next.chunks(next.len().div_ceil(rig.nodes.len().max(1)).max(16));
        let mut palettes = Parts::new(palettes);
        let (mut rotations, mut translations, mut scales) = ([&[][..]; 8], [&[][..]; 8], [&[][..]; 8]);
        for pose in 0..8 {
            rotations[pose] = &poses[pose].rotations[..];
            translations[pose] = &poses[pose].translations[..];
            scales[pose] = &poses[pose].scales[..];
        }
        turn::<L, 4>(rotations, &mut scratch.rotations);
        turn::<L, 3>(translations, &mut scratch.translations);
        turn::<L, 3>(scales, &mut scratch.scales);
        let rotations: &[[F8; 4]] = scratch.rotations.as_flattened();
        let translations: &[[F8; 3]] = scratch.translations.as_flattened();
        let scales: &[[F8; 3]] = scratch.scales.as_flattened();
        let world = &mut scratch.world[..rig.slots];
        for node in &rig.nodes {
            if let Some(next) = next.next() {
                L::prefetch(next);
            }
            let linear: [[L; 3]; 3] = if node.rotation == NONE {
                [splat(node.rest_rows[0]), splat(node.rest_rows[1]), splat(node.rest_rows[2])]
            } else {
                rotation_rows(load(&rotations[node.rotation as usize]))
            };
            let linear = if node.scale != NONE {
                scaled(linear, load(&scales[node.scale as usize]))
            } else if node.is_scaled {
                scaled(linear, splat(node.rest.scale.to_array()))
            } else {
                linear
            };
            let mut place: [L; 3] = if node.translation == NONE {
                splat(node.rest.translation.to_array())
            } else {
                load(&translations[node.translation as usize])
            };
            if let Some(placement) = node.placement.filter(|_| node.translation != NONE) {
                place = placed(&placement, place);
            }
            if let Some(pivot) = node.pivot {
                place = pivoted(linear, splat(pivot), place);
            }
            let (slot, parent) = (node.slot as usize, node.parent as usize);
            assert!(slot < world.len(), "slots are within the rig's");
            // Column by column, each kept before the next: what is on the way stays in registers, and what is above
            // is read where it is used.
            for k in 0..4 {
                let own = if k < 3 { [linear[0][k], linear[1][k], linear[2][k]] } else { place };
                if node.parent == NONE {
                    store_column(own, k, &mut world[slot]);
                } else {
                    assert!(parent < world.len(), "slots are within the rig's");
                    let mut column = own;
                    for i in 0..3 {
                        column[i] = component(&world[parent][i], own, k);
                    }
                    store_column(column, k, &mut world[slot]);
                }
            }
            if let Some(row) = &node.row {
                // From where it is kept: in registers it would push out what follows.
                let [x, y, z] = black_box(&world[slot]);
                set_palette_row::<L>([load(x), load(y), load(z)], row, &mut palettes);
            }
            if node.first_row < node.end_row {
                for row in &rig.rows[node.first_row as usize..node.end_row as usize] {
                    let [x, y, z] = &world[slot];
                    set_palette_row::<L>([load(x), load(y), load(z)], row, &mut palettes);
                }
            }
        }
    }
}

#[inline(always)]
fn store_column<L: Lanes>(column: [L; 3], k: usize, to: &mut Matrix<F8>) {
    for i in 0..3 {
        column[i].store(&mut to[i][k]);
    }
}

/// A node's matrix to the palette.
#[inline(always)]
fn set_palette_row<L: Lanes>([x, y, z]: Matrix<L>, row: &Row, palettes: &mut Parts<'_>) {
    let at = row.row as usize * 12;
    match &row.inverse {
        Some(inverse) => {
            L::store_two_parts(row_product_splat(x, inverse), row_product_splat(y, inverse), palettes, at);
            L::store_parts(row_product_splat(z, inverse), palettes, at + 8);
        }
        None => {
            L::store_two_parts(x, y, palettes, at);
            L::store_parts(z, palettes, at + 8);
        }
    }
}

/// What a matrix that all lanes share makes of a place.
#[inline(always)]
fn placed<L: Lanes>(m: &Matrix<f32>, place: [L; 3]) -> [L; 3] {
    let mut out = place;
    for i in 0..3 {
        out[i] = affine(splat([m[i][0], m[i][1], m[i][2]]), place, L::splat(m[i][3]));
    }
    out
}

/// What a linear part makes of a pivot, and a translation.
#[inline(always)]
fn pivoted<L: Lanes>(rows: [[L; 3]; 3], pivot: [L; 3], translation: [L; 3]) -> [L; 3] {
    let mut out = translation;
    for i in 0..3 {
        out[i] = affine(rows[i], pivot, translation[i]);
    }
    out
}

#[inline(always)]
fn affine<L: Lanes>([x, y, z]: [L; 3], place: [L; 3], translation: L) -> L {
    x.mul(place[0]).add(y.mul(place[1])).add(z.mul(place[2])).add(translation)
}

#[inline(always)]
fn scaled<L: Lanes>(rows: [[L; 3]; 3], scale: [L; 3]) -> [[L; 3]; 3] {
    let mut out = rows;
    for i in 0..3 {
        for k in 0..3 {
            out[i][k] = rows[i][k].mul(scale[k]);
        }
    }
    out
}

/// Model-space matrices of all eight, after [`Eight`]; `take` gets the lane, the node and its matrix.
pub(super) struct EightWorlds<'a, T> {
    pub(super) rig: &'a Rig,
    pub(super) scratch: &'a Scratch,
    pub(super) take: T,
}

impl<T: FnMut(usize, u32, Affine3A)> Task for EightWorlds<'_, T> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { rig, scratch, mut take } = self;
        for (node, [x, y, z]) in rig.nodes.iter().map(|node| (node, &scratch.world[node.slot as usize])) {
            let mut columns = [[[0.0; 4]; 8]; 4];
            for k in 0..4 {
                columns[k] = L::rows([L::load(&x[k]), L::load(&y[k]), L::load(&z[k]), L::splat(0.0)]);
            }
            for lane in 0..8 {
                let [x, y, z, t] = [0, 1, 2, 3].map(|k: usize| Vec3A::from_vec4(columns[k][lane].into()));
                take(lane, node.node, Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: t });
            }
        }
    }
}

/// Rows of the matrices of eight rotations.
#[inline(always)]
fn rotation_rows<L: Lanes>([x, y, z, w]: [L; 4]) -> [[L; 3]; 3] {
    let (x2, y2, z2) = (x.add(x), y.add(y), z.add(z));
    let (xx, xy, xz) = (x.mul(x2), x.mul(y2), x.mul(z2));
    let (yy, yz, zz) = (y.mul(y2), y.mul(z2), z.mul(z2));
    let (wx, wy, wz) = (w.mul(x2), w.mul(y2), w.mul(z2));
    let one = L::splat(1.0);
    [
        [one.sub(yy.add(zz)), xy.sub(wz), xz.add(wy)],
        [xy.add(wz), one.sub(xx.add(zz)), yz.sub(wx)],
        [xz.sub(wy), yz.add(wx), one.sub(xx.add(yy))],
    ]
}

/// A row of an affine matrix times a column of another, the last one a place.
#[inline(always)]
fn component<L: Lanes>(row: &[F8; 4], [a, b, c]: [L; 3], column: usize) -> L {
    let sum = L::load(&row[0]).mul(a).add(L::load(&row[1]).mul(b)).add(L::load(&row[2]).mul(c));
    if column == 3 { sum.add(L::load(&row[3])) } else { sum }
}

/// A row of an affine matrix times another matrix, which all lanes share.
#[inline(always)]
fn row_product_splat<L: Lanes>(row: [L; 4], b: &Matrix<f32>) -> [L; 4] {
    let mut out = row;
    for k in 0..4 {
        let (x, y, z) = (L::splat(b[0][k]), L::splat(b[1][k]), L::splat(b[2][k]));
        out[k] = row[0].mul(x).add(row[1].mul(y)).add(row[2].mul(z));
    }
    out[3] = out[3].add(row[3]);
    out
}

/// Layers weighed against each other; `weights` sum up to 1 and all layers drive the same components.
pub(super) struct Blend<'a> {
    pub(super) layers: &'a [LanePose],
    pub(super) weights: &'a [f32],
    pub(super) rest: &'a LanePose,
    pub(super) out: &'a mut LanePose,
}

impl Task for Blend<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { layers, weights, rest, out } = self;
        if layers.is_empty() {
            return;
        }
        // The last group of each takes what is of no use.
        for group in 0..out.rotations.len() - 1 {
            let mut sum: [L; 4] = scaled_by(load(&layers[0].rotations[group]), L::splat(weights[0]));
            for layer in 1..layers.len() {
                let q: [L; 4] = load(&layers[layer].rotations[group]);
                let weight = L::splat(weights[layer]).flip(dot(sum, q));
                add_scaled(&mut sum, q, weight);
            }
            if dot(sum, sum).any_not_above(1e-12) {
                keep_where_nothing_is_said(&mut sum, &rest.rotations[group]);
            }
            store(normalize(sum), &mut out.rotations[group]);
        }
        for group in 0..out.translations.len() - 1 {
            let mut sum: [L; 3] = scaled_by(load(&layers[0].translations[group]), L::splat(weights[0]));
            for layer in 1..layers.len() {
                add_scaled(&mut sum, load(&layers[layer].translations[group]), L::splat(weights[layer]));
            }
            store(sum, &mut out.translations[group]);
        }
        for group in 0..out.scales.len() - 1 {
            let mut sum: [L; 3] = scaled_by(load(&layers[0].scales[group]), L::splat(weights[0]));
            for layer in 1..layers.len() {
                add_scaled(&mut sum, load(&layers[layer].scales[group]), L::splat(weights[layer]));
            }
            store(sum, &mut out.scales[group]);
        }
    }
}

#[inline(always)]
fn scaled_by<L: Lanes, const C: usize>(value: [L; C], weight: L) -> [L; C] {
    let mut out = value;
    for c in 0..C {
        out[c] = value[c].mul(weight);
    }
    out
}

#[inline(always)]
fn add_scaled<L: Lanes, const C: usize>(sum: &mut [L; C], value: [L; C], weight: L) {
    for c in 0..C {
        sum[c] = sum[c].add(value[c].mul(weight));
    }
}

/// Opposite rotations cancel each other out: the rest pose stays.
#[cold]
#[inline(never)]
fn keep_where_nothing_is_said<L: Lanes>(sum: &mut [L; 4], rest: &[F8; 4]) {
    let mut lanes = [F8::default(); 4];
    store(*sum, &mut lanes);
    for lane in 0..8 {
        let square = lanes.iter().fold(0.0, |sum, component| sum + component.0[lane] * component.0[lane]);
        if !(square > 1e-12) {
            // The identity where the rest pose has no rotation either.
            let q = normalize_one(Quat::from_array([0, 1, 2, 3].map(|c: usize| rest[c].0[lane])));
            (0..4).for_each(|c| lanes[c].0[lane] = q.to_array()[c]);
        }
    }
    *sum = load(&lanes);
}
