//! What split vertices cost. A few bytes of indices can stand for many copies of attributes and deltas, so those are
//! paid for before they are made.

use super::{ImportError, accessor::Reader};
use crate::model::{PrimitiveDesc, Split, Topology};

/// Bytes of a position and a normal, with some to spare.
const POSITION_AND_NORMAL: usize = 32;
const TANGENT: usize = 16;
/// Bytes of a target's row.
const DELTA: u64 = 40;

/// Flat normals give every corner of every triangle its own vertex.
pub(super) fn flat_normals(
    place: &str,
    desc: &PrimitiveDesc,
    reader: &mut Reader<'_>,
) -> Result<(), ImportError> {
    let triangles = match desc.topology {
        Topology::Triangles => 1,
        Topology::TriangleStrip => 3,
        _ => 0,
    };
    if !desc.normals.is_empty() || triangles == 0 {
        return Ok(());
    }
    let mut copies = vec![1u64; desc.positions.len()];
    match &desc.indices {
        Some(indices) => indices.iter().for_each(|&i| copies[i as usize] += triangles),
        None => copies.fill(triangles),
    }
    charge(place, desc, &copies, POSITION_AND_NORMAL, reader)
}

/// Tangents of all split vertices, and the vertices that were split off for them.
pub(super) fn tangents(
    place: &str,
    desc: &PrimitiveDesc,
    split: &Split,
    reader: &mut Reader<'_>,
) -> Result<(), ImportError> {
    reader.budget.decoded(place, split.source.len() as u64, TANGENT as u64)?;
    if !split.normals.is_empty() {
        // Flat normals have paid for the vertices.
        return Ok(());
    }
    let mut copies = vec![0u64; desc.positions.len()];
    split.source.iter().skip(desc.positions.len()).for_each(|&v| copies[v as usize] += 1);
    charge(place, desc, &copies, POSITION_AND_NORMAL, reader)
}

fn charge(
    place: &str,
    desc: &PrimitiveDesc,
    copies: &[u64],
    each: usize,
    reader: &mut Reader<'_>,
) -> Result<(), ImportError> {
    let sets = desc.influences.as_ref();
    let attributes = each + 8 * desc.uv_sets.len() + 16 * desc.colors.len();
    let mut bytes = 0u64;
    for (vertex, &copies) in copies.iter().enumerate() {
        let each = attributes + 8 * sets.map_or(0, |s| s.row(vertex).len());
        bytes = bytes.saturating_add(copies.saturating_mul(each as u64));
    }
    for target in &desc.targets {
        let copies: u64 = target.vertices().iter().map(|&v| copies[v as usize]).sum();
        bytes = bytes.saturating_add(copies.saturating_mul(DELTA));
    }
    reader.budget.decoded(place, bytes, 1)
}
