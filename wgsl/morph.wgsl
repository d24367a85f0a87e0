// Morph targets: each active target has a (mask, rank) pair per 32 vertices of the primitive; a set bit
// means a stored delta, the rank counts deltas before the block. Only active targets are listed.
import package::bindings::{frame, tables};
import package::layout::{ActiveTarget, MorphHeader, DELTA_NORMALS, DELTA_TANGENTS};
import package::source::{Vertex, STRIDE};

fn morph_header(at: u32) -> MorphHeader {
    let word = frame[at];
    return MorphHeader(word.x, word.y, word.zw);
}

fn active_target(at: u32) -> ActiveTarget {
    let word = frame[at];
    return ActiveTarget(word.x, word.y, bitcast<f32>(word.z), word.w);
}

fn delta_at(word: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(tables[word], tables[word + 1u], tables[word + 2u]));
}

fn morph_vertex(source: Vertex, block: u32, at: u32) -> Vertex {
    var vertex = source;
    let header = morph_header(block);
    let index = (at - header.source) / STRIDE;
    let bit = 1u << (index & 31u);
    for (var k = 0u; k < header.count; k++) {
        let entry = active_target(block + 1u + k);
        let pair = entry.blocks + (index >> 5u) * 2u;
        let mask = tables[pair];
        if (mask & bit) != 0u {
            let rank = tables[pair + 1u] + countOneBits(mask & (bit - 1u));
            let normals = (entry.flags & DELTA_NORMALS) != 0u;
            let tangents = (entry.flags & DELTA_TANGENTS) != 0u;
            let stride = 3u + select(0u, 3u, normals) + select(0u, 3u, tangents);
            var word = entry.deltas + rank * stride;
            vertex.position += entry.weight * delta_at(word);
            if normals {
                word += 3u;
                vertex.normal += entry.weight * delta_at(word);
            }
            if tangents {
                word += 3u;
                vertex.tangent += entry.weight * delta_at(word);
            }
        }
    }
    return vertex;
}
