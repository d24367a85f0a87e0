//! A frame graph for wgpu.
#![forbid(unsafe_code)]

mod access;
mod compile;
mod decl;
mod declare;
mod dump;
mod error;
mod fingerprint;
mod graph;
mod handle;
mod limits;
mod plan;
mod record;
pub mod role;
mod runtime;
mod upload;

pub use access::{Access, Bind, PassKind};
#[doc(hidden)]
pub use compile::CompileOptions;
pub use decl::TextureDesc;
pub use declare::Declare;
pub use error::{GraphError, GraphErrors, Shape};
pub use graph::Graph;
pub use handle::{Buffer, Group, Pack, Pass, Texture};
pub use limits::Limits;
pub use plan::{Arena, CullReason, CulledPass, Placement, Plan, PlannedBuffer, PlannedPass};
pub use runtime::{Host, PassTime, Resources, RunError, Runtime, RuntimeOptions, Timings};
pub use upload::{Staging, UploadRing};
