//! Nodes to a [`Skeleton`]: a forest of finite transforms.

use glam::{Mat3, Mat4, Quat, Vec3};
use gltf::json;

use super::{
    ImportError,
    codes::{self, Report},
    document::Document,
};
use crate::model::{Node, Skeleton, Transform};

pub(super) fn skeleton(document: &Document, report: &mut Report) -> Result<Skeleton, ImportError> {
    let mut parents: Vec<Option<u32>> = vec![None; document.nodes.len()];
    for (index, node) in document.nodes.iter().enumerate() {
        for child in node.children.iter().flatten() {
            let child = child.value();
            if let Some(first) = parents[child].replace(index as u32) {
                return Err(ImportError::TwoParents { node: child, first: first as usize, second: index });
            }
        }
    }
    let mut nodes = Vec::with_capacity(document.nodes.len());
    for (index, (node, parent)) in document.nodes.iter().zip(parents).enumerate() {
        let rest = rest(index, node, report)?;
        nodes.push(Node { name: node.name.clone().unwrap_or_default(), parent, rest });
    }
    let skeleton = Skeleton::new(nodes)?;
    // Finite transforms can still overflow on their way down.
    if let Some(node) = skeleton.rest_world().iter().position(|m| !m.is_finite()) {
        let problem = "the rest transform, together with its parents', overflows";
        return Err(ImportError::value(format!("nodes[{node}]"), problem));
    }
    Ok(skeleton)
}

fn rest(index: usize, node: &json::Node, report: &mut Report) -> Result<Transform, ImportError> {
    let place = |property: &str| format!("nodes[{index}].{property}");
    let finite = |property: &str, values: &[f32]| match values.iter().find(|v| !v.is_finite()) {
        Some(value) => Err(ImportError::value(place(property), format!("{value} does not fit a float"))),
        None => Ok(()),
    };
    if let Some(matrix) = &node.matrix {
        if node.translation.is_some() || node.rotation.is_some() || node.scale.is_some() {
            let problem = "a node has either a matrix or translation, rotation and scale, not both";
            return Err(ImportError::schema(place("matrix"), problem));
        }
        finite("matrix", matrix)?;
        return from_matrix(&place("matrix"), Mat4::from_cols_array(matrix), report);
    }
    let translation = node.translation.unwrap_or_default();
    let rotation = node.rotation.unwrap_or_default().0;
    let scale = node.scale.unwrap_or([1.0; 3]);
    finite("translation", &translation)?;
    finite("rotation", &rotation)?;
    finite("scale", &scale)?;
    Ok(Transform {
        translation: translation.into(),
        rotation: unit(|| place("rotation"), rotation, report)?,
        scale: scale.into(),
    })
}

/// A unit quaternion; f64 keeps tiny and huge ones apart from zero and infinity.
fn unit(place: impl Fn() -> String, value: [f32; 4], report: &mut Report) -> Result<Quat, ImportError> {
    let length = value.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    if length == 0.0 {
        report.add(codes::NODE_ROTATION_ZERO, place(), "the zero quaternion was replaced by the identity")?;
        return Ok(Quat::IDENTITY);
    }
    if (length - 1.0).abs() <= 1e-6 {
        return Ok(Quat::from_array(value));
    }
    if (length - 1.0).abs() > 1e-3 {
        let message = format!("a quaternion of length {length} was normalised");
        report.add_with(codes::NODE_ROTATION_NORMALIZED, place(), message, [("length", length)])?;
    }
    Ok(Quat::from_array(value.map(|v| (f64::from(v) / length) as f32)))
}

/// Axes of length zero are legal and give no NaN: the rotation is completed from the others.
fn from_matrix(place: &str, matrix: Mat4, report: &mut Report) -> Result<Transform, ImportError> {
    let row = matrix.row(3).to_array();
    if row != [0.0, 0.0, 0.0, 1.0] {
        return Err(ImportError::value(place, format!("the fourth row is {row:?}, not 0 0 0 1")));
    }
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|a| a.truncate().as_dvec3());
    let mut scale = axes.map(|a| a.length());
    let mut unit = [0, 1, 2].map(|i| if scale[i] > 0.0 { axes[i] / scale[i] } else { glam::DVec3::ZERO });
    complete(&mut unit);
    if unit[0].cross(unit[1]).dot(unit[2]) < 0.0 {
        scale[0] = -scale[0];
        unit[0] = -unit[0];
    }
    let rotation = Quat::from_mat3(&Mat3::from_cols(unit[0].as_vec3(), unit[1].as_vec3(), unit[2].as_vec3()));
    let rotation = if rotation.length() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
    let scale = Vec3::from_array(scale.map(|s| s as f32));
    let transform = Transform { translation: matrix.w_axis.truncate(), rotation, scale };
    if !transform.is_finite() {
        return Err(ImportError::value(place, "is too large to be taken apart"));
    }
    let back = Mat4::from(transform.to_affine());
    let error = back.to_cols_array().into_iter().zip(matrix.to_cols_array()).take(12);
    let error = error.map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    if error > 1e-4 * scale.abs().max_element() {
        let message = format!("the matrix is sheared; the nearest transform differs by up to {error}");
        report.add_with(codes::NODE_MATRIX_SHEARED, place, message, [("difference", f64::from(error))])?;
    }
    Ok(transform)
}

/// Fills in axes of length zero so that all three are a right-handed frame where the rest allows it.
fn complete(axes: &mut [glam::DVec3; 3]) {
    let missing: Vec<usize> = (0..3).filter(|&i| axes[i] == glam::DVec3::ZERO).collect();
    match missing[..] {
        [] => {}
        [i] => {
            let cross = axes[(i + 1) % 3].cross(axes[(i + 2) % 3]);
            axes[i] = cross.try_normalize().unwrap_or_else(|| axes[(i + 1) % 3].any_orthonormal_vector());
        }
        [_, _] => {
            let given = (0..3).find(|i| !missing.contains(i)).unwrap_or_default();
            axes[(given + 1) % 3] = axes[given].any_orthonormal_vector();
            axes[(given + 2) % 3] = axes[given].cross(axes[(given + 1) % 3]);
        }
        _ => *axes = [glam::DVec3::X, glam::DVec3::Y, glam::DVec3::Z],
    }
}
