use std::{fmt, marker::PhantomData};

use crate::{handle::GraphId, role::Bindable};

/// Proof that a pass declared a use in the role `R`; the key that [`Resources`](crate::Resources) and
/// [`Host`](crate::Host) resolve. Valid only in the pass that declared it.
pub struct Access<R> {
    pub(crate) graph: GraphId,
    pub(crate) pass: u32,
    pub(crate) target: Target,
    role: PhantomData<fn() -> R>,
}

impl<R> Access<R> {
    pub(crate) fn new(graph: GraphId, pass: u32, target: Target) -> Self {
        Self { graph, pass, target, role: PhantomData }
    }
}

impl<R> Clone for Access<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Access<R> {}

impl<R> fmt::Debug for Access<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access<{}>({:?})", std::any::type_name::<R>(), self.target)
    }
}

/// What a use refers to, by index into the declarations of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Buffer(u32),
    Pack(u32),
    Texture(u32),
    /// A handle that this graph does not know; the mistake is already recorded.
    Unknown,
}

/// One entry of a bind group: a declared access, or something that the graph does not track.
#[derive(Clone, Debug)]
pub struct Bind(pub(crate) BindKind);

#[derive(Clone, Debug)]
pub(crate) enum BindKind {
    Access { graph: GraphId, pass: u32, target: Target },
    Sampler(wgpu::Sampler),
    View(wgpu::TextureView),
    Range { buffer: wgpu::Buffer, offset: u64, size: Option<wgpu::BufferSize> },
}

impl Bind {
    /// A range of a buffer that the graph neither orders nor checks; no pass of the graph may write it.
    pub fn range(buffer: &wgpu::Buffer, offset: u64, size: Option<wgpu::BufferSize>) -> Self {
        Self(BindKind::Range { buffer: buffer.clone(), offset, size })
    }
}

impl<R: Bindable> From<Access<R>> for Bind {
    fn from(access: Access<R>) -> Self {
        Self(BindKind::Access { graph: access.graph, pass: access.pass, target: access.target })
    }
}

impl From<wgpu::Sampler> for Bind {
    fn from(sampler: wgpu::Sampler) -> Self {
        Self(BindKind::Sampler(sampler))
    }
}

impl From<wgpu::TextureView> for Bind {
    fn from(view: wgpu::TextureView) -> Self {
        Self(BindKind::View(view))
    }
}

impl From<wgpu::Buffer> for Bind {
    fn from(buffer: wgpu::Buffer) -> Self {
        Self(BindKind::Range { buffer, offset: 0, size: None })
    }
}

/// How a pass uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    StorageRead,
    StorageWrite,
    Uniform,
    Vertex,
    Index,
    Indirect,
    CopySrc,
    CopyDst,
    Upload,
    Sampled,
    StorageTextureRead,
    StorageTextureWrite,
    StorageTextureModify,
    TextureCopySrc,
    TextureCopyDst,
    Color,
    Resolve,
    Depth,
    DepthRead,
}

impl Use {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::StorageRead => "storage_read",
            Self::StorageWrite => "storage_write",
            Self::Uniform => "uniform",
            Self::Vertex => "vertex",
            Self::Index => "index",
            Self::Indirect => "indirect",
            Self::CopySrc => "copy_src",
            Self::CopyDst => "copy_dst",
            Self::Upload => "upload",
            Self::Sampled => "sampled",
            Self::StorageTextureRead => "storage_texture_read",
            Self::StorageTextureWrite => "storage_texture_write",
            Self::StorageTextureModify => "storage_texture_modify",
            Self::TextureCopySrc => "texture_copy_src",
            Self::TextureCopyDst => "texture_copy_dst",
            Self::Color => "color",
            Self::Resolve => "color_resolve",
            Self::Depth => "depth",
            Self::DepthRead => "depth_read",
        }
    }

    pub(crate) const fn writes(self) -> bool {
        matches!(
            self,
            Self::StorageWrite
                | Self::CopyDst
                | Self::Upload
                | Self::StorageTextureWrite
                | Self::StorageTextureModify
                | Self::TextureCopyDst
                | Self::Color
                | Self::Resolve
                | Self::Depth
        )
    }

    /// Whether the texture is an attachment of the pass.
    pub(crate) const fn is_attachment(self) -> bool {
        matches!(self, Self::Color | Self::Resolve | Self::Depth | Self::DepthRead)
    }

    pub(crate) const fn allowed_in(self, kind: PassKind) -> bool {
        match kind {
            PassKind::Host => matches!(self, Self::Upload),
            PassKind::Compute => matches!(
                self,
                Self::StorageRead
                    | Self::StorageWrite
                    | Self::Uniform
                    | Self::Indirect
                    | Self::Sampled
                    | Self::StorageTextureRead
                    | Self::StorageTextureWrite
                    | Self::StorageTextureModify
            ),
            PassKind::Raster => !matches!(
                self,
                Self::Upload | Self::CopySrc | Self::CopyDst | Self::TextureCopySrc | Self::TextureCopyDst
            ),
            PassKind::Transfer => {
                matches!(self, Self::CopySrc | Self::CopyDst | Self::TextureCopySrc | Self::TextureCopyDst)
            }
        }
    }

    pub(crate) const fn buffer_usage(self) -> wgpu::BufferUsages {
        match self {
            Self::StorageRead | Self::StorageWrite => wgpu::BufferUsages::STORAGE,
            Self::Uniform => wgpu::BufferUsages::UNIFORM,
            Self::Vertex => wgpu::BufferUsages::VERTEX,
            Self::Index => wgpu::BufferUsages::INDEX,
            Self::Indirect => wgpu::BufferUsages::INDIRECT,
            Self::CopySrc => wgpu::BufferUsages::COPY_SRC,
            Self::CopyDst | Self::Upload => wgpu::BufferUsages::COPY_DST,
            _ => wgpu::BufferUsages::empty(),
        }
    }

    pub(crate) const fn texture_usage(self) -> wgpu::TextureUsages {
        match self {
            Self::Sampled => wgpu::TextureUsages::TEXTURE_BINDING,
            Self::StorageTextureRead | Self::StorageTextureWrite | Self::StorageTextureModify => {
                wgpu::TextureUsages::STORAGE_BINDING
            }
            Self::TextureCopySrc => wgpu::TextureUsages::COPY_SRC,
            Self::TextureCopyDst => wgpu::TextureUsages::COPY_DST,
            Self::Color | Self::Resolve | Self::Depth | Self::DepthRead => {
                wgpu::TextureUsages::RENDER_ATTACHMENT
            }
            _ => wgpu::TextureUsages::empty(),
        }
    }
}

/// Where the work of a pass happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassKind {
    /// On the CPU, while the frame is recorded.
    Host,
    /// In a compute pass.
    Compute,
    /// In a render pass.
    Raster,
    /// In copies between passes.
    Transfer,
}

impl PassKind {
    /// The name that messages, spans and plan dumps use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Compute => "compute",
            Self::Raster => "raster",
            Self::Transfer => "transfer",
        }
    }
}

impl fmt::Display for PassKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
