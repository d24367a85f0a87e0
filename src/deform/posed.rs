//! Models without skins: one pose of an instance, or several as morph targets, for any program to read.

use glam::{Vec3, Vec4};

use super::{DeformError, VertexDeformer};
use crate::{
    animate::{Animator, InstanceId},
    model::{
        Channel, Clip, ClipError, Interpolation, Mesh, MeshError, Model, ModelDesc, ModelError, MorphTarget,
        Node, Part, Primitive, PrimitiveDesc, Scene, Skeleton, SkeletonError, Topology, Track,
    },
};

/// Why a pose was not made a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PosedError {
    /// A handle that does not exist.
    #[error(transparent)]
    Deform(#[from] DeformError),
    /// All parts are hidden, the instance is, or the model has none.
    #[error("instance {instance:?} shows no part; show it, and take it into view, before it is written")]
    NothingShown {
        /// The instance.
        instance: InstanceId,
    },
    /// Vertices that a model cannot hold, such as those of a pose that scales by a million.
    #[error("part {part} as deformed: {source}")]
    Mesh {
        /// The part.
        part: u32,
        /// What is wrong.
        source: MeshError,
    },
    /// Times that are not finite or do not rise.
    #[error("times of frames: {0}")]
    Times(#[from] ClipError),
    /// Another instance, or other parts than in the first frame.
    #[error(
        "frame {frame} shows other parts than the first; one animation needs the same parts of one model throughout"
    )]
    OtherParts {
        /// The frame, from 0.
        frame: usize,
    },
    /// Not of the caller's making.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// Not of the caller's making.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// An instance as it stands after the last evaluation, as a model of its own: no skins, no targets, no clips; each
/// shown part is a mesh at a root node of its name. Materials, textures, uvs and colours are kept.
///
/// Positions, normals and tangents are deformed on the CPU with the arithmetic of the kernel on exact vertices
/// ([`VertexDeformer`]), in the instance's space: its transform is left out. They stand in the caller's order, or, where
/// normals or tangents were computed and vertices split for it, in the deformed one. Triangles that joints mirror are
/// turned round, so that their fronts stay fronts.
pub fn posed_model(animator: &Animator, instance: InstanceId) -> Result<Model, PosedError> {
    let mut animation = VertexAnimation::new();
    animation.push(animator, instance, 0.0)?;
    animation.finish("", Interpolation::Step)
}

/// Poses of an instance, collected into a model that needs no skeleton to be played: the first pose is the mesh, every
/// further one a morph target, and a clip of weights goes from one to the next. Parts, materials and vertices are those
/// of [`posed_model`].
///
/// Takes memory for every vertex of every frame: up to 36 bytes, less what stays where it was in the first.
#[derive(Clone, Debug, Default)]
pub struct VertexAnimation {
    model: Option<Model>,
    parts: Vec<PosedPart>,
    times: Vec<f32>,
}

#[derive(Clone, Debug)]
struct PosedPart {
    part: u32,
    primitives: Vec<PrimitiveDesc>,
}

/// What deforms of a primitive's vertices.
struct Deformed {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec4>,
    mirrored: Vec<bool>,
}

impl VertexAnimation {
    /// Without frames.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Frames so far.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.times.len()
    }

    /// Takes the instance as it stands after the last evaluation in as the next frame, `time` seconds into the clip.
    /// Times rise from 0 or later. Changes nothing where it fails.
    pub fn push(&mut self, animator: &Animator, instance: InstanceId, time: f32) -> Result<(), PosedError> {
        let model =
            animator.model_of(instance).and_then(|id| animator.model(id)).map_err(DeformError::from)?;
        let is_shown = |part: u32| animator.is_part_shown(instance, part).map_err(DeformError::from);
        let mut deformers = Vec::new();
        for &part in model.shown_parts() {
            if is_shown(part)? {
                let deformer = VertexDeformer::new(animator, instance, part)?;
                deformers.extend((!deformer.primitives().is_empty()).then_some((part, deformer)));
            }
        }
        if deformers.is_empty() {
            return Err(PosedError::NothingShown { instance });
        }
        if self.model.is_none() {
            self.parts = deformers.iter().map(|(part, deformer)| first_frame(*part, deformer)).collect();
            self.model = Some(model.clone());
        } else {
            let is_same = self.model.as_ref().is_some_and(|first| first.ptr_eq(model))
                && self.parts.iter().map(|part| part.part).eq(deformers.iter().map(|(part, _)| *part));
            if !is_same {
                return Err(PosedError::OtherParts { frame: self.frames() });
            }
            for (part, (_, deformer)) in self.parts.iter_mut().zip(&deformers) {
                for (at, base) in (0..).zip(&mut part.primitives) {
                    let target = target(base, &Deformed::of(deformer, at));
                    base.targets.push(target);
                }
            }
        }
        self.times.push(time);
        Ok(())
    }

    /// The model, with a clip of that name where there are several frames: at each frame's time the pose is exactly
    /// that frame's, between them it stays ([`Interpolation::Step`]) or moves on straight lines
    /// ([`Interpolation::Linear`]); [`Interpolation::CubicSpline`] counts as the latter. An empty model without frames.
    pub fn finish(self, name: &str, interpolation: Interpolation) -> Result<Model, PosedError> {
        let Some(model) = self.model else { return Ok(Model::new(ModelDesc::default())?) };
        let targets = self.times.len() - 1;
        let (mut nodes, mut meshes, mut parts, mut tracks) = (vec![], vec![], vec![], vec![]);
        for (at, PosedPart { part, primitives }) in (0u32..).zip(self.parts) {
            let Part { node, mesh, .. } = model.parts()[part as usize];
            let name = model.skeleton().names()[node as usize].clone();
            nodes.push(Node { name, ..Node::default() });
            let weights = vec![0.0; targets];
            let posed = Mesh::new(model.meshes()[mesh as usize].name(), primitives, weights.clone());
            meshes.push(posed.map_err(|source| PosedError::Mesh { part, source })?);
            parts.push(Part { node: at, mesh: at, skin: None, weights });
            tracks.push(track(at, &self.times, interpolation));
        }
        let clips = if targets == 0 { vec![] } else { vec![Clip::new(name, tracks)?] };
        let roots = (0..nodes.len() as u32).collect();
        Ok(Model::new(ModelDesc {
            name: model.name().into(),
            skeleton: Skeleton::new(nodes)?,
            meshes,
            parts,
            scenes: vec![Scene { name: String::new(), roots }],
            default_scene: Some(0),
            clips,
            materials: model.materials().to_vec(),
            textures: model.textures().to_vec(),
            images: model.images().to_vec(),
            ..ModelDesc::default()
        })?)
    }
}

/// One target at a time, none in the first frame.
fn track(node: u32, times: &[f32], interpolation: Interpolation) -> Track {
    let targets = times.len() - 1;
    let weight = |frame: usize, target: usize| if frame == target + 1 { 1.0 } else { 0.0 };
    Track {
        node,
        channel: Channel::Weights,
        interpolation: match interpolation {
            Interpolation::Step => Interpolation::Step,
            Interpolation::Linear | Interpolation::CubicSpline => Interpolation::Linear,
        },
        times: times.to_vec(),
        values: (0..times.len()).flat_map(|frame| (0..targets).map(move |t| weight(frame, t))).collect(),
        width: targets as u32,
    }
}

fn first_frame(part: u32, deformer: &VertexDeformer<'_>) -> PosedPart {
    let primitive = |(at, primitive): (u32, &Primitive)| {
        let Deformed { positions, normals, tangents, mirrored } = Deformed::of(deformer, at);
        let mut desc = PrimitiveDesc {
            positions,
            normals,
            tangents,
            influences: None,
            targets: Vec::new(),
            ..primitive.to_desc()
        };
        if primitive.triangle_count() > 0 && mirrored.contains(&true) {
            reverse(&mut desc, primitive, &mirrored);
        }
        desc
    };
    PosedPart { part, primitives: (0..).zip(deformer.primitives()).map(primitive).collect() }
}

impl Deformed {
    /// In the order of [`Primitive::to_desc`].
    fn of(deformer: &VertexDeformer<'_>, at: u32) -> Self {
        let primitive = &deformer.primitives()[at as usize];
        let order = primitive.desc_order();
        let vertices: Vec<_> = order.iter().filter_map(|vertex| deformer.vertex(at, *vertex)).collect();
        let (normals, tangents) = (!primitive.normals().is_empty(), !primitive.tangents().is_empty());
        Self {
            positions: vertices.iter().map(|vertex| vertex.position).collect(),
            normals: if normals { vertices.iter().map(|vertex| vertex.normal).collect() } else { Vec::new() },
            tangents: if tangents {
                vertices.iter().map(|vertex| vertex.tangent).collect()
            } else {
                Vec::new()
            },
            mirrored: vertices.iter().map(|vertex| vertex.is_mirrored).collect(),
        }
    }
}

/// A list of triangles, those mirrored the other way round.
fn reverse(desc: &mut PrimitiveDesc, primitive: &Primitive, mirrored: &[bool]) {
    let mut place = vec![0; primitive.vertex_count()];
    for (new, old) in (0u32..).zip(primitive.desc_order()) {
        place[old as usize] = new;
    }
    let triangle = |corners: [u32; 3]| {
        let [a, b, c] = corners.map(|corner| place[corner as usize]);
        let is_mirrored = [a, b, c].into_iter().filter(|corner| mirrored[*corner as usize]).count() >= 2;
        if is_mirrored { [a, c, b] } else { [a, b, c] }
    };
    desc.indices = Some(primitive.triangles().flat_map(triangle).collect());
    desc.topology = Topology::Triangles;
}

/// From the first frame to another.
fn target(base: &PrimitiveDesc, frame: &Deformed) -> MorphTarget {
    let apart =
        |to: &[Vec3], from: &[Vec3]| to.iter().zip(from).map(|(to, from)| *to - *from).collect::<Vec<_>>();
    let tangents = frame.tangents.iter().zip(&base.tangents);
    MorphTarget::from_dense(
        &apart(&frame.positions, &base.positions),
        &apart(&frame.normals, &base.normals),
        &tangents.map(|(to, from)| to.truncate() - from.truncate()).collect::<Vec<_>>(),
    )
}
