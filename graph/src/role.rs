//! Roles of an [`Access`](crate::Access): what a pass may do with a resource, as types.

mod sealed {
    pub trait Sealed {}
}

/// Roles of buffers.
pub trait BufferRole: sealed::Sealed {}

/// Roles of textures.
pub trait TextureRole: sealed::Sealed {}

/// Roles that can stand in a bind group.
pub trait Bindable: sealed::Sealed {}

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident: $($group:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
        impl sealed::Sealed for $name {}
        $(impl $group for $name {})*
    )*};
}

roles! {
    /// Read in a shader as `var<storage, read>`.
    StorageRead: BufferRole Bindable;
    /// Written in a shader as `var<storage, read_write>`.
    StorageWrite: BufferRole Bindable;
    /// Read in a shader as `var<uniform>`.
    Uniform: BufferRole Bindable;
    /// Read as vertices.
    Vertex: BufferRole;
    /// Read as indices.
    Index: BufferRole;
    /// Read as arguments of a draw or dispatch.
    Indirect: BufferRole;
    /// The source of a copy.
    CopySrc: BufferRole;
    /// The destination of a copy.
    CopyDst: BufferRole;
    /// Filled by a host pass.
    Upload: BufferRole;
    /// Read in a shader as a texture.
    Sampled: TextureRole Bindable;
    /// Read in a shader as `texture_storage_2d<.., read>`.
    StorageTextureRead: TextureRole Bindable;
    /// Written in a shader as `texture_storage_2d<.., write>`, or `read_write` where the format allows.
    StorageTextureWrite: TextureRole Bindable;
    /// The source of a copy.
    TextureCopySrc: TextureRole;
    /// The destination of a copy.
    TextureCopyDst: TextureRole;
}
