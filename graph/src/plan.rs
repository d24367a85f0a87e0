use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use crate::{
    access::{PassKind, Target, Use},
    decl::TextureDesc,
    handle::{Buffer, GraphId, Label},
};

/// What a frame will do: order, lifetimes, places and attachment operations, as plain data.
///
/// It needs no device, can be cloned (which copies nothing), compared and printed. Two plans are equal when equal declarations and
/// limits led to them;
/// whose graph they came from is not compared.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) graph: GraphId,
    /// The first declaration of the graph that it came from.
    pub(crate) family: GraphId,
    /// The fingerprint of the declarations, without the limits.
    pub(crate) shape: u64,
    pub(crate) body: Arc<Body>,
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.body, &other.body) || self.body == other.body
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) fingerprint: u64,
    pub(crate) passes: Vec<PlannedPass>,
    /// Of all passes, one after another.
    pub(crate) uses: Vec<PlannedUse>,
    pub(crate) culled: Vec<CulledPass>,
    pub(crate) buffers: Vec<PlannedBuffer>,
    pub(crate) arenas: Vec<Arena>,
    /// By value: the name of a pack's member; empty where the buffer's says it all.
    pub(crate) labels: Vec<Label>,
    /// By value: its place, or `None` when the plan gives it no memory.
    pub(crate) values: Vec<Option<ValuePlace>>,
    /// By pack: the planned buffer that holds it.
    pub(crate) packs: Vec<Option<u32>>,
    pub(crate) textures: Vec<PlannedTexture>,
    pub(crate) slots: Vec<TextureSlot>,
    /// By kept storage, if the plan uses it.
    pub(crate) kept: Vec<Option<KeptBuffer>>,
    /// By kept texture, if the plan uses it.
    pub(crate) kept_textures: Vec<Option<KeptTexture>>,
    /// The values and textures of every kept resource, used or not, by their first and last index: what asks for
    /// the frame before need not read it.
    pub(crate) kept_values: Vec<(Range<u32>, u32)>,
    pub(crate) kept_texture_values: Vec<(u32, u32)>,
    /// The exported values.
    pub(crate) exported: Vec<u32>,
    /// The kept storages that a pass of the plan fills.
    pub(crate) filled: Vec<u32>,
    /// The kept textures that a pass of the plan fills.
    pub(crate) filled_textures: Vec<u32>,
    /// Bytes of one staging buffer that holds every upload block.
    pub(crate) upload_bytes: u64,
    pub(crate) live_bytes: u64,
}

/// A pass of the plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedPass {
    /// The name it was declared with.
    pub label: Cow<'static, str>,
    /// What kind of pass it is.
    pub kind: PassKind,
    /// Its place in the order of declaration.
    pub declared: u32,
    /// Bytes of buffers it may read.
    pub bytes_read: u64,
    /// Bytes of buffers it may write.
    pub bytes_written: u64,
    pub(crate) color: Vec<ColorOps>,
    pub(crate) depth: Option<DepthOps>,
    pub(crate) uploads: Vec<UploadBlock>,
    /// Its part of the plan's uses.
    pub(crate) uses: Range<u32>,
}

/// What a pass does with one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedUse {
    pub(crate) target: Target,
    pub(crate) usage: Use,
}

/// A pass that is not in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CulledPass {
    /// The name it was declared with.
    pub label: Cow<'static, str>,
    /// Why it is not in the plan.
    pub reason: CullReason,
}

/// Why a pass is not in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CullReason {
    /// It was switched off.
    Disabled,
    /// It writes nothing.
    WritesNothing,
    /// No pass in the plan reads what it writes.
    Unread {
        /// What it writes.
        resources: Vec<Cow<'static, str>>,
    },
}

impl fmt::Display for CullReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("disabled"),
            Self::WritesNothing => f.write_str("writes nothing"),
            Self::Unread { resources } => {
                f.write_str("no pass reads ")?;
                for (at, resource) in resources.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}`{resource}`")?;
                }
                Ok(())
            }
        }
    }
}

/// Bytes that are placed as one: a buffer, or the live members of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedBuffer {
    /// The name it was declared with.
    pub label: Cow<'static, str>,
    /// Bytes, without padding to the alignment.
    pub size: u64,
    /// The first pass that uses it, as an index into [`Plan::passes`].
    pub first: u32,
    /// The last pass that uses it; the last of the plan for an exported value.
    pub last: u32,
    /// Where a transient lies; `None` for what outlives the frame.
    pub placement: Option<Placement>,
    pub(crate) kept: Option<KeptPlace>,
    pub(crate) storage: u32,
}

/// A buffer that the runtime keeps, or the two of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptBuffer {
    pub(crate) size: u64,
    pub(crate) usage: wgpu::BufferUsages,
    pub(crate) is_history: bool,
    /// Which members lie where.
    pub(crate) layout: u64,
}

/// A texture that the runtime keeps, or the two of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptTexture {
    pub(crate) slot: TextureSlot,
    pub(crate) is_history: bool,
}

/// Which kept resource, by index, and which of the two of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptPlace {
    pub(crate) index: u32,
    pub(crate) is_previous: bool,
}

/// A range of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// Index into [`Plan::arenas`].
    pub arena: u32,
    /// Bytes from the start of the arena, aligned for every use the range has.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// One buffer on the device that holds transients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arena {
    /// Bytes.
    pub size: u64,
    /// Everything its transients are used for.
    pub usage: wgpu::BufferUsages,
}

/// Where a value lies inside its planned buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValuePlace {
    pub(crate) buffer: u32,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) in_pack: bool,
}

/// A texture that the passes use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedTexture {
    /// The name it was declared with.
    pub label: Cow<'static, str>,
    /// What it is.
    pub desc: TextureDesc,
    /// The first pass that uses it, as an index into [`Plan::passes`].
    pub first: u32,
    /// The last pass that uses it.
    pub last: u32,
    pub(crate) place: TexturePlace,
}

impl PlannedTexture {
    /// The pooled texture that it is, by number: textures of one slot are never alive together. `None` for what
    /// outlives the frame.
    pub fn slot(&self) -> Option<u32> {
        match self.place {
            TexturePlace::Slot(slot) => Some(slot),
            TexturePlace::Unused | TexturePlace::Target | TexturePlace::Kept(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexturePlace {
    Unused,
    Slot(u32),
    Target,
    Kept(KeptPlace),
}

/// A texture on the device, shared by declared textures whose lifetimes do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextureSlot {
    pub(crate) desc: TextureDesc,
    pub(crate) usage: wgpu::TextureUsages,
    /// Nothing of it is loaded or stored, so tiled hardware need not give it memory.
    pub(crate) memoryless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColorOps {
    pub(crate) texture: u32,
    pub(crate) resolve: Option<u32>,
    pub(crate) ops: wgpu::Operations<wgpu::Color>,
}

/// `None` leaves the aspect read-only, or says that the format lacks it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthOps {
    pub(crate) texture: u32,
    pub(crate) depth: Option<wgpu::Operations<f32>>,
    pub(crate) stencil: Option<wgpu::Operations<u32>>,
}

/// The part of the staging buffer that a host pass fills for one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UploadBlock {
    pub(crate) value: u32,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Plan {
    /// A number that is equal for equal declarations and limits.
    pub fn fingerprint(&self) -> u64 {
        self.body.fingerprint
    }

    /// The passes that run, in order.
    pub fn passes(&self) -> &[PlannedPass] {
        &self.body.passes
    }

    /// The passes that do not run, and why.
    pub fn culled(&self) -> &[CulledPass] {
        &self.body.culled
    }

    /// The buffers that the passes use.
    pub fn buffers(&self) -> &[PlannedBuffer] {
        &self.body.buffers
    }

    /// The buffers on the device that hold the transients.
    pub fn arenas(&self) -> &[Arena] {
        &self.body.arenas
    }

    /// The textures that the passes use.
    pub fn textures(&self) -> impl Iterator<Item = &PlannedTexture> {
        self.body.textures.iter().filter(|texture| texture.place != TexturePlace::Unused)
    }

    /// Bytes if every transient texture were one of its own.
    pub fn unaliased_texture_bytes(&self) -> u64 {
        let pooled = self.textures().filter(|texture| texture.slot().is_some());
        pooled.fold(0, |sum, texture| sum.saturating_add(texture.desc.bytes()))
    }

    /// Bytes of all arenas.
    pub fn peak_bytes(&self) -> u64 {
        self.body.arenas.iter().map(|arena| arena.size).sum()
    }

    /// Bytes of the pooled textures, as far as their formats say; memoryless ones count.
    pub fn texture_bytes(&self) -> u64 {
        self.body.slots.iter().fold(0, |sum, slot| sum.saturating_add(slot.desc.bytes()))
    }

    /// Bytes of buffers that the runtime keeps from run to run; a history counts twice.
    pub fn kept_bytes(&self) -> u64 {
        let kept = self.body.kept.iter().flatten();
        kept.map(|kept| if kept.is_history { 2 * kept.size } else { kept.size }).sum()
    }

    /// Bytes if every transient had a buffer of its own.
    pub fn unaliased_bytes(&self) -> u64 {
        self.body.buffers.iter().filter(|b| b.placement.is_some()).map(|b| b.size).sum()
    }

    /// Bytes of transients alive at the fullest pass: no placement can need less.
    pub fn live_bytes(&self) -> u64 {
        self.body.live_bytes
    }

    /// Whether the plan gives `buffer` memory, that is whether a pass of the plan uses it.
    ///
    /// False for a pack's member that no pass reads, and for a buffer of another graph.
    pub fn is_live(&self, buffer: Buffer) -> bool {
        self.place(buffer).is_some()
    }

    /// Bytes from the start of its pack's range to a live member; `None` for any other buffer.
    pub fn offset_in_pack(&self, buffer: Buffer) -> Option<u64> {
        self.place(buffer).filter(|place| place.in_pack).map(|place| place.offset)
    }

    pub(crate) fn place(&self, buffer: Buffer) -> Option<&ValuePlace> {
        let values = (buffer.graph == self.graph).then_some(&self.body.values)?;
        values.get(buffer.index as usize)?.as_ref()
    }

    /// Two placed buffers that share bytes while both are alive, which wgpu would not notice.
    #[doc(hidden)]
    pub fn overlap(&self) -> Option<(&PlannedBuffer, &PlannedBuffer)> {
        let buffers = &self.body.buffers;
        buffers
            .iter()
            .enumerate()
            .find_map(|(at, a)| buffers[at + 1..].iter().find(|b| double_booked(a, b)).map(|b| (a, b)))
    }
}

fn double_booked(a: &PlannedBuffer, b: &PlannedBuffer) -> bool {
    let (Some(p), Some(q)) = (a.placement, b.placement) else { return false };
    let together = a.first <= b.last && b.first <= a.last;
    together && p.arena == q.arena && p.offset < q.offset + q.size && q.offset < p.offset + p.size
}
