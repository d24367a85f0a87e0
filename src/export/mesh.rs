//! Meshes, back in their source order.

use glam::Vec3;
use serde_json::{Map, Value, json};

use super::{ExportError, named, writer::Writer};
use crate::model::{Influences, Mesh, Model, MorphTarget, Primitive, Topology};

pub(super) fn meshes(model: &Model, writer: &mut Writer) -> Result<Vec<Value>, ExportError> {
    model.meshes().iter().enumerate().map(|(index, mesh)| write(index, mesh, writer)).collect()
}

fn write(index: usize, mesh: &Mesh, writer: &mut Writer) -> Result<Value, ExportError> {
    let mut object = named(mesh.name());
    let mut primitives = Vec::new();
    for (at, primitive) in mesh.primitives().iter().enumerate() {
        primitives.push(write_primitive([index, at], primitive, writer)?);
    }
    object.insert("primitives".into(), primitives.into());
    if !mesh.weights().is_empty() {
        object.insert("weights".into(), json!(mesh.weights()));
        if mesh.target_names().iter().any(|n| !n.is_empty()) {
            object.insert("extras".into(), json!({ "targetNames": mesh.target_names() }));
        }
    }
    Ok(Value::Object(object))
}

fn write_primitive(
    [mesh, primitive]: [usize; 2],
    data: &Primitive,
    writer: &mut Writer,
) -> Result<Value, ExportError> {
    if data.source_vertex_count() == 0 || data.indices().is_empty() {
        return Err(ExportError::Empty { mesh, primitive });
    }
    let mut attributes = Map::new();
    let mut put = |name: String, accessor: usize| {
        attributes.insert(name, accessor.into());
    };
    let positions = flat(&in_source_order(data, data.positions()), |v| v.to_array());
    put("POSITION".into(), writer.bounded(&positions, "VEC3"));
    // Flat normals and computed tangents are computed again by whoever reads the file.
    if !data.normals().is_empty() && !data.has_flat_normals() {
        let normals = flat(&in_source_order(data, data.normals()), |v| v.to_array());
        put("NORMAL".into(), writer.floats(&normals, "VEC3"));
    }
    if !data.tangents().is_empty() && !data.has_computed_tangents() {
        let tangents = flat(&in_source_order(data, data.tangents()), |v| v.to_array());
        put("TANGENT".into(), writer.floats(&tangents, "VEC4"));
    }
    for (set, uvs) in data.uv_sets().iter().enumerate().filter(|(_, uvs)| !uvs.is_empty()) {
        let uvs = flat(&in_source_order(data, uvs), |v| v.to_array());
        put(format!("TEXCOORD_{set}"), writer.floats(&uvs, "VEC2"));
    }
    for (set, colors) in data.colors().iter().enumerate().filter(|(_, colors)| !colors.is_empty()) {
        let colors = flat(&in_source_order(data, colors), |v| v.to_array());
        put(format!("COLOR_{set}"), writer.floats(&colors, "VEC4"));
    }
    if let Some(influences) = data.influences() {
        for (set, (joints, weights)) in sets(data, influences).into_iter().enumerate() {
            let narrow: Result<Vec<u16>, u32> =
                joints.iter().map(|&joint| u16::try_from(joint).map_err(|_| joint)).collect();
            let joints = narrow.map_err(|joint| ExportError::Joint { mesh, primitive, joint })?;
            put(format!("JOINTS_{set}"), writer.shorts(&joints, "VEC4"));
            put(format!("WEIGHTS_{set}"), writer.floats(&weights, "VEC4"));
        }
    }
    let indices: Vec<u32> = data.indices().iter().map(|&i| data.source_vertex(i as usize)).collect();
    let mut object = Map::new();
    object.insert("indices".into(), writer.indices(&indices).into());
    object.insert("mode".into(), mode(data.topology()).into());
    let targets: Vec<Value> = data.targets().iter().map(|t| target(data, t, writer)).collect();
    if !targets.is_empty() {
        object.insert("targets".into(), targets.into());
    }
    if let Some(material) = data.material() {
        object.insert("material".into(), material.into());
    }
    object.insert("attributes".into(), attributes.into());
    Ok(Value::Object(object))
}

fn mode(topology: Topology) -> u32 {
    match topology {
        Topology::Points => 0,
        Topology::Lines => 1,
        Topology::LineStrip => 3,
        Topology::Triangles => 4,
        Topology::TriangleStrip => 5,
    }
}

fn in_source_order<T: Copy>(data: &Primitive, list: &[T]) -> Vec<T> {
    data.deformed_vertices().iter().map(|&v| list[v as usize]).collect()
}

fn flat<T: Copy, const N: usize>(list: &[T], array: impl Fn(T) -> [f32; N]) -> Vec<f32> {
    list.iter().flat_map(|&v| array(v)).collect()
}

/// Joints and weights in sets of four, as many sets as the fullest vertex needs.
fn sets(data: &Primitive, influences: &Influences) -> Vec<(Vec<u32>, Vec<f32>)> {
    let count = influences.max_per_vertex().div_ceil(4).max(1);
    let mut sets = vec![(Vec::new(), Vec::new()); count];
    for &vertex in data.deformed_vertices() {
        let row = influences.row(vertex as usize);
        for slot in 0..count * 4 {
            let (joint, weight) = row.get(slot).map_or((0, 0.0), |i| (i.joint, i.weight));
            sets[slot / 4].0.push(joint);
            sets[slot / 4].1.push(weight);
        }
    }
    sets
}

fn target(data: &Primitive, target: &MorphTarget, writer: &mut Writer) -> Value {
    // Split vertices repeat their source's row.
    let mut rows: Vec<(u32, usize)> =
        target.vertices().iter().enumerate().map(|(row, &v)| (data.source_vertex(v as usize), row)).collect();
    rows.sort_unstable();
    rows.dedup_by_key(|row| row.0);
    let vertices: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let mut object = Map::new();
    let mut put = |name: &str, deltas: &[Vec3]| {
        let values: Vec<[f32; 3]> = rows.iter().map(|row| deltas[row.1].to_array()).collect();
        let accessor = writer.sparse_vec3(data.source_vertex_count(), &vertices, &values);
        object.insert(name.into(), accessor.into());
    };
    put("POSITION", target.positions());
    if !target.normals().is_empty() && !data.has_flat_normals() {
        put("NORMAL", target.normals());
    }
    if !target.tangents().is_empty() && !data.has_flat_normals() {
        put("TANGENT", target.tangents());
    }
    Value::Object(object)
}
