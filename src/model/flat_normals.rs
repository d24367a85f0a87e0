//! Flat normals for triangles that come without any (glTF 2.0, 3.7.2.1).

use glam::Vec3;

use super::Topology;

pub(super) struct Split {
    pub(super) indices: Vec<u32>,
    /// The source vertex behind each split vertex.
    pub(super) source: Vec<u32>,
    pub(super) normals: Vec<Vec3>,
}

/// Turns a strip into a list with the same winding, and drops an incomplete last triangle.
pub(super) fn list_triangles(indices: &mut Vec<u32>, topology: &mut Topology) {
    if *topology == Topology::TriangleStrip {
        let triangle =
            |(i, w): (usize, &[u32])| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] };
        *indices = indices.windows(3).enumerate().flat_map(triangle).collect();
        *topology = Topology::Triangles;
    }
    indices.truncate(indices.len() / 3 * 3);
}

/// One vertex per corner, with its triangle's normal; a triangle without area points up. Source
/// vertices that no triangle uses come last, so that none is lost.
pub(super) fn split(indices: &[u32], positions: &[Vec3]) -> Split {
    let mut source = indices.to_vec();
    let mut normals = Vec::with_capacity(indices.len());
    let mut used = vec![false; positions.len()];
    for corner in indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|i| positions[corner[i] as usize]);
        let normal = (b - a).cross(c - a).try_normalize().unwrap_or(Vec3::Y);
        normals.extend([normal; 3]);
        corner.iter().for_each(|&v| used[v as usize] = true);
    }
    let unused = (0u32..).zip(&used).filter(|(_, used)| !**used).map(|(v, _)| v);
    source.extend(unused);
    normals.resize(source.len(), Vec3::Y);
    Split { indices: (0..indices.len() as u32).collect(), source, normals }
}
