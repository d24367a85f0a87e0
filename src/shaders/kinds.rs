//! What a shader declares, as plain values that tables and reflection share.

/// A pipeline stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// `@vertex`
    Vertex,
    /// `@fragment`
    Fragment,
    /// `@compute`
    Compute,
}

/// The stages whose entry points use a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stages {
    /// Used by a `@vertex` entry point.
    pub vertex: bool,
    /// Used by a `@fragment` entry point.
    pub fragment: bool,
    /// Used by a `@compute` entry point.
    pub compute: bool,
}

/// What a texture's texels read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureSample {
    /// `f32`. Only a texture that a sampler reads has to be of a filterable format.
    Float {
        /// Some entry point reads the texture through a sampler.
        filterable: bool,
    },
    /// Depth.
    Depth,
    /// `i32`.
    Sint,
    /// `u32`.
    Uint,
}

/// The view dimension of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// `texture_1d`
    D1,
    /// `texture_2d`
    D2,
    /// `texture_2d_array`
    D2Array,
    /// `texture_3d`
    D3,
    /// `texture_cube`
    Cube,
    /// `texture_cube_array`
    CubeArray,
}

/// What a binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// `var<uniform>`
    Uniform,
    /// `var<storage, read>` or `var<storage, read_write>`
    Storage {
        /// The shader cannot write.
        read_only: bool,
    },
    /// A sampled or loaded texture.
    Texture {
        /// What its texels read as.
        sample: TextureSample,
        /// Its view dimension.
        dimension: Dimension,
        /// `texture_multisampled_2d` or `texture_depth_multisampled_2d`
        multisampled: bool,
    },
    /// `sampler` (filtering) or `sampler_comparison`
    Sampler {
        /// `sampler_comparison`
        comparison: bool,
    },
}
