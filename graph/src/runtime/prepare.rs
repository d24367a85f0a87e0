//! The objects on the device that one plan needs.

use std::sync::{Arc, Weak};

use crate::{
    access::Target,
    decl::{Declarations, Home},
    handle::{GraphId, Label},
    plan::{KeptPlace, Plan, TexturePlace},
    runtime::{
        groups::{PreparedGroup, same_group},
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
pub(super) struct PlacedRange {
    pub(super) memory: Memory,
    offset: u64,
    size: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    Arena(u32),
    /// Index into the imports.
    Import(u32),
    Kept(KeptPlace),
}

/// A buffer of the caller, as of the newest run.
#[derive(Debug)]
pub(super) struct Import {
    storage: u32,
    pub(super) buffer: wgpu::Buffer,
}

/// What resources stand for in this run.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) targets: &'a Targets,
    pub(crate) kept: &'a Kept,
}

/// Everything one plan needs on the device.
#[derive(Debug)]
pub(crate) struct Prepared {
    owner: Weak<()>,
    pub(super) graph: GraphId,
    fingerprint: u64,
    pub(crate) last_run: u64,
    pub(crate) arena_bytes: u64,
    arenas: Vec<wgpu::Buffer>,
    pub(super) imports: Vec<Import>,
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
        scope: Scope<'_>,
        poison: bool,
    ) -> Self {
        let extra = if poison { wgpu::BufferUsages::COPY_DST } else { wgpu::BufferUsages::empty() };
        let plan = scope.plan;
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
                alive[group.pass as usize].then(|| prepared.build(device, decl, group, scope)).flatten();
            prepared.groups.push(built);
        }
        prepared
    }

    /// Whether these are the objects of `plan`, of this or an earlier declaration of its graph.
    pub(crate) fn is_of(&self, owner: &Arc<()>, plan: &Plan) -> bool {
        self.is_of_graph(owner) && self.fingerprint == plan.fingerprint()
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.owner.strong_count() > 0
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
        self.is_alive() && (!self.is_of_graph(owner) || self.graph == graph)
    }

    /// Brings everything up to this run: what was declared anew under the same shape, other imports, other
    /// views of targets, histories the other way round. Builds only the groups that hold any of it.
    pub(crate) fn refresh(&mut self, device: &wgpu::Device, decl: &Declarations, scope: Scope<'_>) {
        let is_new = self.graph != scope.plan.graph;
        self.graph = scope.plan.graph;
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
            if (is_new && !same_group(&built.decl, group)) || self.is_stale(built, scope) {
                self.groups[index] = self.build(device, decl, group, scope);
            } else if !built.kept.is_empty() {
                self.select_side(index, device, decl, scope);
            }
        }
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

    pub(super) fn placed(&self, target: Target) -> Option<&PlacedRange> {
        match target {
            Target::Buffer(value) => self.values.get(value as usize)?.as_ref(),
            Target::Pack(pack) => self.packs.get(pack as usize)?.as_ref(),
            Target::Texture(_) | Target::Unknown => None,
        }
    }

    /// The view to bind of a texture.
    pub(crate) fn sampled<'a>(&'a self, texture: u32, scope: Scope<'a>) -> Option<&'a wgpu::TextureView> {
        self.view(texture, scope, |views| &views.sampled)
    }

    /// The view to draw into.
    pub(crate) fn attachment<'a>(&'a self, texture: u32, scope: Scope<'a>) -> Option<&'a wgpu::TextureView> {
        self.view(texture, scope, |views| &views.attachment)
    }

    fn view<'a>(
        &'a self,
        texture: u32,
        scope: Scope<'a>,
        which: fn(&SlotViews) -> &wgpu::TextureView,
    ) -> Option<&'a wgpu::TextureView> {
        match scope.plan.body.textures.get(texture as usize)?.place {
            TexturePlace::Slot(slot) => Some(which(self.slots.get(slot as usize)?)),
            TexturePlace::Kept(place) => Some(which(scope.kept.texture(place)?)),
            TexturePlace::Target => scope.targets.view(self.graph, texture),
            TexturePlace::Unused => None,
        }
    }

    /// The arenas, for overwriting what a frame left.
    pub(crate) fn arenas(&self) -> &[wgpu::Buffer] {
        &self.arenas
    }
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
