//! Instances that take another one's pose.

use glam::Mat4;
use sinew::{
    CpuDeformer, Precision,
    animate::{FollowError, JointMap, JointMapError},
    model::{Influence, Influences},
};

use super::*;

const COLLAR: u32 = 0;
const SLEEVE: u32 = 1;
const CUFF: u32 = 2;
const COAT: u32 = 3;

/// collar → sleeve → cuff, and a coat on all three that is bound where the sleeve stands 2 higher and the cuff at the
/// origin; one clip turns the cuff, and the sleeve, by a quarter.
pub(super) fn outfit() -> Model {
    let node = |name: &str, parent, x: f32| Node {
        name: name.into(),
        parent,
        rest: Transform::from_translation(Vec3::X * x),
    };
    let nodes = vec![
        node("root", None, 5.0),
        node("arm", Some(COLLAR), 7.0),
        node("cuff", Some(SLEEVE), 0.5),
        node("coat", None, 0.0),
    ];
    let skeleton = Skeleton::new(nodes).unwrap();
    let binds = [Mat4::IDENTITY, Mat4::from_translation(Vec3::Y * -2.0), Mat4::IDENTITY];
    let skin = Skin::new("skin", &skeleton, vec![COLLAR, SLEEVE, CUFF], Some(&binds)).unwrap();
    let mut influences = Influences::with_capacity(3);
    for joint in 0..3 {
        influences.push([Influence { joint, weight: 1.0 }]);
    }
    let primitive = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::X; 3],
        influences: Some(influences),
        ..Default::default()
    };
    let quarter = [turn(0.0), turn(FRAC_PI_2)].concat();
    let tracks = [CUFF, SLEEVE].map(|node| track(node, Channel::Rotation, &quarter));
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![Mesh::new("mesh", vec![primitive], Vec::new()).unwrap()],
        parts: vec![Part { node: COAT, mesh: 0, skin: Some(0), weights: Vec::new() }],
        clips: vec![Clip::new("turn", tracks.into()).unwrap()],
        ..Default::default()
    })
    .unwrap()
}

/// A leader and its follower, whose model comes first or second.
struct Pair {
    stage: Stage,
    outfit: Model,
    outfits: ModelId,
    id: InstanceId,
}

impl Pair {
    fn new() -> Self {
        let mut stage = Stage::new();
        let outfit = outfit();
        let outfits = stage.animator.add_model(&outfit);
        let map = JointMap::by_name(&outfit, &stage.model);
        let id = stage.animator.spawn_following(outfits, stage.id, &map).unwrap();
        Self { stage, outfit, outfits, id }
    }

    /// Of the follower, after an evaluation.
    fn world(&mut self, node: u32) -> Affine3A {
        self.stage.animator.evaluate();
        self.stage.animator.world(self.id).unwrap()[node as usize]
    }

    /// Of the leader, as of the last one.
    fn led(&self, node: u32) -> Affine3A {
        self.stage.animator.world(self.stage.id).unwrap()[node as usize]
    }

    fn follows(&mut self) {
        assert_eq!((self.world(COLLAR), self.world(SLEEVE)), (self.led(ROOT), self.led(ARM)));
    }
}

#[test]
fn a_map_by_names_says_which_nodes_are_left_over() {
    let map = JointMap::by_name(&outfit(), &model());
    assert_eq!(map.pairs(), [(COLLAR, ROOT), (SLEEVE, ARM)]);
    assert_eq!((map.unmapped(), map.unmapped_joints()), (vec![CUFF, COAT], vec![CUFF]));
    assert_eq!((map.leader_of(SLEEVE), map.leader_of(CUFF), map.leader_of(99)), (Some(ARM), None, None));
}

#[test]
fn names_that_are_empty_or_shared_map_nothing() {
    let named = |names: &[&str]| {
        let node = |name: &&str| Node { name: (*name).into(), ..Default::default() };
        let skeleton = Skeleton::new(names.iter().map(node).collect()).unwrap();
        Model::new(ModelDesc { skeleton, ..Default::default() }).unwrap()
    };
    let map = JointMap::by_name(&named(&["", "a", "b", "b", "c"]), &named(&["", "c", "b", "a", "a"]));
    assert_eq!(map.pairs(), [(4, 1)]);
}

#[test]
fn wrong_maps_are_refused_with_the_pair() {
    let (outfit, model) = (outfit(), model());
    let refused = |pairs: &[(u32, u32)]| JointMap::new(&outfit, &model, pairs.iter().copied()).unwrap_err();
    assert_eq!(refused(&[(0, 0), (4, 0)]), JointMapError::UnknownFollowerNode { pair: 1, node: 4, nodes: 4 });
    assert_eq!(refused(&[(0, 9)]), JointMapError::UnknownLeaderNode { pair: 0, node: 9, nodes: 4 });
    assert_eq!(
        refused(&[(1, 0), (2, 0), (1, 1)]),
        JointMapError::MappedTwice { node: 1, first: 0, second: 2 }
    );
}

#[test]
fn a_mapped_node_stands_where_the_leaders_stands_bit_for_bit() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 0.37, 1.0, LayerKind::Blend);
    pair.stage.layer(1, 0.81, 0.3, LayerKind::Blend);
    pair.follows();
    assert_ne!(pair.led(ARM), Affine3A::from_translation(Vec3::X));
}

#[test]
fn overrides_world_poses_and_conversions_of_the_leader_count() {
    let mut pair = Pair::new();
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    animator.set_scale(leader, ROOT, Vec3::splat(1.5)).unwrap();
    animator.set_conversion(leader, Mat3A::from_rotation_x(-FRAC_PI_2)).unwrap();
    let transform = Transform::from_translation(Vec3::new(3.0, 4.0, 5.0));
    animator.set_world_poses(leader, [WorldPose { node: ARM, transform, weight: 0.5 }]).unwrap();
    pair.follows();
    pair.stage.animator.set_world(leader, Some(&[Affine3A::from_scale(Vec3::splat(9.0)); 4])).unwrap();
    pair.follows();
}

#[test]
fn a_joint_that_the_leader_hides_has_no_size_on_the_follower() {
    let mut pair = Pair::new();
    pair.stage.animator.show_node(pair.stage.id, ARM, false).unwrap();
    pair.follows();
    assert_eq!(pair.world(SLEEVE).matrix3, Mat3A::ZERO);
    assert_eq!(pair.world(CUFF), Affine3A { matrix3: Mat3A::ZERO, translation: pair.led(ARM).translation });
}

#[test]
fn a_joint_that_the_follower_hides_has_no_size_nor_has_what_is_below_it() {
    let mut pair = Pair::new();
    pair.stage.animator.show_node(pair.id, COLLAR, false).unwrap();
    let point = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3::ZERO.into() };
    assert_eq!([pair.world(COLLAR), pair.world(SLEEVE), pair.world(CUFF)], [point; 3]);
    pair.stage.animator.show_node(pair.id, COLLAR, true).unwrap();
    pair.follows();
}

#[test]
fn an_unmapped_joint_keeps_its_own_transform_under_its_mapped_parent() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 1.0, 1.0, LayerKind::Blend);
    // The arm stands at 1 along x, turned by a quarter; the cuff half a metre along its x.
    near(pair.world(CUFF).translation.into(), Vec3::new(1.0, 0.5, 0.0));
}

#[test]
fn the_followers_own_layers_and_overrides_drive_unmapped_nodes_alone() {
    let mut pair = Pair::new();
    let layer = pair.stage.animator.add_layer(pair.id, 0, LayerKind::Blend).unwrap();
    layer.player.seek(1.0);
    pair.stage.animator.set_translation(pair.id, SLEEVE, Vec3::Z).unwrap();
    pair.stage.animator.set_translation(pair.id, CUFF, Vec3::Y).unwrap();
    pair.follows();
    let cuff = pair.world(CUFF);
    near(cuff.translation.into(), Vec3::new(1.0, 1.0, 0.0));
    near(cuff.transform_vector3(Vec3::X), Vec3::Y);
}

#[test]
fn a_world_pose_of_an_unmapped_node_is_reached_under_a_mapped_parent() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 1.0, 1.0, LayerKind::Blend);
    let transform = Transform::from_translation(Vec3::new(3.0, 4.0, 5.0));
    let pose = |node| WorldPose { node, transform, weight: 1.0 };
    pair.stage.animator.set_world_poses(pair.id, [pose(CUFF), pose(SLEEVE)]).unwrap();
    pair.follows();
    near(pair.world(CUFF).translation.into(), transform.translation);
}

#[test]
fn a_palette_row_is_the_leaders_matrix_times_the_followers_inverse_bind() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 0.37, 1.0, LayerKind::Blend);
    pair.stage.animator.evaluate();
    let expected = pair.led(ARM) * Affine3A::from_translation(Vec3::Y * -2.0);
    let palette = pair.stage.animator.palette(pair.id).unwrap();
    assert_eq!(palette[..2], [JointMatrix::from(pair.led(ROOT)), JointMatrix::from(expected)]);
}

#[test]
fn the_order_of_models_and_instances_is_of_no_matter() {
    let (model, outfit) = (model(), outfit());
    let map = JointMap::by_name(&outfit, &model);
    let mut animator = Animator::new();
    let outfits = animator.add_model(&outfit);
    let models = animator.add_model(&model);
    let leader = animator.spawn(models).unwrap();
    let follower = animator.spawn_following(outfits, leader, &map).unwrap();
    // Of the same model as its leader, in a slot before it.
    let own = JointMap::by_name(&model, &model);
    let gone = animator.spawn(models).unwrap();
    let last = animator.spawn(models).unwrap();
    let twin = animator.spawn_following(models, last, &own).unwrap();
    animator.despawn(gone).unwrap();
    for id in [leader, last] {
        animator.play(id, "turn").unwrap().seek(0.8);
    }
    animator.evaluate();
    assert_eq!(animator.world(twin).unwrap(), animator.world(last).unwrap());
    assert_eq!(animator.world(follower).unwrap()[1], animator.world(leader).unwrap()[1]);
    assert_eq!(animator.palette(twin).unwrap(), animator.palette(last).unwrap());
}

#[test]
fn palettes_that_are_evaluated_elsewhere_are_the_same() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 0.37, 1.0, LayerKind::Blend);
    let animator = &mut pair.stage.animator;
    animator.evaluate();
    let kept: Vec<_> = animator.instances().flat_map(|id| animator.palette(id).unwrap().to_vec()).collect();
    let mut elsewhere = vec![JointMatrix::IDENTITY; animator.palette_rows()];
    animator.evaluate_into(&mut elsewhere).unwrap();
    assert_eq!(elsewhere, kept);
}

#[test]
fn the_leader_says_where_the_follower_stands_and_how_it_is_drawn() {
    let mut pair = Pair::new();
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    let place = |x: f32| Affine3A::from_translation(Vec3::X * x);
    animator.set_transform(leader, place(3.0)).unwrap();
    animator.set_bind_mode(leader, BindMode::Detached).unwrap();
    assert_eq!(animator.transform(pair.id), Ok(place(3.0)));
    assert_eq!(animator.draw_transform(pair.id), Ok(place(6.0)));
    animator.evaluate();
    animator.set_transform(leader, place(4.0)).unwrap();
    animator.evaluate();
    assert_eq!(animator.previous_transform(pair.id), Ok(place(3.0)));
    let follows = AnimateError::Follow(FollowError::Follows { instance: pair.id, leader });
    assert_eq!(animator.set_transform(pair.id, place(1.0)), Err(follows.clone()));
    assert_eq!(animator.set_bind_mode(pair.id, BindMode::Attached), Err(follows));
}

#[test]
fn a_leader_that_forgets_the_frame_before_makes_its_follower_forget_it() {
    let mut pair = Pair::new();
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    (0..2).for_each(|_| animator.evaluate());
    assert_eq!(animator.is_first(pair.id), Ok(false));
    animator.set_transform(leader, Affine3A::from_translation(Vec3::Y)).unwrap();
    animator.forget_previous(leader).unwrap();
    animator.evaluate();
    assert_eq!(animator.is_first(pair.id), Ok(true));
    assert_eq!(animator.previous_transform(pair.id), animator.transform(leader));
}

#[test]
fn a_hidden_leader_hides_its_follower() {
    let mut pair = Pair::new();
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    animator.set_visible(leader, false).unwrap();
    assert_eq!((animator.is_shown(pair.id), animator.is_part_shown(pair.id, 0)), (Ok(false), Ok(false)));
    assert_eq!(animator.visible(pair.id), Ok(true));
    animator.set_visible(leader, true).unwrap();
    assert_eq!(animator.is_shown(pair.id), Ok(true));
    // Each is in view by itself.
    animator.set_in_view(Some(&[pair.id])).unwrap();
    assert_eq!((animator.is_shown(leader), animator.is_shown(pair.id)), (Ok(false), Ok(true)));
}

#[test]
fn a_follower_whose_leader_is_gone_stays_as_it_was_and_says_so() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 1.0, 1.0, LayerKind::Blend);
    let place = Affine3A::from_translation(Vec3::Z);
    pair.stage.animator.set_transform(pair.stage.id, place).unwrap();
    let before = (pair.world(SLEEVE), pair.world(CUFF));
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    assert_eq!(animator.leader(pair.id), Ok(Some(leader)));
    assert_eq!(animator.leader(leader), Ok(None));
    animator.despawn(leader).unwrap();
    let gone = FollowError::LeaderGone { instance: pair.id, leader };
    assert_eq!(animator.leader(pair.id), Err(AnimateError::Follow(gone)));
    assert_eq!(animator.transform(pair.id), Ok(place));
    // Another instance in the leader's place is not its leader.
    let other = animator.spawn(pair.stage.handle).unwrap();
    animator.set_translation(other, ROOT, Vec3::Y).unwrap();
    assert_eq!((pair.world(SLEEVE), pair.world(CUFF)), before);
    // It is free to go elsewhere, and nothing is left of it once it is gone.
    let animator = &mut pair.stage.animator;
    animator.set_transform(pair.id, Affine3A::IDENTITY).unwrap();
    animator.despawn(pair.id).unwrap();
    animator.evaluate();
    assert_eq!(animator.leader(pair.id), Err(AnimateError::StaleInstance(pair.id)));
}

#[test]
fn a_follower_whose_leader_was_never_evaluated_stands_in_its_own_pose() {
    let mut pair = Pair::new();
    pair.stage.animator.despawn(pair.stage.id).unwrap();
    near(pair.world(CUFF).translation.into(), Vec3::X * 12.5);
}

#[test]
fn nobody_follows_a_follower_a_stale_instance_or_by_the_map_of_other_models() {
    let mut pair = Pair::new();
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    let follow = |error: FollowError| Err(AnimateError::Follow(error));
    let back = JointMap::by_name(&pair.stage.model, &pair.outfit);
    assert_eq!(
        animator.spawn_following(pair.stage.handle, pair.id, &back),
        follow(FollowError::LeaderFollows { instance: pair.id, leader })
    );
    assert_eq!(
        animator.spawn_following(pair.outfits, leader, &back),
        follow(FollowError::OtherMap { follower: pair.outfits, leader })
    );
    let map = JointMap::by_name(&pair.outfit, &pair.stage.model);
    let stale = animator.spawn(pair.stage.handle).unwrap();
    animator.despawn(stale).unwrap();
    assert_eq!(animator.spawn_following(pair.outfits, stale, &map), Err(AnimateError::StaleInstance(stale)));
    let count = animator.instance_count(pair.outfits);
    assert_eq!(count, Ok(1), "what was refused has left nothing behind");
}

#[test]
fn poses_are_kept_as_long_as_they_are_followed() {
    let mut pair = Pair::new();
    let (leader, model, animator) = (pair.stage.id, pair.stage.handle, &mut pair.stage.animator);
    let followed = FollowError::PosesFollowed { model, follower: pair.id };
    assert_eq!(animator.keep_poses(model, false), Err(AnimateError::Follow(followed)));
    // Its own need not be.
    animator.keep_poses(pair.outfits, false).unwrap();
    animator.evaluate();
    let rows = animator.palette(pair.id).unwrap();
    assert_eq!(rows[0], JointMatrix::from(animator.world(leader).unwrap()[0]));
    animator.despawn(pair.id).unwrap();
    animator.keep_poses(model, false).unwrap();
    let map = JointMap::by_name(&pair.outfit, &pair.stage.model);
    assert_eq!(
        animator.spawn_following(pair.outfits, leader, &map),
        Err(AnimateError::PosesNotKept { model })
    );
}

#[test]
fn a_leader_that_is_evaluated_every_third_frame_is_followed_in_every_one() {
    let mut pair = Pair::new();
    pair.stage.animator.play(pair.stage.id, "turn").unwrap();
    pair.stage.animator.set_rate(pair.stage.id, 3).unwrap();
    let mut seen = Vec::new();
    for _ in 0..8 {
        pair.stage.animator.advance(0.1);
        pair.follows();
        seen.push(pair.world(SLEEVE));
    }
    seen.dedup();
    assert_eq!(seen.len(), 8);
}

#[test]
fn a_follower_that_is_evaluated_every_third_frame_follows_in_every_one() {
    let mut pair = Pair::new();
    pair.stage.animator.play(pair.stage.id, "turn").unwrap();
    pair.stage.animator.play(pair.id, "turn").unwrap();
    pair.stage.animator.set_rate(pair.id, 3).unwrap();
    for _ in 0..8 {
        pair.stage.animator.advance(0.1);
        pair.follows();
    }
}

#[test]
fn the_palette_of_the_frame_before_is_kept_of_a_follower_too() {
    let mut pair = Pair::new();
    pair.stage.animator.keep_previous_palettes(true);
    pair.stage.animator.play(pair.stage.id, "turn").unwrap();
    let mut before = None;
    for _ in 0..3 {
        pair.stage.animator.advance(0.1);
        pair.stage.animator.evaluate();
        let palette = pair.stage.animator.palette(pair.id).unwrap().to_vec();
        if let Some(before) = before.replace(palette) {
            assert_eq!(pair.stage.animator.previous_palette(pair.id).unwrap(), before);
        }
    }
}

#[test]
fn a_clone_of_a_follower_follows_the_same_leader_and_a_clone_of_the_leader_is_followed_by_nobody() {
    let mut pair = Pair::new();
    pair.stage.layer(0, 0.5, 1.0, LayerKind::Blend);
    let animator = &mut pair.stage.animator;
    let copy = animator.clone_instance(pair.id).unwrap();
    animator.clone_instance(pair.stage.id).unwrap();
    animator.evaluate();
    assert_eq!(animator.leader(copy), Ok(Some(pair.stage.id)));
    assert_eq!(animator.palette(copy).unwrap(), animator.palette(pair.id).unwrap());
    assert_eq!(animator.instance_count(pair.outfits), Ok(2));
}

#[test]
fn a_follower_that_is_refreshed_takes_the_leader_as_it_is() {
    let mut pair = Pair::new();
    let (leader, animator) = (pair.stage.id, &mut pair.stage.animator);
    animator.evaluate();
    animator.set_translation(leader, ROOT, Vec3::Y).unwrap();
    animator.refresh(leader).unwrap();
    animator.refresh(pair.id).unwrap();
    assert_eq!(animator.world(pair.id).unwrap()[1], animator.world(leader).unwrap()[1]);
}

#[test]
fn an_outfit_is_deformed_where_its_leader_stands() {
    let (model, outfit) = (model(), outfit());
    let mut deformer = CpuDeformer::new();
    let outfits = deformer.add_model(&outfit, Precision::Exact).unwrap();
    let models = deformer.add_model(&model, Precision::Exact).unwrap();
    let leader = deformer.spawn(models).unwrap();
    let map = JointMap::by_name(&outfit, &model);
    let follower = deformer.spawn_following(outfits, leader, &map).unwrap();
    deformer.animator_mut().set_translation(leader, ROOT, Vec3::Z).unwrap();
    deformer.run().unwrap();
    let baked = deformer.bake(follower).unwrap();
    // x = 1 under the root, under the arm bound 2 higher, and under the cuff.
    let expected = [Vec3::new(1.0, 0.0, 1.0), Vec3::new(2.0, -2.0, 1.0), Vec3::new(2.5, 0.0, 1.0)];
    assert_eq!(baked[0].vertices.positions, expected);
}

#[cfg(feature = "threads")]
#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let (model, outfit) = (model(), outfit());
    let map = JointMap::by_name(&outfit, &model);
    let palettes = |threads: usize| {
        let mut animator = Animator::new();
        let outfits = animator.add_model(&outfit);
        let models = animator.add_model(&model);
        for number in 0..300 {
            let leader = animator.spawn(models).unwrap();
            animator.play(leader, "turn").unwrap().seek(f64::from(number) / 300.0);
            animator.spawn_following(outfits, leader, &map).unwrap();
            let alone = animator.spawn(outfits).unwrap();
            animator.play(alone, 0).unwrap().seek(f64::from(number) / 300.0);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| animator.evaluate());
        let all = animator.instances().flat_map(|id| animator.palette(id).unwrap().to_vec());
        all.collect::<Vec<_>>()
    };
    let one = palettes(1);
    assert_eq!(palettes(2), one);
    assert_eq!(palettes(5), one);
}
