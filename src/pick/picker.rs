use std::sync::Arc;

use glam::Vec3;

use super::{
    PickError, Ray,
    query::Query,
    ray,
    surface::{Piece, Surface},
    tree::{Tree, Walk},
};
use crate::{
    animate::{Animator, InstanceId},
    deform::{BakedPrimitive, CpuDeformer, Dominant, VertexDeformer},
    model::{Bounds, Model},
};

/// Which sides of triangles are hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sides {
    /// Both.
    #[default]
    Both,
    /// Fronts.
    Front,
    /// Fronts, and backs of double-sided materials: what the raster pass draws.
    AsDrawn,
}

/// What a ray may hit. Hidden parts and instances are never hit; those out of view are, like others.
#[derive(Clone, Copy, Debug, Default)]
pub struct PickOptions<'a> {
    /// Which sides of triangles.
    pub sides: Sides,
    /// Only these parts of the model, in any order; `None` for all.
    pub parts: Option<&'a [u32]>,
    /// Metres from the origin at most; `None` for any distance.
    pub max_distance: Option<f32>,
}

/// Where a ray meets the surface of an instance, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Whose surface.
    pub instance: InstanceId,
    /// Index into the model's parts.
    pub part: u32,
    /// Index into the model's meshes.
    pub mesh: u32,
    /// Index into the mesh's primitives.
    pub primitive: u32,
    /// Which triangle of the primitive: [`Primitive::triangle`](crate::model::Primitive::triangle) says where it lies
    /// in the primitive's indices.
    pub triangle: u32,
    /// Its corners among the vertices that the primitive was built from: those of the file.
    pub vertices: [u32; 3],
    /// Shares of the corners; not negative, their sum 1.
    pub barycentrics: Vec3,
    /// Where, by the corners and their shares.
    pub position: Vec3,
    /// The triangle's own normal, of unit length, on the side that is drawn as its front.
    pub normal: Vec3,
    /// Metres from the ray's origin.
    pub distance: f32,
    /// Whether the front is hit, not the back. Fronts are where triangles run counter-clockwise, or clockwise where
    /// the joints or the instance's transform mirror.
    pub is_front: bool,
    /// The node that moves the point most: the strongest joint, or the node of a part without a skin. Its name is that
    /// in [`Model::skeleton`].
    pub node: u32,
    /// Place of the joint in the part's skin; `None` for a part without one.
    pub joint: Option<u32>,
}

/// Finds what a ray meets of a deformed instance, on the CPU.
///
/// Built once for a model: its triangles and which of them lie together at rest. After each deformation
/// [`refit`](Self::refit) takes the positions in and makes the boxes around them follow, in time linear in the model and
/// without allocating; any number of rays can then be asked. A clone shares what belongs to the model, so that several
/// instances take a clone each.
///
/// ```
/// use sinew::{CpuDeformer, Model, Precision, pick::{PickOptions, Picker, Ray}};
/// # fn run(model: &Model) -> Result<(), Box<dyn std::error::Error>> {
/// let mut deformer = CpuDeformer::new();
/// let id = deformer.add_model(model, Precision::Exact)?;
/// let hero = deformer.spawn(id)?;
/// let mut picker = Picker::new(model)?;
/// deformer.run()?;
/// picker.refit(&deformer, hero)?;
/// let ray = Ray::new(glam::Vec3::new(0.0, 1.0, 5.0), glam::Vec3::NEG_Z)?;
/// if let Some(hit) = picker.nearest(deformer.animator(), ray, &PickOptions::default())? {
///     println!("{} m away, on {}", hit.distance, model.skeleton().names()[hit.node as usize]);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Points and lines are not hit, nor are triangles without an area or with a corner that is not finite. Transforms,
/// visibility and palettes are the animator's at the time of the question; moving an instance needs no refit. What
/// culling has left out of view ([`Animator::set_in_view`]) is hit all the same, where it was deformed.
#[derive(Clone, Debug)]
pub struct Picker {
    shared: Arc<Shared>,
    instance: Option<InstanceId>,
    /// In the instance's space, in the order of the surface.
    positions: Vec<Vec3>,
    boxes: Vec<Bounds>,
}

#[derive(Debug)]
struct Shared {
    surface: Surface,
    tree: Tree,
}

/// A triangle that is met.
#[derive(Clone, Copy)]
struct Candidate {
    distance: f32,
    triangle: u32,
    barycentrics: Vec3,
}

impl Picker {
    /// Of the parts that the model shows.
    pub fn new(model: &Model) -> Result<Self, PickError> {
        let surface = Surface::new(model)?;
        let tree = Tree::new(&surface.corners, &surface.rest());
        let shared = Arc::new(Shared { surface, tree });
        Ok(Self { shared, instance: None, positions: Vec::new(), boxes: Vec::new() })
    }

    /// Whose triangles.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.shared.surface.model
    }

    /// How many triangles there are.
    #[must_use]
    pub fn triangles(&self) -> usize {
        self.shared.surface.corners.len()
    }

    /// Takes in an instance as of the last [`CpuDeformer::run`]. Allocates only the first time.
    ///
    /// Parts that were hidden then are not hit before the next refit, even if they are shown meanwhile. Fails where none
    /// were deformed, because all were hidden or the instance was hidden or out of view; the picker then has no
    /// positions.
    pub fn refit(&mut self, deformer: &CpuDeformer, instance: InstanceId) -> Result<(), PickError> {
        self.start(deformer.animator(), instance)?;
        let Self { shared, positions, .. } = self;
        let mut pieces = shared.surface.pieces.iter();
        deformer.each_primitive(instance, |output| {
            let Some(piece) = pieces.next() else { return };
            let order = shared.surface.primitive(*piece).deformed_vertices();
            let own = &mut positions[piece.first_vertex as usize..][..order.len()];
            let Some(output) = output else { return own.fill(Vec3::NAN) };
            for (position, vertex) in own.iter_mut().zip(order) {
                let [x, y, z, _] = output[*vertex as usize].map(f32::from_bits);
                *position = Vec3::new(x, y, z);
            }
        })?;
        self.finish(instance);
        Ok(())
    }

    /// Takes in vertices that something else has deformed, such as
    /// [`ReadBack::bake`](crate::deform::gpu::ReadBack::bake): those of every primitive of every shown part, in that order.
    /// Only their positions are looked at.
    pub fn refit_baked(
        &mut self,
        animator: &Animator,
        instance: InstanceId,
        baked: &[BakedPrimitive],
    ) -> Result<(), PickError> {
        self.start(animator, instance)?;
        let mut baked = baked.iter();
        for &piece in &self.shared.surface.pieces {
            let part = &self.shared.surface.model.parts()[piece.part as usize];
            let is_own =
                |given: &&BakedPrimitive| (given.node, given.primitive) == (part.node, piece.primitive);
            let given = baked.next().filter(is_own).map_or(&[][..], |given| &given.vertices.positions);
            let expected = self.shared.surface.primitive(piece).source_vertex_count();
            if given.len() != expected {
                let (part, primitive, found) = (piece.part, piece.primitive, given.len());
                return Err(PickError::Vertices { part, primitive, found, expected });
            }
            self.positions[piece.first_vertex as usize..][..expected].copy_from_slice(given);
        }
        self.finish(instance);
        Ok(())
    }

    fn start(&mut self, animator: &Animator, instance: InstanceId) -> Result<(), PickError> {
        if !animator.model(animator.model_of(instance)?)?.ptr_eq(self.model()) {
            return Err(PickError::OtherModel { instance });
        }
        self.instance = None;
        self.positions.resize(self.shared.surface.vertices, Vec3::ZERO);
        Ok(())
    }

    fn finish(&mut self, instance: InstanceId) {
        self.shared.tree.refit(&self.positions, &mut self.boxes);
        self.instance = Some(instance);
    }

    /// The nearest hit; of several at the same distance that of the lowest part, primitive and triangle.
    pub fn nearest(
        &self,
        animator: &Animator,
        ray: Ray,
        options: &PickOptions<'_>,
    ) -> Result<Option<Hit>, PickError> {
        let (instance, query) = self.query(animator, ray)?;
        let mut best: Option<Candidate> = None;
        let mut failed = None;
        let limit = limit(options);
        self.walk(&query, limit, |found| {
            let is_better = best.is_none_or(|best| {
                found.distance < best.distance
                    || found.distance == best.distance && found.triangle < best.triangle
            });
            if is_better && found.distance <= limit {
                match self.is_wanted(animator, instance, &query, options, found) {
                    Ok(true) => best = Some(found),
                    Ok(false) => {}
                    Err(error) => failed = Some(error),
                }
            }
            Walk::Until(best.map_or(limit, |best| best.distance))
        });
        match (failed, best) {
            (Some(error), _) => Err(error),
            (None, Some(best)) => self.hit(animator, instance, &query, best).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Whether anything is hit: for lines of sight, quicker than the nearest hit.
    pub fn is_hit(
        &self,
        animator: &Animator,
        ray: Ray,
        options: &PickOptions<'_>,
    ) -> Result<bool, PickError> {
        let (instance, query) = self.query(animator, ray)?;
        let limit = limit(options);
        let mut result = Ok(false);
        self.walk(&query, limit, |found| {
            if found.distance <= limit {
                result = self.is_wanted(animator, instance, &query, options, found);
            }
            if matches!(result, Ok(false)) { Walk::Until(limit) } else { Walk::Enough }
        });
        result
    }

    fn query(&self, animator: &Animator, ray: Ray) -> Result<(InstanceId, Query), PickError> {
        let instance = self.instance.ok_or(PickError::NotPosed)?;
        Ok((instance, Query::new(ray, animator.draw_transform(instance)?)))
    }

    fn walk(&self, query: &Query, limit: f32, mut take: impl FnMut(Candidate) -> Walk) {
        let enter = |own: &Bounds| query.enter(own);
        let mut until = limit;
        self.shared.tree.walk(&self.boxes, limit, enter, |triangle, corners| {
            let Some(met) = query.meet(self.corners(corners)) else { return Walk::Until(until) };
            let found = Candidate { distance: met.distance, triangle, barycentrics: met.barycentrics };
            let next = take(found);
            if let Walk::Until(nearer) = next {
                until = nearer;
            }
            next
        });
    }

    fn corners(&self, corners: [u32; 3]) -> [Vec3; 3] {
        corners.map(|corner| self.positions[corner as usize])
    }

    /// Whether options and visibility let a triangle be hit.
    fn is_wanted(
        &self,
        animator: &Animator,
        instance: InstanceId,
        query: &Query,
        options: &PickOptions<'_>,
        found: Candidate,
    ) -> Result<bool, PickError> {
        let piece = self.shared.surface.piece_of(found.triangle);
        let is_asked_for = options.parts.is_none_or(|parts| parts.contains(&piece.part));
        if !is_asked_for || animator.is_part_hidden(instance, piece.part)? {
            return Ok(false);
        }
        let surface = &self.shared.surface;
        let is_double_sided = || {
            let material = surface.primitive(piece).material();
            material.is_some_and(|material| surface.model.materials()[material as usize].double_sided)
        };
        Ok(match options.sides {
            Sides::Both => true,
            Sides::AsDrawn if is_double_sided() => true,
            Sides::Front | Sides::AsDrawn => {
                let deformer = VertexDeformer::new(animator, instance, piece.part)?;
                self.front(&deformer, query, piece, found.triangle).1
            }
        })
    }

    /// The normal of a triangle's front, and whether the ray comes from there.
    fn front(
        &self,
        deformer: &VertexDeformer<'_>,
        query: &Query,
        piece: Piece,
        triangle: u32,
    ) -> (Vec3, bool) {
        let corners = query.place(self.corners(self.shared.surface.corners[triangle as usize]));
        let vertices =
            self.shared.surface.primitive(piece).triangle((triangle - piece.first_triangle) as usize);
        let is_mirrored = deformer.is_mirrored(piece.primitive, vertices.unwrap_or_default());
        let sign = if is_mirrored != query.is_mirrored() { -1.0 } else { 1.0 };
        // Nothing without an area is met.
        let normal = ray::normal(corners).unwrap_or_default() * sign;
        (normal.as_vec3(), normal.dot(query.direction().as_dvec3()) < 0.0)
    }

    fn hit(
        &self,
        animator: &Animator,
        instance: InstanceId,
        query: &Query,
        best: Candidate,
    ) -> Result<Hit, PickError> {
        let surface = &self.shared.surface;
        let piece = surface.piece_of(best.triangle);
        let primitive = surface.primitive(piece);
        let triangle = best.triangle - piece.first_triangle;
        let corners = primitive.triangle(triangle as usize).unwrap_or_default();
        let deformer = VertexDeformer::new(animator, instance, piece.part)?;
        let (normal, is_front) = self.front(&deformer, query, piece, best.triangle);
        let [a, b, c] = query.place(self.corners(surface.corners[best.triangle as usize]));
        let Vec3 { x, y, z } = best.barycentrics;
        let part = &surface.model.parts()[piece.part as usize];
        let dominant = deformer.dominant(piece.primitive, corners, best.barycentrics);
        let Dominant { node, joint } = dominant.unwrap_or(Dominant { node: part.node, joint: None });
        Ok(Hit {
            instance,
            part: piece.part,
            mesh: part.mesh,
            primitive: piece.primitive,
            triangle,
            vertices: corners.map(|corner| primitive.source_vertex(corner as usize)),
            barycentrics: best.barycentrics,
            position: a * x + b * y + c * z,
            normal,
            distance: best.distance,
            is_front,
            node,
            joint,
        })
    }
}

fn limit(options: &PickOptions<'_>) -> f32 {
    options.max_distance.unwrap_or(f32::MAX)
}
