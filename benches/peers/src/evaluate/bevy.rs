//! The crowd in `bevy_animation`, as bevy's glTF loader builds it: an entity for each joint, the player on the
//! root joint, a constant curve for a single key, a linear one for more.

use std::time::Duration;

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationPlugin, AnimationTargetId, VariableCurve,
    animated_field,
    graph::{AnimationGraph, AnimationGraphHandle},
    prelude::AnimatableCurve,
};
use bevy_app::{App, TaskPoolOptions, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, Assets};
use bevy_curve::{ConstantCurve, Interval, UnevenSampleAutoCurve};
use bevy_ecs::{entity::Entity, hierarchy::ChildOf, name::Name, query::QueryState};
use bevy_math::{Mat4, Quat, Vec3};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::{
    StaticTransformOptimizations, TransformPlugin,
    components::{GlobalTransform, Transform},
};
use sinew::{
    Model,
    model::{Channel, Clip, Track},
};

use crate::STEP;

pub struct Crowd {
    app: App,
    transforms: QueryState<&'static GlobalTransform>,
    /// One character after the other.
    joints: Vec<Entity>,
    inverse_binds: Vec<Mat4>,
    palettes: Vec<Mat4>,
}

impl Crowd {
    /// A character for each of `times`, where it starts in the clip. Without `constant` tracks of a single key
    /// are no curves: their joints stand where the key says and nothing moves them.
    pub fn new(model: &Model, clip: &Clip, constant: bool, times: &[f64]) -> Self {
        let mut app = App::new();
        let task_pool_options = TaskPoolOptions::with_num_threads(1);
        app.add_plugins((TaskPoolPlugin { task_pool_options }, TimePlugin, TransformPlugin));
        app.add_plugins((AssetPlugin::default(), AnimationPlugin));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(STEP)));
        // Every joint moves, so looking for those that do not is time lost.
        app.insert_resource(StaticTransformOptimizations::Disabled);

        let skeleton = model.skeleton();
        let mut paths: Vec<Vec<Name>> = Vec::new();
        let mut rest = Vec::new();
        for (joint, (parent, pose)) in skeleton.parents().iter().zip(skeleton.rest()).enumerate() {
            let mut path = parent.map_or_else(Vec::new, |parent| paths[parent as usize].clone());
            path.push(Name::new(format!("joint {joint}")));
            paths.push(path);
            rest.push(Transform {
                translation: pose.translation.to_array().into(),
                rotation: Quat::from_array(pose.rotation.to_array()),
                scale: pose.scale.to_array().into(),
            });
        }
        let targets: Vec<_> = paths.iter().map(|path| AnimationTargetId::from_names(path.iter())).collect();
        let mut curves = AnimationClip::default();
        for track in clip.tracks() {
            let joint = track.node as usize;
            if track.times.len() == 1 {
                set(&mut rest[joint], track);
            }
            if track.times.len() > 1 || constant {
                curves.add_variable_curve_to_target(targets[joint], curve(track));
            }
        }
        // Constant curves have no end, so they would not count.
        curves.set_duration(clip.duration());
        let curves = app.world_mut().resource_mut::<Assets<AnimationClip>>().add(curves);
        let (graph, node) = AnimationGraph::from_clip(curves);
        let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);

        let world = app.world_mut();
        let mut joints = Vec::new();
        let mut roots = Vec::new();
        for _ in times {
            let first = joints.len();
            for (joint, parent) in skeleton.parents().iter().enumerate() {
                let mut entity = world.spawn((rest[joint], paths[joint].last().unwrap().clone()));
                joints.push(entity.id());
                entity.insert((targets[joint], AnimatedBy(joints[first])));
                match parent {
                    Some(parent) => entity.insert(ChildOf(joints[first + *parent as usize])),
                    None => entity.insert((AnimationPlayer::default(), AnimationGraphHandle(graph.clone()))),
                };
            }
            roots.push(joints[first]);
        }
        // The first frames set up the graph; nothing plays yet.
        (0..3).for_each(|_| app.update());
        for (&root, &time) in roots.iter().zip(times) {
            let mut player = app.world_mut().get_mut::<AnimationPlayer>(root).unwrap();
            player.play(node).repeat().set_seek_time(time as f32);
        }
        let inverse_binds = model.skins()[0].inverse_binds().iter();
        let inverse_binds: Vec<_> = inverse_binds
            .map(|inverse| Mat4::from_cols_array(&glam::Mat4::from(*inverse).to_cols_array()))
            .collect();
        let palettes = vec![Mat4::IDENTITY; joints.len()];
        Self { transforms: app.world_mut().query(), app, joints, inverse_binds, palettes }
    }

    pub fn frame(&mut self) {
        self.app.update();
    }

    /// As bevy's renderer does after a frame.
    pub fn write_palettes(&mut self) {
        let transforms = self.transforms.iter_many(self.app.world(), &self.joints).matched();
        let inverse_binds = self.inverse_binds.iter().cycle();
        for ((row, transform), inverse) in self.palettes.iter_mut().zip(transforms).zip(inverse_binds) {
            *row = transform.to_matrix() * *inverse;
        }
    }

    /// A character's joints in model space.
    pub fn positions(&self, character: usize) -> Vec<glam::Vec3> {
        let count = self.inverse_binds.len();
        let joints = &self.joints[character * count..][..count];
        let transform = |&joint| self.app.world().get::<GlobalTransform>(joint).unwrap();
        joints.iter().map(|joint| transform(joint).translation().to_array().into()).collect()
    }
}

/// Puts the first key of `track` into `pose`.
fn set(pose: &mut Transform, track: &Track) {
    match track.channel {
        Channel::Translation => pose.translation = Vec3::from_slice(&track.values),
        Channel::Rotation => pose.rotation = Quat::from_slice(&track.values),
        Channel::Scale => pose.scale = Vec3::from_slice(&track.values),
        _ => unreachable!("the clips move joints alone"),
    }
}

fn curve(track: &Track) -> VariableCurve {
    macro_rules! curve {
        ($field:tt, $type:ty) => {{
            let values = track.values.chunks_exact(track.width as usize).map(<$type>::from_slice);
            let keys: Vec<_> = track.times.iter().copied().zip(values).collect();
            let field = animated_field!(Transform::$field);
            match keys[..] {
                [(_, value)] => {
                    let curve = ConstantCurve::new(Interval::EVERYWHERE, value);
                    VariableCurve::new(AnimatableCurve::new(field, curve))
                }
                _ => {
                    let curve = UnevenSampleAutoCurve::new(keys).unwrap();
                    VariableCurve::new(AnimatableCurve::new(field, curve))
                }
            }
        }};
    }
    match track.channel {
        Channel::Translation => curve!(translation, Vec3),
        Channel::Rotation => curve!(rotation, Quat),
        Channel::Scale => curve!(scale, Vec3),
        _ => unreachable!("the clips move joints alone"),
    }
}
