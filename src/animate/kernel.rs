//! From local transforms of what moves to palettes: for eight instances at once, one in each lane, and for one
//! alone. Both do what [`set_world`](super::set_world) and [`set_palette`](super::set_palette) do, operation by
//! operation, and give the same bytes.

use glam::{Affine3A, Mat3A, Vec3, Vec3A, Vec4, Vec4Swizzles};

use super::{
    JointMatrix,
    lanes::{F8, Lanes, Places},
    rig::{LanePose, NONE, Rig, RigNode, read},
    sampling::{dot, normalize},
};

/// Numbers on the way, kept so that no frame allocates.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// Of eight instances: rows of three coefficients and a translation, per node of the rig.
    world: Vec<[F8; 12]>,
    /// Of one instance.
    one: Vec<[Vec4; 3]>,
    /// Rotation matrices of one instance, twelve numbers for each that moves.
    rotations: Vec<f32>,
}

impl Scratch {
    pub(super) fn new(rig: &Rig) -> Self {
        Self {
            world: vec![[F8::default(); 12]; rig.nodes.len()],
            one: vec![[Vec4::ZERO; 3]; rig.nodes.len()],
            rotations: vec![0.0; rig.moving.rotations.groups() * 8 * 12],
        }
    }
}

/// The same components of the group of eight nodes that is being worked on, an instance in each lane.
struct Turned<const C: usize> {
    group: u32,
    nodes: [[F8; C]; 8],
}

impl<const C: usize> Turned<C> {
    #[inline(always)]
    fn new() -> Self {
        Self { group: NONE, nodes: [[F8::default(); C]; 8] }
    }

    /// The components of one node.
    #[inline(always)]
    fn get<L: Lanes>(&mut self, place: u32, poses: &[&[[F8; C]]; 8]) -> [L; C] {
        if self.group != place / 8 {
            self.group = place / 8;
            let own = [0, 1, 2, 3, 4, 5, 6, 7].map(|pose: usize| &poses[pose][place as usize / 8]);
            for c in 0..C {
                let nodes = L::transpose(own.map(|pose| L::load(&pose[c])));
                for (node, turned) in nodes.into_iter().zip(&mut self.nodes) {
                    node.store(&mut turned[c]);
                }
            }
        }
        let node = &self.nodes[place as usize % 8];
        std::array::from_fn(|c| L::load(&node[c]))
    }
}

/// Rows of three coefficients and a translation.
type Rows<T> = [[T; 4]; 3];

/// Palettes of eight instances. Number `i`'s starts at number `places[i]` of `palettes`.
#[inline(always)]
pub(super) fn eight<L: Lanes>(
    rig: &Rig,
    poses: &[LanePose; 8],
    scratch: &mut Scratch,
    palettes: &mut [f32],
    places: &Places,
) {
    let lanes = [0, 1, 2, 3, 4, 5, 6, 7];
    let rotations: [&[[F8; 4]]; 8] = lanes.map(|pose: usize| &poses[pose].rotations[..]);
    let translations: [&[[F8; 3]]; 8] = lanes.map(|pose: usize| &poses[pose].translations[..]);
    let scales: [&[[F8; 3]]; 8] = lanes.map(|pose: usize| &poses[pose].scales[..]);
    let (mut turned_rotations, mut turned_translations, mut turned_scales) =
        (Turned::new(), Turned::new(), Turned::new());
    let world = &mut scratch.world[..rig.nodes.len()];
    for (place, node) in rig.nodes.iter().enumerate() {
        let linear = if node.rotation == NONE {
            node.rest_rows.map(|row| row.map(L::splat))
        } else {
            rotation_rows(turned_rotations.get(node.rotation, &rotations))
        };
        let linear = if node.scale != NONE {
            let scale: [L; 3] = turned_scales.get(node.scale, &scales);
            linear.map(|row| [row[0].mul(scale[0]), row[1].mul(scale[1]), row[2].mul(scale[2])])
        } else if node.rest.scale == Vec3::ONE {
            linear
        } else {
            let scale = node.rest.scale.to_array().map(L::splat);
            linear.map(|row| [row[0].mul(scale[0]), row[1].mul(scale[1]), row[2].mul(scale[2])])
        };
        let translation: [L; 3] = if node.translation == NONE {
            node.rest.translation.to_array().map(L::splat)
        } else {
            turned_translations.get(node.translation, &translations)
        };
        let local = [0, 1, 2].map(|i: usize| [linear[i][0], linear[i][1], linear[i][2], translation[i]]);
        let own = if node.parent == NONE {
            local
        } else {
            let parent = &world[node.parent as usize];
            let parent = [0, 1, 2].map(|i: usize| [0, 1, 2, 3].map(|k: usize| L::load(&parent[i * 4 + k])));
            product(&parent, &local)
        };
        let stored = &mut world[place];
        for (i, row) in own.iter().enumerate() {
            row.iter().zip(&mut stored[i * 4..]).for_each(|(lanes, to)| lanes.store(to));
        }
        for row in &rig.rows[node.first_row as usize..node.end_row as usize] {
            let to = row.row as usize * 12;
            match &row.inverse {
                Some(inverse) => {
                    let inverse = inverse.map(|row| row.map(L::splat));
                    for (i, own) in own.iter().enumerate() {
                        L::store_rows(row_product(own, &inverse), palettes, places, to + i * 4);
                    }
                }
                None => {
                    for (i, own) in own.iter().enumerate() {
                        L::store_rows(*own, palettes, places, to + i * 4);
                    }
                }
            }
        }
    }
}

/// Model-space matrices of all eight, after [`eight`]; `take` gets the lane, the node and its matrix.
#[inline(always)]
pub(super) fn eight_worlds<L: Lanes>(
    rig: &Rig,
    scratch: &Scratch,
    mut take: impl FnMut(usize, u32, Affine3A),
) {
    for (node, world) in rig.nodes.iter().zip(&scratch.world) {
        let column = |k: usize| {
            let at = |i: usize| L::load(&world[i * 4 + k]);
            L::rows([at(0), at(1), at(2), L::splat(0.0)])
        };
        let columns = [column(0), column(1), column(2), column(3)];
        for lane in 0..8 {
            let [x, y, z, t] = [0, 1, 2, 3].map(|k: usize| Vec3A::from_vec4(columns[k][lane].into()));
            take(lane, node.node, Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: t });
        }
    }
}

/// The palette of one instance.
#[inline(always)]
pub(super) fn one<L: Lanes>(rig: &Rig, pose: &LanePose, scratch: &mut Scratch, palette: &mut [JointMatrix]) {
    let every_12 = Places::new([0, 12, 24, 36, 48, 60, 72, 84]);
    let groups = rig.moving.rotations.nodes.len().div_ceil(8);
    for (group, q) in pose.rotations[..groups].iter().enumerate() {
        let rows = rotation_rows([L::load(&q[0]), L::load(&q[1]), L::load(&q[2]), L::load(&q[3])]);
        for (i, [x, y, z]) in rows.into_iter().enumerate() {
            let to = group * 96 + i * 4;
            L::store_rows([x, y, z, L::splat(0.0)], &mut scratch.rotations, &every_12, to);
        }
    }
    let world = &mut scratch.one[..rig.nodes.len()];
    for (place, node) in rig.nodes.iter().enumerate() {
        let local = local_rows(node, pose, &scratch.rotations);
        let own = if node.parent == NONE { local } else { product_of_one(&world[node.parent as usize], &local) };
        world[place] = own;
        for row in &rig.rows[node.first_row as usize..node.end_row as usize] {
            let rows = match &row.inverse {
                Some(inverse) => product_of_one(&own, &inverse.map(Vec4::from)),
                None => own,
            };
            let [x, y, z] = rows.map(|row| row.to_array());
            palette[row.row as usize] = JointMatrix { x, y, z };
        }
    }
}

/// Model-space matrices after [`one`].
pub(super) fn one_worlds(rig: &Rig, scratch: &Scratch, mut take: impl FnMut(u32, Affine3A)) {
    for (node, [x, y, z]) in rig.nodes.iter().zip(&scratch.one) {
        let matrix3 = Mat3A::from_cols(
            Vec3A::new(x.x, y.x, z.x),
            Vec3A::new(x.y, y.y, z.y),
            Vec3A::new(x.z, y.z, z.z),
        );
        take(node.node, Affine3A { matrix3, translation: Vec3A::new(x.w, y.w, z.w) });
    }
}

/// Local rows of one node of one instance.
#[inline(always)]
fn local_rows(node: &RigNode, pose: &LanePose, rotations: &[f32]) -> [Vec4; 3] {
    let mut rows = if node.rotation == NONE {
        node.rest_rows.map(|[x, y, z]| Vec4::new(x, y, z, 0.0))
    } else {
        let at = node.rotation as usize * 12;
        let rows = &rotations[at..at + 12];
        [Vec4::from_slice(&rows[..4]), Vec4::from_slice(&rows[4..8]), Vec4::from_slice(&rows[8..])]
    };
    let scale = match node.scale {
        NONE => node.rest.scale,
        place => read(&pose.scales, place as usize).into(),
    };
    if scale != Vec3::ONE {
        rows = rows.map(|row| row * scale.extend(1.0));
    }
    let translation = match node.translation {
        NONE => node.rest.translation.to_array(),
        place => read(&pose.translations, place as usize),
    };
    for (row, value) in rows.iter_mut().zip(translation) {
        row.w = value;
    }
    rows
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

/// Affine matrices times each other.
#[inline(always)]
fn product<L: Lanes>(a: &Rows<L>, b: &Rows<L>) -> Rows<L> {
    [row_product(&a[0], b), row_product(&a[1], b), row_product(&a[2], b)]
}

#[inline(always)]
fn row_product<L: Lanes>(row: &[L; 4], b: &Rows<L>) -> [L; 4] {
    let sum = |k: usize| row[0].mul(b[0][k]).add(row[1].mul(b[1][k])).add(row[2].mul(b[2][k]));
    [sum(0), sum(1), sum(2), sum(3).add(row[3])]
}

#[inline(always)]
fn product_of_one(a: &[Vec4; 3], b: &[Vec4; 3]) -> [Vec4; 3] {
    a.map(|row| {
        // Adding a negative zero changes nothing, not even a zero's sign.
        row.xxxx() * b[0] + row.yyyy() * b[1] + row.zzzz() * b[2] + Vec4::new(-0.0, -0.0, -0.0, row.w)
    })
}

/// Layers weighed against each other; `weights` sum up to 1 and all layers drive the same components.
#[inline(always)]
pub(super) fn blend<L: Lanes>(layers: &[LanePose], weights: &[f32], rest: &LanePose, out: &mut LanePose) {
    let Some((first, others)) = layers.split_first() else { return };
    let first_weight = L::splat(weights[0]);
    for (group, to) in out.rotations.iter_mut().enumerate() {
        let mut sum = load(&first.rotations[group]).map(|component: L| component.mul(first_weight));
        for (other, weight) in others.iter().zip(&weights[1..]) {
            let q: [L; 4] = load(&other.rotations[group]);
            let weight = L::splat(*weight).flip(dot(sum, q));
            for (sum, component) in sum.iter_mut().zip(q) {
                *sum = sum.add(component.mul(weight));
            }
        }
        if dot(sum, sum).any_not_above(1e-12) {
            keep_where_nothing_is_said(&mut sum, &rest.rotations[group]);
        }
        store(normalize(sum), to);
    }
    weigh::<L>(layers, weights, |pose| &pose.translations, &mut out.translations);
    weigh::<L>(layers, weights, |pose| &pose.scales, &mut out.scales);
}

#[inline(always)]
fn weigh<L: Lanes>(
    layers: &[LanePose],
    weights: &[f32],
    list: impl Fn(&LanePose) -> &Vec<[F8; 3]>,
    out: &mut [[F8; 3]],
) {
    for (group, to) in out.iter_mut().enumerate() {
        let mut sum = load(&list(&layers[0])[group]).map(|component: L| component.mul(L::splat(weights[0])));
        for (other, weight) in layers[1..].iter().zip(&weights[1..]) {
            let weight = L::splat(*weight);
            for (sum, component) in sum.iter_mut().zip(load::<L, 3>(&list(other)[group])) {
                *sum = sum.add(component.mul(weight));
            }
        }
        store(sum, to);
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
            (0..4).for_each(|c| lanes[c].0[lane] = rest[c].0[lane]);
        }
    }
    *sum = load(&lanes);
}

#[inline(always)]
fn load<L: Lanes, const C: usize>(from: &[F8; C]) -> [L; C] {
    std::array::from_fn(|c| L::load(&from[c]))
}

#[inline(always)]
fn store<L: Lanes, const C: usize>(values: [L; C], to: &mut [F8; C]) {
    values.into_iter().zip(to).for_each(|(value, to)| value.store(to));
}
