//! 36 bytes to 20: positions f32, directions octahedral in 2x16 bits, joints and weights of 16 bits, matrices of three
//! rows; a dispatch, a palette and an output for each mesh.

use glam::Vec3;

use super::{
    Facts, Layout, Meshes, RUN,
    dispatches::{Dispatches, output},
};
use crate::{
    directions::{decode, encode},
    gpu::{Gpu, Timestamps, group},
};

pub(super) struct Regions {
    dispatches: Dispatches,
    outs: Vec<wgpu::Buffer>,
    vertices: usize,
}

impl Regions {
    pub(super) fn new(gpu: &Gpu, Meshes { primitive, palettes }: Meshes<'_>) -> Self {
        let vertices = primitive.vertex_count();
        let mut words: Vec<u32> =
            primitive.positions().iter().flat_map(|p| p.to_array().map(f32::to_bits)).collect();
        for (normal, tangent) in primitive.normals().iter().zip(primitive.tangents()) {
            let handedness = if tangent.w < 0.0 { 0x1_0000 } else { 0 };
            words.extend([encode(*normal), (encode(tangent.truncate()) & !0x1_0000) | handedness]);
        }
        let source = gpu.storage(&words);
        words.clear();
        for v in 0..vertices {
            let row = primitive.influences().unwrap().row(v);
            let joint = |k: usize| row.get(k).map_or(0, |influence| influence.joint);
            let weight = |k: usize| row.get(k).map_or(0, |i| (i.weight * 65535.0).round() as u32);
            words.extend([joint(0) | joint(1) << 16, joint(2) | joint(3) << 16]);
            words.extend([weight(0) | weight(1) << 16, weight(2) | weight(3) << 16]);
        }
        let influences = gpu.storage(&words);
        let count = gpu.storage(&[vertices as u32]);
        let text = concat!(include_str!("octahedral.wgsl"), include_str!("regions.wgsl"));
        let mut dispatches = Dispatches::new(gpu, text, 64, vertices);
        let mut outs = Vec::with_capacity(palettes.len());
        for palette in palettes {
            let palette = gpu.storage(bytemuck::cast_slice(palette));
            let out = output(gpu, vertices * 20);
            let buffers = [&source, &influences, &palette, &count, &out];
            dispatches.groups.push(group(&gpu.device, &dispatches.pipeline, &buffers));
            outs.push(out);
        }
        Self { dispatches, outs, vertices }
    }
}

impl Layout for Regions {
    fn facts(&self) -> Facts {
        let name = "36 to 20, a dispatch per mesh";
        Facts { name, read: 36.0, written: 20.0, bounds: [4e-6, 4e-4] }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, at: Option<Timestamps<'_>>) {
        self.dispatches.record(encoder, at);
    }

    fn found(&self, gpu: &Gpu, mesh: usize, first: usize) -> Vec<[Vec3; 3]> {
        let out = &self.outs[mesh];
        let positions: Vec<[f32; 3]> = gpu.read(out, first as u64 * 12, RUN as u64 * 12);
        let directions: Vec<[u32; 2]> =
            gpu.read(out, (self.vertices * 12 + first * 8) as u64, RUN as u64 * 8);
        let both = positions.into_iter().zip(directions);
        both.map(|(p, [n, t])| [p.into(), decode(n).as_vec3(), decode(t).as_vec3()]).collect()
    }
}
