//! The vertex attributes and indices that deformation leaves alone, of all meshes of one model.

use std::ops::Range;

use glam::{Vec2, Vec3};

use super::{RenderError, layout::Attributes, material::uv_sets};
use crate::model::{Bounds, Mesh, Model, Primitive};

/// One pair of buffers, and where each primitive lies in them.
pub(crate) struct Geometry {
    pub(crate) attributes: wgpu::Buffer,
    pub(crate) indices: wgpu::Buffer,
    /// One per mesh of the model.
    pub(crate) meshes: Vec<MeshGeometry>,
}

pub(crate) struct MeshGeometry {
    /// Bytes of the mesh in the attributes, laid out like a part's deformed vertices.
    pub(crate) attributes: Range<u64>,
    /// First vertex of each primitive, from the start of the mesh.
    pub(crate) first_vertices: Vec<u32>,
    /// Of each primitive, into the index buffer.
    pub(crate) indices: Vec<Range<u32>>,
    /// Middle of the undeformed mesh.
    pub(crate) center: Vec3,
}

impl Geometry {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        model: &Model,
    ) -> Result<Self, RenderError> {
        let (mut attributes, mut indices) = (Vec::new(), Vec::new());
        let meshes = model.meshes().iter();
        let meshes = meshes.map(|mesh| push(model, mesh, &mut attributes, &mut indices)).collect();
        let attributes = bytemuck::cast_slice(&attributes);
        Ok(Self {
            attributes: upload(device, queue, "attributes", attributes, wgpu::BufferUsages::VERTEX)?,
            indices: upload(
                device,
                queue,
                "indices",
                bytemuck::cast_slice(&indices),
                wgpu::BufferUsages::INDEX,
            )?,
            meshes,
        })
    }
}

fn push(
    model: &Model,
    mesh: &Mesh,
    attributes: &mut Vec<Attributes>,
    indices: &mut Vec<u32>,
) -> MeshGeometry {
    let start = attributes.len();
    let stride = size_of::<Attributes>() as u64;
    let bytes = |vertices: usize| vertices as u64 * stride;
    let mut geometry = MeshGeometry {
        attributes: 0..0,
        first_vertices: Vec::new(),
        indices: Vec::new(),
        center: Vec3::ZERO,
    };
    let mut bounds = Bounds::EMPTY;
    for primitive in mesh.primitives() {
        geometry.first_vertices.push((attributes.len() - start) as u32);
        attributes.extend(vertices(model, primitive));
        let first = indices.len() as u32;
        indices.extend_from_slice(primitive.indices());
        geometry.indices.push(first..indices.len() as u32);
        primitive.positions().iter().for_each(|p| bounds.add(*p));
    }
    geometry.attributes = bytes(start)..bytes(attributes.len());
    if !bounds.is_empty() {
        geometry.center = bounds.center();
    }
    geometry
}

fn vertices<'a>(model: &Model, primitive: &'a Primitive) -> impl Iterator<Item = Attributes> + 'a {
    let material = primitive.material().and_then(|m| model.materials().get(m as usize));
    let sets = uv_sets(material).map(|set| primitive.uv_sets().get(set as usize));
    let colors = primitive.colors().first();
    (0..primitive.vertex_count()).map(move |vertex| Attributes {
        uv: sets.map(|set| set.and_then(|s| s.get(vertex)).copied().unwrap_or(Vec2::ZERO).to_array()),
        color: colors.and_then(|c| c.get(vertex)).map_or([u16::MAX; 4], |c| c.to_array().map(unorm)),
    })
}

fn unorm(value: f32) -> u16 {
    (value.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16
}

/// A buffer with these contents, never empty.
pub(crate) fn upload(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    what: &'static str,
    contents: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, RenderError> {
    let bytes = (contents.len() as u64).max(16);
    let limit = device.limits().max_buffer_size;
    if bytes > limit {
        return Err(RenderError::TooLarge { what, bytes, limit });
    }
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(what),
        size: bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, contents);
    Ok(buffer)
}
