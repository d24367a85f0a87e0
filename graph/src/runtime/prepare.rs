//! The objects on the device that one plan needs, built once.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{
    access::{BindKind, Target, Use},
    decl::{Declarations, GroupDecl, Home},
    handle::{GraphId, Label},
    plan::{KeptPlace, Plan, TexturePlace, TextureSlot},
    runtime::{kept::Kept, target::Targets},
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

#[derive(Debug)]
enum Memory {
    /// An arena, or a buffer of the caller.
    Buffer(wgpu::Buffer),
    Kept(KeptPlace),
}

/// The views of one texture slot.
#[derive(Clone, Debug)]
pub(crate) struct SlotViews {
    pub(crate) attachment: wgpu::TextureView,
    /// Depth alone where the format also has stencil, since a binding shows one aspect.
    pub(crate) sampled: wgpu::TextureView,
}

/// A bind group as it is now, and as it was with histories the other way round.
#[derive(Debug)]
pub(crate) struct PreparedGroup {
    variants: SmallVec<[Variant; 2]>,
    current: usize,
    /// The views of targets it was built with, by texture.
    targets: SmallVec<[(u32, wgpu::TextureView); 1]>,
    /// The kept resources it holds.
    kept: SmallVec<[KeptUse; 2]>,
}

#[derive(Debug)]
struct Variant {
    group: wgpu::BindGroup,
    /// Which of the kept resources were flipped.
    flipped: SmallVec<[bool; 2]>,
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
    pub(crate) graph: GraphId,
    pub(crate) fingerprint: u64,
    pub(crate) last_run: u64,
    pub(crate) arena_bytes: u64,
    /// By value.
    values: Vec<Option<PlacedRange>>,
    /// By pack: its live members as one range.
    packs: Vec<Option<PlacedRange>>,
    slots: Vec<SlotViews>,
    /// By group; `None` while its pass is not in the plan.
    pub(crate) groups: Vec<Option<PreparedGroup>>,
    /// The passes with timestamps, in order.
    pub(crate) timed: Arc<[Label]>,
    /// Bytes to copy of each upload block of the host pass being recorded.
    pub(crate) upload_used: Vec<u64>,
}

impl Prepared {
    pub(crate) fn new(device: &wgpu::Device, decl: &Declarations, world: World<'_>) -> Self {
        let plan = world.plan;
        let arenas: Vec<_> = plan.arenas().iter().map(|arena| create_arena(device, arena)).collect();
        let place = |buffer: u32, offset: u64, size: u64| {
            let planned = &plan.body.buffers[buffer as usize];
            let start = planned.placement.map_or(0, |place| place.offset);
            let memory = match &decl.storages[planned.storage as usize].home {
                Home::Transient => Memory::Buffer(arenas.get(planned.placement?.arena as usize)?.clone()),
                Home::External(buffer) => Memory::Buffer(buffer.clone()),
                Home::Kept(..) => Memory::Kept(planned.kept?),
            };
            Some(PlacedRange { memory, offset: start + offset, size })
        };
        let values = plan.body.values.iter();
        let packs = plan.body.packs.iter();
        let timed = plan.passes().iter().filter(|pass| super::timing::is_timed(pass.kind));
        let blocks = plan.passes().iter().map(|pass| pass.uploads.len()).max().unwrap_or(0);
        let mut prepared = Self {
            graph: plan.graph,
            fingerprint: plan.fingerprint(),
            last_run: 0,
            arena_bytes: plan.peak_bytes(),
            values: values.map(|v| v.and_then(|v| place(v.buffer, v.offset, v.size))).collect(),
            packs: packs.map(|p| p.and_then(|p| place(p, 0, plan.body.buffers[p as usize].size))).collect(),
            slots: plan.body.slots.iter().map(|slot| create_slot(device, slot)).collect(),
            groups: Vec::new(),
            timed: timed.map(|pass| pass.label.clone()).collect(),
            upload_used: vec![0; blocks],
        };
        let mut alive = vec![false; decl.passes.len()];
        plan.passes().iter().for_each(|pass| alive[pass.declared as usize] = true);
        for group in &decl.groups {
            let wanted = alive[group.pass as usize];
            let built = wanted.then(|| prepared.build(device, group, world)).flatten();
            prepared.groups.push(built);
        }
        prepared
    }

    /// Builds the groups again that hold a target whose view has changed, and turns histories round.
    pub(crate) fn refresh(&mut self, device: &wgpu::Device, decl: &Declarations, world: World<'_>) {
        for index in 0..self.groups.len() {
            let Some(built) = &mut self.groups[index] else { continue };
            let mut held = built.targets.iter();
            let is_stale = held.any(|(target, view)| world.targets.view(self.graph, *target) != Some(view));
            if is_stale {
                self.groups[index] = self.build(device, &decl.groups[index], world);
            } else if !built.kept.is_empty() {
                let flipped = || built.kept.iter().map(|kept| kept.is_flipped(world.kept));
                let known = built.variants.iter().position(|v| v.flipped.iter().copied().eq(flipped()));
                if let Some(known) = known {
                    built.current = known;
                } else if let Some(mut other) = self.build(device, &decl.groups[index], world)
                    && let Some(built) = &mut self.groups[index]
                {
                    built.current = built.variants.len();
                    built.variants.append(&mut other.variants);
                }
            }
        }
    }

    fn build(&self, device: &wgpu::Device, group: &GroupDecl, world: World<'_>) -> Option<PreparedGroup> {
        let mut held = SmallVec::new();
        let mut kept: SmallVec<[KeptUse; 2]> = SmallVec::new();
        let mut entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = SmallVec::new();
        for (binding, bind) in &group.entries {
            let resource = match &bind.0 {
                BindKind::Access { target: Target::Texture(texture), .. } => {
                    let view = self.sampled(*texture, world)?;
                    match world.plan.body.textures[*texture as usize].place {
                        TexturePlace::Target => held.push((*texture, view.clone())),
                        TexturePlace::Kept(place) => kept.push(KeptUse::Texture(place.index)),
                        TexturePlace::Slot(_) | TexturePlace::Unused => {}
                    }
                    wgpu::BindingResource::TextureView(view)
                }
                BindKind::Access { target, .. } => {
                    if let Memory::Kept(place) = self.placed(*target)?.memory {
                        kept.push(KeptUse::Buffer(place.index));
                    }
                    wgpu::BindingResource::Buffer(self.bytes(*target, world.kept)?.binding())
                }
                BindKind::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
                BindKind::View(view) => wgpu::BindingResource::TextureView(view),
                BindKind::Range { buffer, offset, size } => {
                    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset: *offset,
                        size: *size,
                    })
                }
            };
            entries.push(wgpu::BindGroupEntry { binding: *binding, resource });
        }
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &group.layout, entries: &entries };
        let flipped = kept.iter().map(|kept| kept.is_flipped(world.kept)).collect();
        let variant = Variant { group: device.create_bind_group(&descriptor), flipped };
        Some(PreparedGroup { variants: SmallVec::from_iter([variant]), current: 0, targets: held, kept })
    }

    /// The bytes behind an access.
    pub(crate) fn bytes<'a>(&'a self, target: Target, kept: &'a Kept) -> Option<Bytes<'a>> {
        let PlacedRange { memory, offset, size } = self.placed(target)?;
        let buffer = match memory {
            Memory::Buffer(buffer) => buffer,
            Memory::Kept(place) => kept.buffer(*place)?,
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
}

fn create_arena(device: &wgpu::Device, arena: &crate::plan::Arena) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("graph arena"),
        size: arena.size,
        usage: arena.usage,
        mapped_at_creation: false,
    })
}

pub(super) fn create_slot(device: &wgpu::Device, slot: &TextureSlot) -> SlotViews {
    let format = slot.desc.format;
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("graph texture"),
        size: slot.desc.size,
        mip_level_count: 1,
        sample_count: slot.desc.samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: slot.usage,
        view_formats: &[],
    });
    let attachment = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let both = format.has_depth_aspect() && format.has_stencil_aspect();
    let is_sampled = slot.usage.contains(Use::Sampled.texture_usage());
    let sampled = if both && is_sampled {
        let aspect = wgpu::TextureAspect::DepthOnly;
        texture.create_view(&wgpu::TextureViewDescriptor { aspect, ..Default::default() })
    } else {
        attachment.clone()
    };
    SlotViews { attachment, sampled }
}
