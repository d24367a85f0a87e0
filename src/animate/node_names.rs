//! Nodes by their names, which a model may give to several nodes or to none.

use std::collections::HashMap;

use crate::model::Model;

/// Which nodes are joints of any skin.
pub(crate) fn joints_of_skins(model: &Model) -> Vec<bool> {
    let mut is_joint = vec![false; model.skeleton().len()];
    model.skins().iter().flat_map(|skin| skin.joints()).for_each(|&node| is_joint[node as usize] = true);
    is_joint
}

/// Nodes whose name no other node has. Empty names are none.
pub(crate) fn uniquely_named_nodes(model: &Model) -> HashMap<&str, u32> {
    let mut nodes: HashMap<&str, Option<u32>> = HashMap::new();
    for (node, name) in (0..).zip(model.skeleton().names()).filter(|(_, name)| !name.is_empty()) {
        nodes.entry(name.as_str()).and_modify(|known| *known = None).or_insert(Some(node));
    }
    nodes.into_iter().filter_map(|(name, node)| Some((name, node?))).collect()
}

/// The first joint of a skin with each name, else the first node.
pub(crate) fn nodes_by_name_joints_first(model: &Model) -> HashMap<&str, u32> {
    let is_joint = joints_of_skins(model);
    let names = model.skeleton().names();
    let mut nodes = HashMap::new();
    for wanted in [true, false] {
        for (node, name) in (0u32..).zip(names).filter(|(node, _)| is_joint[*node as usize] == wanted) {
            nodes.entry(name.as_str()).or_insert(node);
        }
    }
    nodes
}

/// Names of the joints of all skins, in node order; of all nodes where there is no skin. Never empty ones.
pub(crate) fn names_of_joints_or_all(model: &Model) -> impl Iterator<Item = &str> {
    let is_joint = joints_of_skins(model);
    let all = model.skins().is_empty();
    let names = model.skeleton().names().iter().zip(is_joint);
    names.filter(move |(name, joint)| !name.is_empty() && (all || *joint)).map(|(name, _)| name.as_str())
}
