//! The deform service on wgpu: in a caller's encoder, or as passes of a frame graph.

mod buffers;
mod declare;
mod deformer;
mod kernels;
mod read_back;

pub use declare::{Skinned, SkinnedPart, declare};
pub use deformer::Deformer;
pub use read_back::ReadBack;
