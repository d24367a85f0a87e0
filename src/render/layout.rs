//! What wgsl/lit.wgsl reads, as Rust structs. Also compiled by the build script, which compares every size
//! and offset with the WGSL structs of the same name: no paths into the crate.

/// Camera and light of one frame; linear colours, world space.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct View {
    /// World to clip space, column by column.
    pub(crate) view_projection: [[f32; 4]; 4],
    pub(crate) eye: [f32; 3],
    pub(crate) pad0: f32,
    /// Unit length, towards the light.
    pub(crate) light: [f32; 3],
    pub(crate) pad1: f32,
    /// What a white surface reflects when it faces the light.
    pub(crate) light_color: [f32; 3],
    pub(crate) pad2: f32,
    /// What a white surface reflects when it faces up.
    pub(crate) sky: [f32; 3],
    pub(crate) pad3: f32,
    /// What a white surface reflects when it faces down.
    pub(crate) ground: [f32; 3],
    pub(crate) pad4: f32,
}

/// Where one instance stands.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Instance {
    /// Rows of the affine transform: three coefficients, then the translation.
    pub(crate) x: [f32; 4],
    pub(crate) y: [f32; 4],
    pub(crate) z: [f32; 4],
    /// Rows of the matrix for normals: the cofactors times the sign of the determinant.
    pub(crate) normal_x: [f32; 3],
    pub(crate) pad0: f32,
    pub(crate) normal_y: [f32; 3],
    pub(crate) pad1: f32,
    pub(crate) normal_z: [f32; 3],
    /// -1 where the transform mirrors, else 1.
    pub(crate) orientation: f32,
}

/// The numbers of a material as one primitive uses it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Surface {
    /// Linear.
    pub(crate) base_color: [f32; 4],
    /// Linear.
    pub(crate) emissive: [f32; 3],
    pub(crate) cutoff: f32,
    pub(crate) metallic: f32,
    pub(crate) roughness: f32,
    pub(crate) normal_scale: f32,
    pub(crate) occlusion_strength: f32,
    /// 0: base colour only.
    pub(crate) lit: u32,
    /// A bit per texture that is present, in the order of the bindings.
    pub(crate) maps: u32,
    /// A bit per texture that reads the second of the two uv sets.
    pub(crate) uv_sets: u32,
    pub(crate) pad: u32,
    /// Of each texture: two rows of a matrix for (u, v, 1).
    pub(crate) uv: [UvRows; 5],
}

/// A change of texture coordinates.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct UvRows {
    pub(crate) u: [f32; 4],
    pub(crate) v: [f32; 4],
}

/// Vertex attributes that deformation leaves alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Attributes {
    /// The two uv sets that the material reads.
    pub(crate) uv: [[f32; 2]; 2],
    /// Linear RGBA, unorm.
    pub(crate) color: [u16; 4],
}
