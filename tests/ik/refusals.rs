//! What solvers refuse, each with what is wrong.

use sinew::ik::{Aim, Ccd, Chain, EulerBounds, IkError, Link, Spring, SpringJoint, Target, TwoBone};

use super::*;

/// Three nodes below each other and one beside them.
fn skeleton() -> Skeleton {
    let parents = [None, Some(0), Some(1), Some(2), Some(0)];
    model(parents.map(|parent| (parent, at(0.0, 1.0, 0.0)))).skeleton().clone()
}

fn chain() -> Chain {
    Chain::new(3, [2, 1, 0], Target::Node(4))
}

fn refused(change: impl FnOnce(&mut Chain)) -> String {
    let mut chain = chain();
    change(&mut chain);
    Ccd::new(&skeleton(), [chain]).unwrap_err().to_string()
}

#[test]
fn a_node_that_does_not_exist_is_refused_wherever_it_is_named() {
    let unknown = "there is no node 5; the skeleton has 5";
    assert_eq!(refused(|chain| chain.effector = 5), unknown);
    assert_eq!(refused(|chain| chain.target = Target::Node(5)), unknown);
    assert_eq!(refused(|chain| chain.links[1].node = 5), unknown);
    assert_eq!(TwoBone::new(&skeleton(), [0, 5, 3]).unwrap_err().to_string(), unknown);
    assert_eq!(Aim::new(&skeleton(), 5).unwrap_err().to_string(), unknown);
    let spring = Spring::new(&skeleton(), 5, 3, SpringJoint::default());
    assert_eq!(spring.unwrap_err().to_string(), unknown);
}

#[test]
fn a_link_that_is_no_ancestor_is_refused() {
    let not_above = |node: u32| {
        format!("node {node} is not above node 3: it must be its parent, or that one's, and so on")
    };
    assert_eq!(refused(|chain| chain.links[0].node = 4), not_above(4));
    assert_eq!(refused(|chain| chain.links[2].node = 3), not_above(3));
    assert_eq!(Spring::new(&skeleton(), 4, 3, SpringJoint::default()).unwrap_err().to_string(), not_above(4));
    let limbs = [[0, 3, 2], [1, 1, 3], [4, 2, 3], [3, 2, 1]];
    for limb in limbs {
        assert!(matches!(TwoBone::new(&skeleton(), limb), Err(IkError::NotAbove { .. })), "{limb:?}");
    }
}

#[test]
fn a_blend_outside_0_to_1_is_refused_and_changes_nothing() {
    let mut solver = Ccd::new(&skeleton(), [chain()]).unwrap();
    for blend in [-0.001, 1.001, f32::NAN, f32::INFINITY] {
        let error = format!("a blend is 0 to 1, not {blend}");
        assert_eq!(refused(|chain| chain.blend = Some(blend)), error);
        assert_eq!(solver.set_blend(blend).unwrap_err().to_string(), error);
        assert_eq!(solver.set_chain_blend(0, Some(blend)).unwrap_err().to_string(), error);
    }
    assert_eq!(solver.chains().next().unwrap(), &chain());
}

#[test]
fn angles_axes_and_bounds_that_are_none_are_refused() {
    for angle in [-0.1, f32::NAN] {
        let error = format!("the least and the largest angle of a turn are 0 or more, not {angle}");
        assert_eq!(refused(|chain| chain.min_angle = Some(angle)), error);
        assert_eq!(refused(|chain| chain.max_angle = Some(angle)), error);
    }
    for axis in [Vec3::ZERO, Vec3::NAN, Vec3::X * f32::INFINITY] {
        let text = refused(|chain| chain.links[0].axis = Some(axis));
        assert!(text.starts_with("the axis of node 2 has no direction"), "{text}");
    }
    let bounds = |min, max| Some(EulerBounds { min, max, ..Default::default() });
    let bad = [
        bounds(Some(Vec3::X), Some(Vec3::ZERO)),
        bounds(Some(Vec3::NAN), None),
        bounds(None, Some(Vec3::NAN)),
        bounds(Some(Vec3::INFINITY), None),
    ];
    for bounds in bad {
        let text = refused(|chain| chain.links[0].bounds = bounds);
        assert!(text.starts_with("no angle is within the bounds of node 2"), "{text}");
    }
    let open = bounds(Some(Vec3::NEG_INFINITY), Some(Vec3::INFINITY));
    let links = [Link { bounds: open, ..Link::new(2) }];
    assert!(Ccd::new(&skeleton(), [Chain { links: links.into(), ..chain() }]).is_ok());
}

#[test]
fn chains_and_links_that_do_not_exist_are_refused_with_numbers() {
    let mut solver = Ccd::new(&skeleton(), [chain()]).unwrap();
    let errors = [
        solver.set_target(1, Target::Node(0)).unwrap_err(),
        solver.set_iterations(1, 2).unwrap_err(),
        solver.enable_chain(1, true).unwrap_err(),
        solver.set_chain_blend(1, None).unwrap_err(),
        solver.enable_link(1, 0, true).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "there is no chain 1; the solver has 1");
    }
    let error = solver.enable_link(0, 3, false).unwrap_err();
    assert_eq!(error.to_string(), "chain 0 has no link 3; it has 3");
}

#[test]
fn a_solver_made_for_another_skeleton_is_refused_when_it_is_added() {
    let solvers = |skeleton: &Skeleton| {
        let ccd = Ccd::new(skeleton, [chain()]).unwrap();
        let limb = TwoBone::new(skeleton, [0, 1, 3]).unwrap();
        let aim = Aim::new(skeleton, 4).unwrap();
        let spring = Spring::new(skeleton, 1, 3, SpringJoint::default()).unwrap();
        (ccd, limb, aim, spring)
    };
    let (ccd, limb, aim, spring) = solvers(&skeleton());
    // Fewer nodes; as many, but in other places; one between them.
    let others: [&[Option<u32>]; 2] =
        [&[None, Some(0)], &[None, Some(2), Some(0), Some(0), Some(2), Some(0)]];
    for others in others {
        let mut stage = Stage::new(model(others.iter().map(|parent| (*parent, at(0.0, 1.0, 0.0)))));
        let (id, animator) = (stage.id, &mut stage.animator);
        assert!(animator.add_modifier(id, ccd.clone()).is_err());
        assert!(animator.add_modifier(id, limb.clone()).is_err());
        assert!(animator.add_modifier(id, spring.clone()).is_err());
        assert_eq!(animator.add_modifier(id, aim.clone()).is_ok(), others.len() > 4);
    }
    let between = [None, Some(0), Some(1), Some(5), Some(0), Some(2)];
    let mut stage = Stage::new(model(between.map(|parent| (parent, at(0.0, 1.0, 0.0)))));
    assert!(stage.animator.add_modifier(stage.id, ccd).is_err());
    assert!(stage.animator.add_modifier(stage.id, spring).is_err());
    assert!(stage.animator.add_modifier(stage.id, limb).is_ok(), "nodes between do not matter to a limb");
}

#[test]
fn targets_told_later_that_do_not_exist_leave_the_pose_as_it_is() {
    let mut stage = Stage::new(model([None, Some(0), Some(1), Some(2)].map(|p| (p, at(0.1, 1.0, 0.0)))));
    stage.animator.evaluate();
    let before = stage.pose();
    let nowhere = [
        Target::Node(99),
        Target::Model(Vec3::NAN),
        Target::Scene(Vec3::INFINITY),
        Target::Model(Vec3::splat(f32::INFINITY)),
    ];
    let skeleton = stage.model.skeleton().clone();
    let ccd = stage.add(Ccd::new(&skeleton, [Chain::new(3, [2, 1, 0], Target::Node(0))]).unwrap());
    let limb = stage.add(TwoBone::new(&skeleton, [0, 1, 3]).unwrap());
    let aim = stage.add(Aim::new(&skeleton, 2).unwrap());
    for target in nowhere {
        let (id, animator) = (stage.id, &mut stage.animator);
        animator.modifier_mut::<Ccd>(id, ccd).unwrap().set_target(0, target).unwrap();
        animator.modifier_mut::<TwoBone>(id, limb).unwrap().target = target;
        animator.modifier_mut::<Aim>(id, aim).unwrap().target = target;
        animator.evaluate();
        assert_eq!(stage.pose(), before, "{target:?}");
    }
    // A scene that has no volume has no point of it either.
    stage.animator.modifier_mut::<Aim>(stage.id, aim).unwrap().target = Target::Scene(Vec3::ONE);
    stage.animator.set_transform(stage.id, Affine3A::from_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
    stage.animator.evaluate();
    assert_eq!(stage.pose(), before);
}
