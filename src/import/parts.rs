//! Meshes at nodes: which skin deforms them and with which morph weights they rest.

use super::{
    ImportError,
    accessor::Reader,
    codes::{self, Report},
    document::Document,
    meshes::{self, Meshes},
    skins::Skins,
};
use crate::model::{InfluenceError, Part, Skeleton, Skin};

pub(super) fn build(
    document: &Document,
    skins: &Skins,
    meshes: &Meshes,
    reader: &mut Reader<'_>,
) -> Result<Vec<Part>, ImportError> {
    let mut parts = Vec::new();
    for (index, node) in document.nodes.iter().enumerate() {
        let place = format!("nodes[{index}]");
        let Some(mesh) = node.mesh else {
            if node.skin.is_some() {
                let message = "a skin without a mesh has no effect";
                reader.report.add(codes::SKIN_WITHOUT_MESH, format!("{place}.skin"), message)?;
            }
            continue;
        };
        let mesh = mesh.value();
        let skin = match node.skin {
            Some(skin) => usable_skin(&place, skins.of_file[skin.value()], mesh, skins, meshes, reader)?,
            None => {
                if meshes.joints[mesh].iter().any(Option::is_some) {
                    let message = format!("meshes[{mesh}] has joints and weights, but the node no skin");
                    reader.report.add(codes::INFLUENCES_UNUSED, &place, message)?;
                }
                None
            }
        };
        let weights = weights(&place, node.weights.as_deref(), meshes.meshes[mesh].weights(), reader)?;
        parts.push(Part { node: index as u32, mesh: mesh as u32, skin, weights });
    }
    Ok(parts)
}

/// The skin, if the mesh can be deformed by it: all primitives have influences, all joints exist.
fn usable_skin(
    place: &str,
    skin: u32,
    mesh: usize,
    skins: &Skins,
    meshes: &Meshes,
    reader: &mut Reader<'_>,
) -> Result<Option<u32>, ImportError> {
    let uses = &meshes.joints[mesh];
    if !uses.is_empty() && uses.iter().all(Option::is_none) {
        let message = format!("meshes[{mesh}] has no joints and weights; drawn without the skin");
        reader.report.add(codes::SKIN_IGNORED, format!("{place}.skin"), message)?;
        return Ok(None);
    }
    let joints = skins.skins[skin as usize].joints().len();
    for (primitive, joint_use) in uses.iter().enumerate() {
        let place = format!("meshes[{mesh}].primitives[{primitive}].attributes");
        let Some(joint_use) = joint_use else {
            return Err(ImportError::schema(place, "has no JOINTS_0 and WEIGHTS_0, unlike its siblings"));
        };
        if joint_use.largest as usize >= joints {
            let (vertex, joint) = (joint_use.vertex, joint_use.largest);
            let problem = InfluenceError::JointOutOfRange { vertex, joint, joints }.to_string();
            return Err(ImportError::value(format!("{place}.JOINTS_n"), problem));
        }
        if joint_use.largest_named as usize >= joints {
            let message =
                format!("joint values up to {} for {joints} joints, with weight 0", joint_use.largest_named);
            let place = format!("{place}.JOINTS_n");
            reader.report.add_with(
                codes::JOINTS_UNUSED_OUT_OF_RANGE,
                place,
                message,
                [("largest", f64::from(joint_use.largest_named)), ("joints", joints as f64)],
            )?;
        }
    }
    Ok(Some(skin))
}

/// The node's own weights win over the mesh's.
fn weights(
    place: &str,
    own: Option<&[f32]>,
    of_mesh: &[f32],
    reader: &mut Reader<'_>,
) -> Result<Vec<f32>, ImportError> {
    reader.budget.decoded(place, of_mesh.len() as u64, 4)?;
    let Some(own) = own.filter(|w| !w.is_empty()) else { return Ok(of_mesh.to_vec()) };
    meshes::check_weights(&format!("{place}.weights"), own, of_mesh.len(), reader)?;
    let mut weights = own.to_vec();
    weights.resize(of_mesh.len(), 0.0);
    Ok(weights)
}

/// Joints that the shown scene does not hold animate all the same; one warning says so.
pub(super) fn check_scene(
    document: &Document,
    skeleton: &Skeleton,
    skins: &[Skin],
    parts: &[Part],
    report: &mut Report,
) -> Result<(), ImportError> {
    let shown = document.scene.unwrap_or(0) as usize;
    let Some(scene) = document.raw_scenes.get(shown) else { return Ok(()) };
    let mut inside = vec![false; skeleton.len()];
    scene.nodes.iter().for_each(|n| inside[n.value()] = true);
    for &node in skeleton.order() {
        let parent = skeleton.parents()[node as usize];
        inside[node as usize] |= parent.is_some_and(|p| inside[p as usize]);
    }
    let mut drawn = vec![false; skins.len()];
    for part in parts.iter().filter(|p| inside[p.node as usize]) {
        part.skin.into_iter().for_each(|s| drawn[s as usize] = true);
    }
    let joints = skins.iter().zip(&drawn).filter(|(_, drawn)| **drawn).flat_map(|(s, _)| s.joints());
    let outside: Vec<u32> = joints.copied().filter(|&n| !inside[n as usize]).collect();
    let Some(first) = outside.first() else { return Ok(()) };
    let message = format!("{} joints lie outside the scene (first: node {first})", outside.len());
    let numbers = [("joints", outside.len() as f64), ("node", f64::from(*first))];
    report.add_with(codes::JOINTS_OUTSIDE_SCENE, format!("scenes[{shown}]"), message, numbers)
}
