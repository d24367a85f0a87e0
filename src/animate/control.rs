//! What an [`Animator`] can be told about one instance. Each call holds until it is taken back, costs no plan
//! and shows in the next evaluation.

use glam::{Affine3A, Mat3A, Quat, Vec3};

use super::{
    AnimateError, Animator, BindMode, ClipRef, InstanceId, JointMatrix, Layer, LayerId, LayerKind, WorldPose,
    controls::{Controls, NodeOverride},
    math::normalize,
};
use crate::model::{Model, Transform};

/// # Layers
///
/// An instance plays any number of clips at once. The order of a frame: rest pose, overrides, then all layers
/// of kind [`LayerKind::Blend`] weighed against each other component by component, then the additive ones on
/// top in their order, then [modifiers](super::Modifier), world poses, visibility, hierarchy, palette.
impl Animator {
    /// Adds a layer on top of the others: from its start, looping, speed 1, weight 1.
    pub fn add_layer<'c>(
        &mut self,
        id: InstanceId,
        clip: impl Into<ClipRef<'c>>,
        kind: LayerKind,
    ) -> Result<&mut Layer, AnimateError> {
        self.push_layer(id, clip.into(), 1.0, kind)
    }

    /// Fades every layer of kind [`LayerKind::Blend`] out and a new one in, in `seconds`.
    pub fn cross_fade<'c>(
        &mut self,
        id: InstanceId,
        clip: impl Into<ClipRef<'c>>,
        seconds: f32,
    ) -> Result<&mut Layer, AnimateError> {
        let clip = clip.into();
        self.clip_of(id, clip)?;
        let controls = self.controls_mut(id)?.1;
        if seconds > 0.0 {
            let blended = controls.layers.iter_mut().filter(|layer| layer.kind == LayerKind::Blend);
            blended.for_each(|layer| layer.fade_out(seconds));
        } else {
            controls.layers.retain(|layer| layer.kind != LayerKind::Blend);
        }
        let layer = self.push_layer(id, clip, 0.0, LayerKind::Blend)?;
        layer.fade_to(1.0, seconds);
        Ok(layer)
    }

    /// All layers, the lowest first.
    pub fn layers(&self, id: InstanceId) -> Result<&[Layer], AnimateError> {
        Ok(&self.controls(id)?.1.layers)
    }

    /// One layer, to change its weight, mask, kind or player.
    pub fn layer_mut(&mut self, id: InstanceId, layer: LayerId) -> Result<&mut Layer, AnimateError> {
        let controls = self.controls_mut(id)?.1;
        let found = controls.layers.iter_mut().find(|known| known.id() == layer);
        found.ok_or(AnimateError::UnknownLayer { instance: id })
    }

    /// Takes a layer away at once.
    pub fn remove_layer(&mut self, id: InstanceId, layer: LayerId) -> Result<(), AnimateError> {
        let controls = self.controls_mut(id)?.1;
        let at = controls.layers.iter().position(|known| known.id() == layer);
        controls.layers.remove(at.ok_or(AnimateError::UnknownLayer { instance: id })?);
        Ok(())
    }

    /// Sets the weight that a component needs from its layers; what is missing is filled up by rest pose and
    /// overrides. 0.1 at first; at 0 any weight is enough. NaN counts as 0.
    pub fn set_threshold(&mut self, id: InstanceId, threshold: f32) -> Result<(), AnimateError> {
        self.controls_mut(id)?.1.threshold = threshold.max(0.0);
        Ok(())
    }
}

/// # Overrides
///
/// What a clip drives wins over an override of the same component of the same node, so that setting a position
/// does not fight with a clip that only turns the node. Nodes are those of [`Model::skeleton`].
impl Animator {
    /// Sets the translation of a node, in its parent's space.
    pub fn set_translation(&mut self, id: InstanceId, node: u32, value: Vec3) -> Result<(), AnimateError> {
        self.override_mut(id, node)?.translation = Some(value);
        Ok(())
    }

    /// Sets the rotation of a node; of any length.
    pub fn set_rotation(&mut self, id: InstanceId, node: u32, value: Quat) -> Result<(), AnimateError> {
        self.override_mut(id, node)?.rotation = Some(normalize(value));
        Ok(())
    }

    /// Sets the scale of a node.
    pub fn set_scale(&mut self, id: InstanceId, node: u32, value: Vec3) -> Result<(), AnimateError> {
        self.override_mut(id, node)?.scale = Some(value);
        Ok(())
    }

    /// Sets all components of many nodes at once.
    pub fn set_pose(
        &mut self,
        id: InstanceId,
        pose: impl IntoIterator<Item = (u32, Transform)>,
    ) -> Result<(), AnimateError> {
        for (node, Transform { translation, rotation, scale }) in pose {
            let rotation = Some(normalize(rotation));
            let (translation, scale) = (Some(translation), Some(scale));
            *self.override_mut(id, node)? = NodeOverride { node, translation, rotation, scale };
        }
        Ok(())
    }

    /// Takes back what was set of a node. Whether it is hidden stays.
    pub fn clear_override(&mut self, id: InstanceId, node: u32) -> Result<(), AnimateError> {
        self.controls_mut(id)?.1.special_mut().overrides.retain(|known| known.node != node);
        Ok(())
    }

    /// Takes back what was set of all nodes and weights.
    pub fn clear_overrides(&mut self, id: InstanceId) -> Result<(), AnimateError> {
        let controls = self.controls_mut(id)?.1;
        controls.special_mut().overrides.clear();
        controls.special_mut().weights.clear();
        Ok(())
    }

    /// Sets a morph weight of a part of the model; what a clip drives wins.
    pub fn set_weight(
        &mut self,
        id: InstanceId,
        part: u32,
        target: usize,
        weight: f32,
    ) -> Result<(), AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        check_part(model, part)?;
        let range = model.weight_range(part);
        let Some(index) = range.clone().nth(target) else {
            return Err(AnimateError::UnknownTarget { part, target, targets: range.len() });
        };
        match controls.special_mut().weights.iter_mut().find(|known| known.0 == index as u32) {
            Some(known) => known.1 = weight,
            None => controls.special_mut().weights.push((index as u32, weight)),
        }
        Ok(())
    }

    /// Hides a node and everything below it, whatever clips and overrides say, or shows it again.
    pub fn show_node(&mut self, id: InstanceId, node: u32, show: bool) -> Result<(), AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        check_node(model, node)?;
        toggle(&mut controls.special_mut().hidden_nodes, node, !show);
        Ok(())
    }

    /// Leaves a part of the model out of deformation and drawing, or takes it in again.
    pub fn show_part(&mut self, id: InstanceId, part: u32, show: bool) -> Result<(), AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        check_part(model, part)?;
        let changed = toggle(&mut controls.special_mut().hidden_parts, part, !show);
        self.view.changed(changed);
        Ok(())
    }

    /// Whether a part was [hidden](Self::show_part) itself.
    pub(crate) fn hides_part(&self, id: InstanceId, part: u32) -> Result<bool, AnimateError> {
        let special = self.controls(id)?.1.special();
        Ok(special.is_some_and(|special| special.hidden_parts.binary_search(&part).is_ok()))
    }

    /// Whether a part is deformed and drawn: neither it nor its instance is hidden, and the instance is in view.
    pub fn is_part_shown(&self, id: InstanceId, part: u32) -> Result<bool, AnimateError> {
        Ok(self.is_shown(id)? && !self.hides_part(id, part)?)
    }
}

/// # Poses from elsewhere
impl Animator {
    /// Where something else wants nodes to be, such as a simulation; until the next call. An empty list takes
    /// them back. Applied after modifiers and before visibility, parents first.
    pub fn set_world_poses(
        &mut self,
        id: InstanceId,
        poses: impl IntoIterator<Item = WorldPose>,
    ) -> Result<(), AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        controls.special_mut().world_poses.clear();
        for pose in poses {
            if let Err(error) = check_node(model, pose.node) {
                controls.special_mut().world_poses.clear();
                return Err(error);
            }
            controls.special_mut().world_poses.push(pose);
        }
        Ok(())
    }

    /// Gives the matrices of all nodes, in the instance's space, in the place of the hierarchy; `None` takes
    /// them back.
    pub fn set_world(&mut self, id: InstanceId, world: Option<&[Affine3A]>) -> Result<(), AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        let expected = model.skeleton().len();
        match (world, &mut controls.special_mut().world) {
            (None, own) => *own = None,
            (Some(world), _) if world.len() != expected => {
                return Err(AnimateError::WrongCount {
                    what: "world matrices",
                    found: world.len(),
                    expected,
                });
            }
            (Some(world), Some(own)) => own.copy_from_slice(world),
            (Some(world), own) => *own = Some(world.to_vec()),
        }
        Ok(())
    }

    /// Gives the whole palette of a skin, one row per joint, for poses that another system evaluates; `None`
    /// takes it back. Readers of the palette on the CPU see it too.
    pub fn set_skin_palette(
        &mut self,
        id: InstanceId,
        skin: u32,
        palette: Option<&[JointMatrix]>,
    ) -> Result<(), AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        let skins = model.skins();
        let Some(data) = skins.get(skin as usize) else {
            return Err(AnimateError::UnknownSkin { skin, skins: skins.len() });
        };
        let expected = data.joints().len();
        if let Some(found) = palette.map(<[_]>::len).filter(|found| *found != expected) {
            return Err(AnimateError::WrongCount { what: "palette rows", found, expected });
        }
        let known = controls.special_mut().palettes.iter_mut().position(|(known, _)| *known == skin);
        match (palette, known) {
            (Some(palette), Some(known)) => controls.special_mut().palettes[known].1.copy_from_slice(palette),
            (Some(palette), None) => controls.special_mut().palettes.push((skin, palette.to_vec())),
            (None, Some(known)) => {
                controls.special_mut().palettes.swap_remove(known);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Turns or mirrors everything at the root, for models made for other axes; the identity at first.
    pub fn set_conversion(&mut self, id: InstanceId, conversion: Mat3A) -> Result<(), AnimateError> {
        self.controls_mut(id)?.1.special_mut().conversion = Affine3A::from_mat3(conversion.into());
        Ok(())
    }

    /// How skinned meshes stand to the instance's transform. Fails for one that [follows](Self::spawn_following) another.
    pub fn set_bind_mode(&mut self, id: InstanceId, mode: BindMode) -> Result<(), AnimateError> {
        self.check_placed_alone(id)?;
        self.controls_mut(id)?.1.bind_mode = mode;
        Ok(())
    }

    /// What deformed vertices are drawn with: the instance's transform, twice if its meshes are
    /// [detached](BindMode::Detached).
    pub fn draw_transform(&self, id: InstanceId) -> Result<Affine3A, AnimateError> {
        let transform = self.transform(id)?;
        Ok(match self.bind_mode(id)? {
            BindMode::Attached => transform,
            BindMode::Detached => transform * transform,
        })
    }
}

/// # Instances
impl Animator {
    /// Another instance of the same model with the same layers, overrides, modifiers and transform, which are its
    /// own from now on.
    pub fn clone_instance(&mut self, id: InstanceId) -> Result<InstanceId, AnimateError> {
        let model = self.model_of(id)?;
        let (transform, visible) = (self.transform(id)?, self.visible(id)?);
        let controls = self.controls(id)?.1.clone();
        let copy = self.spawn(model)?;
        self.set_transform(copy, transform)?;
        self.set_visible(copy, visible)?;
        let follows = controls.following().is_some();
        *self.controls_mut(copy)?.1 = controls;
        if follows {
            self.add_follower(copy)?;
        }
        Ok(copy)
    }

    fn push_layer(
        &mut self,
        id: InstanceId,
        clip: ClipRef<'_>,
        weight: f32,
        kind: LayerKind,
    ) -> Result<&mut Layer, AnimateError> {
        let player = self.clip_of(id, clip)?;
        let number = self.next_number();
        let layers = &mut self.controls_mut(id)?.1.layers;
        layers.push(Layer::new(LayerId(number), player, weight, kind));
        let last = layers.len() - 1;
        Ok(&mut layers[last])
    }

    fn override_mut(&mut self, id: InstanceId, node: u32) -> Result<&mut NodeOverride, AnimateError> {
        let (model, controls) = self.controls_mut(id)?;
        check_node(model, node)?;
        Ok(controls.special_mut().override_of(node))
    }

    fn controls(&self, id: InstanceId) -> Result<(&Model, &Controls), AnimateError> {
        let (batch, slot) = self.place(id)?;
        Ok((batch.model(), batch.controls(slot)))
    }

    pub(super) fn controls_mut(&mut self, id: InstanceId) -> Result<(&Model, &mut Controls), AnimateError> {
        let (batch, slot) = self.place_mut(id)?;
        Ok(batch.controls_mut(slot))
    }
}

fn check_node(model: &Model, node: u32) -> Result<(), AnimateError> {
    let nodes = model.skeleton().len();
    if (node as usize) < nodes { Ok(()) } else { Err(AnimateError::UnknownNode { node, nodes }) }
}

fn check_part(model: &Model, part: u32) -> Result<(), AnimateError> {
    let parts = model.parts().len();
    if (part as usize) < parts { Ok(()) } else { Err(AnimateError::UnknownPart { part, parts }) }
}

/// Puts `value` into a sorted list, or takes it out; returns whether that changed it.
fn toggle(list: &mut Vec<u32>, value: u32, is_in: bool) -> bool {
    match (list.binary_search(&value), is_in) {
        (Err(at), true) => list.insert(at, value),
        (Ok(at), false) => {
            list.remove(at);
        }
        (Ok(_), true) | (Err(_), false) => return false,
    }
    true
}
