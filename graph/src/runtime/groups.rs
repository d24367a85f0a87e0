//! Bind groups: built with a plan, once more for the other side of a history, and again when something that they
//! hold is replaced.

use smallvec::SmallVec;

use crate::{
    access::{BindKind, Target},
    decl::{Declarations, GroupDecl},
    plan::TexturePlace,
    runtime::{
        kept::Kept,
        prepare::{Memory, Prepared, Scope},
    },
};

/// A bind group as it is now, and as it was with histories the other way round.
#[derive(Debug)]
pub(crate) struct PreparedGroup {
    pub(super) decl: GroupDecl,
    variants: SmallVec<[Variant; 2]>,
    current: usize,
    /// What it was built with and may be replaced from run to run.
    held: SmallVec<[Held; 2]>,
    /// The kept resources it holds.
    pub(super) kept: SmallVec<[KeptUse; 2]>,
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
pub(super) enum KeptUse {
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

impl Prepared {
    /// Whether something that the group holds was replaced.
    pub(super) fn is_stale(&self, built: &PreparedGroup, scope: Scope<'_>) -> bool {
        built.held.iter().any(|held| match held {
            Held::Target(target, view) => scope.targets.view(self.graph, *target) != Some(view),
            Held::Import(import, buffer) => self.imports[*import as usize].buffer != *buffer,
        })
    }

    /// Chooses the variant of a group that fits the histories as they are now, or builds it.
    pub(super) fn select_side(
        &mut self,
        index: usize,
        device: &wgpu::Device,
        decl: &Declarations,
        scope: Scope<'_>,
    ) {
        let Some(built) = &mut self.groups[index] else { return };
        let flipped = || built.kept.iter().map(|kept| kept.is_flipped(scope.kept));
        let known = built.variants.iter().position(|v| v.flipped.iter().copied().eq(flipped()));
        if let Some(known) = known {
            built.current = known;
        } else if let Some(mut other) = self.build(device, decl, &decl.groups[index], scope)
            && let Some(built) = &mut self.groups[index]
        {
            built.current = built.variants.len();
            built.variants.append(&mut other.variants);
        }
    }

    pub(super) fn build(
        &self,
        device: &wgpu::Device,
        decl: &Declarations,
        group: &GroupDecl,
        scope: Scope<'_>,
    ) -> Option<PreparedGroup> {
        let mut held = SmallVec::new();
        let mut kept: SmallVec<[KeptUse; 2]> = SmallVec::new();
        let mut entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = SmallVec::new();
        for (binding, bind) in &group.entries {
            let resource = match &bind.0 {
                BindKind::Access { target: Target::Texture(texture), .. } => {
                    let view = self.sampled(*texture, scope)?;
                    match scope.plan.body.textures[*texture as usize].place {
                        TexturePlace::Target => held.push(Held::Target(*texture, view.clone())),
                        TexturePlace::Kept(place) => kept.push(KeptUse::Texture(place.index)),
                        TexturePlace::Slot(_) | TexturePlace::Unused => {}
                    }
                    wgpu::BindingResource::TextureView(view)
                }
                BindKind::Access { target, .. } => {
                    let bytes = self.bytes(*target, scope.kept)?;
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
        let flipped = kept.iter().map(|kept| kept.is_flipped(scope.kept)).collect();
        let variant = Variant { group: device.create_bind_group(&descriptor), flipped };
        let variants = SmallVec::from_iter([variant]);
        Some(PreparedGroup { decl: group.clone(), variants, current: 0, held, kept })
    }
}

/// Whether two declarations of a group bind the same, whichever generation of the graph they are from.
pub(super) fn same_group(a: &GroupDecl, b: &GroupDecl) -> bool {
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
