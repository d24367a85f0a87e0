//! Vertices that cost or shade what they should not.

use super::{codes, counted};
use crate::model::{Diagnostic, Model, Primitive};

/// Lengths further from one than this: what rounding and quantising leave is less.
const UNIT_TOLERANCE: f32 = 5e-3;

pub(super) fn check(model: &Model, found: &mut Vec<Diagnostic>) {
    for (m, mesh) in model.meshes().iter().enumerate() {
        for (p, primitive) in mesh.primitives().iter().enumerate() {
            let place = |rest: &str| format!("meshes[{m}].primitives[{p}].{rest}");
            let (unused, all) = (unused(primitive), primitive.source_vertex_count());
            if unused > 0 {
                let message =
                    format!("{unused} of {} that no index names", counted(all, "vertex", "vertices"));
                let numbers = [("unused", unused as f64), ("vertices", all as f64)];
                found.push(codes::VERTICES_UNUSED.at(place("indices"), message).with(numbers));
            }
            if primitive.has_flat_normals() {
                continue;
            }
            let off = |vertex: &usize| (primitive.normals()[*vertex].length() - 1.0).abs();
            let odd: Vec<usize> =
                (0..primitive.normals().len()).filter(|v| !(off(v) <= UNIT_TOLERANCE)).collect();
            if let Some(worst) = odd.iter().copied().max_by(|a, b| off(a).total_cmp(&off(b))) {
                let length = primitive.normals()[worst].length();
                let vertex = primitive.source_vertex(worst);
                let message = format!(
                    "{} not of unit length; that of vertex {vertex} is {length} long",
                    counted(odd.len(), "normal is", "normals are"),
                );
                let numbers = [
                    ("vertices", odd.len() as f64),
                    ("vertex", f64::from(vertex)),
                    ("length", f64::from(length)),
                ];
                found.push(codes::NORMALS_NOT_UNIT.at(place("attributes.NORMAL"), message).with(numbers));
            }
        }
    }
}

/// Source vertices that nothing draws.
fn unused(primitive: &Primitive) -> usize {
    let mut used = vec![false; primitive.source_vertex_count()];
    for &index in primitive.indices() {
        used[primitive.source_vertex(index as usize) as usize] = true;
    }
    used.iter().filter(|used| !**used).count()
}
