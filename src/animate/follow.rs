//! Instances that take another one's pose: outfits, armour, hair.

use glam::{Affine3A, Vec3};

use super::{
    AnimateError, Animator, BindMode, InstanceId, JointMap, ModelId, PoseMut, hierarchy::set_world_with,
};
use crate::model::Skeleton;

/// Why an instance cannot follow another one, or be treated as if it did not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The map was made for other models.
    #[error("the joint map was not made for model {follower:?} and the model of instance {leader:?}")]
    OtherMap {
        /// The model that should follow.
        follower: ModelId,
        /// The instance to follow.
        leader: InstanceId,
    },
    /// There are no chains.
    #[error("instance {instance:?} follows {leader:?} itself; follow that one")]
    LeaderFollows {
        /// The instance to follow.
        instance: InstanceId,
        /// The one that it follows.
        leader: InstanceId,
    },
    /// The leader was despawned.
    #[error(
        "instance {leader:?}, which {instance:?} follows, was despawned; the follower stays as it was, despawn it too"
    )]
    LeaderGone {
        /// The follower.
        instance: InstanceId,
        /// What it followed.
        leader: InstanceId,
    },
    /// It goes where its leader goes.
    #[error("instance {instance:?} goes where {leader:?} goes, which it follows; set that of the leader")]
    Follows {
        /// The follower.
        instance: InstanceId,
        /// What it follows.
        leader: InstanceId,
    },
    /// Followers read poses.
    #[error("poses of model {model:?} are kept because instance {follower:?} follows one of its instances")]
    PosesFollowed {
        /// The leader's model.
        model: ModelId,
        /// A follower.
        follower: InstanceId,
    },
}

/// Whom an instance follows, and what it has of it.
#[derive(Clone, Debug)]
pub(super) struct Following {
    pub(super) leader: InstanceId,
    map: JointMap,
    /// Of each pair, the leader's matrix as of its last evaluation; empty before the first.
    matrices: Vec<Affine3A>,
}

impl Following {
    /// Takes the leader's matrices over, one for each of its nodes.
    fn take_over(&mut self, world: &[Affine3A]) {
        self.matrices.clear();
        self.matrices.extend(self.map.pairs().iter().map(|(_, node)| world[*node as usize]));
    }

    /// The leader's matrix for a node that is mapped.
    pub(super) fn matrix(&self, node: usize) -> Option<Affine3A> {
        self.matrices.get(self.map.place(node)?).copied()
    }

    /// The same with what the follower itself hides: a hidden node has no size where it stands, and what is below it
    /// goes to that point with it, like below any other parent.
    fn shown_matrix(&self, skeleton: &Skeleton, node: usize, hidden: &[u32]) -> Option<Affine3A> {
        let matrix = self.matrix(node)?;
        if hidden.is_empty() {
            return Some(matrix);
        }
        let is_hidden = |node: u32| hidden.binary_search(&node).is_ok();
        let parent = |node: u32| skeleton.parents()[node as usize];
        if std::iter::successors(parent(node as u32), |node| parent(*node)).any(is_hidden) {
            return None;
        }
        Some(if is_hidden(node as u32) { matrix * Affine3A::from_scale(Vec3::ZERO) } else { matrix })
    }

    /// Stage `hierarchy` of a follower: mapped nodes stand where the leader's do, all others under their parents.
    pub(super) fn set_world(
        &self,
        skeleton: &Skeleton,
        root: Affine3A,
        pose: &PoseMut<'_>,
        hidden: &[u32],
        world: &mut [Affine3A],
    ) {
        set_world_with(skeleton, root, pose, |node| self.shown_matrix(skeleton, node, hidden), world);
    }

    /// The same where the caller gives all matrices: those of mapped nodes are the leader's all the same.
    pub(super) fn replace(&self, world: &mut [Affine3A]) {
        for (node, own) in world.iter_mut().enumerate() {
            *own = self.matrix(node).unwrap_or(*own);
        }
    }
}

/// # Outfits
///
/// Another model's skins on the pose of an instance: clothes, armour, hair.
impl Animator {
    /// Adds an instance of `model` that follows `leader` as `map` says. Each frame, after the leader and whatever
    /// the order of models:
    ///
    /// - A mapped node stands where the leader's node stands in the instance's space: with everything that shapes the
    ///   leader's nodes, such as layers, overrides, world poses and hidden nodes. Its own layers and overrides change
    ///   nothing. A node of the follower that is [hidden](Self::show_node) has no size, nor has anything below it.
    /// - An unmapped node keeps its own local transform, of the rest pose, layers, overrides and world poses of the
    ///   follower, under its parent; without a parent, under the follower's own conversion.
    /// - Inverse bind matrices, morph weights, palettes from outside and hidden parts are the follower's own.
    /// - Its transform and bind mode are the leader's, and while the leader is hidden, so is it. Which of both are
    ///   [in view](Self::set_in_view) is said of each.
    /// - Where the leader is evaluated for the [first time](Self::is_first), so is the follower.
    ///
    /// [`local`](Self::local) of a mapped node is what the follower's own layers make of it, which nothing uses. A
    /// leader with a [rate](Self::set_rate) is followed in every frame as it is shown. When the leader is
    /// despawned the follower keeps its last pose and place and [`leader`](Self::leader) says so. A
    /// [clone](Self::clone_instance) of a follower follows the same leader, a clone of a leader has no followers.
    ///
    /// Fails where the map was made for other models, where the leader follows someone itself, and where poses of the
    /// leader's model are not [kept](Self::keep_poses); they are as long as it is followed.
    pub fn spawn_following(
        &mut self,
        model: ModelId,
        leader: InstanceId,
        map: &JointMap,
    ) -> Result<InstanceId, AnimateError> {
        self.posed(leader)?;
        let leaders_model = self.model(self.model_of(leader)?)?;
        if !map.follower().ptr_eq(self.model(model)?) || !map.leader().ptr_eq(leaders_model) {
            return Err(FollowError::OtherMap { follower: model, leader }.into());
        }
        if let Some(above) = self.following(leader)?.map(|following| following.leader) {
            return Err(FollowError::LeaderFollows { instance: leader, leader: above }.into());
        }
        let id = self.spawn(model)?;
        let matrices = Vec::with_capacity(map.pairs().len());
        let following = Following { leader, map: map.clone(), matrices };
        self.controls_mut(id)?.1.special_mut().following = Some(Box::new(following));
        self.add_follower(id)?;
        Ok(id)
    }

    /// Whom an instance follows, if it follows someone. Fails with [`FollowError::LeaderGone`] once the leader was
    /// despawned.
    pub fn leader(&self, id: InstanceId) -> Result<Option<InstanceId>, AnimateError> {
        let Some(following) = self.following(id)? else { return Ok(None) };
        let leader = following.leader;
        if self.place(leader).is_err() {
            return Err(FollowError::LeaderGone { instance: id, leader }.into());
        }
        Ok(Some(leader))
    }

    /// What is kept of a follower; `None` for any other instance, after a look at its model's instances together.
    fn following(&self, id: InstanceId) -> Result<Option<&Following>, AnimateError> {
        let (batch, slot) = self.place(id)?;
        if batch.followers() == 0 {
            return Ok(None);
        }
        Ok(batch.controls(slot).following())
    }

    /// The instance itself, or the one whose transform, bind mode and visibility are its own.
    pub(super) fn placed_by(&self, id: InstanceId) -> Result<InstanceId, AnimateError> {
        let leader = self.following(id)?.map(|following| following.leader);
        Ok(leader.filter(|leader| self.place(*leader).is_ok()).unwrap_or(id))
    }

    /// Refuses what a follower takes from its leader.
    pub(super) fn check_placed_alone(&self, id: InstanceId) -> Result<(), AnimateError> {
        let leader = self.placed_by(id)?;
        if leader == id { Ok(()) } else { Err(FollowError::Follows { instance: id, leader }.into()) }
    }

    /// Refuses to give up poses that are followed.
    pub(super) fn check_not_followed(&self, model: ModelId) -> Result<(), AnimateError> {
        for &follower in &self.followers {
            if self.leader(follower).is_ok_and(|leader| leader.map(|id| self.model_of(id)) == Some(Ok(model)))
            {
                return Err(FollowError::PosesFollowed { model, follower }.into());
            }
        }
        Ok(())
    }

    /// Counts an instance among the followers.
    pub(super) fn add_follower(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        *self.place_mut(id)?.0.followers_mut() += 1;
        self.followers.push(id);
        Ok(())
    }

    /// Before an instance is removed.
    pub(super) fn forget_follower(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        if self.following(id)?.is_some() {
            *self.place_mut(id)?.0.followers_mut() -= 1;
            self.followers.retain(|follower| *follower != id);
        }
        Ok(())
    }

    /// Brings what the leaders have to the followers, between the evaluation of the ones and the others.
    pub(super) fn follow_all(&mut self) {
        let followers = std::mem::take(&mut self.followers);
        followers.iter().for_each(|id| self.follow(*id));
        self.followers = followers;
    }

    /// The same for one instance, if it follows one that is still there.
    pub(super) fn follow(&mut self, id: InstanceId) {
        let Ok((batch, slot)) = self.place_mut(id) else { return };
        let Some(mut following) = batch.controls_mut(slot).1.take_following() else { return };
        let mut placed = None;
        if let Ok((leaders, at)) = self.place(following.leader) {
            following.take_over(leaders.world(at));
            placed = Some((leaders.transform(at), leaders.controls(at).bind_mode, leaders.is_fresh(at)));
        }
        let Ok((batch, slot)) = self.place_mut(id) else { return };
        if let Some((transform, bind_mode, is_fresh)) = placed {
            *batch.transform_mut(slot) = transform;
            if is_fresh {
                batch.forget_previous(slot);
            }
            batch.controls_mut(slot).1.bind_mode = bind_mode;
        }
        batch.controls_mut(slot).1.special_mut().following = Some(following);
    }

    /// How the meshes of an instance stand to its transform.
    pub(super) fn bind_mode(&self, id: InstanceId) -> Result<BindMode, AnimateError> {
        let (batch, slot) = self.place(self.placed_by(id)?)?;
        Ok(batch.controls(slot).bind_mode)
    }
}
