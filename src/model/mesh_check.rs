//! What a mesh may not hold.

use glam::Vec3;

use super::mesh::{MeshError, Primitive, PrimitiveDesc, Topology};

/// Largest magnitude of a coordinate of a position (metres), normal, tangent or delta, in the mesh's space
/// with its bind matrix applied. More could overflow f32 while it is deformed.
pub const MAX_COORDINATE: f32 = 1e12;

/// Largest sum of the weights of a vertex.
pub const MAX_WEIGHT_SUM: f32 = 1e4;

/// Refuses coordinates beyond [`MAX_COORDINATE`]; call it after the bind matrix is applied.
pub(super) fn check_range(primitive: usize, p: &Primitive) -> Result<(), MeshError> {
    let in_range = |attribute, vertex: usize, v: Vec3| {
        let value = v.to_array().into_iter().find(|c| !c.is_finite() || c.abs() > MAX_COORDINATE);
        value.map_or(Ok(()), |value| {
            Err(MeshError::OutOfRange { primitive, attribute, vertex: p.source_vertex(vertex), value })
        })
    };
    for (vertex, &position) in p.positions().iter().enumerate() {
        in_range("POSITION", vertex, position)?;
    }
    for (vertex, &normal) in p.normals().iter().enumerate() {
        in_range("NORMAL", vertex, normal)?;
    }
    for (vertex, tangent) in p.tangents().iter().enumerate() {
        in_range("TANGENT", vertex, tangent.truncate())?;
    }
    for target in p.targets() {
        for (row, &vertex) in target.vertices().iter().enumerate() {
            let delta = target.delta(row);
            for (attribute, moved) in [
                ("a target's POSITION of", delta.position),
                ("a target's NORMAL of", delta.normal),
                ("a target's TANGENT of", delta.tangent),
            ] {
                in_range(attribute, vertex as usize, moved)?;
            }
        }
    }
    Ok(())
}

fn check_finite(primitive: usize, desc: &PrimitiveDesc) -> Result<(), MeshError> {
    let finite = |attribute, bad: Option<usize>| match bad {
        Some(vertex) => Err(MeshError::NotFinite { primitive, attribute, vertex }),
        None => Ok(()),
    };
    finite("POSITION", desc.positions.iter().position(|p| !p.is_finite()))?;
    finite("NORMAL", desc.normals.iter().position(|n| !n.is_finite()))?;
    finite("TANGENT", desc.tangents.iter().position(|t| !t.is_finite()))?;
    for set in &desc.uv_sets {
        finite("TEXCOORD", set.iter().position(|uv| !uv.is_finite()))?;
    }
    for set in &desc.colors {
        finite("COLOR", set.iter().position(|c| !c.is_finite()))?;
    }
    for target in &desc.targets {
        let bad = (0..target.vertices().len()).find(|&row| !target.delta(row).is_finite());
        finite("a target's delta of", bad.map(|row| target.vertices()[row] as usize))?;
    }
    Ok(())
}

/// Refuses what does not fit together, is not finite, or weighs too much.
pub(super) fn check(primitive: usize, desc: &PrimitiveDesc) -> Result<(), MeshError> {
    let vertices = desc.positions.len();
    let count = |attribute, found: usize| match found == 0 || found == vertices {
        true => Ok(()),
        false => Err(MeshError::AttributeCount { primitive, attribute, found, vertices }),
    };
    count("NORMAL", desc.normals.len())?;
    count("TANGENT", desc.tangents.len())?;
    desc.uv_sets.iter().try_for_each(|s| count("TEXCOORD", s.len()))?;
    desc.colors.iter().try_for_each(|s| count("COLOR", s.len()))?;
    if let Some(influences) = &desc.influences {
        let found = influences.vertices();
        if found != vertices {
            return Err(MeshError::AttributeCount {
                primitive,
                attribute: "JOINTS/WEIGHTS",
                found,
                vertices,
            });
        }
        let sum = |vertex: usize| influences.row(vertex).iter().map(|i| i.weight.abs()).sum::<f32>();
        let heavy = (0..found).map(|vertex| (vertex, sum(vertex))).find(|(_, sum)| *sum > MAX_WEIGHT_SUM);
        if let Some((vertex, sum)) = heavy {
            return Err(MeshError::WeightSum { primitive, vertex, sum });
        }
    }
    check_finite(primitive, desc)?;
    for (target, morph) in desc.targets.iter().enumerate() {
        if let Some(&vertex) = morph.vertices().iter().find(|&&v| v as usize >= vertices) {
            return Err(MeshError::TargetVertex { primitive, target, vertex, vertices });
        }
    }
    let indices = desc.indices.as_ref().map_or(vertices, Vec::len);
    let whole = match desc.topology {
        Topology::Triangles => indices.is_multiple_of(3),
        Topology::Lines => indices.is_multiple_of(2),
        Topology::Points | Topology::LineStrip | Topology::TriangleStrip => true,
    };
    if !whole {
        return Err(MeshError::IndexCount { primitive, indices, topology: desc.topology });
    }
    let Some(list) = &desc.indices else { return Ok(()) };
    if let Some(&index) = list.iter().find(|&&i| i as usize >= vertices) {
        return Err(MeshError::IndexOutOfRange { primitive, index, vertices });
    }
    Ok(())
}
