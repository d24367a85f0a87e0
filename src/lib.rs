//! Animated glTF characters for wgpu.

pub mod animate;
pub mod deform;
#[cfg(feature = "gltf")]
pub mod export;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gltf")]
pub mod import;
pub mod model;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "shader")]
pub mod shader;
pub mod shaders;

pub use animate::{Animator, InstanceId, LoopMode, ModelId, Player};
#[cfg(feature = "gpu")]
pub use deform::gpu::{Deformer, ReadBack, Skinned, SkinnedPart, declare};
pub use deform::{CpuDeformer, DeformError, Precision};
pub use model::Model;
#[cfg(feature = "gpu")]
pub use sinew_graph as graph;
