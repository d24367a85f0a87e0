//! Inverse kinematics and springs: [modifiers](crate::animate::Modifier) that reach for targets.
//!
//! | modifier | what |
//! |---|---|
//! | [`Ccd`] | chains of any length, joint after joint towards the target, with limits per joint |
//! | [`TwoBone`] | a limb in closed form, with a pole and soft stretching |
//! | [`Aim`] | a node that faces a target |
//! | [`Spring`] | a chain that swings after its animated pose |
//!
//! All of them change rotations alone, so lengths stay. They compute in f64 with the polynomials of
//! [`animate::math`](crate::animate::math) and round once, so every machine gives the same bytes. What cannot be done,
//! such as to face the point one stands on, leaves the pose as it is; none of them makes NaN of finite poses.
//!
//! ```
//! use sinew::{Animator, animate::ModifierError, ik::{Target, TwoBone}};
//! # fn run(animator: &mut Animator, id: sinew::InstanceId, hip: u32, knee: u32, foot: u32) -> Result<(), Box<dyn std::error::Error>> {
//! let skeleton = animator.model(animator.model_of(id)?)?.skeleton();
//! let leg = TwoBone::new(skeleton, [hip, knee, foot])?;
//! let leg = animator.add_modifier(id, leg)?;
//! // every frame
//! animator.modifier_mut::<TwoBone>(id, leg)?.target = Target::Scene(glam::Vec3::new(0.1, 0.05, 0.3));
//! animator.set_modifier_weight(id, leg, 0.8)?;
//! # Ok(())
//! # }
//! ```

mod aim;
mod ccd;
mod chain;
mod error;
mod euler;
mod rotation;
mod spring;
mod target;
mod two_bone;

pub use aim::Aim;
pub use ccd::Ccd;
pub use chain::{Chain, Link};
pub use error::IkError;
pub use euler::{EulerBounds, EulerOrder};
pub use spring::{Spring, SpringJoint};
pub use target::Target;
pub use two_bone::TwoBone;
