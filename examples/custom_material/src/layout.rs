//! What wgsl/material.wgsl reads; the build script compares sizes and offsets.

/// Camera and time.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct View {
    /// World to clip space, column by column.
    pub view_projection: [[f32; 4]; 4],
    pub eye: [f32; 3],
    /// Seconds.
    pub time: f32,
}

/// The material; linear colours.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Hologram {
    pub color: [f32; 3],
    /// Scan lines per metre.
    pub lines: f32,
    pub rim: [f32; 3],
    /// How fast the rim falls off; from 1 up.
    pub sharpness: f32,
}
