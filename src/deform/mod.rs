//! Morphing and skinning: the tables the kernel reads, the kernel's twin on the CPU, and the service on
//! wgpu. wgsl/ and `cpu` hold the same stages under the same names.

mod capture;
mod cast;
mod codec;
mod cpu;
mod cpu_deformer;
mod error;
mod frame;
#[cfg(feature = "gpu")]
pub mod gpu;
mod group;
mod layout;
#[cfg(feature = "gpu")]
mod memory;
mod output;
mod source;
mod targets;
#[cfg(feature = "gpu")]
mod unchanged;
mod variant;

pub use capture::{
    Capture, CaptureError, CaptureOutput, CapturedPart, DIRECTION_TOLERANCE, PACKED_DIRECTION_TOLERANCE,
    POSITION_TOLERANCE, PartDifference, Worst,
};
pub use cpu_deformer::CpuDeformer;
pub use error::DeformError;
pub use layout::{
    ActiveTarget, DELTA_DENSE, DELTA_NORMALS, DELTA_SHORT, DELTA_TANGENTS, HEADERS, LAYOUT, MorphHeader,
    NO_OUTPUT, VARIANTS, VariantHeader, WorkItem,
};
#[cfg(feature = "gpu")]
pub use memory::{ModelMemory, SceneMemory, preflight};
pub use output::{BYTES_A, BakedPrimitive, DeformedPrimitive};
pub use source::{Packing, Precision};
pub use targets::MORPH_TOLERANCE;
pub use variant::Variant;
