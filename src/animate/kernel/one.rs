use glam::{Affine3A, Mat3A, Vec3A};

use super::{
    super::{
        JointMatrix,
        lanes::{F8, Lanes, Task, load, store},
        moving::{LanePose, NONE, read, write},
        rig::{self, Half, Rig, RigNode},
    },
    Scratch, affine, pivoted, rotation_rows, scaled,
};

/// The palette of one instance.
pub(in super::super) struct One<'a> {
    pub(in super::super) rig: &'a Rig,
    pub(in super::super) pose: &'a LanePose,
    pub(in super::super) scratch: &'a mut Scratch,
    pub(in super::super) palette: &'a mut [JointMatrix],
}

impl Task for One<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { rig, pose, scratch, palette } = self;
        let count = rig.pairs.len();
        let (local, world) = (&mut scratch.local[..count + 1], &mut scratch.one[..count]);
        let mut translations = &pose.translations[..];
        if rig.has_placements {
            for (group, placed) in scratch.placed.iter_mut().enumerate() {
                let place: [L; 3] = load(&pose.translations[group]);
                let mut out = place;
                for i in 0..3 {
                    let [x, y, z, w] = load(&rig.placements[i][group]);
                    out[i] = affine([x, y, z], place, w);
                }
                store(out, placed);
            }
            translations = &scratch.placed;
        }
        for shifted in rig.shifted.iter().filter(|shifted| shifted.rotation != NONE) {
            let place: [f32; 3] = read(translations, shifted.place as usize);
            write(&mut scratch.beside, shifted.rotation as usize, place);
        }
        for (group, turned) in rig.turned.iter().enumerate() {
            let rows: [[L; 3]; 3] = rotation_rows(load(&pose.rotations[group]));
            let [x, y, z] = scaled(rows, load(&turned.scale));
            let mut translation: [L; 3] = load(&scratch.beside[group]);
            if rig.has_pivots {
                translation = pivoted([x, y, z], load(&turned.pivot), translation);
            }
            let to = bytemuck::cast_slice_mut(local);
            L::store_rows([x[0], x[1], x[2], translation[0]], to, &turned.places, 0);
            L::store_rows([y[0], y[1], y[2], translation[1]], to, &turned.places, 8);
            L::store_rows([z[0], z[1], z[2], translation[2]], to, &turned.places, 16);
        }
        let rows: &mut [[f32; 4]] = bytemuck::cast_slice_mut(local);
        for &place in &rig.stretched {
            stretch(&rig.nodes[place as usize], pose, rows);
        }
        for shifted in rig.shifted.iter().filter(|shifted| shifted.rotation == NONE) {
            let place: [f32; 3] = read(translations, shifted.place as usize);
            for (row, value) in shifted.half.rows_mut(rows).into_iter().zip(place) {
                let [x, y, z, _] = *row;
                row[3] = shifted.pivot.map_or(value, |pivot| rig::affine([x, y, z], pivot, value));
            }
        }
        for (place, (pair, local)) in rig.pairs.iter().zip(&*local).enumerate() {
            let own: [L; 3] = match pair.parents {
                Some(parents) => product(rows_of_two(world, parents), local),
                None => load(local),
            };
            store(own, &mut world[place]);
            if let Some(bound) = &pair.bound {
                set_two(product(own, &bound.inverses), bound.rows, palette);
            }
            if let Some(rows) = pair.free {
                set_two(own, rows, palette);
            }
        }
        for two in &rig.bound_rows {
            let own: [L; 3] = rows_of_two(world, two.nodes);
            set_two(product(own, &two.bound.inverses), two.bound.rows, palette);
        }
        for &(row, half) in &rig.free_rows {
            let [x, y, z] = half.rows(bytemuck::cast_slice(world));
            palette[row as usize] = JointMatrix { x: *x, y: *y, z: *z };
        }
    }
}

/// Two matrices, side by side.
#[inline(always)]
fn rows_of_two<L: Lanes>(world: &[[F8; 3]], [left, right]: [Half; 2]) -> [L; 3] {
    let rows = bytemuck::cast_slice(world);
    let (left, right) = (left.rows(rows), right.rows(rows));
    [L::halves(left[0], right[0]), L::halves(left[1], right[1]), L::halves(left[2], right[2])]
}

/// Two matrices, side by side, times two others.
#[inline(always)]
fn product<L: Lanes>(a: [L; 3], b: &[F8; 3]) -> [L; 3] {
    let [x, y, z]: [L; 3] = load(b);
    let mut out = a;
    for i in 0..3 {
        let row = a[i];
        let sum = row.spread::<0x00>().mul(x).add(row.spread::<0x55>().mul(y));
        // Adding a negative zero changes nothing, not even a zero's sign.
        out[i] = sum.add(row.spread::<0xaa>().mul(z)).add(row.lasts());
    }
    out
}

/// Two matrices to their rows of the palette. Both may go to one: then the left one stays.
#[inline(always)]
fn set_two<L: Lanes>([x, y, z]: [L; 3], rows: [u32; 2], palette: &mut [JointMatrix]) {
    let ([x, x2], [y, y2], [z, z2]) = (x.into_halves(), y.into_halves(), z.into_halves());
    palette[rows[1] as usize] = JointMatrix { x: x2, y: y2, z: z2 };
    palette[rows[0] as usize] = JointMatrix { x, y, z };
}

/// A scale that moves, into a local matrix that holds the rotation.
#[inline(always)]
fn stretch(node: &RigNode, pose: &LanePose, local: &mut [[f32; 4]]) {
    let scale: [f32; 3] = read(&pose.scales, node.scale as usize);
    for (i, own) in node.half.rows_mut(local).into_iter().enumerate() {
        for k in 0..3 {
            let turned = if node.rotation == NONE { node.rest_rows[i][k] } else { own[k] };
            own[k] = turned * scale[k];
        }
    }
}

/// Model-space matrices after [`One`].
pub(in super::super) fn one_worlds(rig: &Rig, scratch: &Scratch, mut take: impl FnMut(u32, Affine3A)) {
    for node in &rig.nodes {
        let [x, y, z] = node.half.rows(bytemuck::cast_slice(&scratch.one));
        let matrix3 = Mat3A::from_cols(
            Vec3A::new(x[0], y[0], z[0]),
            Vec3A::new(x[1], y[1], z[1]),
            Vec3A::new(x[2], y[2], z[2]),
        );
        take(node.node, Affine3A { matrix3, translation: Vec3A::new(x[3], y[3], z[3]) });
    }
}
