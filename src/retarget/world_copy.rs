//! [`Mode::WorldCopy`](super::Mode::WorldCopy): the steps of `SkeletonUtils.retarget`. Joints are placed one after
//! another in their own order, which need not be parents first; which world matrices have to be renewed between
//! two of them is planned once.

use std::collections::HashSet;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::{
    RetargetOptions, WorldCopy,
    mapping::{Joints, Report},
    matrix::{Worlds, inverse},
};
use crate::{
    animate::{
        PoseMut, bound_matrices,
        exact::{ExactLocal, lengths, of_orthogonal, unscaled},
        node_names::joints_of_skins,
    },
    model::Model,
};

/// What the steps need, and where they work.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    options: WorldCopy,
    mesh: Option<u32>,
    /// Nodes below the mesh node, parents first.
    below_mesh: Vec<u32>,
    joints: Vec<Joint>,
    steps: Vec<Step>,
    hip_scale: DVec3,
    hip_offset: DVec3,
    order: Vec<u32>,
    parents: Vec<Option<u32>>,
    locals: Vec<ExactLocal>,
    world: Vec<DAffine3>,
    /// Translations of the joints before they are placed.
    kept: Vec<DVec3>,
}

#[derive(Clone, Debug)]
struct Joint {
    node: u32,
    source: Option<u32>,
    is_hip: bool,
    keeps_translation: bool,
    offset: Option<DQuat>,
    bind: Option<Bind>,
}

/// Where a joint was bound.
#[derive(Clone, Copy, Debug)]
struct Bind {
    world: DAffine3,
    local: ExactLocal,
    /// The parent is a joint of another skin: the local transform depends on where that is now.
    is_hung: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// This node's world matrix, since one above it has moved.
    Renew(u32),
    /// The joint of this index.
    Place(u32),
}

impl Plan {
    pub(super) fn new(
        target: &Model,
        joints: &Joints,
        report: &Report,
        options: &RetargetOptions,
        hip: Option<&str>,
        mode: WorldCopy,
    ) -> Self {
        let skeleton = target.skeleton();
        let is_skinned = joints.skinned.is_some();
        let mode = if is_skinned {
            mode
        } else {
            WorldCopy { use_target_matrix: true, preserve_bone_matrix: false, ..mode }
        };
        let mesh = joints.skinned.map(|(mesh, _)| mesh);
        let below_mesh = match mesh {
            Some(mesh) if mode.preserve_bone_matrix => {
                let below = target.skeleton().sub_tree(mesh);
                below.into_iter().filter(|&node| node != mesh).collect()
            }
            _ => Vec::new(),
        };
        let scale = f64::from(options.scale);
        let mut plan = Self {
            options: mode,
            mesh,
            below_mesh,
            joints: Vec::with_capacity(joints.nodes.len()),
            steps: Vec::new(),
            hip_scale: options.hip_influence.as_dvec3() * scale,
            hip_offset: options.hip_position.as_dvec3() * scale,
            order: skeleton.order().to_vec(),
            parents: skeleton.parents().to_vec(),
            locals: vec![ExactLocal::IDENTITY; skeleton.len()],
            world: vec![DAffine3::IDENTITY; skeleton.len()],
            kept: vec![DVec3::ZERO; joints.nodes.len()],
        };
        let binds = binds(target, joints);
        let mut mapped = report.mapped.iter().peekable();
        for (index, &node) in joints.nodes.iter().enumerate() {
            let pair = mapped.next_if(|joint| joint.target == node);
            let name = &skeleton.names()[node as usize];
            let is_hip = pair.is_some_and(|joint| joint.is_hip);
            // A joint that is not mapped goes by its own name.
            let known_as = options.names.get(name).unwrap_or(name);
            let offset = options.local_offsets.get(name).filter(|_| is_skinned && pair.is_some());
            plan.joints.push(Joint {
                node,
                source: pair.map(|joint| joint.source),
                is_hip,
                keeps_translation: mode.preserve_bone_positions && hip != Some(known_as.as_str()),
                offset: offset.map(|offset| offset.as_dquat().normalize()),
                bind: binds.get(index).copied(),
            });
        }
        plan.steps = steps(target, joints, !mode.use_target_matrix);
        plan
    }

    pub(super) fn pose(&mut self, source: &Worlds, target: &mut PoseMut<'_>) {
        self.set_bind_pose(target);
        self.move_mesh_to_identity();
        for at in 0..self.steps.len() {
            match self.steps[at] {
                Step::Renew(node) => self.renew(node),
                Step::Place(joint) => self.place(joint as usize, source),
            }
        }
        for (joint, kept) in self.joints.iter().zip(&self.kept) {
            let mut local = self.locals[joint.node as usize];
            if joint.keeps_translation {
                local.translation = *kept;
            }
            local.write(target, joint.node as usize);
        }
    }

    /// Every node where it is, then every joint where it was bound.
    fn set_bind_pose(&mut self, target: &PoseMut<'_>) {
        for at in 0..self.order.len() {
            let node = self.order[at];
            self.locals[node as usize] = ExactLocal::of(target.as_ref(), node as usize);
            self.renew(node);
        }
        for joint in &self.joints {
            if let Some(bind) = joint.bind {
                self.world[joint.node as usize] = bind.world;
            }
        }
        for (joint, kept) in self.joints.iter().zip(&mut self.kept) {
            let node = joint.node as usize;
            if let Some(bind) = joint.bind {
                self.locals[node] = match self.parents[node].filter(|_| bind.is_hung) {
                    Some(parent) => ExactLocal::split(inverse(self.world[parent as usize]) * bind.world),
                    None => bind.local,
                };
            }
            *kept = self.locals[node].translation;
        }
    }

    fn move_mesh_to_identity(&mut self) {
        if let Some(mesh) = self.mesh.filter(|_| self.options.preserve_bone_matrix) {
            self.world[mesh as usize] = DAffine3::IDENTITY;
            for at in 0..self.below_mesh.len() {
                self.renew(self.below_mesh[at]);
            }
        }
    }

    fn renew(&mut self, node: u32) {
        let local = self.locals[node as usize].matrix();
        self.world[node as usize] = match self.parents[node as usize] {
            Some(parent) => self.world[parent as usize] * local,
            None => local,
        };
    }

    fn place(&mut self, index: usize, source: &Worlds) {
        let joint = &self.joints[index];
        let node = joint.node as usize;
        let mut global = self.world[node];
        if let Some(from) = joint.source {
            let mut relative = source.matrices[from as usize];
            if let Some(mesh) = self.mesh.filter(|_| !self.options.use_target_matrix) {
                relative = inverse(self.world[mesh as usize]) * relative;
            }
            global = turned(relative, joint.offset).unwrap_or(global);
        }
        if joint.is_hip {
            global.translation = global.translation * self.hip_scale + self.hip_offset;
        }
        let above = self.parents[node].map(|parent| inverse(self.world[parent as usize]));
        self.locals[node] = ExactLocal::split(above.map_or(global, |above| above * global));
        self.renew(joint.node);
    }
}

/// Rotation and translation of a matrix without its scale; `None` where an axis has no length, and so no direction.
fn turned(matrix: DAffine3, offset: Option<DQuat>) -> Option<DAffine3> {
    let scale = lengths(&matrix.matrix3);
    if !(scale.min_element() > 0.0 && scale.is_finite()) {
        return None;
    }
    let mut matrix3 = DMat3::from_quat(of_orthogonal(unscaled(&matrix.matrix3, scale)));
    if let Some(offset) = offset {
        matrix3 *= DMat3::from_quat(offset);
    }
    Some(DAffine3 { matrix3, translation: matrix.translation })
}

/// `Skeleton.pose`: joints where their inverse bind matrices say, those with a joint for a parent under it.
/// Empty for a bare skeleton.
fn binds(target: &Model, joints: &Joints) -> Vec<Bind> {
    let Some((_, skin)) = joints.skinned else { return Vec::new() };
    let skin = &target.skins()[skin as usize];
    // A node that is listed again was bound where it is listed first.
    let mut known = HashSet::new();
    let listed = skin.joints().iter().zip(bound_matrices(skin)).filter(|(node, _)| known.insert(**node));
    let world: Vec<_> = listed.map(|(_, matrix)| matrix.unwrap_or(DAffine3::ZERO)).collect();
    let mut of_node = vec![None; target.skeleton().len()];
    (0..).zip(&joints.nodes).for_each(|(joint, &node)| of_node[node as usize] = Some(joint as usize));
    let is_joint = joints_of_skins(target);
    let bind = |(&node, &own): (&u32, &DAffine3)| {
        let parent = target.skeleton().parents()[node as usize];
        let above: Option<usize> = parent.and_then(|parent| of_node[parent as usize]);
        let local = above.map_or(own, |above| inverse(world[above]) * own);
        let is_hung = above.is_none() && parent.is_some_and(|parent| is_joint[parent as usize]);
        Bind { world: own, local: ExactLocal::split(local), is_hung }
    };
    joints.nodes.iter().zip(&world).map(bind).collect()
}

/// The order of work: before a joint is placed, what stands above it, itself and the mesh node are renewed as far
/// as a joint placed before has moved them.
fn steps(target: &Model, joints: &Joints, uses_mesh: bool) -> Vec<Step> {
    let parents = target.skeleton().parents();
    // When each node was placed last and renewed last; 0 is before the first joint.
    let (mut placed, mut renewed) = (vec![0u32; parents.len()], vec![0u32; parents.len()]);
    let (mut steps, mut path) = (Vec::new(), Vec::new());
    let mesh = joints.skinned.map(|(mesh, _)| mesh).filter(|_| uses_mesh);
    for (now, (index, &node)) in (1u32..).zip((0u32..).zip(&joints.nodes)) {
        for bottom in mesh.into_iter().chain([node]) {
            path.extend(std::iter::successors(Some(bottom), |&node| parents[node as usize]));
            let mut latest = 0;
            while let Some(node) = path.pop() {
                let n = node as usize;
                if latest > renewed[n] {
                    steps.push(Step::Renew(node));
                    renewed[n] = now - 1;
                }
                latest = latest.max(placed[n]);
            }
        }
        steps.push(Step::Place(index));
        (placed[node as usize], renewed[node as usize]) = (now, now);
    }
    steps
}
