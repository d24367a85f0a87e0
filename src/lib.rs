//! Animated glTF characters for wgpu.

pub mod deform;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "shader")]
pub mod shader;
pub mod shaders;
