use glam::{Affine3A, Mat3A, Vec3};

use super::{Hit, PickError};
use crate::{
    animate::{Animator, InstanceId},
    deform::{DeformedVertex, VertexDeformer},
    model::normal_matrix,
};

/// A point on a triangle of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Index into the model's parts.
    pub part: u32,
    /// Index into the mesh's primitives.
    pub primitive: u32,
    /// Which triangle, as [`Primitive::triangle`](crate::model::Primitive::triangle) counts them.
    pub triangle: u32,
    /// Shares of the corners; their sum is 1.
    pub barycentrics: Vec3,
}

impl From<&Hit> for SurfacePoint {
    fn from(hit: &Hit) -> Self {
        let &Hit { part, primitive, triangle, barycentrics, .. } = hit;
        Self { part, primitive, triangle, barycentrics }
    }
}

/// A place on the deformed surface, in world space; the three directions are of unit length and at right angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceFrame {
    /// Where the point is.
    pub position: Vec3,
    /// Outward.
    pub normal: Vec3,
    /// Along the surface.
    pub tangent: Vec3,
}

impl SurfaceFrame {
    /// A rigid transform: x along the tangent, z along the normal, y at right angles to both.
    #[must_use]
    pub fn to_affine(self) -> Affine3A {
        let axes =
            Mat3A::from_cols(self.tangent.into(), self.normal.cross(self.tangent).into(), self.normal.into());
        Affine3A { matrix3: axes, translation: self.position.into() }
    }
}

impl SurfacePoint {
    /// Where the point is as of the last evaluation. Deforms the triangle's three vertices on the CPU, however many
    /// there are; needs palettes ([`Animator::palette`]), no deformer and no GPU.
    ///
    /// The normal is that between the corners' deformed normals. The tangent is that between their tangents, where the
    /// source has any, and otherwise the triangle's first edge; turned upright to the normal. Where one of them has no
    /// direction, the next of these takes its place: the triangle's own normal, then +y; the triangle's edges in
    /// their order, then any direction. A triangle without an area has a frame all the same.
    pub fn frame(self, animator: &Animator, instance: InstanceId) -> Result<SurfaceFrame, PickError> {
        let deformer = VertexDeformer::new(animator, instance, self.part)?;
        let primitive = deformer.primitives().get(self.primitive as usize);
        let indices = primitive.and_then(|primitive| primitive.triangle(self.triangle as usize));
        let corners = indices.and_then(|corners| {
            let [a, b, c] = corners.map(|corner| deformer.vertex(self.primitive, corner));
            Some([a?, b?, c?])
        });
        let (Some(primitive), Some(corners)) = (primitive, corners) else {
            let Self { part, primitive: at, triangle, .. } = self;
            let triangles = primitive.map_or(0, |primitive| primitive.triangle_count());
            return Err(PickError::UnknownTriangle { part, primitive: at, triangle, triangles });
        };
        let has_tangents = !primitive.tangents().is_empty();
        Ok(frame(animator.draw_transform(instance)?, corners, self.barycentrics, has_tangents))
    }
}

fn frame(
    transform: Affine3A,
    corners: [DeformedVertex; 3],
    shares: Vec3,
    has_tangents: bool,
) -> SurfaceFrame {
    let sum = |of: &dyn Fn(&DeformedVertex) -> Vec3| {
        let [a, b, c] = [&corners[0], &corners[1], &corners[2]].map(of);
        a * shares.x + b * shares.y + c * shares.z
    };
    let position = transform.transform_point3(sum(&|corner| corner.position));
    let [a, b, c] = corners.map(|corner| transform.transform_point3(corner.position));
    let edges = [b - a, c - a, c - b];
    let mirrored = corners.iter().filter(|corner| corner.is_mirrored).count() >= 2;
    let is_reversed = mirrored != (transform.matrix3.determinant() < 0.0);
    let own = edges[0].cross(edges[1]) * if is_reversed { -1.0 } else { 1.0 };
    let normal = unit(normal_matrix(transform.matrix3) * sum(&|corner| corner.normal))
        .or_else(|| unit(own))
        .unwrap_or(Vec3::Y);
    let tangent = transform.transform_vector3(sum(&|corner| corner.tangent.truncate()));
    let upright = |v: Vec3| unit(v).and_then(|v| unit_above(v - normal * v.dot(normal), 1e-4));
    let along = has_tangents.then_some(tangent).into_iter().chain(edges).find_map(upright);
    let tangent = along.unwrap_or_else(|| normal.any_orthonormal_vector());
    SurfaceFrame { position, normal, tangent }
}

fn unit(v: Vec3) -> Option<Vec3> {
    unit_above(v, 0.0)
}

/// Nothing where it is not longer than that, or not finite. In f64, where squares of small and large numbers stay
/// what they are.
fn unit_above(v: Vec3, length: f64) -> Option<Vec3> {
    let v = v.as_dvec3();
    (v.length() > length && v.is_finite()).then(|| v.normalize().as_vec3())
}

/// Where something that is attached to an instance belongs: at a joint, or on the deformed surface. Follows the pose
/// of every frame.
///
/// ```
/// # fn run(animator: &sinew::Animator, hero: sinew::InstanceId, hand: u32) -> Result<(), Box<dyn std::error::Error>> {
/// use sinew::pick::Socket;
///
/// let grip = Socket::joint(hand, glam::Affine3A::from_translation(glam::Vec3::Y * 0.1));
/// // Every frame, after the evaluation:
/// let sword = grip.world(animator, hero)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Socket {
    place: Place,
    offset: Affine3A,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Node(u32),
    Surface(SurfacePoint),
}

impl Socket {
    /// At a node of the model's skeleton; `offset` is the attachment in the node's space, scaled with it.
    #[must_use]
    pub fn joint(node: u32, offset: Affine3A) -> Self {
        Self { place: Place::Node(node), offset }
    }

    /// On the surface, such as where a [`Hit`] was; `offset` is the attachment in the [frame](SurfaceFrame::to_affine)
    /// there, which turns with the surface and is not scaled.
    #[must_use]
    pub fn surface(point: impl Into<SurfacePoint>, offset: Affine3A) -> Self {
        Self { place: Place::Surface(point.into()), offset }
    }

    /// The attachment's transform in the world, as of the last evaluation. At a node it needs poses
    /// ([`Animator::keep_poses`]), on the surface palettes ([`Animator::palette`]). Allocates nothing.
    pub fn world(&self, animator: &Animator, instance: InstanceId) -> Result<Affine3A, PickError> {
        let place = match self.place {
            Place::Node(node) => {
                let world = animator.world(instance)?;
                let nodes = world.len();
                let own = world.get(node as usize);
                let own = own.ok_or(crate::animate::AnimateError::UnknownNode { node, nodes })?;
                animator.draw_transform(instance)? * *own
            }
            Place::Surface(point) => point.frame(animator, instance)?.to_affine(),
        };
        Ok(place * self.offset)
    }
}
