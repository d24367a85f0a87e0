//! 72 bytes to 40, all f32 and u32, matrices of four columns; a dispatch for each mesh into one output.
//!
//! wgpu puts a barrier between dispatches that write the same buffer.

use glam::Vec3;

use super::{
    Facts, Layout, Meshes, RUN,
    dispatches::{Dispatches, output},
};
use crate::gpu::{Gpu, Timestamps, group};

pub(super) struct Interleaved {
    dispatches: Dispatches,
    out: wgpu::Buffer,
    vertices: usize,
}

impl Interleaved {
    pub(super) fn new(gpu: &Gpu, Meshes { primitive, palettes }: Meshes<'_>) -> Self {
        let vertices = primitive.vertex_count();
        let mut words = Vec::with_capacity(vertices * 18);
        for v in 0..vertices {
            let row = primitive.influences().unwrap().row(v);
            words.extend(primitive.positions()[v].to_array().map(f32::to_bits));
            words.extend(primitive.normals()[v].to_array().map(f32::to_bits));
            words.extend(primitive.tangents()[v].to_array().map(f32::to_bits));
            words.extend((0..4).map(|k| row.get(k).map_or(0, |influence| influence.joint)));
            words.extend((0..4).map(|k| row.get(k).map_or(0, |influence| influence.weight.to_bits())));
        }
        let source = gpu.storage(&words);
        let mut words = Vec::with_capacity(palettes.len() * palettes[0].len() * 16);
        for joint in palettes.iter().flatten() {
            for column in 0..4 {
                let last = if column == 3 { 1.0 } else { 0.0f32 };
                words.extend([joint.x[column], joint.y[column], joint.z[column], last].map(f32::to_bits));
            }
        }
        let palette = gpu.storage(&words);
        let out = output(gpu, palettes.len() * vertices * 40);
        let mut dispatches = Dispatches::new(gpu, include_str!("interleaved.wgsl"), 256, vertices);
        for mesh in 0..palettes.len() {
            let place = [vertices, mesh * vertices, mesh * palettes[0].len()].map(|word| word as u32);
            let buffers = [&source, &palette, &gpu.storage(&place), &out];
            dispatches.groups.push(group(&gpu.device, &dispatches.pipeline, &buffers));
        }
        Self { dispatches, out, vertices }
    }
}

impl Layout for Interleaved {
    fn facts(&self) -> Facts {
        Facts { name: "interleaved 72 to 40", read: 72.0, written: 40.0, bounds: [4e-6, 1e-5] }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, at: Option<Timestamps<'_>>) {
        self.dispatches.record(encoder, at);
    }

    fn found(&self, gpu: &Gpu, mesh: usize, first: usize) -> Vec<[Vec3; 3]> {
        let values: Vec<[f32; 10]> =
            gpu.read(&self.out, ((mesh * self.vertices + first) * 40) as u64, RUN as u64 * 40);
        values.iter().map(|v| [0, 3, 6].map(|at| Vec3::from_slice(&v[at..at + 3]))).collect()
    }
}
