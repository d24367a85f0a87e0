//! Drawing modes; those WebGPU lacks are rewritten (glTF 2.0, 3.7.2.1).

use gltf::json::mesh::Mode;

use crate::model::Topology;

/// Indices in a form that WebGPU draws, and how many were cut off an incomplete end.
pub(super) fn convert(mode: Mode, indices: Option<Vec<u32>>, vertices: u32) -> Converted {
    let listed = |indices: Option<Vec<u32>>| indices.unwrap_or_else(|| (0..vertices).collect());
    let (topology, mut indices) = match mode {
        Mode::Points => (Topology::Points, indices),
        Mode::Lines => (Topology::Lines, indices),
        Mode::LineStrip => (Topology::LineStrip, indices),
        Mode::LineLoop => {
            let mut strip = listed(indices);
            if strip.len() > 1 {
                strip.push(strip[0]);
            }
            (Topology::LineStrip, Some(strip))
        }
        Mode::Triangles => (Topology::Triangles, indices),
        Mode::TriangleStrip => (Topology::TriangleStrip, indices),
        Mode::TriangleFan => {
            let fan = listed(indices);
            // The provoking vertex comes last, the hub first: {i + 1, i + 2, 0}.
            let triangles = fan.windows(2).skip(1).flat_map(|edge| [edge[0], edge[1], fan[0]]).collect();
            (Topology::Triangles, Some(triangles))
        }
    };
    let each = match topology {
        Topology::Triangles => 3,
        Topology::Lines => 2,
        Topology::Points | Topology::LineStrip | Topology::TriangleStrip => 1,
    };
    let count = indices.as_ref().map_or(vertices as usize, Vec::len);
    let cut = count % each;
    if cut > 0 {
        let mut list = listed(indices);
        list.truncate(count - cut);
        indices = Some(list);
    }
    Converted { topology, indices, cut }
}

pub(super) struct Converted {
    pub(super) topology: Topology,
    pub(super) indices: Option<Vec<u32>>,
    pub(super) cut: usize,
}
