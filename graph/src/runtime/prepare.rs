//! The objects on the device that one plan needs, built once.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{
    access::{BindKind, Target, Use},
    decl::{Declarations, GroupDecl},
    handle::{GraphId, Label},
    plan::{Plan, TexturePlace, TextureSlot},
    runtime::target::Targets,
};

/// A range of a buffer on the device.
#[derive(Debug)]
pub(crate) struct PlacedRange {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl PlacedRange {
    pub(crate) fn binding(&self) -> wgpu::BufferBinding<'_> {
        let size = wgpu::BufferSize::new(self.size);
        wgpu::BufferBinding { buffer: &self.buffer, offset: self.offset, size }
    }

    pub(crate) fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer.slice(self.offset..self.offset + self.size)
    }
}

/// The views of one texture slot.
#[derive(Debug)]
pub(crate) struct SlotViews {
    pub(crate) attachment: wgpu::TextureView,
    /// Depth alone where the format also has stencil, since a binding shows one aspect.
    pub(crate) sampled: wgpu::TextureView,
}

#[derive(Debug)]
pub(crate) struct PreparedGroup {
    pub(crate) group: wgpu::BindGroup,
    /// The views of targets it was built with, by texture.
    targets: SmallVec<[(u32, wgpu::TextureView); 1]>,
}

/// Everything one plan needs on the device.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) graph: GraphId,
    pub(crate) fingerprint: u64,
    pub(crate) last_run: u64,
    /// By value.
    pub(crate) values: Vec<Option<PlacedRange>>,
    /// By pack: its live members as one range.
    pub(crate) packs: Vec<Option<PlacedRange>>,
    pub(crate) slots: Vec<SlotViews>,
    /// By group; `None` while its pass is not in the plan.
    pub(crate) groups: Vec<Option<PreparedGroup>>,
    /// The passes with timestamps, in order.
    pub(crate) timed: Arc<[Label]>,
    /// Bytes to copy of each upload block of the host pass being recorded.
    pub(crate) upload_used: Vec<u64>,
}

impl Prepared {
    pub(crate) fn new(device: &wgpu::Device, decl: &Declarations, plan: &Plan, targets: &Targets) -> Self {
        let arenas: Vec<_> = plan.arenas().iter().map(|arena| create_arena(device, arena)).collect();
        let place = |buffer: u32, offset: u64, size: u64| {
            let planned = &plan.body.buffers[buffer as usize];
            let imported = decl.storages[planned.storage as usize].imported.as_ref();
            Some(match planned.placement {
                Some(place) => PlacedRange {
                    buffer: arenas.get(place.arena as usize)?.clone(),
                    offset: place.offset + offset,
                    size,
                },
                None => PlacedRange { buffer: imported?.clone(), offset, size },
            })
        };
        let values = plan.body.values.iter();
        let packs = plan.body.packs.iter();
        let timed = plan.passes().iter().filter(|pass| super::timing::is_timed(pass.kind));
        let blocks = plan.passes().iter().map(|pass| pass.uploads.len()).max().unwrap_or(0);
        let mut prepared = Self {
            graph: plan.graph,
            fingerprint: plan.fingerprint(),
            last_run: 0,
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
            let built = wanted.then(|| prepared.build(device, group, plan, targets)).flatten();
            prepared.groups.push(built);
        }
        prepared
    }

    /// Builds the groups again that hold a target whose view has changed.
    pub(crate) fn refresh(
        &mut self,
        device: &wgpu::Device,
        decl: &Declarations,
        plan: &Plan,
        targets: &Targets,
    ) {
        for index in 0..self.groups.len() {
            let Some(built) = &self.groups[index] else { continue };
            let mut held = built.targets.iter();
            let is_stale = held.any(|(target, view)| targets.view(self.graph, *target) != Some(view));
            if is_stale {
                self.groups[index] = self.build(device, &decl.groups[index], plan, targets);
            }
        }
    }

    fn build(
        &self,
        device: &wgpu::Device,
        group: &GroupDecl,
        plan: &Plan,
        targets: &Targets,
    ) -> Option<PreparedGroup> {
        let mut held = SmallVec::new();
        let mut entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = SmallVec::new();
        for (binding, bind) in &group.entries {
            let resource = match &bind.0 {
                BindKind::Access { target: Target::Texture(texture), .. } => {
                    let view = self.sampled(*texture, plan, targets)?;
                    if plan.body.textures[*texture as usize].place == TexturePlace::Target {
                        held.push((*texture, view.clone()));
                    }
                    wgpu::BindingResource::TextureView(view)
                }
                BindKind::Access { target, .. } => {
                    wgpu::BindingResource::Buffer(self.range(*target)?.binding())
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
        Some(PreparedGroup { group: device.create_bind_group(&descriptor), targets: held })
    }

    /// The bytes behind an access.
    pub(crate) fn range(&self, target: Target) -> Option<&PlacedRange> {
        match target {
            Target::Buffer(value) => self.values.get(value as usize)?.as_ref(),
            Target::Pack(pack) => self.packs.get(pack as usize)?.as_ref(),
            Target::Texture(_) | Target::Unknown => None,
        }
    }

    pub(crate) fn sampled<'a>(
        &'a self,
        texture: u32,
        plan: &Plan,
        targets: &'a Targets,
    ) -> Option<&'a wgpu::TextureView> {
        match plan.body.textures.get(texture as usize)?.place {
            TexturePlace::Slot(slot) => Some(&self.slots.get(slot as usize)?.sampled),
            TexturePlace::Target => targets.view(self.graph, texture),
            TexturePlace::Unused => None,
        }
    }

    pub(crate) fn attachment<'a>(
        &'a self,
        texture: u32,
        plan: &Plan,
        targets: &'a Targets,
    ) -> Option<&'a wgpu::TextureView> {
        match plan.body.textures.get(texture as usize)?.place {
            TexturePlace::Slot(slot) => Some(&self.slots.get(slot as usize)?.attachment),
            TexturePlace::Target => targets.view(self.graph, texture),
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

fn create_slot(device: &wgpu::Device, slot: &TextureSlot) -> SlotViews {
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
