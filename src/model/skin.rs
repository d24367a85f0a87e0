use glam::{Affine3A, Mat4};

use super::{Skeleton, transform::is_affine};

/// Joints and their inverse bind matrices, kept together: one joint's index in the skin is its row in
/// the palette and the value vertices store, so it never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    name: String,
    joints: Vec<u32>,
    parents: Vec<Option<u32>>,
    inverse_binds: Vec<Affine3A>,
}

/// Why joints and matrices do not make a skin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// The joint list is empty.
    #[error("a skin needs at least one joint")]
    NoJoints,
    /// The same node twice.
    #[error("node {node} is joint {first} and joint {second}; a joint may be listed once")]
    DuplicateJoint {
        /// The node.
        node: u32,
        /// Its first place.
        first: usize,
        /// Its second place.
        second: usize,
    },
    /// A joint is no node of the skeleton.
    #[error("joint {joint} is node {node}, but the skeleton has {nodes} nodes")]
    JointOutOfRange {
        /// Place in the joint list.
        joint: usize,
        /// The node it names.
        node: u32,
        /// Nodes of the skeleton.
        nodes: usize,
    },
    /// One matrix per joint is required.
    #[error("{joints} joints need as many inverse bind matrices, not {matrices}")]
    InverseBindCount {
        /// Joints given.
        joints: usize,
        /// Matrices given.
        matrices: usize,
    },
    /// NaN or infinity.
    #[error("inverse bind matrix {joint} is not finite")]
    InverseBindNotFinite {
        /// Which.
        joint: usize,
    },
    /// The fourth row is not `0 0 0 1`.
    #[error("inverse bind matrix {joint} is not affine: its fourth row must be 0 0 0 1")]
    InverseBindNotAffine {
        /// Which.
        joint: usize,
    },
    /// Determinant zero: the bind pose of the joint cannot be recovered from it.
    #[error("inverse bind matrix {joint} cannot be inverted")]
    InverseBindSingular {
        /// Which.
        joint: usize,
    },
    /// Binding at the rest pose needs the inverse of the joint's transform.
    #[error("joint {joint} (node {node}) rests at zero scale and cannot be bound there")]
    BoundAtZeroScale {
        /// Place in the joint list.
        joint: usize,
        /// The node.
        node: u32,
    },
}

impl Skin {
    /// Joints are node indices of `skeleton`. Without `inverse_binds` every matrix is the identity,
    /// which is right only where the mesh was modelled in each joint's own space.
    pub fn new(
        name: impl Into<String>,
        skeleton: &Skeleton,
        joints: Vec<u32>,
        inverse_binds: Option<&[Mat4]>,
    ) -> Result<Self, SkinError> {
        let skin = Self::accept_singular(name, skeleton, joints, inverse_binds)?;
        match skin.inverse_binds.iter().position(|m| m.matrix3.determinant() == 0.0) {
            Some(joint) => Err(SkinError::InverseBindSingular { joint }),
            None => Ok(skin),
        }
    }

    /// As [`Skin::new`], but keeps inverse binds that cannot be inverted: forward skinning never
    /// inverts them, and files hold them.
    pub fn accept_singular(
        name: impl Into<String>,
        skeleton: &Skeleton,
        joints: Vec<u32>,
        inverse_binds: Option<&[Mat4]>,
    ) -> Result<Self, SkinError> {
        let skin = Self::accept_duplicates(name, skeleton, joints, inverse_binds)?;
        let mut first: Vec<Option<usize>> = vec![None; skeleton.len()];
        for (joint, &node) in skin.joints.iter().enumerate() {
            if let Some(first) = first[node as usize].replace(joint) {
                return Err(SkinError::DuplicateJoint { node, first, second: joint });
            }
        }
        Ok(skin)
    }

    /// As [`Skin::accept_singular`], but a node may be several joints, each with its own inverse bind: they only cost a row
    /// of the palette each, and files hold them.
    pub fn accept_duplicates(
        name: impl Into<String>,
        skeleton: &Skeleton,
        joints: Vec<u32>,
        inverse_binds: Option<&[Mat4]>,
    ) -> Result<Self, SkinError> {
        let of_node = check_joints(skeleton, &joints)?;
        let inverse_binds = match inverse_binds {
            Some(matrices) => check_matrices(joints.len(), matrices)?,
            None => vec![Affine3A::IDENTITY; joints.len()],
        };
        let parents = nearest_joints(skeleton, &of_node, &joints);
        Ok(Self { name: name.into(), joints, parents, inverse_binds })
    }

    /// Binds every joint where it rests: the palette of the rest pose is the identity.
    pub fn bind_at_rest(
        name: impl Into<String>,
        skeleton: &Skeleton,
        joints: Vec<u32>,
    ) -> Result<Self, SkinError> {
        let mut skin = Self::accept_singular(name, skeleton, joints, None)?;
        let world = skeleton.rest_world();
        for (joint, (&node, inverse)) in skin.joints.iter().zip(&mut skin.inverse_binds).enumerate() {
            let bind = world[node as usize];
            if bind.matrix3.determinant() == 0.0 {
                return Err(SkinError::BoundAtZeroScale { joint, node });
            }
            *inverse = bind.inverse();
        }
        Ok(skin)
    }

    /// The skin's name; empty where the source had none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Node index of every joint; the position is the joint's index.
    #[must_use]
    pub fn joints(&self) -> &[u32] {
        &self.joints
    }

    /// Nearest ancestor that is a joint of this skin, as a joint index; non-joint nodes are skipped.
    #[must_use]
    pub fn joint_parents(&self) -> &[Option<u32>] {
        &self.parents
    }

    /// One matrix per joint, from mesh space to the joint's space.
    #[must_use]
    pub fn inverse_binds(&self) -> &[Affine3A] {
        &self.inverse_binds
    }

    /// The first joint whose node has this name.
    #[must_use]
    pub fn find_joint(&self, skeleton: &Skeleton, name: &str) -> Option<u32> {
        self.joints.iter().position(|&n| skeleton.names()[n as usize] == name).map(|i| i as u32)
    }

    /// Whether both deform alike: same joint nodes, same matrices. Names do not count.
    #[must_use]
    pub fn same_binding(&self, other: &Self) -> bool {
        self.joints == other.joints && self.inverse_binds == other.inverse_binds
    }
}

/// First joint index by node, or what is wrong with the list.
fn check_joints(skeleton: &Skeleton, joints: &[u32]) -> Result<Vec<Option<u32>>, SkinError> {
    if joints.is_empty() {
        return Err(SkinError::NoJoints);
    }
    let mut of_node: Vec<Option<u32>> = vec![None; skeleton.len()];
    for (joint, &node) in joints.iter().enumerate() {
        let Some(place) = of_node.get_mut(node as usize) else {
            return Err(SkinError::JointOutOfRange { joint, node, nodes: skeleton.len() });
        };
        place.get_or_insert(joint as u32);
    }
    Ok(of_node)
}

fn check_matrices(joints: usize, matrices: &[Mat4]) -> Result<Vec<Affine3A>, SkinError> {
    if matrices.len() != joints {
        return Err(SkinError::InverseBindCount { joints, matrices: matrices.len() });
    }
    let check = |(joint, &matrix): (usize, &Mat4)| {
        if !matrix.is_finite() {
            Err(SkinError::InverseBindNotFinite { joint })
        } else if !is_affine(matrix) {
            Err(SkinError::InverseBindNotAffine { joint })
        } else {
            Ok(Affine3A::from_mat4(matrix))
        }
    };
    matrices.iter().enumerate().map(check).collect()
}

/// For every joint its nearest ancestor that is one, in a single pass over the nodes: walking up from
/// each joint would be quadratic in a long chain.
fn nearest_joints(skeleton: &Skeleton, of_node: &[Option<u32>], joints: &[u32]) -> Vec<Option<u32>> {
    let mut above: Vec<Option<u32>> = vec![None; skeleton.len()];
    for &node in skeleton.order() {
        if let Some(parent) = skeleton.parents()[node as usize] {
            above[node as usize] = of_node[parent as usize].or(above[parent as usize]);
        }
    }
    joints.iter().map(|&node| above[node as usize]).collect()
}
