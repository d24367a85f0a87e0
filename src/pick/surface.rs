use glam::{Affine3A, Vec3};

use super::PickError;
use crate::{
    animate::{JointMatrix, PaletteLayout, Pose, set_palette, set_world},
    deform::VertexDeformer,
    model::{Model, Primitive},
};

/// All triangles of a model, numbered by part, primitive and place, over the caller's own vertices.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) model: Model,
    /// Of shown parts, in their order.
    pub(super) pieces: Vec<Piece>,
    /// Of all pieces.
    pub(super) vertices: usize,
    /// Of all triangles.
    pub(super) corners: Vec<[u32; 3]>,
}

/// One primitive of one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) part: u32,
    pub(super) primitive: u32,
    /// Among all.
    pub(super) first_triangle: u32,
    /// Among all.
    pub(super) first_vertex: u32,
}

impl Surface {
    pub(super) fn new(model: &Model) -> Result<Self, PickError> {
        let mut out = Self { model: model.clone(), pieces: Vec::new(), vertices: 0, corners: Vec::new() };
        for &part in model.shown_parts() {
            for (at, primitive) in (0..).zip(primitives(model, part)) {
                let too_many =
                    |_| PickError::TooLarge { vertices: out.vertices, triangles: out.corners.len() };
                let first_vertex = u32::try_from(out.vertices).map_err(too_many)?;
                let first_triangle = u32::try_from(out.corners.len()).map_err(too_many)?;
                u32::try_from(out.vertices + primitive.source_vertex_count()).map_err(too_many)?;
                u32::try_from(out.corners.len() + primitive.triangle_count()).map_err(too_many)?;
                out.pieces.push(Piece { part, primitive: at, first_triangle, first_vertex });
                out.vertices += primitive.source_vertex_count();
                let corner = |vertex: u32| first_vertex + primitive.source_vertex(vertex as usize);
                out.corners.extend(primitive.triangles().map(|triangle| triangle.map(corner)));
            }
        }
        Ok(out)
    }

    /// The piece that a triangle belongs to.
    pub(super) fn piece_of(&self, triangle: u32) -> Piece {
        self.pieces[self.pieces.partition_point(|piece| piece.first_triangle <= triangle).saturating_sub(1)]
    }

    pub(super) fn primitive(&self, piece: Piece) -> &Primitive {
        &primitives(&self.model, piece.part)[piece.primitive as usize]
    }

    /// Every vertex at rest.
    pub(super) fn rest(&self) -> Vec<Vec3> {
        let layout = PaletteLayout::new(&self.model);
        let mut pose = Pose::rest(&self.model);
        let mut world = vec![Affine3A::IDENTITY; self.model.skeleton().len()];
        set_world(self.model.skeleton(), Affine3A::IDENTITY, &pose.as_mut(), &mut world);
        let mut palette = vec![JointMatrix::IDENTITY; layout.len()];
        set_palette(&self.model, &layout, &world, &mut palette);
        let rows = || self.model.shown_parts().iter().zip(layout.parts());
        let mut positions = Vec::with_capacity(self.vertices);
        for &piece in &self.pieces {
            let first = rows().find(|(part, _)| **part == piece.part).map_or(0, |(_, row)| *row as usize);
            let weights = &pose.weights[self.model.weight_range(piece.part)];
            let deformer = VertexDeformer::of(&self.model, piece.part, &palette[first..], weights);
            let at =
                |vertex: &u32| deformer.vertex(piece.primitive, *vertex).map_or(Vec3::ZERO, |v| v.position);
            positions.extend(self.primitive(piece).deformed_vertices().iter().map(at));
        }
        positions
    }
}

fn primitives(model: &Model, part: u32) -> &[Primitive] {
    model.meshes()[model.parts()[part as usize].mesh as usize].primitives()
}
