//! Morph targets: dense, sparse or without a view, any of POSITION, NORMAL and TANGENT.

use glam::Vec3;
use gltf::json::{self, mesh::Primitive};

use super::{ImportError, accessor::Reader, codes, format, influences::same_count};
use crate::model::MorphTarget;

/// Which attributes the primitive itself has.
#[derive(Clone, Copy)]
pub(super) struct Base {
    pub(super) vertices: usize,
    pub(super) normals: bool,
    pub(super) tangents: bool,
}

pub(super) fn read(
    place: &str,
    primitive: &Primitive,
    base: Base,
    reader: &mut Reader<'_>,
) -> Result<Vec<MorphTarget>, ImportError> {
    let targets = primitive.targets.as_deref().unwrap_or_default();
    let (mut normals_ignored, mut tangents_ignored) = (0, 0);
    let mut out = Vec::with_capacity(targets.len());
    for (index, target) in targets.iter().enumerate() {
        normals_ignored += usize::from(target.normals.is_some() && !base.normals);
        tangents_ignored += usize::from(target.tangents.is_some() && !base.tangents);
        let mut deltas = |name: &str,
                          accessor: Option<json::Index<json::Accessor>>,
                          has_base: bool|
         -> Result<Vec<Vec3>, ImportError> {
            let Some(accessor) = accessor.filter(|_| has_base) else { return Ok(Vec::new()) };
            let place = format!("{place}.targets[{index}].{name}");
            let format = if name == "POSITION" { &format::POSITION } else { &format::NORMAL };
            let (values, layout) = reader.finite(accessor, &place, format)?;
            same_count(&place, layout.count, base.vertices)?;
            Ok(values.as_chunks().0.iter().copied().map(Vec3::from_array).collect())
        };
        let positions = deltas("POSITION", target.positions, true)?;
        let normals = deltas("NORMAL", target.normals, base.normals)?;
        let tangents = deltas("TANGENT", target.tangents, base.tangents)?;
        out.push(MorphTarget::from_dense(&positions, &normals, &tangents));
    }
    for (count, name) in [(normals_ignored, "NORMAL"), (tangents_ignored, "TANGENT")] {
        if count > 0 {
            let message = format!("{count} targets move {name}, which the primitive lacks");
            reader.report.add_with(
                codes::TARGET_ATTRIBUTE_IGNORED,
                format!("{place}.targets"),
                message,
                [("targets", count as f64)],
            )?;
        }
    }
    Ok(out)
}
