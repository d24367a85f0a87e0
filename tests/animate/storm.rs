//! Leaders, followers, clones and modifiers that come and go in any order and write anything.

use glam::Affine3A;
use sinew::{
    CpuDeformer, Precision,
    animate::{JointMap, Modifier, Posed},
};

use super::*;

/// Writes numbers that no pose should have, a different one in every evaluation.
#[derive(Clone, Debug)]
struct Vandal(u32);

impl Modifier for Vandal {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        const NUMBERS: [f32; 7] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0, 1e-40, -1e30];
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = |at: u32| NUMBERS[((self.0 >> 8) + at) as usize % NUMBERS.len()];
        let vector = |at: u32| Vec3::new(number(at), number(at + 1), number(at + 2));
        let node = (self.0 >> 16) % 6;
        let _ = posed.exact_world(node);
        posed.set_rotation(node, Quat::from_xyzw(number(0), number(1), number(2), number(3)));
        posed.set_translation(node, vector(4));
        posed.set_scale(node, vector(1));
        posed.set_weight(self.0 as usize % 4, number(5));
        let _ = (posed.world(HAND), posed.exact_parent(node));
    }
}

/// xorshift
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

/// Two of the same model and one with nothing mapped; the maps from each to each.
struct Cast {
    models: Vec<Model>,
    ids: Vec<ModelId>,
    deformer: CpuDeformer,
}

impl Cast {
    fn new() -> Self {
        let other = Model::new(ModelDesc {
            skeleton: Skeleton::new(vec![Node { name: "arm".into(), ..Default::default() }]).unwrap(),
            ..Default::default()
        });
        let models = vec![model(), super::outfits::outfit(), other.unwrap()];
        let mut deformer = CpuDeformer::new();
        let ids = models.iter().map(|model| deformer.add_model(model, Precision::Exact).unwrap()).collect();
        Self { models, ids, deformer }
    }

    fn map(&self, follower: usize, leader: usize, empty: bool) -> JointMap {
        let (follower, leader) = (&self.models[follower], &self.models[leader]);
        if empty { JointMap::new(follower, leader, []).unwrap() } else { JointMap::by_name(follower, leader) }
    }

    /// What holds after any evaluation.
    fn check(&self, maps: &[(InstanceId, JointMap)]) {
        let animator = self.deformer.animator();
        for id in animator.instances() {
            for row in animator.palette(id).unwrap() {
                let numbers = [row.x, row.y, row.z].concat();
                assert!(numbers.iter().all(|number| number.is_finite()), "{numbers:?}");
            }
        }
        for (follower, map) in maps {
            let Ok(Some(leader)) = animator.leader(*follower) else { continue };
            let (own, led) = (animator.world(*follower).unwrap(), animator.world(leader).unwrap());
            for (node, leader) in map.pairs() {
                let bits = |matrix: Affine3A| matrix.to_cols_array().map(f32::to_bits);
                assert_eq!(bits(own[*node as usize]), bits(led[*leader as usize]));
            }
        }
    }
}

#[test]
fn palettes_stay_finite_and_followers_with_their_leaders_whatever_comes_and_goes() {
    for seed in 1..60 {
        let (mut random, mut cast) = (Random(seed), Cast::new());
        let mut all: Vec<(InstanceId, usize)> = Vec::new();
        let mut maps: Vec<(InstanceId, JointMap)> = Vec::new();
        for _ in 0..120 {
            let kind = random.below(3);
            let chosen = (!all.is_empty()).then(|| random.below(all.len()));
            match (random.below(12), chosen) {
                (0 | 1, _) => all.push((cast.deformer.spawn(cast.ids[kind]).unwrap(), kind)),
                (2..=4, Some(at)) => {
                    let (leader, of) = all[at];
                    let map = cast.map(kind, of, random.below(4) == 0);
                    // Followers have no followers.
                    if let Ok(id) = cast.deformer.spawn_following(cast.ids[kind], leader, &map) {
                        all.push((id, kind));
                        maps.push((id, map));
                    }
                }
                (5, Some(at)) => {
                    let (id, _) = all.swap_remove(at);
                    cast.deformer.despawn(id).unwrap();
                    maps.retain(|(follower, _)| *follower != id);
                }
                (6, Some(at)) => {
                    let (id, kind) = all[at];
                    let copy = cast.deformer.animator_mut().clone_instance(id).unwrap();
                    all.push((copy, kind));
                    let map = maps.iter().find(|(follower, _)| *follower == id).map(|(_, map)| map.clone());
                    maps.extend(map.map(|map| (copy, map)));
                }
                (7, Some(at)) => {
                    let animator = cast.deformer.animator_mut();
                    let modifier = animator.add_modifier(all[at].0, Vandal(seed as u32)).unwrap();
                    let weight = [0.0, 0.3, 1.0][random.below(3)];
                    animator.set_modifier_weight(all[at].0, modifier, weight).unwrap();
                }
                (8, Some(at)) => cast.deformer.animator_mut().refresh(all[at].0).unwrap(),
                (9, Some(at)) => {
                    let animator = cast.deformer.animator_mut();
                    let rows = animator.palette_rows();
                    let mut rows = vec![JointMatrix::IDENTITY; rows];
                    animator.evaluate_into(&mut rows).unwrap();
                    assert!(rows.iter().all(|row| row.x.iter().all(|number| number.is_finite())), "{at}");
                }
                (10, Some(at)) => {
                    let animator = cast.deformer.animator_mut();
                    let visible = random.below(2) == 0;
                    animator.set_visible(all[at].0, visible).unwrap();
                    animator.advance(0.1);
                }
                _ => {
                    cast.deformer.run().unwrap();
                    cast.check(&maps);
                    for (id, _) in &all {
                        let baked = match cast.deformer.bake(*id) {
                            Err(error) => {
                                assert!(!cast.deformer.animator().is_shown(*id).unwrap(), "{error}");
                                continue;
                            }
                            Ok(baked) => baked,
                        };
                        for primitive in baked {
                            assert!(primitive.vertices.positions.iter().all(|position| position.is_finite()));
                        }
                    }
                    let capture = cast.deformer.capture().unwrap();
                    let differences = capture.compare(&capture.replay());
                    assert!(differences.iter().all(|part| part.position.share == 0.0));
                }
            }
        }
    }
}

#[test]
fn a_chain_of_ten_thousand_nodes_is_followed_and_modified() {
    let node = |i: u32| Node {
        name: i.to_string(),
        parent: i.checked_sub(1),
        rest: Transform::from_translation(Vec3::X),
    };
    let skeleton = Skeleton::new((0..10_000).map(node).collect()).unwrap();
    let rope = Model::new(ModelDesc { skeleton, ..Default::default() }).unwrap();
    let mut animator = Animator::new();
    let id = animator.add_model(&rope);
    let leader = animator.spawn(id).unwrap();
    let map = JointMap::by_name(&rope, &rope);
    let follower = animator.spawn_following(id, leader, &map).unwrap();

    #[derive(Clone, Debug)]
    struct Ends;
    impl Modifier for Ends {
        fn apply(&mut self, posed: &mut Posed<'_>) {
            posed.set_translation(0, Vec3::Y);
            let end = posed.exact_world(9_999).translation;
            posed.set_translation(0, end.as_vec3());
        }
    }
    animator.add_modifier(leader, Ends).unwrap();
    animator.evaluate();
    assert_eq!(animator.world(leader).unwrap()[0].translation, Vec3::new(9_999.0, 1.0, 0.0).into());
    assert_eq!(animator.world(follower).unwrap(), animator.world(leader).unwrap());
}
