//! Structs that the shaders read; the build compares them with WGSL.

use bytemuck::{Pod, Zeroable};

/// The camera of the raster pass.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Camera {
    /// World to clip space, column by column.
    pub view_projection: [[f32; 4]; 4],
    /// In world space.
    pub position: [f32; 3],
    /// A factor on linear light.
    pub exposure: f32,
}
