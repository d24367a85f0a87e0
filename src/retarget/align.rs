//! Bringing the target's reference pose to where the source's limbs point.

use glam::{DQuat, DVec3};

use super::{
    Align,
    mapping::{MappedJoint, RestAngle},
    matrix::{Worlds, inverse},
};
use crate::{
    animate::{
        Pose,
        exact::{self, ExactLocal, direction, unit},
        math::normalize,
    },
    model::Skeleton,
};

/// Cosine of 20 degrees.
const FAR: f64 = 0.939_692_620_785_908_4;

/// What is known of both bodies in their reference poses.
pub(super) struct Bodies<'a> {
    pub(super) source: &'a Worlds,
    /// From directions of the source to those of the target.
    pub(super) turn: DQuat,
    pub(super) skeleton: &'a Skeleton,
    pub(super) mapped: &'a [MappedJoint],
}

/// Turns joints of the target's reference pose, parents first, so that each points to its next mapped joint as in the
/// source; `target` has their world transforms afterwards. Returns how far every joint that points anywhere was off,
/// given what was turned above it.
pub(super) fn align(
    bodies: &Bodies<'_>,
    align: &Align,
    pose: &mut Pose,
    target: &mut Worlds,
) -> Vec<RestAngle> {
    target.set(pose.as_ref());
    let names = bodies.skeleton.names();
    let pairs = next_joints(bodies, target);
    let mut angles = Vec::new();
    for at in 0..target.chain().len() {
        let (node, parent) = target.chain()[at];
        let n = node as usize;
        target.place(node, parent, ExactLocal::of(pose.as_ref(), n));
        let Some((to_next, wanted)) = pairs[n] else { continue };
        let (matrix, rotation) = target.at(Some(node));
        let found = matrix.transform_vector3(to_next);
        let Some((arc, cosine)) = arc(found, wanted) else { continue };
        let is_aligned = match align {
            Align::Off => false,
            Align::Far => cosine < FAR,
            Align::Joints(joints) => joints.contains(&names[n]),
        };
        if is_aligned {
            let (_, above) = target.at(parent);
            pose.rotations[n] = normalize(unit(above.conjugate() * arc * rotation).as_quat());
            target.place(node, parent, ExactLocal::of(pose.as_ref(), n));
        }
        // For people alone, so it need not be the same to the last bit everywhere.
        let degrees = cosine.clamp(-1.0, 1.0).acos().to_degrees() as f32;
        angles.push(RestAngle { target: node, degrees, is_aligned });
    }
    angles
}

/// By target node with exactly one next mapped joint: where that is in the node's own space, and where the source has
/// it in the target's directions.
fn next_joints(bodies: &Bodies<'_>, target: &Worlds) -> Vec<Option<(DVec3, DVec3)>> {
    let parents = bodies.skeleton.parents();
    let mut source_of = vec![None; parents.len()];
    bodies.mapped.iter().for_each(|joint| source_of[joint.target as usize] = Some(joint.source));
    // The nearest mapped node above each, and how many have a node for that.
    let mut above: Vec<Option<u32>> = vec![None; parents.len()];
    let mut count = vec![0u32; parents.len()];
    let mut next = vec![None; parents.len()];
    for &(node, parent) in target.chain() {
        let parent = parent.and_then(|p| source_of[p as usize].map(|_| p).or(above[p as usize]));
        above[node as usize] = parent;
        if let Some(parent) = parent.filter(|_| source_of[node as usize].is_some()) {
            count[parent as usize] += 1;
            next[parent as usize] = Some(node);
        }
    }
    let pair = |node: usize| {
        let next = next[node].filter(|_| count[node] == 1)?;
        let (from, to) = (source_of[node]?, source_of[next as usize]?);
        let place = |node: u32| bodies.source.matrices[node as usize].translation;
        let offset =
            inverse(target.matrices[node]).transform_point3(target.matrices[next as usize].translation);
        Some((offset, bodies.turn * (place(to) - place(from))))
    };
    (0..parents.len()).map(pair).collect()
}

/// The shortest turn from one direction to another and the cosine between them; `None` where one has no length.
fn arc(from: DVec3, to: DVec3) -> Option<(DQuat, f64)> {
    /// Metres; less points nowhere.
    const LEAST: f64 = 1e-9;
    let points = |v: DVec3| direction(v).filter(|_| v.length() > LEAST);
    let (from, to) = (points(from)?, points(to)?);
    Some((exact::arc(from, to)?, from.dot(to)))
}
