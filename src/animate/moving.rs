//! What moves in a model, and poses that hold nothing else.

use std::cmp::Reverse;

use glam::{Quat, Vec3, Vec4};

use super::{
    bind_space::{BindSpace, Locals},
    lanes::F8,
    math::normalize,
    pose::PoseMut,
    sample::Sink,
};
use crate::model::{Channel, Interpolation, Model, Skeleton, Track, Transform};

/// In place of an index: none.
pub(super) const NONE: u32 = u32::MAX;

/// Which components of which nodes any clip of a model moves away from the rest pose. Only those are stored
/// for each instance while many are evaluated; everything else is the rest pose, the same for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Moving {
    pub(super) rotations: Component,
    pub(super) translations: Component,
    pub(super) scales: Component,
    /// How compressed clips, and rigs that keep no poses, hold rotations.
    pub(super) space: BindSpace,
    /// Back from there.
    pub(super) locals: Locals,
}

/// The nodes of which one component moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Component {
    /// Per node: its place among those that move, or [`NONE`].
    pub(super) places: Vec<u32>,
    /// The nodes that move.
    pub(super) nodes: Vec<u32>,
}

impl Component {
    /// From which nodes move, and how many clips have keys that differ from each other: what most of them have comes
    /// first, so that each fills whole groups of eight, in the order in which nodes are evaluated.
    fn new(order: &[u32], moves: &[(bool, u32)]) -> Self {
        let mut nodes: Vec<_> = order.iter().copied().filter(|&node| moves[node as usize].0).collect();
        nodes.sort_by_key(|&node| Reverse(moves[node as usize].1));
        let mut places = vec![NONE; moves.len()];
        for (place, &node) in (0..).zip(&nodes) {
            places[node as usize] = place;
        }
        Self { places, nodes }
    }

    pub(super) fn moves(&self, node: usize) -> bool {
        self.places[node] != NONE
    }

    /// Groups of eight, and one more that takes what is of no use.
    pub(super) fn groups(&self) -> usize {
        self.nodes.len().div_ceil(8) + 1
    }

    /// A place that nobody reads.
    pub(super) fn nowhere(&self) -> u32 {
        self.groups() as u32 * 8 - 1
    }
}

/// Every node once, right behind its parent or a sibling's last descendant, so that few matrices are in use at
/// any time.
pub(super) fn depth_first(skeleton: &Skeleton) -> Vec<u32> {
    let mut children = vec![Vec::new(); skeleton.len()];
    let mut waiting = Vec::new();
    for (node, parent) in skeleton.parents().iter().enumerate().rev() {
        match parent {
            Some(parent) => children[*parent as usize].push(node as u32),
            None => waiting.push(node as u32),
        }
    }
    let mut order = Vec::with_capacity(skeleton.len());
    while let Some(node) = waiting.pop() {
        order.push(node);
        waiting.append(&mut children[node as usize]);
    }
    order
}

/// How far a track that never changes may be from the rest pose to be left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Still {
    /// Components of quaternions, and of scales.
    pub(super) turn: f32,
    pub(super) translation: f32,
}

impl Moving {
    /// `still` says for each clip what may be left out of it.
    pub(super) fn new(model: &Model, still: impl Fn(usize) -> Still) -> Self {
        let rest = model.skeleton().rest();
        let mut moves = [(); 3].map(|()| vec![(false, 0u32); rest.len()]);
        for (index, clip) in model.clips().iter().enumerate() {
            let still = still(index);
            for track in clip.tracks() {
                let node = track.node as usize;
                let far = |a: Vec3, b: Vec3, limit: f32| !((a - b).abs().max_element() <= limit);
                let (component, moved) = match track.channel {
                    Channel::Rotation => (
                        0,
                        constant_rotation(track).is_none_or(|q| {
                            let own = Vec4::from(q);
                            let rest = Vec4::from(rest[node].rotation);
                            !((own - rest).abs().max_element() <= still.turn)
                        }),
                    ),
                    Channel::Translation => {
                        (1, constant(track).is_none_or(|t| far(t, rest[node].translation, still.translation)))
                    }
                    Channel::Scale => {
                        (2, constant(track).is_none_or(|s| far(s, rest[node].scale, still.turn)))
                    }
                    Channel::Weights => continue,
                };
                let (any, clips) = &mut moves[component][node];
                *any |= moved;
                *clips += u32::from(moved && !is_constant(track));
            }
        }
        let order = &depth_first(model.skeleton());
        let [rotations, translations, scales] = moves.map(|moves| Component::new(order, &moves));
        let space = BindSpace::new(model, &scales);
        let locals = space.locals(&rotations);
        Self { rotations, translations, scales, space, locals }
    }

    /// Nothing left out.
    pub(super) fn exactly(model: &Model) -> Self {
        Self::new(model, |_| Still::default())
    }
}

/// The one value of a track that never changes.
pub(super) fn constant(track: &Track) -> Option<Vec3> {
    constant_values(track).map(Vec3::from_slice)
}

/// The one rotation of a track that never changes, as it comes out.
pub(super) fn constant_rotation(track: &Track) -> Option<Quat> {
    constant_values(track).map(|values| normalize(Quat::from_slice(values)))
}

fn is_constant(track: &Track) -> bool {
    constant_values(track).is_some()
}

fn constant_values(track: &Track) -> Option<&[f32]> {
    let width = track.width as usize;
    let first = track.values.get(..width)?;
    let stays = match track.interpolation {
        Interpolation::CubicSpline => track.times.len() == 1,
        _ => track.values.chunks_exact(width).all(|value| value == first),
    };
    match track.interpolation {
        Interpolation::CubicSpline => track.values.get(width..2 * width).filter(|_| stays),
        _ => Some(first).filter(|_| stays),
    }
}

/// Local transforms of what moves, eight nodes side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct LanePose {
    pub(super) rotations: Vec<[F8; 4]>,
    pub(super) translations: Vec<[F8; 3]>,
    pub(super) scales: Vec<[F8; 3]>,
}

impl LanePose {
    /// The rest pose, rotations in bind space if one is given.
    pub(super) fn rest(model: &Model, moving: &Moving, space: Option<&BindSpace>) -> Self {
        let one = F8([1.0; 8]);
        let mut pose = Self {
            rotations: vec![[F8::default(), F8::default(), F8::default(), one]; moving.rotations.groups()],
            translations: vec![[F8::default(); 3]; moving.translations.groups()],
            scales: vec![[one; 3]; moving.scales.groups()],
        };
        for (node, rest) in model.skeleton().rest().iter().enumerate() {
            pose.set(moving, space, node, *rest);
        }
        pose
    }

    fn set(&mut self, moving: &Moving, space: Option<&BindSpace>, node: usize, transform: Transform) {
        let mut sink = LaneSink { pose: self, moving, space };
        sink.rotation(node, transform.rotation);
        sink.translation(node, transform.translation);
        sink.scale(node, transform.scale);
    }

    #[inline(always)]
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.rotations.copy_from_slice(&other.rotations);
        self.translations.copy_from_slice(&other.translations);
        self.scales.copy_from_slice(&other.scales);
    }

    /// Puts the components that move into a pose of all nodes.
    pub(super) fn spread(&self, moving: &Moving, pose: &mut PoseMut<'_>) {
        for (at, &node) in moving.rotations.nodes.iter().enumerate() {
            let [x, y, z, w] = read(&self.rotations, at);
            pose.rotations[node as usize] = Quat::from_xyzw(x, y, z, w);
        }
        for (at, &node) in moving.translations.nodes.iter().enumerate() {
            pose.translations[node as usize] = read(&self.translations, at).into();
        }
        for (at, &node) in moving.scales.nodes.iter().enumerate() {
            pose.scales[node as usize] = read(&self.scales, at).into();
        }
    }
}

/// The components at one place.
pub(super) fn read<const C: usize>(groups: &[[F8; C]], at: usize) -> [f32; C] {
    let group = &groups[at / 8];
    std::array::from_fn(|c| group[c].0[at % 8])
}

/// Sets the components at one place.
#[inline(always)]
pub(super) fn write<const C: usize>(groups: &mut [[F8; C]], at: usize, values: [f32; C]) {
    let group = &mut groups[at / 8];
    for (lanes, value) in group.iter_mut().zip(values) {
        lanes.0[at % 8] = value;
    }
}

/// Puts what a clip drives into a pose of what moves.
pub(super) struct LaneSink<'a> {
    pub(super) pose: &'a mut LanePose,
    pub(super) moving: &'a Moving,
    /// Where rotations are in bind space.
    pub(super) space: Option<&'a BindSpace>,
}

impl Sink for LaneSink<'_> {
    fn translation(&mut self, node: usize, value: Vec3) {
        let at = self.moving.translations.places[node];
        if at != NONE {
            write(&mut self.pose.translations, at as usize, value.to_array());
        }
    }

    fn rotation(&mut self, node: usize, value: Quat) {
        let at = self.moving.rotations.places[node];
        if at != NONE {
            let value = self.space.map_or(value, |space| space.rotation(node, value));
            write(&mut self.pose.rotations, at as usize, value.to_array());
        }
    }

    fn scale(&mut self, node: usize, value: Vec3) {
        let at = self.moving.scales.places[node];
        if at != NONE {
            write(&mut self.pose.scales, at as usize, value.to_array());
        }
    }

    fn weight(&mut self, _node: usize, _index: usize, _value: f32) {}
}
