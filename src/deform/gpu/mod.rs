//! The deform service on wgpu: in a caller's encoder, or as passes of a frame graph.

mod animate;
mod buffers;
mod declare;
mod declare_read_back;
mod declared;
mod deformer;
mod kernels;
mod own;
mod read_back;

pub use declare::{DeclareOptions, OutputKind, PaletteRows, Skinned, SkinnedPart, declare, declare_with};
pub use declare_read_back::{ReadBackRequests, declare_read_back};
pub use deformer::{DeformedVertices, Deformer, DeformerOptions};
pub(super) use kernels::Kernels;
pub use read_back::ReadBack;
