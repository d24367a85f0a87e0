// Also compiled by the build script, which compares it with the shaders: no paths into the crate.

/// One palette entry as the kernel reads it: the three rows of an affine 3×4 matrix.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct JointMatrix {
    /// Row of x: three coefficients, then the translation.
    pub x: [f32; 4],
    /// Row of y.
    pub y: [f32; 4],
    /// Row of z.
    pub z: [f32; 4],
}

impl JointMatrix {
    /// Leaves vertices where they are.
    pub const IDENTITY: Self =
        Self { x: [1.0, 0.0, 0.0, 0.0], y: [0.0, 1.0, 0.0, 0.0], z: [0.0, 0.0, 1.0, 0.0] };
}
