use glam::{Vec3, Vec4};

use super::{DeformError, cpu::deform_single};
use crate::{
    animate::{Animator, InstanceId, JointMatrix},
    model::{Influence, Mesh, Model, Part, Primitive},
};

/// One deformed vertex, in the instance's space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeformedVertex {
    /// Metres.
    pub position: Vec3,
    /// Unit length and outward; the zero vector where the source has none.
    pub normal: Vec3,
    /// xyz unit length, w the handedness that shading needs: the source's, times -1 where the vertex is mirrored. Of no
    /// use where the source has none.
    pub tangent: Vec4,
    /// Whether the blended matrix of the vertex mirrors.
    pub is_mirrored: bool,
}

/// What moves a point of the surface most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dominant {
    /// The node: that of the strongest joint, or the one that a part without a skin rides on. Its name is that in
    /// [`Model::skeleton`].
    pub node: u32,
    /// Place of the joint in the part's skin; `None` for a part without one.
    pub joint: Option<u32>,
}

/// Deforms single vertices of one part, as of the last evaluation that kept palettes ([`Animator::palette`]): with the
/// arithmetic of the kernel on exact vertices and the mesh's own [`Skinning`](crate::model::Skinning), without a GPU and
/// without packing anything. For the few vertices that
/// carry an attachment it costs nothing to speak of; for whole meshes [`CpuDeformer`](super::CpuDeformer) is faster.
#[derive(Clone, Copy, Debug)]
pub struct VertexDeformer<'a> {
    model: &'a Model,
    mesh: &'a Mesh,
    part: &'a Part,
    /// From the part's first row on.
    palette: &'a [JointMatrix],
    weights: &'a [f32],
}

impl<'a> VertexDeformer<'a> {
    /// Of a part by its index in the model, shown or hidden. Fails where the instance does not exist or the model's
    /// scene does not have the part.
    pub fn new(animator: &'a Animator, instance: InstanceId, part: u32) -> Result<Self, DeformError> {
        let id = animator.model_of(instance)?;
        let model = animator.model(id)?;
        let shown = model.shown_parts();
        let Ok(at) = shown.binary_search(&part) else {
            return Err(DeformError::UnknownPart { part, shown: shown.to_vec() });
        };
        let first = animator.palette_layout(id)?.parts()[at] as usize;
        let weights = &animator.weights(instance)?[model.weight_range(part)];
        Ok(Self::of(model, part, &animator.palette(instance)?[first..], weights))
    }

    /// `palette` starts at the part's first row.
    pub(crate) fn of(model: &'a Model, part: u32, palette: &'a [JointMatrix], weights: &'a [f32]) -> Self {
        let part = &model.parts()[part as usize];
        Self { model, mesh: &model.meshes()[part.mesh as usize], part, palette, weights }
    }

    /// The primitives of the part's mesh.
    #[must_use]
    pub fn primitives(&self) -> &'a [Primitive] {
        self.mesh.primitives()
    }

    /// Deformed vertex `vertex` of a primitive, as its indices name it; `None` where there is no such vertex.
    #[must_use]
    pub fn vertex(&self, primitive: u32, vertex: u32) -> Option<DeformedVertex> {
        let primitive = self.primitives().get(primitive as usize)?;
        if vertex as usize >= primitive.vertex_count() {
            return None;
        }
        let skinning = self.part.skin.map(|_| self.mesh.skinning());
        let out = deform_single(primitive, skinning, self.palette, self.weights, vertex);
        let handedness = primitive.tangents().get(vertex as usize).map_or(1.0, |tangent| tangent.w);
        let sign = if out.is_mirrored { -1.0 } else { 1.0 };
        Some(DeformedVertex {
            position: out.position,
            normal: out.normal,
            tangent: out.tangent.extend(handedness * sign),
            is_mirrored: out.is_mirrored,
        })
    }

    /// The strongest joint at a point of a triangle, by the sum of the corners' influences times their barycentric
    /// coordinates: the lowest where several are equal, the first of the skin where corners have none. `None` where a
    /// vertex does not exist.
    #[must_use]
    pub fn dominant(&self, primitive: u32, corners: [u32; 3], barycentrics: Vec3) -> Option<Dominant> {
        let primitive = self.primitives().get(primitive as usize)?;
        if corners.iter().any(|corner| *corner as usize >= primitive.vertex_count()) {
            return None;
        }
        let (Some(skin), Some(influences)) = (self.part.skin, primitive.influences()) else {
            return Some(Dominant { node: self.part.node, joint: None });
        };
        let rows =
            || corners.iter().zip(barycentrics.to_array()).map(|(c, b)| (influences.row(*c as usize), b));
        let weight = |joint: u32| -> f32 {
            let of =
                |row: &[Influence]| row.iter().filter(|i| i.joint == joint).map(|i| i.weight).sum::<f32>();
            rows().map(|(row, share)| share * of(row)).sum()
        };
        let mut best = (0, f32::NEG_INFINITY);
        for Influence { joint, .. } in rows().flat_map(|(row, _)| row) {
            let weight = weight(*joint);
            if weight > best.1 || weight == best.1 && *joint < best.0 {
                best = (*joint, weight);
            }
        }
        let node = *self.model.skins()[skin as usize].joints().get(best.0 as usize)?;
        Some(Dominant { node, joint: Some(best.0) })
    }

    /// Whether most corners of a triangle are mirrored: then its winding is reversed.
    pub(crate) fn is_mirrored(&self, primitive: u32, corners: [u32; 3]) -> bool {
        let is_mirrored = |corner| self.vertex(primitive, corner).is_some_and(|vertex| vertex.is_mirrored);
        corners.into_iter().filter(|corner| is_mirrored(*corner)).count() >= 2
    }
}
