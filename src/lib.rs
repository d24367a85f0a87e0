//! Animated glTF characters for wgpu.

pub mod animate;
pub mod deform;
pub mod model;

pub use animate::{Animator, InstanceId, LoopMode, ModelId, Player};
pub use deform::{CpuDeformer, DeformError, Precision};
pub use model::Model;
