//! Joints of skins. A skin of glTF lists a node once.

use std::collections::{HashMap, hash_map::Entry};

use crate::model::Model;

/// The joints of all skins, and the nodes that were added so that each is listed once.
pub(super) struct Joints {
    /// By skin.
    pub(super) of_skins: Vec<Vec<u32>>,
    /// The parent of each added node, which follow the model's own. They stand where their parents do.
    pub(super) added: Vec<u32>,
}

impl Joints {
    pub(super) fn of(model: &Model) -> Self {
        let mut added = Vec::new();
        let nodes = model.skeleton().len() as u32;
        // The child that stands for a node when it is listed for the second time, the third and so on.
        let mut children: HashMap<(u32, u32), u32> = HashMap::new();
        let of_skins = model.skins().iter().map(|skin| {
            let mut times: HashMap<u32, u32> = HashMap::new();
            let joint = |&node: &u32| match times.entry(node) {
                Entry::Vacant(first) => {
                    first.insert(0);
                    node
                }
                Entry::Occupied(mut again) => {
                    *again.get_mut() += 1;
                    *children.entry((node, *again.get())).or_insert_with(|| {
                        added.push(node);
                        nodes + added.len() as u32 - 1
                    })
                }
            };
            skin.joints().iter().map(joint).collect()
        });
        Self { of_skins: of_skins.collect(), added }
    }
}
