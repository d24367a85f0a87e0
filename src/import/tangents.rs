//! Tangents by MikkTSpace where a normal texture needs them and the file gives none (glTF 2.0, 3.7.2.1).
//!
//! The crate asks for tame input: recursion as deep as a vertex has triangles, time by the square of that, and by the
//! square of degenerate triangles. So it gets only triangles with an area at vertices with few triangles; the others
//! take over what their neighbours have, or follow their own texture coordinates.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{DVec3, Vec2, Vec3, Vec4};

use super::{ImportError, accessor::Reader, charge, codes, document::Document};
use crate::model::{PrimitiveDesc, Split, TextureRef, Topology, flat_normal, list_triangles};

/// Vertices with more triangles are left out. (A ball's pole has some dozens.)
const MAX_TRIANGLES: u32 = 128;

/// Bytes that computing takes for each corner, for a moment.
const BYTES_PER_CORNER: u64 = 256;

/// The primitive's vertices with tangents, split where corners differ; none where no tangents are needed.
pub(super) fn compute(
    place: &str,
    document: &Document,
    desc: &mut PrimitiveDesc,
    reader: &mut Reader<'_>,
) -> Result<Option<Split>, ImportError> {
    let Some(texture) = desc.material.and_then(|m| document.normal_texture(m)) else { return Ok(None) };
    let triangles = matches!(desc.topology, Topology::Triangles | Topology::TriangleStrip);
    if !triangles || !desc.tangents.is_empty() {
        return Ok(None);
    }
    let Some(uvs) = desc.uv_sets.get(texture.uv_set as usize) else {
        let message = format!("the normal texture reads TEXCOORD_{}, which is not there", texture.uv_set);
        reader.report.add(codes::TANGENTS_MISSING, place, message)?;
        return Ok(None);
    };
    let mut indices = desc.indices.clone().unwrap_or_else(|| (0..desc.positions.len() as u32).collect());
    let mut topology = desc.topology;
    let corners = indices.len() as u64 * if topology == Topology::Triangles { 1 } else { 3 };
    if corners * BYTES_PER_CORNER > reader.budget.decoded_bytes_left() {
        let message =
            format!("computing the tangents of {corners} corners needs more bytes than the limit leaves");
        reader.report.add(codes::TANGENTS_MISSING, place, message)?;
        return Ok(None);
    }
    reader.budget.decoded(place, corners, size_of::<Corner>() as u64)?;
    list_triangles(&mut indices, &mut topology);
    if indices.is_empty() {
        return Ok(None);
    }
    let vertices = desc.positions.len();
    let split = if desc.normals.is_empty() {
        let split = Split::flat(&indices, &desc.positions);
        let corners = Corners::new(&indices, desc, uvs, texture).tangents();
        split.with_tangents(corners)
    } else {
        Split::by_tangents(&indices, &Corners::new(&indices, desc, uvs, texture).tangents(), vertices)
    };
    (desc.indices, desc.topology) = (Some(indices), topology);
    let message = match split.source.len() - vertices {
        _ if !split.normals.is_empty() => String::new(),
        more => format!("; {more} vertices were split off"),
    };
    charge::tangents(place, desc, &split, reader)?;
    let message = format!("for the normal texture, from TEXCOORD_{}{message}", texture.uv_set);
    reader.report.add(codes::TANGENTS_COMPUTED, place, message)?;
    Ok(Some(split))
}

/// A corner of a triangle: position, unit normal (zero where the file's is no direction), uv.
type Corner = [f32; 8];

struct Corners {
    corners: Vec<Corner>,
    /// Equal corners have equal numbers.
    welded: Vec<u32>,
    /// Triangles that the crate gets.
    tame: Vec<u32>,
    tangents: Vec<Option<Vec4>>,
}

impl Corners {
    fn new(indices: &[u32], desc: &PrimitiveDesc, uvs: &[Vec2], texture: TextureRef) -> Self {
        let [u, v] = texture.transform.rows().map(Vec3::from_array);
        let mut corners = Vec::with_capacity(indices.len());
        for triangle in indices.as_chunks::<3>().0 {
            let positions = triangle.map(|i| desc.positions[i as usize]);
            for (&vertex, position) in triangle.iter().zip(positions) {
                let normal = match desc.normals.get(vertex as usize) {
                    Some(normal) => normal.try_normalize().unwrap_or(Vec3::ZERO),
                    None => flat_normal(positions),
                };
                let uv = uvs[vertex as usize].extend(1.0);
                let [px, py, pz] = position.to_array();
                let [nx, ny, nz] = normal.to_array();
                let uv = [u.dot(uv), v.dot(uv)].map(|c| if c.is_finite() { c } else { 0.0 });
                // Adding zero makes -0 and 0 the same bits.
                corners.push([px, py, pz, nx, ny, nz, uv[0], uv[1]].map(|c| c + 0.0));
            }
        }
        let mut out =
            Self { tangents: vec![None; corners.len()], welded: weld(&corners), corners, tame: Vec::new() };
        out.tame = out.tame_triangles();
        out
    }

    fn tame_triangles(&self) -> Vec<u32> {
        let position = |corner: usize| Vec3::from_slice(&self.corners[corner]);
        let with_area = |t: u32| {
            let [a, b, c] = [0, 1, 2].map(|i| position(t as usize * 3 + i));
            a != b && b != c && c != a
        };
        let mut triangles: Vec<u32> = (0..self.corners.len() as u32 / 3).filter(|&t| with_area(t)).collect();
        let mut uses = vec![0u32; self.corners.len()];
        let welded = |t: u32| [0, 1, 2].map(|i| self.welded[t as usize * 3 + i] as usize);
        triangles.iter().flat_map(|&t| welded(t)).for_each(|id| uses[id] += 1);
        triangles.retain(|&t| welded(t).into_iter().all(|id| uses[id] <= MAX_TRIANGLES));
        triangles
    }

    /// One for each corner: unit length, finite, w 1 or -1.
    fn tangents(mut self) -> Vec<Vec4> {
        // The error type has no values.
        let _ = generate_tangents(&mut self);
        let mut neighbours: Vec<Option<Vec4>> = vec![None; self.corners.len()];
        for (&id, tangent) in self.welded.iter().zip(&self.tangents) {
            neighbours[id as usize] = neighbours[id as usize].or(*tangent);
        }
        let tangent = |corner: usize| {
            let of_neighbour = neighbours[self.welded[corner] as usize];
            self.tangents[corner].unwrap_or_else(|| self.own_tangent(corner, of_neighbour))
        };
        (0..self.corners.len()).map(tangent).collect()
    }

    /// Along the corner's own texture coordinates, unless a neighbour's of the same handedness is there.
    fn own_tangent(&self, corner: usize, of_neighbour: Option<Vec4>) -> Vec4 {
        let [a, b, c] = [0, 1, 2].map(|i| &self.corners[corner / 3 * 3 + i]);
        let edge = |to: &Corner| Vec3::from_slice(to).as_dvec3() - Vec3::from_slice(a).as_dvec3();
        let change = |to: &Corner| [0, 1].map(|i| f64::from(to[6 + i]) - f64::from(a[6 + i]));
        let ([u1, v1], [u2, v2]) = (change(b), change(c));
        let area = u1 * v2 - u2 * v1;
        let handedness = if area > 0.0 { -1.0 } else { 1.0 };
        if let Some(tangent) = of_neighbour.filter(|t| area == 0.0 || t.w == handedness) {
            return tangent;
        }
        let normal = Vec3::from_slice(&self.corners[corner][3..]).as_dvec3();
        let along = (edge(b) * v2 - edge(c) * v1) * area.signum();
        let across = (along - normal * normal.dot(along)).try_normalize().filter(|_| area != 0.0);
        let any = || normal.try_normalize().map_or(DVec3::X, |n| n.any_orthonormal_vector());
        across.unwrap_or_else(any).as_vec3().normalize().extend(handedness)
    }
}

impl Geometry for Corners {
    fn num_faces(&self) -> usize {
        self.tame.len()
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, vertex: usize) -> [f32; 3] {
        let [x, y, z, ..] = self.corners[self.at(face, vertex)];
        [x, y, z]
    }

    fn normal(&self, face: usize, vertex: usize) -> [f32; 3] {
        let [_, _, _, x, y, z, _, _] = self.corners[self.at(face, vertex)];
        [x, y, z]
    }

    fn tex_coord(&self, face: usize, vertex: usize) -> [f32; 2] {
        let [.., u, v] = self.corners[self.at(face, vertex)];
        [u, v]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, vertex: usize) {
        let at = self.at(face, vertex);
        self.tangents[at] = space.and_then(|space| {
            let tangent = Vec3::from_array(space.tangent()).try_normalize()?;
            // glTF's v points down the image, the crate's up.
            Some(tangent.extend(if space.is_orientation_preserving() { -1.0 } else { 1.0 }))
        });
    }
}

impl Corners {
    fn at(&self, face: usize, vertex: usize) -> usize {
        self.tame[face] as usize * 3 + vertex
    }
}

/// A number for each corner, the same for corners with the same bits.
fn weld(corners: &[Corner]) -> Vec<u32> {
    let mut known: HashMap<[u32; 8], u32> = HashMap::new();
    let id = |corner: &Corner| {
        let next = known.len() as u32;
        *known.entry(corner.map(f32::to_bits)).or_insert(next)
    };
    corners.iter().map(id).collect()
}
