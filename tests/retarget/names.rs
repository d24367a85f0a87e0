//! Which names count as equal.

use sinew::{
    model::{ModelDesc, Skeleton, Transform},
    retarget::{Retarget, RetargetOptions, hip_of, names_alike},
};

use crate::bodies::{body, model, node};

fn named(names: &[&str]) -> sinew::Model {
    let nodes = names.iter().map(|name| node(name, None, Transform::IDENTITY)).collect();
    model(ModelDesc { skeleton: Skeleton::new(nodes).unwrap(), ..Default::default() })
}

fn pairs(source: &[&str], target: &[&str]) -> Vec<(String, String)> {
    names_alike(&named(source), &named(target)).into_iter().collect()
}

fn pair(target: &str, source: &str) -> (String, String) {
    (target.into(), source.into())
}

#[test]
fn prefixes_of_tools_and_case_do_not_count() {
    let found =
        pairs(&["mixamorig:Hips", "mixamorig:LeftArm", "mixamorig:Tail"], &["hips", "leftarm", "Hat"]);
    assert_eq!(found, [pair("hips", "mixamorig:Hips"), pair("leftarm", "mixamorig:LeftArm")]);
    assert_eq!(pairs(&["hand.L"], &["DEF-hand_l"]), [pair("DEF-hand_l", "hand.L")]);
}

#[test]
fn of_equal_names_the_first_counts_and_nameless_nodes_never() {
    assert_eq!(pairs(&["", "Hip", "hip"], &["", "HIP"]), [pair("HIP", "Hip")]);
}

#[test]
fn where_there_are_skins_only_their_joints_take_part() {
    let names = names_alike(&model(body(1.0)), &model(body(2.0)));
    assert_eq!(names.into_keys().collect::<Vec<_>>(), ["arm", "hand", "hip"]);
}

#[test]
fn the_hip_is_the_one_called_so_else_the_one_that_all_hang_on() {
    let chain = |names: &[&str]| {
        let nodes = (0u32..).zip(names).map(|(i, name)| node(name, i.checked_sub(1), Transform::IDENTITY));
        model(ModelDesc { skeleton: Skeleton::new(nodes.collect()).unwrap(), ..Default::default() })
    };
    let hip = |source: &sinew::Model| hip_of(source, &names_alike(source, source));
    assert_eq!(hip(&chain(&["root", "Bip001 Pelvis", "spine"])).as_deref(), Some("Bip001 Pelvis"));
    assert_eq!(hip(&chain(&["root", "hip_l", "spine"])).as_deref(), Some("root"));
    assert_eq!(hip(&named(&["left", "right"])), None);
}

#[test]
fn of_nodes_with_one_name_a_joint_of_a_skin_is_meant() {
    // The mesh node comes first and is called as the joint.
    let nodes =
        vec![node("hip", None, Transform::IDENTITY), node("hip", None, crate::bodies::at(0.0, 1.0, 0.0))];
    let source = model(crate::bodies::skinned(nodes, &[1], 0, None));
    let options = RetargetOptions { names: crate::bodies::alike(&["hip"]), ..Default::default() };
    let retarget = Retarget::new(&source, &model(body(1.0)), &options).unwrap();
    assert_eq!(retarget.report().mapped[0].source, 1);
}
