//! Twin of wgsl/morph.wgsl.

use glam::Vec3;

use super::source::Vertex;
use crate::deform::{
    layout::{ActiveTarget, DELTA_NORMALS, DELTA_TANGENTS, MorphHeader},
    source::{Precision, Streams},
};

pub(super) fn morph_vertex(
    streams: &Streams,
    frame: &[[u32; 4]],
    precision: Precision,
    source: Vertex,
    block: u32,
    at: u32,
) -> Vertex {
    let mut vertex = source;
    let header: MorphHeader = bytemuck::cast(frame[block as usize]);
    let index = (at - header.source) / precision.stride();
    let bit = 1u32 << (index & 31);
    for k in 0..header.count {
        let entry: ActiveTarget = bytemuck::cast(frame[(block + 1 + k) as usize]);
        let pair = (entry.blocks + (index >> 5) * 2) as usize;
        let mask = streams.tables[pair];
        if mask & bit != 0 {
            let rank = streams.tables[pair + 1] + (mask & (bit - 1)).count_ones();
            let normals = entry.flags & DELTA_NORMALS != 0;
            let tangents = entry.flags & DELTA_TANGENTS != 0;
            let stride = 3 + if normals { 3 } else { 0 } + if tangents { 3 } else { 0 };
            let mut word = entry.deltas + rank * stride;
            vertex.position += entry.weight * delta_at(streams, word);
            if normals {
                word += 3;
                vertex.normal += entry.weight * delta_at(streams, word);
            }
            if tangents {
                word += 3;
                vertex.tangent += entry.weight * delta_at(streams, word);
            }
        }
    }
    vertex
}

fn delta_at(streams: &Streams, word: u32) -> Vec3 {
    let at = word as usize;
    let [x, y, z] = [0, 1, 2].map(|i| f32::from_bits(streams.tables[at + i]));
    Vec3::new(x, y, z)
}
