//! A part of a model once more beside itself.

use super::{Model, ModelDesc, ModelError, Node, Part, Skeleton, Skin, SkinError};

/// A model with a sub-tree once more, and which node became which.
#[derive(Clone, Debug)]
pub struct Copied {
    /// Everything of the original under its old indices, the copies behind.
    pub model: Model,
    /// (node, its copy), ascending; the first pair need not be the root's.
    pub nodes: Vec<(u32, u32)>,
}

impl Copied {
    /// The copy of a node; `None` outside the sub-tree.
    #[must_use]
    pub fn copy_of(&self, node: u32) -> Option<u32> {
        self.nodes.binary_search_by_key(&node, |(node, _)| *node).ok().map(|at| self.nodes[at].1)
    }
}

impl Model {
    /// This model with a copy of `node` and of everything below it, beside it under the same parent and in the same
    /// scenes. The copies have the originals' names, rest pose, meshes and morph weights. A copied mesh follows the copies
    /// of those joints that were copied; a joint outside the sub-tree keeps the original. Clips go on driving the
    /// originals alone.
    ///
    /// Fails where there is no such node.
    pub fn with_copy_of(&self, node: u32) -> Result<Copied, ModelError> {
        let skeleton = self.skeleton();
        super::in_range(|| "the copy".into(), "node", node, skeleton.len())?;
        let mut inside = skeleton.sub_tree(node);
        inside.sort_unstable();
        let is_inside = |node: u32| inside.binary_search(&node).is_ok();
        let nodes: Vec<(u32, u32)> = inside.iter().copied().zip(skeleton.len() as u32..).collect();
        let copy_of = |n: u32| nodes.binary_search_by_key(&n, |(n, _)| *n).map_or(n, |at| nodes[at].1);

        let mut desc = ModelDesc::clone(&self.data.desc);
        let node_of = |n: u32| Node {
            name: skeleton.names()[n as usize].clone(),
            parent: skeleton.parents()[n as usize],
            rest: skeleton.rest()[n as usize],
        };
        let mut all: Vec<Node> = (0..skeleton.len() as u32).map(node_of).collect();
        all.extend(nodes.iter().map(|(n, _)| {
            let original = node_of(*n);
            // What is above the sub-tree has no copy.
            Node { parent: original.parent.map(copy_of), ..original }
        }));
        desc.skeleton = Skeleton::new(all).map_err(|_| unknown(node, skeleton.len()))?;
        for scene in desc.scenes.iter_mut().filter(|scene| scene.roots.contains(&node)) {
            scene.roots.push(copy_of(node));
        }
        let mut copied_skins = vec![None; desc.skins.len()];
        for part in self.parts().iter().filter(|part| is_inside(part.node)) {
            let mut copy = Part { node: copy_of(part.node), ..part.clone() };
            if let Some(skin) = part.skin {
                let known = &mut copied_skins[skin as usize];
                let original = &self.skins()[skin as usize];
                copy.skin = Some(match *known {
                    Some(copied) => copied,
                    None if original.joints().iter().any(|joint| is_inside(*joint)) => {
                        desc.skins.push(rebound(original, &desc.skeleton, copy_of)?);
                        desc.skins.len() as u32 - 1
                    }
                    None => skin,
                });
                *known = copy.skin;
            }
            desc.parts.push(copy);
        }
        Ok(Copied { model: Self::new(desc)?, nodes })
    }
}

/// The skin with the copies of its joints.
fn rebound(skin: &Skin, skeleton: &Skeleton, copy_of: impl Fn(u32) -> u32) -> Result<Skin, SkinError> {
    let joints = skin.joints().iter().map(|joint| copy_of(*joint)).collect();
    let binds: Vec<_> = skin.inverse_binds().iter().map(|bind| (*bind).into()).collect();
    Skin::accept_duplicates(skin.name(), skeleton, joints, Some(&binds))
}

fn unknown(index: u32, count: usize) -> ModelError {
    ModelError::OutOfRange { place: "the copy".into(), kind: "node", index, count }
}
