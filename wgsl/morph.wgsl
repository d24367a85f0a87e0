// Morph targets: only active ones are listed. A sparse target has a (mask, rank) pair per 32 vertices of the
// primitive: a set bit means a stored delta, the rank counts deltas before the block. A dense one has a delta
// for every vertex.
//
// Deltas in 16 bits are integers, two to a word: position, normal and tangent, what the target has of them.
import package::bindings::{frame, tables};
import package::codec::unpack_signed;
import package::layout::{
    ActiveTarget, MorphHeader, DELTA_DENSE, DELTA_NORMALS, DELTA_SHORT, DELTA_TANGENTS,
};
import package::source::{Vertex, STRIDE};

// Normals and tangents are cut to this, so that no product of the kernel overflows.
const LONGEST: vec3<f32> = vec3<f32>(1e9);

fn morph_header(at: u32) -> MorphHeader {
    let word = frame[at];
    return MorphHeader(word.x, word.y, word.z, word.w);
}

fn active_target(at: u32) -> ActiveTarget {
    let a = frame[at];
    let b = bitcast<vec4<f32>>(frame[at + 1u]);
    return ActiveTarget(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}

fn delta_at(word: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(tables[word], tables[word + 1u], tables[word + 2u]));
}

fn add_floats(source: Vertex, entry: ActiveTarget, rank: u32) -> Vertex {
    var vertex = source;
    let normals = (entry.flags & DELTA_NORMALS) != 0u;
    let tangents = (entry.flags & DELTA_TANGENTS) != 0u;
    var word = entry.deltas + rank * (3u + select(0u, 3u, normals) + select(0u, 3u, tangents));
    vertex.position += entry.position * delta_at(word);
    if normals {
        word += 3u;
        vertex.normal += entry.normal * delta_at(word);
    }
    if tangents {
        word += 3u;
        vertex.tangent += entry.tangent * delta_at(word);
    }
    return vertex;
}

fn add_shorts(source: Vertex, entry: ActiveTarget, rank: u32) -> Vertex {
    var vertex = source;
    let normals = (entry.flags & DELTA_NORMALS) != 0u;
    let tangents = (entry.flags & DELTA_TANGENTS) != 0u;
    let word = entry.deltas + rank * select(select(2u, 3u, normals || tangents), 5u, normals && tangents);
    let xy = unpack_signed(tables[word]);
    let z_ = unpack_signed(tables[word + 1u]);
    vertex.position += entry.position * vec3<f32>(xy, z_.x);
    if normals || tangents {
        let first = vec3<f32>(z_.y, unpack_signed(tables[word + 2u]));
        if normals {
            vertex.normal += entry.normal * first;
        } else {
            vertex.tangent += entry.tangent * first;
        }
        if normals && tangents {
            let xy = unpack_signed(tables[word + 3u]);
            vertex.tangent += entry.tangent * vec3<f32>(xy, unpack_signed(tables[word + 4u]).x);
        }
    }
    return vertex;
}

fn morph_vertex(source: Vertex, header: MorphHeader, at: u32) -> Vertex {
    var vertex = source;
    @if(!exact) {
        // Deltas belong to unit vectors.
        vertex.normal = normalize(vertex.normal);
        vertex.tangent = normalize(vertex.tangent);
    }
    let index = (at - header.source) / STRIDE;
    let bit = 1u << (index & 31u);
    for (var k = 0u; k < header.count; k++) {
        let entry = active_target(header.first + k * 2u);
        var rank = index;
        if (entry.flags & DELTA_DENSE) == 0u {
            let pair = entry.blocks + (index >> 5u) * 2u;
            let mask = tables[pair];
            if (mask & bit) == 0u {
                continue;
            }
            rank = tables[pair + 1u] + countOneBits(mask & (bit - 1u));
        }
        if (entry.flags & DELTA_SHORT) != 0u {
            vertex = add_shorts(vertex, entry, rank);
        } else {
            vertex = add_floats(vertex, entry, rank);
        }
    }
    vertex.normal = clamp(vertex.normal, -LONGEST, LONGEST);
    vertex.tangent = clamp(vertex.tangent, -LONGEST, LONGEST);
    return vertex;
}
