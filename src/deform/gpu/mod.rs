//! The deform service on wgpu: in a caller's encoder, or as passes of a frame graph.

mod animate;
mod buffers;
mod capture;
mod declare;
mod declared;
mod deformer;
mod kernels;
mod own;
mod read_back;
mod vertex;

pub use capture::Replay;
pub use declare::{DeclareOptions, OutputKind, PaletteRows, Skinned, SkinnedPart, declare, declare_with};
pub use deformer::{DeformedVertices, Deformer, DeformerOptions};
pub(super) use kernels::Kernels;
pub use read_back::ReadBack;
pub use vertex::{VERTEX_A, VERTEX_B};
