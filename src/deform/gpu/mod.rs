//! The deform service on wgpu: in a caller's encoder, or as passes of a frame graph.

mod buffers;
mod declare;
mod deformer;
mod kernels;
mod persist;
mod read_back;

pub use declare::{Skinned, SkinnedPart, declare, declare_with};
pub use deformer::Deformer;
pub use persist::OutputKind;
pub use read_back::ReadBack;
