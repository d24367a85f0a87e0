//! What a graph declares, as plain tables. Handles are indices into them.

use std::{
    cell::Cell,
    hash::{Hash, Hasher},
    ops::Range,
};

use smallvec::SmallVec;

use crate::{
    access::{Bind, PassKind, Target, Use},
    error::{GraphError, Shape},
    fingerprint::Fingerprint,
    handle::{GraphId, Label},
};

/// Size, format and sample count of a texture; a zero side counts as one texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDesc {
    /// Texels; one layer.
    pub size: wgpu::Extent3d,
    /// Any format that its uses allow.
    pub format: wgpu::TextureFormat,
    /// Samples per texel, 1 for an ordinary texture.
    pub samples: u32,
}

impl TextureDesc {
    /// A texture of `width` × `height` texels, one sample each.
    pub const fn new(width: u32, height: u32, format: wgpu::TextureFormat) -> Self {
        Self { size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 }, format, samples: 1 }
    }

    /// Bytes of its texels, as far as the format says.
    pub(crate) fn bytes(&self) -> u64 {
        self.format.theoretical_memory_footprint(self.size).saturating_mul(self.samples.into())
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { width: self.size.width, height: self.size.height, samples: self.samples }
    }
}

/// Where the bytes or texels of a resource are between frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Home<T> {
    /// Nowhere: they live inside one frame.
    Transient,
    /// With the caller.
    External(T),
    /// With the runtime, at this place in the list of kept resources.
    Kept(u32, Side),
}

/// Which part of a kept resource a declaration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// All there is.
    Persistent,
    /// What this frame leaves.
    Current,
    /// What the frame before left.
    Previous,
}

impl<T> Home<T> {
    /// Whether there is something to read before the first write of a frame.
    pub(crate) const fn has_contents(&self) -> bool {
        matches!(self, Self::External(_) | Self::Kept(_, Side::Persistent | Side::Previous))
    }

    /// Whether what a frame leaves can be seen after it.
    pub(crate) const fn outlives_frame(&self) -> bool {
        matches!(self, Self::External(_) | Self::Kept(_, Side::Persistent | Side::Current))
    }

    /// Which home it is, without what is there.
    pub(crate) const fn place(&self) -> Home<()> {
        match self {
            Self::Transient => Home::Transient,
            Self::External(_) => Home::External(()),
            Self::Kept(index, side) => Home::Kept(*index, *side),
        }
    }

    pub(crate) const fn is_transient(&self) -> bool {
        matches!(self, Self::Transient)
    }
}

/// A resource that the runtime keeps from run to run, by index into the storages or textures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptDecl {
    /// Persistent, or the current side of a history.
    pub(crate) resource: u32,
    pub(crate) previous: Option<u32>,
}

/// Bytes that are placed as one: a buffer, or a whole pack.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) label: Label,
    pub(crate) home: Home<wgpu::Buffer>,
    /// Uses outside the graph.
    pub(crate) extra_usage: wgpu::BufferUsages,
    /// The values that first fill its parts: one for a buffer, one per member for a pack.
    pub(crate) members: Range<u32>,
    pub(crate) is_pack: bool,
}

impl Storage {
    /// Its members among the values.
    pub(crate) fn member_range(&self) -> Range<usize> {
        self.members.start as usize..self.members.end as usize
    }
}

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) label: Label,
    pub(crate) storage: u32,
    /// The member of `storage` whose bytes this value is.
    pub(crate) member: u32,
    pub(crate) size: u64,
    pub(crate) writer: Option<u32>,
    /// The value that the writer changed in place.
    pub(crate) previous: Option<u32>,
    /// The pass that changes this value in place.
    pub(crate) modifier: Option<u32>,
    pub(crate) exported: bool,
}

#[derive(Debug)]
pub(crate) struct TextureDecl {
    pub(crate) label: Label,
    pub(crate) desc: TextureDesc,
    pub(crate) home: Home<()>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct UseDecl {
    pub(crate) target: Target,
    pub(crate) usage: Use,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ColorDecl {
    pub(crate) texture: u32,
    pub(crate) clear: Option<wgpu::Color>,
    pub(crate) resolve: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DepthDecl {
    pub(crate) texture: u32,
    pub(crate) clear: Option<f32>,
    pub(crate) read_only: bool,
}

#[derive(Debug)]
pub(crate) struct PassDecl {
    pub(crate) label: Label,
    pub(crate) kind: PassKind,
    pub(crate) uses: SmallVec<[UseDecl; 8]>,
    pub(crate) color: Vec<ColorDecl>,
    pub(crate) depth: Option<DepthDecl>,
    pub(crate) keep: bool,
    pub(crate) enabled: bool,
}

impl PassDecl {
    /// Whether the pass keeps some of what `texture` holds instead of filling or clearing it.
    pub(crate) fn loads(&self, texture: u32) -> bool {
        let changes =
            |u: &UseDecl| u.target == Target::Texture(texture) && u.usage == Use::StorageTextureModify;
        if self.uses.iter().any(changes) {
            return true;
        }
        let color = self.color.iter().any(|c| c.texture == texture && c.clear.is_none());
        color || self.depth.is_some_and(|d| d.texture == texture && d.clear.is_none())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GroupDecl {
    pub(crate) pass: u32,
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) entries: SmallVec<[(u32, Bind); 8]>,
}

/// Everything but the record closures, so that compiling does not depend on the frame type.
#[derive(Debug)]
pub(crate) struct Declarations {
    pub(crate) id: GraphId,
    pub(crate) storages: Vec<Storage>,
    pub(crate) values: Vec<Value>,
    /// The storage of each pack.
    pub(crate) packs: Vec<u32>,
    pub(crate) textures: Vec<TextureDecl>,
    /// Buffers and packs that the runtime keeps.
    pub(crate) kept: Vec<KeptDecl>,
    /// Textures that the runtime keeps.
    pub(crate) kept_textures: Vec<KeptDecl>,
    pub(crate) passes: Vec<PassDecl>,
    pub(crate) groups: Vec<GroupDecl>,
    /// Mistakes seen while declaring; `compile` reports them.
    pub(crate) errors: Vec<GraphError>,
    shape: Fingerprint,
    /// What `fingerprint` returned last, until something changes.
    known: Cell<Option<u64>>,
}

impl Declarations {
    pub(crate) fn new() -> Self {
        Self {
            id: GraphId::next(),
            storages: Vec::new(),
            values: Vec::new(),
            packs: Vec::new(),
            textures: Vec::new(),
            kept: Vec::new(),
            kept_textures: Vec::new(),
            passes: Vec::new(),
            groups: Vec::new(),
            errors: Vec::new(),
            shape: Fingerprint::new(),
            known: Cell::new(None),
        }
    }

    /// Folds one declaration into the fingerprint.
    pub(crate) fn note(&mut self, what: impl Hash) {
        what.hash(&mut self.shape);
        self.known.set(None);
    }

    /// Switches a pass; switching it back restores the fingerprint, and so finds the plan again.
    pub(crate) fn enable(&mut self, pass: u32, enabled: bool) {
        self.passes[pass as usize].enabled = enabled;
        self.touch_switches();
    }

    /// Says that something beside the declarations changed that the fingerprint covers.
    pub(crate) fn touch_switches(&mut self) {
        self.known.set(None);
    }

    /// The declarations' shape, with the switches of passes, and what of imported buffers a plan depends on.
    pub(crate) fn fingerprint(&self) -> u64 {
        let fingerprint = self.known.get().unwrap_or_else(|| {
            let mut hasher = self.shape;
            for switches in self.passes.chunks(64) {
                let bit = |mask: u64, pass: &PassDecl| mask << 1 | u64::from(pass.enabled);
                switches.iter().fold(0, bit).hash(&mut hasher);
            }
            for storage in &self.storages {
                if let Home::External(buffer) = &storage.home {
                    (buffer.size(), buffer.usage()).hash(&mut hasher);
                }
            }
            hasher.finish()
        });
        self.known.set(Some(fingerprint));
        fingerprint
    }

    /// Whether any buffer is the caller's.
    pub(crate) fn has_imports(&self) -> bool {
        self.storages.iter().any(|storage| matches!(storage.home, Home::External(_)))
    }

    /// The values that a use touches: one, or every member of a pack.
    pub(crate) fn touched(&self, target: Target) -> Range<u32> {
        match target {
            Target::Buffer(value) => value..value + 1,
            Target::Pack(pack) => self.pack_storage(pack).members.clone(),
            Target::Texture(_) | Target::Unknown => 0..0,
        }
    }

    pub(crate) fn pack_storage(&self, pack: u32) -> &Storage {
        &self.storages[self.packs[pack as usize] as usize]
    }

    /// The members of the current side of the kept resource that a storage is a side of.
    pub(crate) fn kept_members(&self, storage: u32) -> Range<u32> {
        let current = match self.storages[storage as usize].home {
            Home::Kept(kept, _) => self.kept[kept as usize].resource,
            Home::Transient | Home::External(_) => storage,
        };
        self.storages[current as usize].members.clone()
    }

    /// The storage that a use touches, if it touches a buffer.
    pub(crate) fn storage_of(&self, target: Target) -> Option<u32> {
        match target {
            Target::Buffer(value) => Some(self.values[value as usize].storage),
            Target::Pack(pack) => Some(self.packs[pack as usize]),
            Target::Texture(_) | Target::Unknown => None,
        }
    }

    pub(crate) fn label_of(&self, target: Target) -> Label {
        match target {
            Target::Buffer(value) => self.values[value as usize].label.clone(),
            Target::Pack(pack) => self.pack_storage(pack).label.clone(),
            Target::Texture(texture) => self.textures[texture as usize].label.clone(),
            Target::Unknown => Label::Borrowed("unknown"),
        }
    }

    pub(crate) fn pass_label(&self, pass: u32) -> Label {
        self.passes[pass as usize].label.clone()
    }
}
