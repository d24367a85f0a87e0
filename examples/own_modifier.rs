//! A constraint of your own: feet that follow uneven ground, made of two limbs of the library and a few lines.
//!
//! `cargo run --example own_modifier -- assets/mascot.glb walk`
#![allow(clippy::print_stdout, reason = "a program says what it did")]

use std::error::Error;

use glam::{Affine3A, Vec3};
use sinew::{
    Animator, InstanceId, Model,
    animate::{Modifier, Posed},
    ik::{Target, TwoBone},
};

/// Height of the ground in the scene: waves of up to 4 cm, where the clip was made for none.
fn ground(place: Vec3) -> f32 {
    0.04 * (9.0 * place.z).sin()
}

/// Moves the feet up and down with the ground under them, and the hips with the lower one.
#[derive(Clone, Debug)]
struct Feet {
    hips: u32,
    feet: [u32; 2],
    legs: [TwoBone; 2],
}

impl Feet {
    fn new(model: &Model) -> Result<Self, Box<dyn Error>> {
        let skeleton = model.skeleton();
        let find = |name: &str| skeleton.find(name).ok_or_else(|| format!("the model has no node `{name}`"));
        let leg = |nodes: [&str; 3]| -> Result<_, Box<dyn Error>> {
            let nodes = [find(nodes[0])?, find(nodes[1])?, find(nodes[2])?];
            Ok((nodes[2], TwoBone::new(skeleton, nodes)?))
        };
        let left = leg(["thigh_l", "shin_l", "foot_l"])?;
        let right = leg(["thigh_r", "shin_r", "foot_r"])?;
        Ok(Self { hips: find("hips")?, feet: [left.0, right.0], legs: [left.1, right.1] })
    }
}

impl Modifier for Feet {
    fn apply(&mut self, posed: &mut Posed<'_>) {
        let scene = posed.transform();
        // Where the clip has both feet, in the scene, and the ground under them.
        let feet = self.feet.map(|foot| scene.transform_point3(posed.world(foot).translation.into()));
        let heights = feet.map(ground);
        let mut hips = posed.local(self.hips);
        hips.translation.y += heights[0].min(heights[1]);
        posed.set_local(self.hips, hips);
        for ((leg, foot), height) in self.legs.iter_mut().zip(feet).zip(heights) {
            leg.target = Target::Scene(foot + Vec3::Y * height);
            leg.apply(posed);
        }
    }
}

/// How far the feet are from the ground, less what the clip lifts them, at most in three seconds of walking: without
/// the modifier and with it.
pub fn furthest(path: &str, clip: &str) -> Result<[f32; 2], Box<dyn Error>> {
    let model = Model::load(path)?;
    let feet = Feet::new(&model)?;
    let mut animator = Animator::new();
    let handle = animator.add_model(&model);
    let both = [animator.spawn(handle)?, animator.spawn(handle)?];
    for id in both {
        animator.play(id, clip)?;
    }
    animator.add_modifier(both[1], feet.clone())?;
    let mut furthest = [0.0f32; 2];
    for frame in 0..180u16 {
        let place = Affine3A::from_translation(Vec3::Z * f32::from(frame) * 0.01);
        for id in both {
            animator.set_transform(id, place)?;
        }
        animator.advance(1.0 / 60.0);
        animator.evaluate();
        for foot in feet.feet {
            let foot_of = |id: InstanceId| -> Result<Vec3, Box<dyn Error>> {
                Ok(place.transform_point3(animator.world(id)?[foot as usize].translation.into()))
            };
            // The first walks as if the ground were flat.
            let lifted = foot_of(both[0])?.y;
            for (furthest, id) in furthest.iter_mut().zip(both) {
                let foot = foot_of(id)?;
                *furthest = furthest.max((foot.y - ground(foot) - lifted).abs());
            }
        }
    }
    Ok(furthest)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let argument = |i: usize, or: &'static str| arguments.get(i).map_or(or, String::as_str);
    let [without, with] = furthest(argument(1, "assets/mascot.glb"), argument(2, "walk"))?;
    println!(
        "feet off the ground or in it: {:.1} mm without the modifier, {:.1} mm with it",
        without * 1e3,
        with * 1e3
    );
    Ok(())
}
