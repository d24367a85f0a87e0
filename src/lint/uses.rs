use std::collections::BTreeSet;

use crate::model::Model;

/// Which meshes and skins go together, gathered once: a file may have tens of thousands of each.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) skins_of_mesh: Vec<BTreeSet<u32>>,
    pub(crate) meshes_of_skin: Vec<BTreeSet<u32>>,
    pub(crate) parts_of_mesh: Vec<Vec<u32>>,
}

impl Uses {
    pub(crate) fn of(model: &Model) -> Self {
        let mut uses = Self {
            skins_of_mesh: vec![BTreeSet::new(); model.meshes().len()],
            meshes_of_skin: vec![BTreeSet::new(); model.skins().len()],
            parts_of_mesh: vec![Vec::new(); model.meshes().len()],
        };
        for (index, part) in (0u32..).zip(model.parts()) {
            uses.parts_of_mesh[part.mesh as usize].push(index);
            if let Some(skin) = part.skin {
                uses.skins_of_mesh[part.mesh as usize].insert(skin);
                uses.meshes_of_skin[skin as usize].insert(part.mesh);
            }
        }
        uses
    }

    /// For each joint of a skin whether any vertex follows it.
    pub(crate) fn used_joints(&self, model: &Model, skin: u32) -> Vec<bool> {
        let mut used = vec![false; model.skins()[skin as usize].joints().len()];
        let meshes = self.meshes_of_skin[skin as usize].iter().map(|mesh| &model.meshes()[*mesh as usize]);
        for influences in meshes.flat_map(|mesh| mesh.primitives()).filter_map(|p| p.influences()) {
            for influence in (0..influences.vertices()).flat_map(|vertex| influences.row(vertex)) {
                used[influence.joint as usize] = true;
            }
        }
        used
    }
}
