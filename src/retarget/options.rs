use std::collections::{BTreeMap, BTreeSet};

use glam::{Quat, Vec3};

use crate::animate::Pose;

/// How one body takes over the motion of another.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetOptions {
    /// The arithmetic, with what only one of the two knows.
    pub mode: Mode,
    /// Which nodes of the target are its joints.
    pub target: TargetJoints,
    /// Target name to source name. A name that several target joints have counts for each of them; among source
    /// nodes of one name the first joint of a skin is taken, else the first node.
    pub names: BTreeMap<String, String>,
    /// The source joint whose translation counts.
    pub hip: Hip,
    /// How much of the hip's movement is taken over, per axis of the target's space.
    pub hip_influence: Vec3,
    /// Added to where the hip comes to, before the scale: in metres of the source.
    pub hip_position: Vec3,
    /// From the hip's movement in the source to that in the target; in [`Mode::RestRelative`] on top of the ratio
    /// of hip heights.
    pub scale: f32,
    /// A turn after the source's, in the joint's own space, by target name. Any length but zero.
    pub local_offsets: BTreeMap<String, Quat>,
}

impl Default for RetargetOptions {
    /// [`Mode::RestRelative`], nothing mapped, the hip that [`Hip::Auto`] finds, influence 1 along each axis, no offset, scale 1.
    fn default() -> Self {
        Self {
            mode: Mode::RestRelative(RestRelative::default()),
            target: TargetJoints::default(),
            names: BTreeMap::new(),
            hip: Hip::Auto,
            hip_influence: Vec3::ONE,
            hip_position: Vec3::ZERO,
            scale: 1.0,
            local_offsets: BTreeMap::new(),
        }
    }
}

/// The source joint that carries the body: beside its rotation its translation is taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Hip {
    /// What [`hip_of`](super::hip_of) finds among the mapped ones; none where it finds none.
    #[default]
    Auto,
    /// That of this name, which must be among the values of [`RetargetOptions::names`].
    Named(String),
    /// None: only rotations count.
    None,
}

/// The two arithmetics; the [module](super) has their formulas.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one a Retarget, and a box would be in every caller's way"
)]
pub enum Mode {
    /// World rotations as they are: for bodies whose joints have the same axes.
    WorldCopy(WorldCopy),
    /// World rotations relative to a pose in which both bodies stand alike: for any two bodies.
    RestRelative(RestRelative),
}

/// Options of [`Mode::WorldCopy`]: those of `SkeletonUtils.retarget` of three.js 0.187.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorldCopy {
    /// Measure as if the target's mesh node stood at the identity.
    pub preserve_bone_matrix: bool,
    /// All joints but the hip go back to their bind translations.
    pub preserve_bone_positions: bool,
    /// Take the source's world matrices as they are, rather than as seen from the target's mesh node.
    pub use_target_matrix: bool,
}

impl Default for WorldCopy {
    fn default() -> Self {
        Self { preserve_bone_matrix: true, preserve_bone_positions: true, use_target_matrix: false }
    }
}

/// Options of [`Mode::RestRelative`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestRelative {
    /// A pose of the source in which it stands as the target does in `target_rest`; `None` is its rest pose.
    pub source_rest: Option<Pose>,
    /// A pose of the target in which it stands as the source does in `source_rest`; `None` is its rest pose.
    pub target_rest: Option<Pose>,
    /// Which joints of the target's pose are first turned to where the source's point.
    pub align: Align,
    /// From the hip's height in the source to that in the target; `None` takes the ratio of the heights above
    /// y = 0 in the two poses.
    pub hip_ratio: Option<f32>,
    /// From the directions of the source to those of the target, for bodies that face different ways. Any length
    /// but zero.
    pub turn: Quat,
}

/// Which joints of a target that rests otherwise than its source are brought to where the source's point, in the pose
/// that [`RestRelative`] measures from. Only joints with exactly one next mapped joint point anywhere. It is the
/// shortest turn, so twist stays; joints below turn along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Align {
    /// None: a target that rests differently keeps the difference.
    Off,
    /// Those more than 20 degrees apart: arms that rest level in one body and lowered in the other, but not the small
    /// differences in how bodies are built.
    #[default]
    Far,
    /// Those of these target names.
    Joints(BTreeSet<String>),
}

/// Which nodes of the target are its joints, and in which order they are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TargetJoints {
    /// In [`Mode::WorldCopy`] the first shown part with a skin; in [`Mode::RestRelative`] the joints of all skins.
    /// Every node where there is no skin.
    #[default]
    Auto,
    /// A skinned instance: the skin of this part, whose node is the mesh node.
    Part(u32),
    /// A bare skeleton: the joints of this skin. It has neither mesh node nor bind pose, so [`Mode::WorldCopy`]
    /// starts from the pose that it finds, takes the source's world matrices as they are and, as three.js does,
    /// leaves `local_offsets` out.
    Skin(u32),
    /// A bare skeleton of all nodes, parents first.
    Nodes,
}

/// How a clip is sampled and what of it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BakeOptions {
    /// Keys a second, above 0. `None` takes as many as the source track with the most keys has.
    pub fps: Option<f32>,
    /// Which tracks are written.
    pub keep: Keep,
    /// Take clips that scale mapped joints too; their scale is left out.
    pub drop_scale: bool,
}

/// Which tracks a baked clip has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Rotations of all mapped joints and the translation of the hip.
    #[default]
    Hip,
    /// Translation, rotation and scale of all mapped joints, as [`Retarget::pose`](super::Retarget::pose) gives
    /// them.
    All,
}
