//! Local transforms between bind poses instead of between joints.
//!
//! With `B` a joint's inverse bind matrix and `P` its parent's, a palette row is `world * B`. In `P⁻¹ * local * B` for
//! `local`, transforms multiply up the chain to that directly: no inverse bind matrix is applied to what moves. Where
//! `B` is a rotation, a uniform scale and a place, such a transform is again a rotation and a place; interpolating and
//! blending rotations commutes with turning them by what is constant. Translations that move are kept as they are until
//! then: along the axes that they were made for, keys of 16 bits hold more of them.
//! Changes of basis are computed in f64 and rounded once.

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Quat, Vec3};

use super::{
    PaletteLayout,
    exact::{exact, rounded},
    lanes::{F8, Lanes, Task, load, store},
    moving::{Component, LanePose, write},
};
use crate::model::{Model, Transform};

/// How far an inverse bind matrix may be from what it is taken for, in coefficients.
const SAME: f64 = 1e-6;
/// How far apart scales along axes may be, as a ratio: a few times what f32 can tell apart.
const ROUNDING: f64 = 5e-7;
/// Largest place, and largest scale up or down, of a basis.
const FAR: f64 = 1e6;

/// The bases of all nodes of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BindSpace {
    nodes: Vec<Change>,
}

/// From a node's local transform to what stands for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Change {
    above: Similarity,
    own: Similarity,
    /// Of the rest pose, as it is expressed here.
    scale: Vec3,
}

/// A basis: a rotation, after a uniform scale, then a place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Similarity {
    rotation: DQuat,
    scale: f64,
    place: DVec3,
}

impl Similarity {
    const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, scale: 1.0, place: DVec3::ZERO };

    fn matrix(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(DVec3::splat(self.scale), self.rotation, self.place)
    }

    /// What goes to the origin.
    fn origin(self) -> DVec3 {
        self.rotation.conjugate() * -self.place / self.scale
    }

    /// What an inverse bind matrix is, if it is one: with the scale that is wanted, where that is as good as its own.
    /// What it moves to the origin goes there to the last digit.
    fn of(m: Affine3A, wanted: f64) -> Option<Self> {
        let m = exact(m);
        let length = m.matrix3.x_axis.length();
        let scale = if (length / wanted - 1.0).abs() <= SAME { wanted } else { length };
        if !(m.matrix3.determinant() > 0.0 && scale > 1.0 / FAR && scale < FAR) {
            return None;
        }
        let rotation = DQuat::from_mat3(&(m.matrix3 * (1.0 / scale))).normalize();
        let origin = -(m.matrix3.inverse() * m.translation);
        let basis = Self { rotation, scale, place: -(rotation * (origin * scale)) };
        let is_near = origin.abs().max_element() < FAR && basis.place.abs().max_element() < FAR;
        (is_near && is_same(basis.matrix().inverse() * m, origin)).then_some(basis)
    }
}

/// A scale that is the same along all axes but for rounding.
fn uniform(scale: Vec3) -> Option<f64> {
    let (least, most) = (f64::from(scale.min_element()), f64::from(scale.max_element()));
    (least > 0.0 && most / least - 1.0 <= ROUNDING).then_some((least + most) / 2.0)
}

/// Whether a matrix is the identity around a place.
fn is_same(m: DAffine3, place: DVec3) -> bool {
    let off = (m.matrix3 - DMat3::IDENTITY).to_cols_array();
    let moved = (m.transform_point3(place) - place).abs().max_element();
    // False for NaN too.
    off.iter().all(|v| v.abs() <= SAME) && moved <= SAME * 0.1 * place.abs().max_element()
}

impl BindSpace {
    /// `scales`: the nodes whose scale moves.
    pub(super) fn new(model: &Model, scales: &Component) -> Self {
        let skeleton = model.skeleton();
        let mut binds = vec![None; skeleton.len()];
        PaletteLayout::new(model).each_row(model, |_, node, inverse| {
            binds[node as usize].get_or_insert(inverse.unwrap_or(Affine3A::IDENTITY));
        });
        let unchanged = Change { above: Similarity::IDENTITY, own: Similarity::IDENTITY, scale: Vec3::ONE };
        let mut nodes = vec![unchanged; skeleton.len()];
        for &node in skeleton.order() {
            let n = node as usize;
            let above =
                skeleton.parents()[n].map_or(Similarity::IDENTITY, |parent| nodes[parent as usize].own);
            let rest = skeleton.rest()[n].scale;
            let size = uniform(rest).filter(|_| !scales.moves(n));
            let bound = binds[n].zip(size).and_then(|(bind, size)| {
                // What leaves no scale between both.
                let scale = above.scale / size;
                let own = Similarity::of(bind, scale)?;
                let left = if own.scale == scale { 1.0 } else { size * own.scale / above.scale };
                Some((own, left as f32))
            });
            nodes[n] = match bound {
                Some((own, scale)) => Change { above, own, scale: Vec3::splat(scale) },
                None => {
                    let own = Similarity { scale: above.scale, ..Similarity::IDENTITY };
                    Change { above, own, scale: rest }
                }
            };
        }
        Self { nodes }
    }

    /// A local rotation as it is expressed here.
    pub(super) fn rotation(&self, node: usize, q: Quat) -> Quat {
        let Change { above, own, .. } = self.nodes[node];
        if [above.rotation, own.rotation] == [DQuat::IDENTITY; 2] {
            return q;
        }
        (above.rotation.conjugate() * q.as_dquat() * own.rotation).as_quat()
    }

    /// What [`rotation`](Self::rotation) was given.
    pub(super) fn local_rotation(&self, node: usize, q: Quat) -> Quat {
        let Change { above, own, .. } = self.nodes[node];
        (above.rotation * q.as_dquat() * own.rotation.conjugate()).as_quat()
    }

    /// Back to local rotations, for those that move.
    pub(super) fn locals(&self, rotations: &Component) -> Locals {
        // Lanes of no use keep what they have.
        let identity = [F8::default(), F8::default(), F8::default(), F8([1.0; 8])];
        let groups = || vec![identity; rotations.groups()];
        let mut locals = Locals { before: groups(), after: groups() };
        for (at, &node) in rotations.nodes.iter().enumerate() {
            let Change { above, own, .. } = self.nodes[node as usize];
            write(&mut locals.before, at, above.rotation.as_quat().to_array());
            write(&mut locals.after, at, own.rotation.conjugate().as_quat().to_array());
        }
        locals
    }

    /// A local translation as it is expressed here: the linear part applied to [`pivot`](Self::pivot) comes on top.
    pub(super) fn translation(&self, node: usize, place: Vec3) -> Vec3 {
        let above = self.nodes[node].above;
        if above == Similarity::IDENTITY {
            return place;
        }
        let Similarity { rotation, scale, place: own } = above;
        (rotation.conjugate() * (place.as_dvec3() - own) / scale).as_vec3()
    }

    /// What does [`translation`](Self::translation), if anything.
    pub(super) fn placement(&self, node: usize) -> Option<Affine3A> {
        let above = self.nodes[node].above;
        (above != Similarity::IDENTITY).then(|| rounded(above.matrix().inverse()))
    }

    /// A rest transform as it is expressed here.
    pub(super) fn rest(&self, node: usize, rest: Transform) -> Transform {
        Transform {
            translation: self.translation(node, rest.translation),
            rotation: self.rotation(node, rest.rotation),
            scale: self.nodes[node].scale,
        }
    }

    /// Where a node's origin lies in its bind pose, negated.
    pub(super) fn pivot(&self, node: usize) -> Vec3 {
        (-self.nodes[node].own.origin()).as_vec3()
    }

    /// How large a transform may be here, linear part and place, whose local scale and translation have these bounds.
    pub(super) fn reach(&self, node: usize, scale: f64, translation: f64) -> (f64, f64) {
        let Change { above, own, .. } = self.nodes[node];
        let linear = scale * own.scale / above.scale;
        (linear, (translation * 1.8 + above.place.length()) / above.scale + linear * own.origin().length())
    }

    /// What a palette row with this inverse bind matrix has to be multiplied by, if anything.
    pub(super) fn remainder(&self, node: usize, inverse: Option<Affine3A>) -> Option<Affine3A> {
        let own = self.nodes[node].own;
        if own == Similarity::IDENTITY {
            return inverse.filter(|m| *m != Affine3A::IDENTITY);
        }
        let rest = own.matrix().inverse() * inverse.map_or(DAffine3::IDENTITY, exact);
        (!is_same(rest, own.origin())).then(|| rounded(rest))
    }
}

/// What takes the rotations that move back from bind space, eight nodes side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Locals {
    before: Vec<[F8; 4]>,
    after: Vec<[F8; 4]>,
}

/// Takes the rotations of a pose back from bind space.
pub(super) struct ToLocal<'a> {
    pub(super) locals: &'a Locals,
    pub(super) pose: &'a mut LanePose,
}

impl Task for ToLocal<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { locals: Locals { before, after }, pose } = self;
        for (group, q) in pose.rotations.iter_mut().enumerate() {
            let turned = product::<L>(load(&before[group]), load(q));
            store(product::<L>(turned, load(&after[group])), q);
        }
    }
}

/// Products of quaternions.
#[inline(always)]
fn product<L: Lanes>([ax, ay, az, aw]: [L; 4], [bx, by, bz, bw]: [L; 4]) -> [L; 4] {
    [
        aw.mul(bx).add(ax.mul(bw)).add(ay.mul(bz)).sub(az.mul(by)),
        aw.mul(by).sub(ax.mul(bz)).add(ay.mul(bw)).add(az.mul(bx)),
        aw.mul(bz).add(ax.mul(by)).sub(ay.mul(bx)).add(az.mul(bw)),
        aw.mul(bw).sub(ax.mul(bx)).sub(ay.mul(by)).sub(az.mul(bz)),
    ]
}

#[cfg(test)]
mod tests {
    use glam::Mat4;

    use super::*;
    use crate::model::{ModelDesc, Node, Skeleton, Skin};

    /// A chain of joints, each with the inverse of its matrix in the rest pose, and `after` that, as its inverse bind
    /// matrix.
    fn chain(rests: &[Transform], after: Mat4) -> (Model, Vec<Affine3A>) {
        let nodes = rests.iter().zip(0u32..).map(|(rest, n)| Node {
            parent: n.checked_sub(1),
            rest: *rest,
            ..Node::default()
        });
        let skeleton = Skeleton::new(nodes.collect()).unwrap();
        let worlds: Vec<_> = rests
            .iter()
            .scan(Mat4::IDENTITY, |world, rest| {
                let Transform { translation, rotation, scale } = *rest;
                *world *= Mat4::from_scale_rotation_translation(scale, rotation, translation);
                Some(*world)
            })
            .collect();
        let binds: Vec<_> = worlds.iter().map(|world| after * world.inverse()).collect();
        let joints = (0..rests.len() as u32).collect();
        let skin = Skin::new("s", &skeleton, joints, Some(&binds)).unwrap();
        let binds = skin.inverse_binds().to_vec();
        (Model::new(ModelDesc { skeleton, skins: vec![skin], ..ModelDesc::default() }).unwrap(), binds)
    }

    fn rests(scale: f32) -> Vec<Transform> {
        let rotation = Quat::from_xyzw(0.1, 0.5, -0.3, 0.8).normalize();
        let rest = Transform { translation: Vec3::new(0.1, 1.0, 0.2), rotation, scale: Vec3::ONE };
        vec![Transform { scale: Vec3::splat(scale), ..rest }, rest, rest]
    }

    fn space(model: &Model) -> BindSpace {
        let places = vec![super::super::moving::NONE; model.skeleton().len()];
        BindSpace::new(model, &Component { places, nodes: Vec::new() })
    }

    #[test]
    fn rotations_and_places_as_inverse_bind_matrices_leave_nothing_to_multiply_by() {
        let (model, binds) = chain(&rests(1.0), Mat4::IDENTITY);
        let space = space(&model);
        for (node, bind) in binds.iter().enumerate() {
            assert_eq!(space.remainder(node, Some(*bind)), None);
        }
    }

    #[test]
    fn the_rest_pose_is_the_identity_where_it_is_the_bind_pose() {
        let (model, _) = chain(&rests(1.0), Mat4::IDENTITY);
        let space = space(&model);
        for node in 0..3 {
            let rest = space.rest(node, model.skeleton().rest()[node]);
            assert!(rest.rotation.angle_between(Quat::IDENTITY) < 1e-3, "{}", rest.rotation);
            assert!((rest.translation + space.pivot(node)).length() < 1e-6);
            assert_eq!(rest.scale, Vec3::ONE);
        }
    }

    #[test]
    fn a_scale_that_inverse_bind_matrices_undo_is_gone() {
        let (model, binds) = chain(&rests(0.01), Mat4::IDENTITY);
        let space = space(&model);
        for (node, bind) in binds.iter().enumerate() {
            assert_eq!(space.rest(node, model.skeleton().rest()[node]).scale, Vec3::ONE);
            assert_eq!(space.remainder(node, Some(*bind)), None);
        }
    }

    #[test]
    fn sheared_mirrored_and_far_inverse_bind_matrices_are_multiplied_by() {
        let shear = Mat4::from_cols_array(&[1., 0., 0., 0., 0.1, 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.]);
        let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        let far = Mat4::from_translation(Vec3::X * 1e7);
        for after in [shear, mirror, far] {
            let (model, binds) = chain(&rests(1.0), after);
            let space = space(&model);
            for (node, bind) in binds.iter().enumerate() {
                assert_eq!(space.remainder(node, Some(*bind)), Some(*bind), "{after}");
            }
        }
    }

    #[test]
    fn rotations_come_back() {
        let (model, _) = chain(&rests(1.0), Mat4::IDENTITY);
        let space = space(&model);
        let q = Quat::from_xyzw(-0.2, 0.4, 0.1, 0.9).normalize();
        for node in 0..3 {
            assert!(space.local_rotation(node, space.rotation(node, q)).abs_diff_eq(q, 2e-7));
        }
    }
}
