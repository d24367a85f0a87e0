/// The device limits that a plan depends on.
///
/// Compiling needs no device: take them from one, or state those of the device you plan for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Offsets of storage bindings are multiples of this many bytes.
    pub storage_alignment: u64,
    /// Offsets of uniform bindings are multiples of this many bytes.
    pub uniform_alignment: u64,
    /// Bytes of one buffer, and so of one arena.
    pub max_buffer_size: u64,
    /// Bytes that one storage binding may span.
    pub max_storage_binding: u64,
    /// Bytes that one uniform binding may span.
    pub max_uniform_binding: u64,
    /// Texels along a side of a texture.
    pub max_texture_side: u32,
    /// Colour attachments of a raster pass.
    pub max_color_attachments: u32,
}

impl Limits {
    /// Alignment of a storage with `usage`: a power of two, never less than a copy needs.
    pub(crate) fn alignment(&self, usage: wgpu::BufferUsages) -> u64 {
        let uniform = if usage.contains(wgpu::BufferUsages::UNIFORM) { self.uniform_alignment } else { 1 };
        self.storage_alignment.max(uniform).clamp(wgpu::COPY_BUFFER_ALIGNMENT, 1 << 16).next_power_of_two()
    }

    /// The same limits, small enough that sums of sizes within them cannot overflow.
    pub(crate) fn bounded(&self) -> Self {
        const MOST: u64 = 1 << 40;
        Self {
            max_buffer_size: self.max_buffer_size.min(MOST),
            max_storage_binding: self.max_storage_binding.min(MOST),
            max_uniform_binding: self.max_uniform_binding.min(MOST),
            max_texture_side: self.max_texture_side.min(1 << 16),
            ..*self
        }
    }
}

impl From<&wgpu::Limits> for Limits {
    fn from(limits: &wgpu::Limits) -> Self {
        Self {
            storage_alignment: limits.min_storage_buffer_offset_alignment.into(),
            uniform_alignment: limits.min_uniform_buffer_offset_alignment.into(),
            max_buffer_size: limits.max_buffer_size,
            max_storage_binding: limits.max_storage_buffer_binding_size,
            max_uniform_binding: limits.max_uniform_buffer_binding_size,
            max_texture_side: limits.max_texture_dimension_2d,
            max_color_attachments: limits.max_color_attachments,
        }
    }
}

impl From<wgpu::Limits> for Limits {
    fn from(limits: wgpu::Limits) -> Self {
        Self::from(&limits)
    }
}

impl Default for Limits {
    /// The limits of default WebGPU.
    fn default() -> Self {
        Self::from(wgpu::Limits::default())
    }
}
