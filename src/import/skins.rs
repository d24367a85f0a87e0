//! Skins. Those that deform alike become one, so that one palette serves all their meshes.

use std::collections::{HashMap, HashSet};

use glam::Mat4;

use super::{ImportError, accessor::Reader, codes, document::Document, format};
use crate::model::{Skeleton, Skin, SkinError};

/// The distinct skins, and which of them each of the file's became.
pub(super) struct Skins {
    pub(super) skins: Vec<Skin>,
    pub(super) of_file: Vec<u32>,
}

pub(super) fn build(
    document: &Document,
    skeleton: &Skeleton,
    reader: &mut Reader<'_>,
) -> Result<Skins, ImportError> {
    let mut out = Skins { skins: Vec::new(), of_file: Vec::new() };
    // Joint nodes and the bits of the matrices.
    let mut known: HashMap<(Vec<u32>, Vec<u32>), u32> = HashMap::new();
    for (index, skin) in document.skins.iter().enumerate() {
        let joints: Vec<u32> = skin.joints.iter().map(|j| j.value() as u32).collect();
        let matrices = inverse_binds(index, joints.len(), document, reader)?;
        let bits: Vec<u32> =
            matrices.iter().flatten().flat_map(|m| m.to_cols_array()).map(f32::to_bits).collect();
        let key = (joints, bits);
        if let Some(&same) = known.get(&key) {
            let message = format!("the same joints and matrices as skin {same} of the model; merged");
            reader.report.add(codes::SKINS_MERGED, format!("skins[{index}]"), message)?;
            out.of_file.push(same);
            continue;
        }
        // Building a skin looks at every node once.
        reader.budget.decoded(&format!("skins[{index}]"), skeleton.len() as u64, 4)?;
        let name = skin.name.clone().unwrap_or_default();
        let built = Skin::accept_duplicates(name, skeleton, key.0.clone(), matrices.as_deref())
            .map_err(|source| ImportError::Skin { place: place_of(index, &source), source })?;
        let nodes: HashSet<u32> = key.0.iter().copied().collect();
        let again = key.0.len() - nodes.len();
        if again > 0 {
            let message = format!("{again} joints are nodes that the skin lists already");
            let place = format!("skins[{index}].joints");
            reader.report.add_with(codes::JOINT_TWICE, place, message, [("joints", again as f64)])?;
        }
        let singular = built.inverse_binds().iter().filter(|m| m.matrix3.determinant() == 0.0).count();
        if singular > 0 {
            let message = format!("{singular} matrices cannot be inverted");
            reader.report.add_with(
                codes::INVERSE_BIND_SINGULAR,
                matrices_of(index),
                message,
                [("matrices", singular as f64)],
            )?;
        }
        known.insert(key, out.skins.len() as u32);
        out.of_file.push(out.skins.len() as u32);
        out.skins.push(built);
    }
    Ok(out)
}

fn matrices_of(skin: usize) -> String {
    format!("skins[{skin}].inverseBindMatrices")
}

fn place_of(skin: usize, error: &SkinError) -> String {
    match error {
        SkinError::NoJoints | SkinError::JointOutOfRange { .. } => {
            format!("skins[{skin}].joints")
        }
        _ => matrices_of(skin),
    }
}

fn inverse_binds(
    skin: usize,
    joints: usize,
    document: &Document,
    reader: &mut Reader<'_>,
) -> Result<Option<Vec<Mat4>>, ImportError> {
    let place = matrices_of(skin);
    let Some(accessor) = document.skins[skin].inverse_bind_matrices else {
        let message = "absent: every joint's inverse bind matrix is the identity";
        reader.report.add(codes::INVERSE_BINDS_MISSING, place, message)?;
        return Ok(None);
    };
    let (values, layout) = reader.floats(accessor, &place, &format::INVERSE_BIND)?;
    if layout.count < joints {
        let (found, expected) = (layout.count as u64, joints as u64);
        return Err(ImportError::Count { place, what: "matrices", found, expected });
    }
    if layout.count > joints {
        let message = format!("{} matrices for {joints} joints; the rest is not used", layout.count);
        reader.report.add_with(
            codes::INVERSE_BINDS_EXTRA,
            place,
            message,
            [("matrices", layout.count as f64), ("joints", joints as f64)],
        )?;
    }
    let matrices = values.as_chunks::<16>().0.iter().take(joints).map(Mat4::from_cols_array).collect();
    Ok(Some(matrices))
}
