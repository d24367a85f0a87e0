//! Twin of wgsl/morph.wgsl.

use glam::Vec3;

use super::source::Vertex;
use crate::deform::{
    codec::unpack_signed,
    layout::{ActiveTarget, DELTA_DENSE, DELTA_NORMALS, DELTA_SHORT, DELTA_TANGENTS, MorphHeader},
    source::{Precision, Streams},
};

/// Normals and tangents are cut to this, so that no product of the kernel overflows.
const LONGEST: Vec3 = Vec3::splat(1e9);

pub(super) fn morph_vertex(
    streams: &Streams,
    frame: &[[u32; 4]],
    precision: Precision,
    source: Vertex,
    header: MorphHeader,
    at: u32,
) -> Vertex {
    let mut vertex = source;
    if precision == Precision::Packed {
        // Deltas belong to unit vectors.
        vertex.normal = vertex.normal.normalize();
        vertex.tangent = vertex.tangent.normalize();
    }
    let index = (at - header.source) / precision.stride();
    let bit = 1u32 << (index & 31);
    for k in 0..header.count {
        let word = (header.first + k * 2) as usize;
        let entry: ActiveTarget = bytemuck::cast([frame[word], frame[word + 1]]);
        let mut rank = index;
        if entry.flags & DELTA_DENSE == 0 {
            let pair = (entry.blocks + (index >> 5) * 2) as usize;
            let mask = streams.tables[pair];
            if mask & bit == 0 {
                continue;
            }
            rank = streams.tables[pair + 1] + (mask & (bit - 1)).count_ones();
        }
        if entry.flags & DELTA_SHORT != 0 {
            add_shorts(&streams.tables, &mut vertex, &entry, rank);
        } else {
            add_floats(&streams.tables, &mut vertex, &entry, rank);
        }
    }
    bounded(vertex)
}

/// Directions that no product of the kernel overflows with.
pub(super) fn bounded(mut vertex: Vertex) -> Vertex {
    vertex.normal = vertex.normal.clamp(-LONGEST, LONGEST);
    vertex.tangent = vertex.tangent.clamp(-LONGEST, LONGEST);
    vertex
}

fn delta_at(tables: &[u32], word: usize) -> Vec3 {
    let [x, y, z] = [0, 1, 2].map(|i| f32::from_bits(tables[word + i]));
    Vec3::new(x, y, z)
}

fn add_floats(tables: &[u32], vertex: &mut Vertex, entry: &ActiveTarget, rank: u32) {
    let normals = entry.flags & DELTA_NORMALS != 0;
    let tangents = entry.flags & DELTA_TANGENTS != 0;
    let stride = 3 + if normals { 3 } else { 0 } + if tangents { 3 } else { 0 };
    let mut word = (entry.deltas + rank * stride) as usize;
    vertex.position += entry.position * delta_at(tables, word);
    if normals {
        word += 3;
        vertex.normal += entry.normal * delta_at(tables, word);
    }
    if tangents {
        word += 3;
        vertex.tangent += entry.tangent * delta_at(tables, word);
    }
}

fn add_shorts(tables: &[u32], vertex: &mut Vertex, entry: &ActiveTarget, rank: u32) {
    let normals = entry.flags & DELTA_NORMALS != 0;
    let tangents = entry.flags & DELTA_TANGENTS != 0;
    let stride = short_words(normals, tangents);
    let word = (entry.deltas + rank * stride) as usize;
    let at = |i: usize| unpack_signed(tables[word + i]);
    let ([x, y], [z, w]) = (at(0), at(1));
    vertex.position += entry.position * Vec3::new(x, y, z);
    if normals || tangents {
        let [y, z] = at(2);
        let first = Vec3::new(w, y, z);
        if normals {
            vertex.normal += entry.normal * first;
        } else {
            vertex.tangent += entry.tangent * first;
        }
        if normals && tangents {
            let ([x, y], [z, _]) = (at(3), at(4));
            vertex.tangent += entry.tangent * Vec3::new(x, y, z);
        }
    }
}

/// Words of one delta in 16 bits.
fn short_words(normals: bool, tangents: bool) -> u32 {
    match (normals, tangents) {
        (false, false) => 2,
        (true, true) => 5,
        _ => 3,
    }
}
