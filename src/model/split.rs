//! Vertices whose corners need different values are split. One source vertex may then have several deformed ones.

#[cfg(feature = "gltf")]
use std::collections::HashMap;

use glam::{Vec3, Vec4};

use super::{PrimitiveDesc, Topology, triangles::strip_corners};

/// A triangle list over more vertices than its source.
pub(crate) struct Split {
    pub(crate) indices: Vec<u32>,
    /// The source vertex behind each split vertex.
    pub(crate) source: Vec<u32>,
    /// Of each split vertex; empty where the source has normals.
    pub(crate) normals: Vec<Vec3>,
    /// Of each split vertex; empty where the source has tangents or needs none.
    pub(crate) tangents: Vec<Vec4>,
}

/// The tangent of vertices that no triangle uses.
#[cfg(feature = "gltf")]
const UNUSED_TANGENT: Vec4 = Vec4::new(1.0, 0.0, 0.0, 1.0);

impl Split {
    /// Flat normals for triangles that come without any (glTF 2.0, 3.7.2.1): one vertex per corner. Source
    /// vertices that no triangle uses come last, so that none is lost.
    pub(crate) fn flat(indices: &[u32], positions: &[Vec3]) -> Self {
        let mut source = indices.to_vec();
        let mut normals = Vec::with_capacity(indices.len());
        let mut used = vec![false; positions.len()];
        for corner in indices.chunks_exact(3) {
            normals.extend([flat_normal([0, 1, 2].map(|i| positions[corner[i] as usize])); 3]);
            corner.iter().for_each(|&v| used[v as usize] = true);
        }
        let unused = (0u32..).zip(&used).filter(|(_, used)| !**used).map(|(v, _)| v);
        source.extend(unused);
        normals.resize(source.len(), Vec3::Y);
        Self { indices: (0..indices.len() as u32).collect(), source, normals, tangents: Vec::new() }
    }

    /// Adds the tangents of all corners to flat normals.
    #[cfg(feature = "gltf")]
    pub(crate) fn with_tangents(mut self, mut corners: Vec<Vec4>) -> Self {
        corners.resize(self.source.len(), UNUSED_TANGENT);
        self.tangents = corners;
        self
    }

    /// One vertex for each different tangent among a vertex's corners, of which there is one for each index.
    /// The first one keeps the vertex's place; the others come last.
    #[cfg(feature = "gltf")]
    pub(crate) fn by_tangents(indices: &[u32], corners: &[Vec4], vertices: usize) -> Self {
        let mut source: Vec<u32> = (0..vertices as u32).collect();
        let mut tangents: Vec<Option<Vec4>> = vec![None; vertices];
        let mut copies: HashMap<(u32, [u32; 4]), u32> = HashMap::new();
        let mut place = |vertex: u32, tangent: Vec4| {
            let first = tangents[vertex as usize].get_or_insert(tangent);
            if *first == tangent {
                return vertex;
            }
            *copies.entry((vertex, tangent.to_array().map(f32::to_bits))).or_insert_with(|| {
                source.push(vertex);
                tangents.push(Some(tangent));
                source.len() as u32 - 1
            })
        };
        let indices = indices.iter().zip(corners).map(|(&vertex, &tangent)| place(vertex, tangent)).collect();
        let tangents = tangents.into_iter().map(|tangent| tangent.unwrap_or(UNUSED_TANGENT)).collect();
        Self { indices, source, normals: Vec::new(), tangents }
    }

    /// What a primitive needs of itself: flat normals where it has triangles and no normals. Turns its indices
    /// into a list then.
    pub(super) fn of(desc: &mut PrimitiveDesc) -> Self {
        let vertices = desc.positions.len() as u32;
        let mut indices = desc.indices.take().unwrap_or_else(|| (0..vertices).collect());
        if desc.normals.is_empty() && is_triangles(desc.topology) && !indices.is_empty() {
            list_triangles(&mut indices, &mut desc.topology);
            return Self::flat(&indices, &desc.positions);
        }
        Self { indices, source: (0..vertices).collect(), normals: Vec::new(), tangents: Vec::new() }
    }
}

/// The normal of a triangle; one without area points up.
pub(crate) fn flat_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).try_normalize().unwrap_or(Vec3::Y)
}

/// Turns a strip into a list with the same winding, and drops an incomplete last triangle.
pub(crate) fn list_triangles(indices: &mut Vec<u32>, topology: &mut Topology) {
    if *topology == Topology::TriangleStrip {
        let triangle = |triangle| strip_corners(triangle).map(|corner| indices[corner]);
        *indices = (0..indices.len().saturating_sub(2)).flat_map(triangle).collect();
        *topology = Topology::Triangles;
    }
    indices.truncate(indices.len() / 3 * 3);
}

fn is_triangles(topology: Topology) -> bool {
    matches!(topology, Topology::Triangles | Topology::TriangleStrip)
}

/// The deformed vertices of each source vertex.
pub(super) struct Copies {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Copies {
    pub(super) fn of(source_vertices: &[u32], source_count: usize) -> Self {
        let mut starts = vec![0u32; source_count + 1];
        source_vertices.iter().for_each(|&s| starts[s as usize + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0u32; source_vertices.len()];
        for (new, &source) in (0u32..).zip(source_vertices) {
            places[next[source as usize] as usize] = new;
            next[source as usize] += 1;
        }
        Self { starts, places }
    }

    pub(super) fn of_source(&self, vertex: u32) -> &[u32] {
        &self.places[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}
