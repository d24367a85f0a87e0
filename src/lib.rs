//! Animated glTF characters for wgpu.

pub mod animate;
pub mod deform;
#[cfg(feature = "gltf")]
pub mod export;
#[cfg(feature = "gltf")]
pub mod import;
pub mod model;

pub use animate::{Animator, InstanceId, LoopMode, ModelId, Player};
pub use deform::{CpuDeformer, DeformError, Precision};
pub use model::Model;
