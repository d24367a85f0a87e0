// What the kernel reads, as Rust structs. Also compiled by the build script, which compares every size
// and offset with the WGSL structs of the same name: no paths into the crate.

/// One chunk of one instance: 32 bytes, two `vec4<u32>` of the frame block.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct WorkItem {
    /// First vertex in streams A and B, in `vec4`s.
    pub source: u32,
    /// Vertices in the low half, listed joints in the high half.
    pub counts: u32,
    /// First row of the instance's palette range.
    pub palette: u32,
    /// First word of the chunk's joint list in the tables.
    pub joint_list: u32,
    /// First vertex in output A, in `vec4`s, or [`NO_OUTPUT`].
    pub out_a: u32,
    /// First word in output B, or [`NO_OUTPUT`].
    pub out_b: u32,
    /// The instance's [`MorphHeader`] for this primitive in the frame block, in `vec4`s; 0 without targets.
    pub morph: u32,
    /// First `vec4` of the chunk (classes of eight) or the model (class any) in the extra stream.
    pub extra: u32,
}

/// Where the items of one kernel variant lie: one `vec4<u32>` at the start of the frame block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct VariantHeader {
    /// First item, in `vec4`s from the start of the block.
    pub first: u32,
    /// Items.
    pub count: u32,
    /// Unused.
    pub pad: [u32; 2],
}

/// The active targets of a primitive, and where the primitive starts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct MorphHeader {
    /// Active targets.
    pub count: u32,
    /// The primitive's first vertex in stream A, in `vec4`s.
    pub source: u32,
    /// The first active target, in `vec4`s from the start of the frame block.
    pub first: u32,
    /// Unused.
    pub pad: u32,
}

/// One active target of a primitive: 32 bytes, two `vec4<u32>` of the frame block.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ActiveTarget {
    /// First word of its (mask, rank) pairs in the tables: one pair per 32 vertices of the primitive. Unused
    /// where it is dense.
    pub blocks: u32,
    /// First word of its deltas in the tables.
    pub deltas: u32,
    /// [`DELTA_NORMALS`], [`DELTA_TANGENTS`], [`DELTA_DENSE`] and [`DELTA_SHORT`].
    pub flags: u32,
    /// Unused.
    pub pad: u32,
    /// The weight, times the size of one step where deltas are in 16 bits.
    pub position: f32,
    /// The same for normals.
    pub normal: f32,
    /// The same for tangents.
    pub tangent: f32,
    /// Unused.
    pub pad_end: f32,
}

/// The box of the deformed vertices of a part, in its instance's space, as a compute pass leaves it on the GPU: see
/// [`GroupOptions::bounds`](crate::deform::gpu::GroupOptions::bounds).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PartBox {
    /// Least corner, and 0. Above the greatest where nothing was deformed.
    pub min: [f32; 4],
    /// Greatest corner, and 0.
    pub max: [f32; 4],
}

/// This output of the item is not read by anyone.
pub const NO_OUTPUT: u32 = u32::MAX;
/// The target's deltas hold normals.
pub const DELTA_NORMALS: u32 = 1;
/// The target's deltas hold tangents.
pub const DELTA_TANGENTS: u32 = 2;
/// The target has a delta for every vertex of the primitive, and no (mask, rank) pairs.
pub const DELTA_DENSE: u32 = 4;
/// The target's deltas are integers of 16 bits.
pub const DELTA_SHORT: u32 = 8;
/// Rises when what streams, tables, frame block or outputs hold comes to mean something else, so that a capture of
/// another layout is told apart.
pub const LAYOUT: u32 = 1;
/// Kernel variants: five influence classes with linear skinning and four with dual quaternions, packed or exact, without or
/// with morphing.
pub const VARIANTS: usize = 36;
/// `vec4`s of headers at the start of a frame block.
pub const HEADERS: usize = VARIANTS;
