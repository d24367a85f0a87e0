//! Morphing and skinning on the GPU.

pub mod layout;
