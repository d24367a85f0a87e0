use glam::{Vec3, Vec4};

use super::{DeformError, cpu::deform_single};
use crate::{
    animate::{Animator, InstanceId, JointMatrix},
    model::{Influence, Model, Part, Primitive},
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

/// Deforms single vertices of one part, as of the last evaluation that kept palettes ([`Animator::palette`]): with the
/// arithmetic of the kernel on exact vertices, without a GPU and without packing anything. For the few vertices that
/// carry an attachment it costs nothing to speak of; for whole meshes [`CpuDeformer`](super::CpuDeformer) is faster.
#[derive(Clone, Copy, Debug)]
pub struct VertexDeformer<'a> {
    primitives: &'a [Primitive],
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
        Self { primitives: model.meshes()[part.mesh as usize].primitives(), part, palette, weights }
    }

    /// The primitives of the part's mesh.
    #[must_use]
    pub fn primitives(&self) -> &'a [Primitive] {
        self.primitives
    }

    /// Deformed vertex `vertex` of a primitive, as its indices name it; `None` where there is no such vertex.
    #[must_use]
    pub fn vertex(&self, primitive: usize, vertex: u32) -> Option<DeformedVertex> {
        let primitive = self.primitives.get(primitive)?;
        if vertex as usize >= primitive.vertex_count() {
            return None;
        }
        let out = deform_single(primitive, self.part.skin.is_some(), self.palette, self.weights, vertex);
        let handedness = primitive.tangents().get(vertex as usize).map_or(1.0, |tangent| tangent.w);
        let sign = if out.is_mirrored { -1.0 } else { 1.0 };
        Some(DeformedVertex {
            position: out.position,
            normal: out.normal,
            tangent: out.tangent.extend(handedness * sign),
            is_mirrored: out.is_mirrored,
        })
    }

    /// The strongest joint at a point of a triangle: its place among the part's palette rows, by the sum of the
    /// corners' influences times their barycentric coordinates, the lowest where several are equal. 0 for a part that
    /// rides on its node. `None` where a vertex does not exist.
    #[must_use]
    pub fn dominant_row(&self, primitive: usize, corners: [u32; 3], barycentrics: Vec3) -> Option<u32> {
        let primitive = self.primitives.get(primitive)?;
        if corners.iter().any(|corner| *corner as usize >= primitive.vertex_count()) {
            return None;
        }
        let Some(influences) = primitive.influences().filter(|_| self.part.skin.is_some()) else {
            return Some(0);
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
        Some(best.0)
    }

    /// The node that a palette row follows: a joint of the part's skin, or the node that the part rides on.
    #[must_use]
    pub(crate) fn node(&self, model: &Model, row: u32) -> u32 {
        let joints = self.part.skin.map(|skin| model.skins()[skin as usize].joints());
        joints.and_then(|joints| joints.get(row as usize)).copied().unwrap_or(self.part.node)
    }

    /// Whether most corners of a triangle are mirrored: then its winding is reversed.
    pub(crate) fn is_mirrored(&self, primitive: usize, corners: [u32; 3]) -> bool {
        let is_mirrored = |corner| self.vertex(primitive, corner).is_some_and(|vertex| vertex.is_mirrored);
        corners.into_iter().filter(|corner| is_mirrored(*corner)).count() >= 2
    }
}
