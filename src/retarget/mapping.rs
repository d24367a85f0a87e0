//! Names to nodes, and what became of each of them.

use std::collections::HashSet;

use super::{Hip, Mode, RetargetError, RetargetOptions, TargetJoints};
use crate::{
    animate::node_names::{joints_of_skins, nodes_by_name_joints_first},
    model::Model,
};

/// What was mapped and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Joints that take part, in the order in which they are placed.
    pub mapped: Vec<MappedJoint>,
    /// Nodes of target joints that take part in nothing, in the same order.
    pub unmapped: Vec<u32>,
    /// (target name, source name) of names whose source does not exist.
    pub unknown_sources: Vec<(String, String)>,
    /// Target names that no target joint has.
    pub unknown_targets: Vec<String>,
    /// Target names of local offsets that turn nothing: they belong to no mapped joint, or the target of
    /// [`Mode::WorldCopy`] is a bare skeleton.
    pub unused_offsets: Vec<String>,
    /// Of [`Mode::RestRelative`]: how far apart source and target point in their reference poses, for each joint with
    /// exactly one next mapped joint, parents first.
    pub rest_angles: Vec<RestAngle>,
}

/// How a joint of the target points against its source in the reference poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestAngle {
    /// Node of the target.
    pub target: u32,
    /// Between the directions to the next mapped joint, after what is above has been aligned.
    pub degrees: f32,
    /// Whether the target was turned by that much.
    pub is_aligned: bool,
}

/// A pair of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedJoint {
    /// Node of the target.
    pub target: u32,
    /// Node of the source.
    pub source: u32,
    /// Whether its translation is taken over too.
    pub is_hip: bool,
}

/// The joints of the target.
pub(super) struct Joints {
    pub(super) nodes: Vec<u32>,
    /// The mesh node and the skin, unless the skeleton is bare.
    pub(super) skinned: Option<(u32, u32)>,
}

impl Joints {
    pub(super) fn of(target: &Model, options: &RetargetOptions) -> Result<Self, RetargetError> {
        let world_copy = matches!(options.mode, Mode::WorldCopy(_));
        let skin_of = |part: u32| target.parts().get(part as usize).and_then(|part| part.skin);
        match options.target {
            TargetJoints::Auto if world_copy => {
                match target.shown_parts().iter().find(|&&part| skin_of(part).is_some()) {
                    Some(&part) => Self::of_part(target, part),
                    None => Ok(Self::bare(target.skeleton().order().to_vec())),
                }
            }
            TargetJoints::Auto => {
                let is_joint = joints_of_skins(target);
                let order = target.skeleton().order().iter().copied();
                let any = !target.skins().is_empty();
                Ok(Self::bare(order.filter(|&node| !any || is_joint[node as usize]).collect()))
            }
            TargetJoints::Part(part) => Self::of_part(target, part),
            TargetJoints::Skin(index) => match target.skins().get(index as usize) {
                Some(skin) => Ok(Self::bare(each_once(skin.joints()))),
                None => Err(RetargetError::NoJoints { what: "skin", index, count: target.skins().len() }),
            },
            TargetJoints::Nodes => Ok(Self::bare(target.skeleton().order().to_vec())),
        }
    }

    fn bare(nodes: Vec<u32>) -> Self {
        Self { nodes, skinned: None }
    }

    fn of_part(target: &Model, index: u32) -> Result<Self, RetargetError> {
        let refused = RetargetError::NoJoints { what: "part", index, count: target.parts().len() };
        let part = target.parts().get(index as usize).ok_or_else(|| refused.clone())?;
        let skin = part.skin.ok_or(refused)?;
        let nodes = each_once(target.skins()[skin as usize].joints());
        Ok(Self { nodes, skinned: Some((part.node, skin)) })
    }
}

/// Without those that a skin lists again.
fn each_once(joints: &[u32]) -> Vec<u32> {
    let mut known = HashSet::new();
    joints.iter().copied().filter(|node| known.insert(*node)).collect()
}

/// Pairs up joints by the names of the options; `hip` is a source name.
pub(super) fn map(
    source: &Model,
    target: &Model,
    joints: &Joints,
    options: &RetargetOptions,
    hip: Option<&str>,
) -> Result<Report, RetargetError> {
    let Some((first_target, first_source)) = options.names.first_key_value() else {
        return Err(RetargetError::NoNames);
    };
    let sources = nodes_by_name_joints_first(source);
    let names = target.skeleton().names();
    let mut report = Report::default();
    for &node in &joints.nodes {
        let source_name = options.names.get(&names[node as usize]);
        match source_name.and_then(|name| Some((name, *sources.get(name.as_str())?))) {
            Some((name, source)) => {
                let is_hip = hip == Some(name.as_str());
                report.mapped.push(MappedJoint { target: node, source, is_hip });
            }
            None => report.unmapped.push(node),
        }
    }
    let targets: HashSet<&str> = joints.nodes.iter().map(|&node| names[node as usize].as_str()).collect();
    for (target, source) in &options.names {
        if !sources.contains_key(source.as_str()) {
            report.unknown_sources.push((target.clone(), source.clone()));
        }
        if !targets.contains(target.as_str()) {
            report.unknown_targets.push(target.clone());
        }
    }
    let offsets_count = joints.skinned.is_some() || matches!(options.mode, Mode::RestRelative(_));
    let turns =
        |name: &str| offsets_count && report.mapped.iter().any(|joint| names[joint.target as usize] == name);
    report.unused_offsets = options.local_offsets.keys().filter(|name| !turns(name)).cloned().collect();
    if report.mapped.is_empty() {
        return Err(RetargetError::NothingMapped {
            names: options.names.len(),
            targets: report.unknown_targets.len(),
            sources: report.unknown_sources.len(),
            target: first_target.clone(),
            source_name: first_source.clone(),
        });
    }
    match (&options.hip, hip) {
        // One that was looked for may be no joint of this target.
        (Hip::Named(_), Some(hip)) if !report.mapped.iter().any(|joint| joint.is_hip) => {
            Err(RetargetError::UnknownHip { hip: hip.to_owned() })
        }
        _ => Ok(report),
    }
}
