//! 40 bytes to 24 in streams: positions of four f32, directions of four signed bytes, joints of 20 bits with weights of
//! 12, matrices of three rows; a dispatch, a palette and outputs for each mesh.

use glam::Vec3;

use super::{
    Facts, Layout, Meshes, RUN,
    dispatches::{Dispatches, output},
};
use crate::gpu::{Gpu, Timestamps, group};

pub(super) struct Bytes {
    dispatches: Dispatches,
    outs: Vec<[wgpu::Buffer; 3]>,
}

impl Bytes {
    pub(super) fn new(gpu: &Gpu, Meshes { primitive, palettes }: Meshes<'_>) -> Self {
        let vertices = primitive.vertex_count();
        let position = |p: &Vec3| p.extend(0.0).to_array().map(f32::to_bits);
        let positions: Vec<u32> = primitive.positions().iter().flat_map(position).collect();
        let normals: Vec<u32> = primitive.normals().iter().map(|n| snorm(n.extend(0.0).into())).collect();
        let tangents: Vec<u32> = primitive.tangents().iter().map(|t| snorm((*t).into())).collect();
        let mut influences = Vec::with_capacity(vertices * 4);
        for v in 0..vertices {
            let row = primitive.influences().unwrap().row(v);
            let mut left = 4095;
            for k in 0..4 {
                // The last takes what rounding leaves.
                let (joint, weight) = row.get(k).map_or((0, 0), |influence| {
                    let steps = (influence.weight * 4095.0).round() as u32;
                    (influence.joint, if k + 1 == row.len() { left } else { steps.min(left) })
                });
                left -= weight;
                influences.push(joint | weight << 20);
            }
        }
        let streams = [positions, normals, tangents, influences].map(|words| gpu.storage(&words));
        let count = gpu.storage(&[vertices as u32]);
        let mut dispatches = Dispatches::new(gpu, include_str!("bytes.wgsl"), 64, vertices);
        let mut outs = Vec::with_capacity(palettes.len());
        for palette in palettes {
            let palette = gpu.storage(bytemuck::cast_slice(palette));
            let out = [16, 4, 4].map(|bytes| output(gpu, vertices * bytes));
            let buffers: Vec<_> = streams.iter().chain([&palette, &count]).chain(&out).collect();
            dispatches.groups.push(group(&gpu.device, &dispatches.pipeline, &buffers));
            outs.push(out);
        }
        Self { dispatches, outs }
    }
}

impl Layout for Bytes {
    fn facts(&self) -> Facts {
        Facts { name: "bytes and 20-bit joints", read: 40.0, written: 24.0, bounds: [3e-3, 0.03] }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, at: Option<Timestamps<'_>>) {
        self.dispatches.record(encoder, at);
    }

    fn found(&self, gpu: &Gpu, mesh: usize, first: usize) -> Vec<[Vec3; 3]> {
        let [positions, normals, tangents] = &self.outs[mesh];
        let positions: Vec<[f32; 4]> = gpu.read(positions, first as u64 * 16, RUN as u64 * 16);
        let directions = [normals, tangents].map(|out| {
            let words: Vec<[i8; 4]> = gpu.read(out, first as u64 * 4, RUN as u64 * 4);
            words
        });
        let direction = |d: [i8; 4]| Vec3::new(d[0].into(), d[1].into(), d[2].into()).normalize();
        let [normals, tangents] = directions;
        let all = positions.iter().zip(normals).zip(tangents);
        all.map(|((p, n), t)| [Vec3::from_slice(&p[..3]), direction(n), direction(t)]).collect()
    }
}

fn snorm(v: [f32; 4]) -> u32 {
    u32::from_le_bytes(v.map(|c| (c * 127.0).round() as i8 as u8))
}
