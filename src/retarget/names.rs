use std::collections::{BTreeMap, HashMap};

use crate::{
    animate::node_names::{names_of_joints_or_all, nodes_by_name_joints_first},
    model::Model,
};

/// What tools put before every joint's name, in lower case; digits and a separator may follow.
const PREFIXES: [&str; 7] = ["mixamorig", "bip001", "bip01", "cc_base", "valvebiped", "j_bip", "def"];

/// Plain names of the joint that carries the body.
const HIPS: [&str; 3] = ["hip", "hips", "pelvis"];

/// Names that are equal in both models, as [`names`](super::RetargetOptions::names): target name to source name.
/// Case does not count, `.`, `-` and blanks count as `_`, everything up to the last `:` or `|` is dropped, and so are
/// the prefixes `mixamorig` (with a number or without), `Bip001`, `Bip01`, `CC_Base`, `ValveBiped`, `J_Bip` and
/// `DEF`. Of several source joints with the same plain name the first is taken. Only joints of skins take part
/// where a model has skins.
#[must_use]
pub fn names_alike(source: &Model, target: &Model) -> BTreeMap<String, String> {
    let mut sources = HashMap::new();
    for name in names_of_joints_or_all(source) {
        sources.entry(plain(name)).or_insert(name);
    }
    let pair = |name: &str| Some((name.to_owned(), (*sources.get(&plain(name))?).to_owned()));
    names_of_joints_or_all(target).filter_map(pair).collect()
}

/// The source joint that carries the body, among those that `names` maps: the first called `hip`, `hips` or `pelvis`
/// but for what [`names_alike`] leaves out, else the one that all others hang on.
#[must_use]
pub fn hip_of(source: &Model, names: &BTreeMap<String, String>) -> Option<String> {
    let nodes = nodes_by_name_joints_first(source);
    let skeleton = source.skeleton();
    let name_of = |node: u32| &skeleton.names()[node as usize];
    let mut is_mapped = vec![false; skeleton.len()];
    let mapped = names.values().filter_map(|name| nodes.get(name.as_str()));
    mapped.for_each(|&node| is_mapped[node as usize] = true);
    let mut mapped = skeleton.order().iter().copied().filter(|&node| is_mapped[node as usize]);
    if let Some(node) = mapped.clone().find(|&node| HIPS.contains(&plain(name_of(node)).as_str())) {
        return Some(name_of(node).clone());
    }
    // Parents come first, so that nothing else can be above all.
    let top = mapped.next()?;
    let is_below =
        |node: u32| std::iter::successors(Some(node), |&n| skeleton.parents()[n as usize]).any(|n| n == top);
    mapped.all(is_below).then(|| name_of(top).clone())
}

/// A name without what differs from tool to tool.
fn plain(name: &str) -> String {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let separated = |c: char| if matches!(c, '.' | '-' | ' ') { '_' } else { c };
    let name: String = name.chars().map(separated).flat_map(char::to_lowercase).collect();
    let without = PREFIXES.iter().find_map(|prefix| {
        let rest = name.strip_prefix(prefix)?;
        let bare = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let bare = bare.strip_prefix('_').or_else(|| (*prefix == "mixamorig").then_some(bare))?;
        (!bare.is_empty()).then(|| bare.to_owned())
    });
    without.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn prefixes_and_case_and_separators_do_not_count() {
        for name in
            ["Left.Arm", "mixamorig:Left_Arm", "mixamorigLeft_Arm", "mixamorig5:left-arm", "DEF-left arm"]
        {
            assert_eq!(plain(name), "left_arm", "{name}");
        }
        assert_eq!(plain("Bip001 L Thigh"), "l_thigh");
        assert_eq!(plain("Armature|Hips"), "hips");
    }

    #[test]
    fn a_name_that_merely_begins_like_a_prefix_stays() {
        for name in ["deform", "default", "mixamorig", "bip01", "def"] {
            assert_eq!(plain(name), name);
        }
    }
}
