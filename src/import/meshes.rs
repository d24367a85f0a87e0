//! Meshes and their primitives.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3, Vec4};
use gltf::json::{
    self,
    mesh::{Primitive, Semantic},
    validation::Checked,
};

use super::{
    ImportError,
    accessor::Reader,
    charge, codes,
    document::Document,
    format::{self, Format},
    influences::{self, JointUse, same_count},
    stage::{Stage, Steps},
    tangents,
    targets::{self, Base},
    topology,
};
use crate::model::{Mesh, MeshError, PrimitiveDesc, Split};

/// All meshes, with what each primitive asks of a skin (nothing where it has no influences).
pub(super) struct Meshes {
    pub(super) meshes: Vec<Mesh>,
    pub(super) joints: Vec<Vec<Option<JointUse>>>,
}

type Accessor = json::Index<json::Accessor>;

pub(super) fn build(
    document: &Document,
    reader: &mut Reader<'_>,
    steps: Steps<'_>,
) -> Result<Meshes, ImportError> {
    let mut joints = Vec::new();
    let built = ordered(|order| {
        for (m, source) in document.meshes.iter().enumerate() {
            steps.counted(Stage::Meshes, m, document.meshes.len());
            let (draft, of_primitives) = read_mesh(m, source, document, reader)?;
            joints.push(of_primitives);
            order(m, draft);
        }
        Ok(())
    });
    let mesh = |(m, built): (usize, Result<Mesh, MeshError>)| match built {
        Ok(mesh) => Ok(mesh.with_target_names(document.target_names[m].clone())),
        Err(source) => Err(ImportError::Mesh { place: format!("meshes[{m}]"), source }),
    };
    // What is wrong with an earlier mesh is said before what is wrong with a later one.
    let (built, read) = built;
    let meshes = built.into_iter().enumerate().map(mesh).collect::<Result<_, _>>()?;
    read.map(|()| Meshes { meshes, joints })
}

/// A mesh that was read and is not in order yet.
struct Draft {
    name: String,
    primitives: Vec<(PrimitiveDesc, Option<Split>)>,
    weights: Vec<f32>,
}

impl Draft {
    fn order(self) -> Result<Mesh, MeshError> {
        Mesh::with_splits(self.name, self.primitives, self.weights)
    }
}

type Built = (Vec<Result<Mesh, MeshError>>, Result<(), ImportError>);

/// Meshes by their numbers, in order, as far as `read` gets: other threads of the pool order one while the next is
/// read.
#[cfg(feature = "threads")]
fn ordered(read: impl FnOnce(&mut dyn FnMut(usize, Draft)) -> Result<(), ImportError>) -> Built {
    let (sender, receiver) = std::sync::mpsc::channel();
    let read = rayon::in_place_scope(|scope| {
        read(&mut |m, draft| {
            let sender = sender.clone();
            // The receiver is there until the end.
            scope.spawn(move |_| sender.send((m, draft.order())).unwrap_or_default());
        })
    });
    drop(sender);
    let mut built: Vec<_> = receiver.into_iter().collect();
    built.sort_unstable_by_key(|(m, _)| *m);
    (built.into_iter().map(|(_, mesh)| mesh).collect(), read)
}

#[cfg(not(feature = "threads"))]
fn ordered(read: impl FnOnce(&mut dyn FnMut(usize, Draft)) -> Result<(), ImportError>) -> Built {
    let mut built = Vec::new();
    let read = read(&mut |_, draft| built.push(draft.order()));
    (built, read)
}

/// Reads one mesh, and what each of its primitives asks of a skin.
fn read_mesh(
    m: usize,
    source: &json::Mesh,
    document: &Document,
    reader: &mut Reader<'_>,
) -> Result<(Draft, Vec<Option<JointUse>>), ImportError> {
    let place = format!("meshes[{m}]");
    let (mut primitives, mut joints) = (Vec::new(), Vec::new());
    for (p, primitive) in source.primitives.iter().enumerate() {
        let place = format!("{place}.primitives[{p}]");
        let Some(positions) = attribute(primitive, &Semantic::Positions) else {
            reader.report.add(codes::PRIMITIVE_SKIPPED, place, "no POSITION, nothing to draw")?;
            continue;
        };
        let (desc, split, joint_use) = read(&place, primitive, positions, document, reader)?;
        primitives.push((desc, split));
        joints.push(joint_use);
    }
    if source.primitives.is_empty() {
        reader.report.add(codes::MESH_EMPTY, &place, "a mesh without primitives")?;
    }
    let targets = primitives.first().map_or(0, |(p, _)| p.targets.len());
    let weights = source.weights.clone().unwrap_or_default();
    if !weights.is_empty() {
        check_weights(&format!("{place}.weights"), &weights, targets, reader)?;
    }
    let name = source.name.clone().unwrap_or_default();
    Ok((Draft { name, primitives, weights }, joints))
}

/// Default weights must be finite; another number than the targets' is repaired by cutting or filling.
pub(super) fn check_weights(
    place: &str,
    weights: &[f32],
    targets: usize,
    reader: &mut Reader<'_>,
) -> Result<(), ImportError> {
    if let Some(at) = weights.iter().position(|w| !w.is_finite()) {
        return Err(ImportError::value(place, format!("weight {at} does not fit a float")));
    }
    if weights.len() != targets {
        let message = format!("{} weights for {targets} targets", weights.len());
        reader.report.add_with(
            codes::MORPH_WEIGHT_COUNT,
            place,
            message,
            [("weights", weights.len() as f64), ("targets", targets as f64)],
        )?;
    }
    Ok(())
}

fn attribute(primitive: &Primitive, semantic: &Semantic) -> Option<Accessor> {
    primitive.attributes.get(&Checked::Valid(semantic.clone())).copied()
}

fn read(
    place: &str,
    primitive: &Primitive,
    positions: Accessor,
    document: &Document,
    reader: &mut Reader<'_>,
) -> Result<(PrimitiveDesc, Option<Split>, Option<JointUse>), ImportError> {
    let Checked::Valid(mode) = primitive.mode else {
        return Err(ImportError::schema(format!("{place}.mode"), "is none of 0 to 6"));
    };
    let at = format!("{place}.attributes.POSITION");
    let (positions, layout) = reader.finite(positions, &at, &format::POSITION)?;
    let vertices = layout.count;
    let indices = match primitive.indices {
        Some(accessor) => Some(read_indices(&format!("{place}.indices"), accessor, vertices, reader)?),
        None => None,
    };
    if mode == json::mesh::Mode::TriangleFan {
        let corners = indices.as_ref().map_or(vertices, Vec::len) as u64 * 3;
        reader.budget.decoded(place, corners, 4)?;
    }
    let converted = topology::convert(mode, indices, vertices as u32);
    if converted.cut > 0 {
        let message = format!("the last {} indices make no whole primitive", converted.cut);
        reader.report.add_with(
            codes::INDICES_INCOMPLETE,
            format!("{place}.indices"),
            message,
            [("indices", converted.cut as f64)],
        )?;
    }
    let normals = optional(place, primitive, &Semantic::Normals, &format::NORMAL, vertices, reader)?;
    let tangents = optional(place, primitive, &Semantic::Tangents, &format::TANGENT, vertices, reader)?;
    let (uv_sets, colors) = numbered_sets(place, primitive, vertices, reader)?;
    let rows = influences::read(place, primitive, vertices, reader)?;
    let (influences, joint_use) = match rows {
        Some(rows) => (Some(rows.influences), Some(rows.joints)),
        None => (None, None),
    };
    let base = Base { vertices, normals: normals.is_some(), tangents: tangents.is_some() };
    let targets = targets::read(place, primitive, base, reader)?;
    let mut desc = PrimitiveDesc {
        topology: converted.topology,
        indices: converted.indices,
        positions: vec3s(&positions),
        normals: normals.map(|(values, _)| vec3s(&values)).unwrap_or_default(),
        tangents: tangents.map(|(values, _)| vec4s(&values, 4)).unwrap_or_default(),
        uv_sets,
        colors,
        influences,
        targets,
        material: primitive.material.map(|m| m.value() as u32),
    };
    charge::flat_normals(place, &desc, reader)?;
    let split = tangents::compute(place, document, &mut desc, reader)?;
    Ok((desc, split, joint_use))
}

fn read_indices(
    place: &str,
    accessor: Accessor,
    vertices: usize,
    reader: &mut Reader<'_>,
) -> Result<Vec<u32>, ImportError> {
    let (indices, layout) = reader.integers(accessor, place, &format::INDICES)?;
    let restart = u32::MAX >> (32 - 8 * layout.component.size());
    if let Some(at) = indices.iter().position(|&i| i as usize >= vertices || i == restart) {
        let problem = match indices[at] {
            index if index == restart => format!("index {at} is {index}, the primitive restart value"),
            index => format!("index {at} is {index}, but there are {vertices} vertices"),
        };
        return Err(ImportError::value(place, problem));
    }
    Ok(indices)
}

/// Values of an attribute that may be absent, and their width. NaN and infinity become 0.
fn optional(
    place: &str,
    primitive: &Primitive,
    semantic: &Semantic,
    format: &Format,
    vertices: usize,
    reader: &mut Reader<'_>,
) -> Result<Option<(Vec<f32>, usize)>, ImportError> {
    let Some(accessor) = attribute(primitive, semantic) else { return Ok(None) };
    let place = format!("{place}.attributes.{}", semantic.to_string());
    let (mut values, layout) = reader.floats(accessor, &place, format)?;
    same_count(&place, layout.count, vertices)?;
    let mut bad = 0;
    for value in values.iter_mut().filter(|v| !v.is_finite()) {
        *value = 0.0;
        bad += 1;
    }
    if bad > 0 {
        let message = format!("{bad} numbers were NaN or infinite and became 0");
        reader.report.add_with(codes::ATTRIBUTE_NOT_FINITE, place, message, [("numbers", f64::from(bad))])?;
    }
    Ok(Some((values, layout.width)))
}

type Sets = (Vec<Vec<Vec2>>, Vec<Vec<Vec4>>);

/// Every `TEXCOORD_n` and `COLOR_n`, numbered without gaps.
fn numbered_sets(
    place: &str,
    primitive: &Primitive,
    vertices: usize,
    reader: &mut Reader<'_>,
) -> Result<Sets, ImportError> {
    let (mut uv_sets, mut colors) = (Vec::new(), Vec::new());
    let semantics: BTreeMap<_, _> = primitive.attributes.iter().collect();
    for semantic in semantics.keys() {
        let Checked::Valid(semantic) = semantic else { continue };
        let (set, next, format) = match semantic {
            Semantic::TexCoords(set) => (*set, uv_sets.len(), &format::TEXCOORD),
            Semantic::Colors(set) => (*set, colors.len(), &format::COLOR),
            _ => continue,
        };
        if set as usize != next {
            let place = format!("{place}.attributes.{}", semantic.to_string());
            let message = format!("not read: set {next} is missing before it");
            reader.report.add(codes::ATTRIBUTE_IGNORED, place, message)?;
            continue;
        }
        let Some((values, width)) = optional(place, primitive, semantic, format, vertices, reader)? else {
            continue;
        };
        match semantic {
            Semantic::TexCoords(_) => {
                uv_sets.push(values.as_chunks().0.iter().copied().map(Vec2::from_array).collect());
            }
            _ => colors.push(vec4s(&values, width)),
        }
    }
    Ok((uv_sets, colors))
}

fn vec3s(values: &[f32]) -> Vec<Vec3> {
    values.as_chunks().0.iter().copied().map(Vec3::from_array).collect()
}

/// RGB becomes RGBA with alpha 1.
fn vec4s(values: &[f32], width: usize) -> Vec<Vec4> {
    let alpha = |v: &[f32]| v.get(3).copied().unwrap_or(1.0);
    values.chunks_exact(width).map(|v| Vec4::new(v[0], v[1], v[2], alpha(v))).collect()
}
