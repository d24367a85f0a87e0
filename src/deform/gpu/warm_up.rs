//! Kernels that have run before the first frame needs them.

use std::sync::atomic::Ordering;

use super::{
    Deformer,
    buffers::{SourceBuffers, create},
    read_back::{Copied, FAILED, MAPPED},
};
use crate::{
    animate::{JointMatrix, ModelId},
    deform::{
        DeformError,
        layout::{HEADERS, VARIANTS},
    },
};

/// Says when the kernels have run. Made by [`Deformer::warm_up`].
#[derive(Debug)]
pub struct WarmUp {
    copied: Copied,
}

impl WarmUp {
    /// Whether every kernel has run. Does not wait; it changes when the caller polls the device after the submit. Fails
    /// where the device was lost or the encoder dropped.
    pub fn is_ready(&self) -> Result<bool, DeformError> {
        match self.copied.state.load(Ordering::Acquire) {
            FAILED => Err(DeformError::Map),
            state => Ok(state == MAPPED),
        }
    }
}

impl Deformer {
    /// Records one dispatch without work of every kernel variant that the models need. They are compiled when a model is
    /// added; but some drivers finish a pipeline only when it first runs. Submit it while loading, and the first frame
    /// is as fast as any.
    pub fn warm_up(&self, encoder: &mut wgpu::CommandEncoder) -> WarmUp {
        let mut counts = [0; VARIANTS];
        for id in self.animator().models() {
            self.variants_of(id).for_each(|variant| counts[variant] = 1);
        }
        // New buffers hold zeros: headers that list no items.
        let buffer = |label, bytes: usize, usage| create(&self.device, label, bytes as u64, usage);
        let [a, b, extra, tables] = &SourceBuffers::empty(&self.device).buffers;
        let palettes = buffer("no palettes", size_of::<JointMatrix>(), wgpu::BufferUsages::empty());
        let block = buffer("no work items", (HEADERS + 2) * 16, wgpu::BufferUsages::empty());
        let [out_a, out_b] =
            ["no positions", "no tangents"].map(|label| buffer(label, 16, wgpu::BufferUsages::COPY_SRC));
        let group = self.kernels.bind([a, b, extra, tables, &palettes, &block, &out_a, &out_b]);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("warm up"),
            timestamp_writes: None,
        });
        self.kernels.dispatch(&mut pass, &group, &counts);
        drop(pass);
        WarmUp { copied: Copied::record(&self.device, encoder, (&out_a, 0..16)) }
    }

    /// Compiles the kernel variants that a model needs, so that no frame waits for it.
    pub(super) fn compile(&self, id: ModelId) {
        self.variants_of(id).for_each(|variant| {
            self.kernels.pipeline(variant);
        });
    }

    fn variants_of(&self, id: ModelId) -> impl Iterator<Item = usize> + '_ {
        let parts = self.cast.source(id).into_iter().flat_map(|source| &source.parts);
        parts.flat_map(|part| {
            part.items.iter().enumerate().filter(|(_, items)| **items > 0).map(|(variant, _)| variant)
        })
    }
}
