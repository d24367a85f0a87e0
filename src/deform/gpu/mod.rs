//! The deform service on wgpu: in a caller's encoder, or as passes of a frame graph.

mod animate;
mod buffers;
mod capture;
mod declare;
mod declare_read_back;
mod declared;
mod deformer;
mod group;
mod kernels;
mod own;
mod read_back;
mod reduce;
mod vertex;
mod warm_up;

pub use capture::{PendingCapture, Replay};
pub use declare::{DeclareOptions, OutputKind, PaletteRows, Skinned, SkinnedPart, declare, declare_with};
pub use declare_read_back::{ReadBackRequests, declare_read_back};
pub use deformer::{DeformedVertices, Deformer, DeformerOptions};
pub use group::{GroupOptions, GroupPart, SkinnedGroup, declare_group};
pub(super) use kernels::Kernels;
pub use read_back::ReadBack;
pub use vertex::{VERTEX_A, VERTEX_B};
pub use warm_up::WarmUp;
