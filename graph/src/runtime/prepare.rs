//! The objects on the device that one plan needs, built once.

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::{
    access::{BindKind, Target},
    decl::{Declarations, GroupDecl, Home},
    handle::{GraphId, Label},
    plan::{KeptPlace, Plan, TexturePlace},
    runtime::{
        kept::Kept,
        pool::{SlotViews, TexturePool},
        target::Targets,
    },
};

/// A range of a buffer on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl<'a> Bytes<'a> {
    pub(crate) fn binding(self) -> wgpu::BufferBinding<'a> {
        let size = wgpu::BufferSize::new(self.size);
        wgpu::BufferBinding { buffer: self.buffer, offset: self.offset, size }
    }

    pub(crate) fn slice(self) -> wgpu::BufferSlice<'a> {
        self.buffer.slice(self.offset..self.offset + self.size)
    }
}

/// Where the bytes of a value or pack lie.
#[derive(Debug)]
struct PlacedRange {
    memory: Memory,
    offset: u64,
    size: u64,
}

#[derive(Clone, Copy, Debug)]
enum Memory {
    Arena(u32),
    /// Index into the imports.
    Import(u32),
    Kept(KeptPlace),
}

/// A buffer of the caller, as of the newest run.
#[derive(Debug)]
struct Import {
    storage: u32,
    buffer: wgpu::Buffer,
}

/// A bind group as it is now, and as it was with histories the other way round.
#[derive(Debug)]
pub(crate) struct PreparedGroup {
    decl: GroupDecl,
    variants: SmallVec<[Variant; 2]>,
    current: usize,
    /// What it was built with and may be replaced from run to run.
    held: SmallVec<[Held; 2]>,
    /// The kept resources it holds.
    kept: SmallVec<[KeptUse; 2]>,
}

#[derive(Debug)]
struct Variant {
    group: wgpu::BindGroup,
    /// Which of the kept resources were flipped.
    flipped: SmallVec<[bool; 2]>,
}

#[derive(Debug)]
enum Held {
    Target(u32, wgpu::TextureView),
    /// Index into the imports.
    Import(u32, wgpu::Buffer),
}

#[derive(Clone, Copy, Debug)]
enum KeptUse {
    Buffer(u32),
    Texture(u32),
}

impl KeptUse {
    fn is_flipped(self, kept: &Kept) -> bool {
        match self {
            Self::Buffer(index) => kept.is_buffer_flipped(index),
            Self::Texture(index) => kept.is_texture_flipped(index),
        }
    }
}

impl PreparedGroup {
    pub(crate) fn group(&self) -> Option<&wgpu::BindGroup> {
        self.variants.get(self.current).map(|variant| &variant.group)
    }
}

/// What resources stand for in this run.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) targets: &'a Targets,
    pub(crate) kept: &'a Kept,
}

/// Everything one plan needs on the device.
#[derive(Debug)]
pub(crate) struct Prepared {
    owner: Weak<()>,
    graph: GraphId,
    fingerprint: u64,
    pub(crate) last_run: u64,
    pub(crate) arena_bytes: u64,
    arenas: Vec<wgpu::Buffer>,
    imports: Vec<Import>,
    /// By value.
    values: Vec<Option<PlacedRange>>,
    /// By pack: its live members as one range.
    packs: Vec<Option<PlacedRange>>,
    slots: Vec<Arc<SlotViews>>,
    /// By group; `None` while its pass is not in the plan.
    pub(crate) groups: Vec<Option<PreparedGroup>>,
    /// The passes with timestamps, in order.
    pub(crate) timed: Arc<[Label]>,
    /// Bytes to copy of each upload block of the host pass being recorded.
    pub(crate) upload_used: Vec<u64>,
}

impl Prepared {
    pub(crate) fn new(
        device: &wgpu::Device,
        pool: &mut TexturePool,
        owner: &Arc<()>,
        decl: &Declarations,
        world: World<'_>,
        poison: bool,
    ) -> Self {
        let extra = if poison { wgpu::BufferUsages::COPY_DST } else { wgpu::BufferUsages::empty() };
        let plan = world.plan;
        let mut imports = Vec::new();
        let memories = plan.body.buffers.iter().map(|planned| {
            Some(match &decl.storages[planned.storage as usize].home {
                Home::Transient => Memory::Arena(planned.placement?.arena),
                Home::Kept(..) => Memory::Kept(planned.kept?),
                Home::External(buffer) => {
                    imports.push(Import { storage: planned.storage, buffer: buffer.clone() });
                    Memory::Import(imports.len() as u32 - 1)
                }
            })
        });
        let memories: Vec<_> = memories.collect();
        let place = |buffer: u32, offset: u64, size: u64| {
            let start = plan.body.buffers[buffer as usize].placement.map_or(0, |place| place.offset);
            Some(PlacedRange { memory: memories[buffer as usize]?, offset: start + offset, size })
        };
        let values = plan.body.values.iter();
        let values = values.map(|v| v.and_then(|v| place(v.buffer, v.offset, v.size))).collect();
        let packs = plan.body.packs.iter();
        let packs = packs.map(|p| p.and_then(|p| place(p, 0, plan.body.buffers[p as usize].size))).collect();
        let timed = plan.passes().iter().filter(|pass| super::timing::is_timed(pass.kind));
        let blocks = plan.passes().iter().map(|pass| pass.uploads.len()).max().unwrap_or(0);
        let mut prepared = Self {
            owner: Arc::downgrade(owner),
            graph: plan.graph,
            fingerprint: plan.fingerprint(),
            last_run: 0,
            arena_bytes: plan.peak_bytes(),
            arenas: plan.arenas().iter().map(|arena| create_arena(device, arena, extra)).collect(),
            imports,
            values,
            packs,
            slots: pool.take(device, &plan.body.slots),
            groups: Vec::new(),
            timed: timed.map(|pass| pass.label.clone()).collect(),
            upload_used: vec![0; blocks],
        };
        let mut alive = vec![false; decl.passes.len()];
        plan.passes().iter().for_each(|pass| alive[pass.declared as usize] = true);
        for group in &decl.groups {
            let built =
                alive[group.pass as usize].then(|| prepared.build(device, decl, group, world)).flatten();
            prepared.groups.push(built);
        }
        prepared
    }

    /// Whether these are the objects of `plan`, of this or an earlier declaration of its graph.
    pub(crate) fn is_of(&self, owner: &Arc<()>, plan: &Plan) -> bool {
        self.is_of_graph(owner) && self.fingerprint == plan.fingerprint()
    }

    pub(crate) fn is_of_graph(&self, owner: &Arc<()>) -> bool {
        std::ptr::eq(self.owner.as_ptr(), Arc::as_ptr(owner))
    }

    /// As [`is_of`](Self::is_of), of this declaration alone.
    pub(crate) fn is_exactly(&self, plan: &Plan) -> bool {
        self.graph == plan.graph && self.fingerprint == plan.fingerprint()
    }

    /// Whether the graph is still alive, and declared as it was.
    pub(crate) fn is_current(&self, owner: &Arc<()>, graph: GraphId) -> bool {
        self.owner.strong_count() > 0 && (!self.is_of_graph(owner) || self.graph == graph)
    }

    /// Brings everything up to this run: what was declared anew under the same shape, other imports, other
    /// views of targets, histories the other way round. Builds only the groups that hold any of it.
    pub(crate) fn refresh(&mut self, device: &wgpu::Device, decl: &Declarations, world: World<'_>) {
        let is_new = self.graph != world.plan.graph;
        self.graph = world.plan.graph;
        for import in &mut self.imports {
            if let Home::External(buffer) = &decl.storages[import.storage as usize].home
                && *buffer != import.buffer
            {
                import.buffer = buffer.clone();
            }
        }
        for index in 0..self.groups.len() {
            let Some(built) = &self.groups[index] else { continue };
            let group = &decl.groups[index];
            if (is_new && !same_group(&built.decl, group)) || self.is_stale(built, world) {
                self.groups[index] = self.build(device, decl, group, world);
            } else if !built.kept.is_empty() {
                self.turn(index, device, decl, world);
            }
        }
    }

    fn is_stale(&self, built: &PreparedGroup, world: World<'_>) -> bool {
        built.held.iter().any(|held| match held {
            Held::Target(target, view) => world.targets.view(self.graph, *target) != Some(view),
            Held::Import(import, buffer) => self.imports[*import as usize].buffer != *buffer,
        })
    }

    /// Chooses the variant of a group that fits the histories as they are now, or builds it.
    fn turn(&mut self, index: usize, device: &wgpu::Device, decl: &Declarations, world: World<'_>) {
        let Some(built) = &mut self.groups[index] else { return };
        let flipped = || built.kept.iter().map(|kept| kept.is_flipped(world.kept));
        let known = built.variants.iter().position(|v| v.flipped.iter().copied().eq(flipped()));
        if let Some(known) = known {
            built.current = known;
        } else if let Some(mut other) = self.build(device, decl, &decl.groups[index], world)
            && let Some(built) = &mut self.groups[index]
        {
            built.current = built.variants.len();
            built.variants.append(&mut other.variants);
        }
    }

    fn build(
        &self,
        device: &wgpu::Device,
        decl: &Declarations,
        group: &GroupDecl,
        world: World<'_>,
    ) -> Option<PreparedGroup> {
        let mut held = SmallVec::new();
        let mut kept: SmallVec<[KeptUse; 2]> = SmallVec::new();
        let mut entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = SmallVec::new();
        for (binding, bind) in &group.entries {
            let resource = match &bind.0 {
                BindKind::Access { target: Target::Texture(texture), .. } => {
                    let view = self.sampled(*texture, world)?;
                    match world.plan.body.textures[*texture as usize].place {
                        TexturePlace::Target => held.push(Held::Target(*texture, view.clone())),
                        TexturePlace::Kept(place) => kept.push(KeptUse::Texture(place.index)),
                        TexturePlace::Slot(_) | TexturePlace::Unused => {}
                    }
                    wgpu::BindingResource::TextureView(view)
                }
                BindKind::Access { target, .. } => {
                    let bytes = self.bytes(*target, world.kept)?;
                    match self.placed(*target)?.memory {
                        Memory::Kept(place) => kept.push(KeptUse::Buffer(place.index)),
                        Memory::Import(import) => held.push(Held::Import(import, bytes.buffer.clone())),
                        Memory::Arena(_) => {}
                    }
                    wgpu::BindingResource::Buffer(bytes.binding())
                }
                BindKind::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
                BindKind::View(view) => wgpu::BindingResource::TextureView(view),
                BindKind::Range { buffer, offset, size } => {
                    let (offset, size) = (*offset, *size);
                    wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size })
                }
            };
            entries.push(wgpu::BindGroupEntry { binding: *binding, resource });
        }
        let label = Some(&*decl.passes[group.pass as usize].label);
        let descriptor = wgpu::BindGroupDescriptor { label, layout: &group.layout, entries: &entries };
        let flipped = kept.iter().map(|kept| kept.is_flipped(world.kept)).collect();
        let variant = Variant { group: device.create_bind_group(&descriptor), flipped };
        let variants = SmallVec::from_iter([variant]);
        Some(PreparedGroup { decl: group.clone(), variants, current: 0, held, kept })
    }

    /// The bytes behind an access.
    pub(crate) fn bytes<'a>(&'a self, target: Target, kept: &'a Kept) -> Option<Bytes<'a>> {
        let PlacedRange { memory, offset, size } = self.placed(target)?;
        let buffer = match *memory {
            Memory::Arena(arena) => self.arenas.get(arena as usize)?,
            Memory::Import(import) => &self.imports.get(import as usize)?.buffer,
            Memory::Kept(place) => kept.buffer(place)?,
        };
        Some(Bytes { buffer, offset: *offset, size: *size })
    }

    fn placed(&self, target: Target) -> Option<&PlacedRange> {
        match target {
            Target::Buffer(value) => self.values.get(value as usize)?.as_ref(),
            Target::Pack(pack) => self.packs.get(pack as usize)?.as_ref(),
            Target::Texture(_) | Target::Unknown => None,
        }
    }

    pub(crate) fn sampled<'a>(&'a self, texture: u32, world: World<'a>) -> Option<&'a wgpu::TextureView> {
        match world.plan.body.textures.get(texture as usize)?.place {
            TexturePlace::Slot(slot) => Some(&self.slots.get(slot as usize)?.sampled),
            TexturePlace::Kept(place) => Some(&world.kept.texture(place)?.sampled),
            TexturePlace::Target => world.targets.view(self.graph, texture),
            TexturePlace::Unused => None,
        }
    }

    pub(crate) fn attachment<'a>(&'a self, texture: u32, world: World<'a>) -> Option<&'a wgpu::TextureView> {
        match world.plan.body.textures.get(texture as usize)?.place {
            TexturePlace::Slot(slot) => Some(&self.slots.get(slot as usize)?.attachment),
            TexturePlace::Kept(place) => Some(&world.kept.texture(place)?.attachment),
            TexturePlace::Target => world.targets.view(self.graph, texture),
            TexturePlace::Unused => None,
        }
    }

    /// The arenas, for overwriting what a frame left.
    pub(crate) fn arenas(&self) -> &[wgpu::Buffer] {
        &self.arenas
    }
}

/// Whether two declarations of a group bind the same, whichever generation of the graph they are from.
fn same_group(a: &GroupDecl, b: &GroupDecl) -> bool {
    let same = |((binding, x), (other, y)): (&(u32, crate::Bind), &(u32, crate::Bind))| {
        let same = match (&x.0, &y.0) {
            (BindKind::Access { target: x, .. }, BindKind::Access { target: y, .. }) => x == y,
            (BindKind::Sampler(x), BindKind::Sampler(y)) => x == y,
            (BindKind::View(x), BindKind::View(y)) => x == y,
            (
                BindKind::Range { buffer: x, offset: from, size },
                BindKind::Range { buffer: y, offset: other_from, size: other_size },
            ) => (x, from, size) == (y, other_from, other_size),
            _ => false,
        };
        binding == other && same
    };
    a.layout == b.layout && a.entries.len() == b.entries.len() && a.entries.iter().zip(&b.entries).all(same)
}

fn create_arena(
    device: &wgpu::Device,
    arena: &crate::plan::Arena,
    extra: wgpu::BufferUsages,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("graph arena"),
        size: arena.size,
        usage: arena.usage | extra,
        mapped_at_creation: false,
    })
}
