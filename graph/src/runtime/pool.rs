//! Textures, shared by all plans: their contents live inside one run, and runs follow each other.

use std::{collections::HashMap, sync::Arc};

use crate::{access::Use, plan::TextureSlot};

/// One texture and its views.
#[derive(Clone, Debug)]
pub(crate) struct SlotViews {
    pub(crate) attachment: wgpu::TextureView,
    /// Depth alone where the format also has stencil, since a binding shows one aspect.
    pub(crate) sampled: wgpu::TextureView,
}

/// Textures by what they are; a plan that needs several of one kind takes the first ones.
#[derive(Debug, Default)]
pub(crate) struct TexturePool(HashMap<TextureSlot, Vec<Arc<SlotViews>>>);

impl TexturePool {
    /// One texture for each slot of a plan.
    pub(crate) fn take(&mut self, device: &wgpu::Device, slots: &[TextureSlot]) -> Vec<Arc<SlotViews>> {
        let mut taken: HashMap<TextureSlot, usize> = HashMap::new();
        let mut one = |slot: &TextureSlot| {
            let at = taken.entry(*slot).or_default();
            let list = self.0.entry(*slot).or_default();
            if *at == list.len() {
                list.push(Arc::new(create(device, slot)));
            }
            *at += 1;
            Arc::clone(&list[*at - 1])
        };
        slots.iter().map(&mut one).collect()
    }

    /// Gives back what no plan holds any more.
    pub(crate) fn trim(&mut self) {
        self.0.retain(|_, list| {
            list.retain(|views| Arc::strong_count(views) > 1);
            !list.is_empty()
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

pub(crate) fn create(device: &wgpu::Device, slot: &TextureSlot) -> SlotViews {
    let format = slot.desc.format;
    let mut usage = slot.usage;
    // Nothing else may have several samples.
    if slot.desc.samples > 1 {
        usage |= wgpu::TextureUsages::RENDER_ATTACHMENT;
    }
    // Browsers do not know it yet.
    if slot.memoryless && cfg!(not(target_arch = "wasm32")) {
        usage |= wgpu::TextureUsages::TRANSIENT_ATTACHMENT;
    }
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("graph texture"),
        size: slot.desc.size,
        mip_level_count: 1,
        sample_count: slot.desc.samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    });
    let attachment = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let both = format.has_depth_aspect() && format.has_stencil_aspect();
    let sampled = if both && slot.usage.contains(Use::Sampled.texture_usage()) {
        let aspect = wgpu::TextureAspect::DepthOnly;
        texture.create_view(&wgpu::TextureViewDescriptor { aspect, ..Default::default() })
    } else {
        attachment.clone()
    };
    SlotViews { attachment, sampled }
}
