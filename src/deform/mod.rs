//! Morphing and skinning: the tables the kernel reads, the kernel's twin on the CPU, and the service on
//! wgpu. wgsl/ and `cpu` hold the same stages under the same names.

pub mod bounds;
mod capture;
mod cast;
mod codec;
mod cpu;
mod cpu_deformer;
mod cull;
mod error;
mod frame;
mod frustum;
#[cfg(feature = "gpu")]
pub mod gpu;
mod group;
mod layout;
#[cfg(feature = "gpu")]
mod memory;
mod output;
mod posed;
mod source;
mod targets;
#[cfg(feature = "gpu")]
mod unchanged;
mod variant;
mod vertex;

pub use capture::{
    Capture, CaptureError, CaptureOutput, CapturedPart, DIRECTION_TOLERANCE, PACKED_DIRECTION_TOLERANCE,
    POSITION_TOLERANCE, PartDifference, Worst,
};
pub use cpu_deformer::CpuDeformer;
pub use error::DeformError;
pub use frustum::Frustum;
pub use layout::{
    ActiveTarget, DELTA_DENSE, DELTA_NORMALS, DELTA_SHORT, DELTA_TANGENTS, HEADERS, LAYOUT, MorphHeader,
    NO_OUTPUT, PartBox, VARIANTS, VariantHeader, WorkItem,
};
#[cfg(feature = "gpu")]
pub use memory::{ModelMemory, SceneMemory, preflight};
pub use output::{BYTES_A, BakedPrimitive, DeformedPrimitive};
pub use posed::{PosedError, VertexAnimation, posed_model};
pub use source::{Packing, Precision};
pub use targets::MORPH_TOLERANCE;
pub use variant::Variant;
pub use vertex::{DeformedVertex, Dominant, VertexDeformer};
