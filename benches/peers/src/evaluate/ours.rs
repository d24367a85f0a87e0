//! The crowd in `sinew`.

use glam::Vec3;
use sinew::{
    Animator, InstanceId, Model,
    animate::{CompressedClips, LayerKind},
};

use crate::{CLIP, STEP};

pub struct Crowd {
    animator: Animator,
    instances: Vec<InstanceId>,
    /// Where the joints are in the bind pose.
    binds: Vec<Vec3>,
}

impl Crowd {
    /// A character for each of `times`, where it starts in the clip.
    pub fn new(model: &Model, compressed: Option<CompressedClips>, times: &[f64]) -> Self {
        let mut animator = Animator::new();
        let id = animator.add_model(model);
        animator.keep_poses(id, false).unwrap();
        animator.set_compressed(id, compressed).unwrap();
        let spawn = |&time: &f64| {
            let instance = animator.spawn(id).unwrap();
            animator.add_layer(instance, CLIP, LayerKind::Blend).unwrap().player.seek(time);
            instance
        };
        let instances = times.iter().map(spawn).collect();
        let inverse_binds = model.skins()[0].inverse_binds();
        let binds = inverse_binds.iter().map(|inverse| inverse.inverse().translation.into()).collect();
        Self { animator, instances, binds }
    }

    pub fn frame(&mut self) {
        self.animator.advance(STEP);
        self.animator.evaluate();
    }

    /// A character's joints in model space, by its palette: no poses are kept.
    pub fn positions(&self, character: usize) -> Vec<Vec3> {
        let palette = self.animator.palette(self.instances[character]).unwrap();
        let position = |(row, bind): (&sinew::animate::JointMatrix, &Vec3)| {
            let bind = bind.extend(1.0);
            Vec3::from([row.x, row.y, row.z].map(|row| bind.dot(row.into())))
        };
        palette.iter().zip(&self.binds).map(position).collect()
    }
}
