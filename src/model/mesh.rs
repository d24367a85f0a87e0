use glam::{Affine3A, Mat4, Vec2, Vec3, Vec4};

use super::{
    Delta, Influences, MorphTarget, Skinning,
    chunk::{self, Chunk},
    mesh_check::{MAX_COORDINATE, MAX_WEIGHT_SUM, check, check_range},
    split::{Copies, Split, list_triangles},
    transform::is_affine,
};

/// How indices form primitives; what WebGPU can draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Topology {
    /// One vertex each.
    Points,
    /// Two vertices each.
    Lines,
    /// Connected lines.
    LineStrip,
    /// Three vertices each, counter-clockwise in front.
    #[default]
    Triangles,
    /// Connected triangles.
    TriangleStrip,
}

/// What a primitive is built from, in the caller's vertex order. Every attribute is empty (absent) or
/// as long as `positions`.
#[derive(Clone, Debug, Default)]
pub struct PrimitiveDesc {
    /// How indices form primitives.
    pub topology: Topology,
    /// Without indices every vertex is used once, in order.
    pub indices: Option<Vec<u32>>,
    /// Metres, mesh space.
    pub positions: Vec<Vec3>,
    /// Unit length. When absent, triangles get flat normals.
    pub normals: Vec<Vec3>,
    /// xyz unit length, w the handedness, 1 or -1.
    pub tangents: Vec<Vec4>,
    /// Every texture coordinate set.
    pub uv_sets: Vec<Vec<Vec2>>,
    /// Every colour set, linear RGBA.
    pub colors: Vec<Vec<Vec4>>,
    /// Present on skinned primitives.
    pub influences: Option<Influences>,
    /// As many on every primitive of a mesh.
    pub targets: Vec<MorphTarget>,
    /// Index into the model's materials.
    pub material: Option<u32>,
}

/// Vertices drawn with one material, in the order the deform kernel reads them: sorted by influence
/// class and joints, and cut into chunks. [`Primitive::source_vertices`] leads back to the caller's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Primitive {
    topology: Topology,
    indices: Vec<u32>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec4>,
    uv_sets: Vec<Vec<Vec2>>,
    colors: Vec<Vec<Vec4>>,
    influences: Option<Influences>,
    targets: Vec<MorphTarget>,
    material: Option<u32>,
    source_vertices: Vec<u32>,
    deformed_vertices: Vec<u32>,
    chunks: Vec<Chunk>,
    flat: bool,
    computed_tangents: bool,
}

/// One mesh: primitives that share morph weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    name: String,
    primitives: Vec<Primitive>,
    target_names: Vec<String>,
    weights: Vec<f32>,
    bind: Affine3A,
    pub(super) skinning: Skinning,
}

/// Why a mesh was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An attribute does not have one value per vertex.
    #[error("primitive {primitive}: {attribute} has {found} values for {vertices} vertices")]
    AttributeCount {
        /// Which primitive.
        primitive: usize,
        /// Which attribute.
        attribute: &'static str,
        /// Values given.
        found: usize,
        /// Vertices.
        vertices: usize,
    },
    /// A target moves a vertex that does not exist.
    #[error("primitive {primitive}: target {target} moves vertex {vertex} of {vertices}")]
    TargetVertex {
        /// Which primitive.
        primitive: usize,
        /// Which target.
        target: usize,
        /// The vertex.
        vertex: u32,
        /// Vertices.
        vertices: usize,
    },
    /// An index points past the vertices.
    #[error("primitive {primitive}: index {index} is past its {vertices} vertices")]
    IndexOutOfRange {
        /// Which primitive.
        primitive: usize,
        /// The index.
        index: u32,
        /// Vertices.
        vertices: usize,
    },
    /// Not a whole number of points, lines or triangles.
    #[error("primitive {primitive}: {indices} indices do not make whole {topology:?}")]
    IndexCount {
        /// Which primitive.
        primitive: usize,
        /// Indices given.
        indices: usize,
        /// What they should form.
        topology: Topology,
    },
    /// Primitives of one mesh share its weights.
    #[error("primitive {primitive} has {found} targets, the mesh has {expected}")]
    TargetCount {
        /// Which primitive.
        primitive: usize,
        /// Its targets.
        found: usize,
        /// The mesh's.
        expected: usize,
    },
    /// NaN or infinity in an attribute.
    #[error("primitive {primitive}: {attribute} {vertex} is not finite")]
    NotFinite {
        /// Which primitive.
        primitive: usize,
        /// Which attribute.
        attribute: &'static str,
        /// Which vertex.
        vertex: usize,
    },
    /// A coordinate beyond what deformation can hold in f32.
    #[error(
        "primitive {primitive}: {attribute} {vertex} has a coordinate of {value:e}; at most {MAX_COORDINATE:e} can be deformed, scale the model down"
    )]
    OutOfRange {
        /// Which primitive.
        primitive: usize,
        /// Which attribute.
        attribute: &'static str,
        /// Which vertex.
        vertex: u32,
        /// The coordinate.
        value: f32,
    },
    /// The weights of a vertex sum up to more than deformation can hold in f32.
    #[error(
        "primitive {primitive}: the weights of vertex {vertex} sum up to {sum:e}; at most {MAX_WEIGHT_SUM:e} can be deformed, normalize them"
    )]
    WeightSum {
        /// Which primitive.
        primitive: usize,
        /// Which vertex.
        vertex: usize,
        /// The sum.
        sum: f32,
    },
    /// A default weight is NaN or infinite.
    #[error("default weight {target} is {weight}; weights must be finite")]
    Weight {
        /// Which target.
        target: usize,
        /// Its weight.
        weight: f32,
    },
    /// The bind matrix must be invertible.
    #[error("the bind matrix must be finite, affine and invertible")]
    BindMatrix,
}

impl Mesh {
    /// Checks the primitives and brings them into deformation order. `weights` are the default morph
    /// weights, filled up with 0 or cut to the number of targets.
    pub fn new(
        name: impl Into<String>,
        primitives: Vec<PrimitiveDesc>,
        weights: Vec<f32>,
    ) -> Result<Self, MeshError> {
        Self::with_bind(name, primitives, weights, Mat4::IDENTITY)
    }

    /// As [`Mesh::new`], for a mesh modelled in another space than its skin was bound in: `bind` is
    /// applied once, here, to positions, normals, tangents and deltas.
    pub fn with_bind(
        name: impl Into<String>,
        primitives: Vec<PrimitiveDesc>,
        weights: Vec<f32>,
        bind: Mat4,
    ) -> Result<Self, MeshError> {
        Self::build(name.into(), primitives.into_iter().map(|p| (p, None)).collect(), weights, bind)
    }

    /// As [`Mesh::new`], for primitives whose normals or tangents were computed.
    #[cfg(feature = "gltf")]
    pub(crate) fn with_splits(
        name: String,
        primitives: Vec<(PrimitiveDesc, Option<Split>)>,
        weights: Vec<f32>,
    ) -> Result<Self, MeshError> {
        Self::build(name, primitives, weights, Mat4::IDENTITY)
    }

    fn build(
        name: String,
        primitives: Vec<(PrimitiveDesc, Option<Split>)>,
        mut weights: Vec<f32>,
        bind: Mat4,
    ) -> Result<Self, MeshError> {
        if !bind.is_finite() || !is_affine(bind) || bind.determinant() == 0.0 {
            return Err(MeshError::BindMatrix);
        }
        if let Some((target, &weight)) = weights.iter().enumerate().find(|(_, w)| !w.is_finite()) {
            return Err(MeshError::Weight { target, weight });
        }
        let targets = primitives.first().map_or(0, |(p, _)| p.targets.len());
        for (index, (primitive, _)) in primitives.iter().enumerate() {
            check(index, primitive)?;
            if primitive.targets.len() != targets {
                let found = primitive.targets.len();
                return Err(MeshError::TargetCount { primitive: index, found, expected: targets });
            }
        }
        weights.resize(targets, 0.0);
        let mut primitives: Vec<_> = primitives.into_iter().map(Primitive::arrange).collect();
        if bind != Mat4::IDENTITY {
            primitives.iter_mut().for_each(|p| p.apply(bind));
        }
        primitives.iter().enumerate().try_for_each(|(index, p)| check_range(index, p))?;
        let bind = Affine3A::from_mat4(bind);
        let target_names = vec![String::new(); targets];
        Ok(Self { name, primitives, target_names, weights, bind, skinning: Skinning::Linear })
    }

    /// Names the targets; missing names stay empty, surplus ones are dropped.
    #[must_use]
    pub fn with_target_names(mut self, mut names: Vec<String>) -> Self {
        names.resize(self.weights.len(), String::new());
        self.target_names = names;
        self
    }

    /// The mesh's name; empty where the source had none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its primitives.
    #[must_use]
    pub fn primitives(&self) -> &[Primitive] {
        &self.primitives
    }

    /// One name per target, possibly empty.
    #[must_use]
    pub fn target_names(&self) -> &[String] {
        &self.target_names
    }

    /// Default weight of every target.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The bind matrix that was applied.
    #[must_use]
    pub fn bind(&self) -> Affine3A {
        self.bind
    }
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $ty:ty),* $(,)?) => {
        $($(#[$doc])* #[must_use] pub fn $name(&self) -> $ty { &self.$name })*
    };
}

impl Primitive {
    getters! {
        /// Into the deformed vertices.
        indices: &[u32],
        /// Mesh space, metres.
        positions: &[Vec3],
        /// Empty only where the source had none and there are no triangles to compute them from.
        normals: &[Vec3],
        /// Empty where the source had none and no normal texture needs them.
        tangents: &[Vec4],
        /// Every set, each as long as the positions.
        uv_sets: &[Vec<Vec2>],
        /// Every set, linear RGBA.
        colors: &[Vec<Vec4>],
        /// Morph targets, in the order of the mesh's weights.
        targets: &[MorphTarget],
        /// The caller's vertex behind each deformed vertex.
        source_vertices: &[u32],
        /// One deformed vertex for each of the caller's.
        deformed_vertices: &[u32],
        /// Runs of vertices that one workgroup deforms, in order and without gaps.
        chunks: &[Chunk],
    }

    /// How indices form primitives.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Present on skinned primitives.
    #[must_use]
    pub fn influences(&self) -> Option<&Influences> {
        self.influences.as_ref()
    }

    /// Index into the model's materials.
    #[must_use]
    pub fn material(&self) -> Option<u32> {
        self.material
    }

    /// Number of deformed vertices; at least the number of source vertices that are used.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Number of vertices the caller gave.
    #[must_use]
    pub fn source_vertex_count(&self) -> usize {
        self.deformed_vertices.len()
    }

    /// The caller's vertex behind deformed vertex `vertex`.
    #[must_use]
    pub fn source_vertex(&self, vertex: usize) -> u32 {
        self.source_vertices[vertex]
    }

    /// Whether the normals were computed here because the source had none.
    #[must_use]
    pub fn has_flat_normals(&self) -> bool {
        self.flat
    }

    /// What it can be built from again, with computed normals and tangents: in the caller's vertex order, or where
    /// vertices were split, in the kernel's.
    #[must_use]
    pub fn to_desc(&self) -> PrimitiveDesc {
        let order = self.desc_order();
        let mut place = vec![0u32; order.len()];
        for (new, &old) in (0u32..).zip(&order) {
            place[old as usize] = new;
        }
        PrimitiveDesc {
            topology: self.topology,
            indices: Some(self.indices.iter().map(|&i| place[i as usize]).collect()),
            positions: permute(&self.positions, &order),
            normals: permute(&self.normals, &order),
            tangents: permute(&self.tangents, &order),
            uv_sets: self.uv_sets.iter().map(|set| permute(set, &order)).collect(),
            colors: self.colors.iter().map(|set| permute(set, &order)).collect(),
            influences: self.influences.as_ref().map(|i| i.permuted(&order)),
            targets: self
                .targets
                .iter()
                .map(|t| t.permuted(|v| std::slice::from_ref(&place[v as usize])))
                .collect(),
            material: self.material,
        }
    }

    /// The deformed vertex behind each vertex of [`Primitive::to_desc`].
    pub(crate) fn desc_order(&self) -> Vec<u32> {
        let mut order = self.deformed_vertices.clone();
        order.sort_unstable();
        order.dedup();
        if order.len() == self.source_vertex_count() && order.len() == self.vertex_count() {
            return self.deformed_vertices.clone();
        }
        (0..self.vertex_count() as u32).collect()
    }

    /// Whether the tangents were computed at import because the source had none and its normal texture needs them.
    #[must_use]
    pub fn has_computed_tangents(&self) -> bool {
        self.computed_tangents
    }

    /// From the caller's order to the kernel's: split, sort, permute, chunk.
    fn arrange((mut desc, split): (PrimitiveDesc, Option<Split>)) -> Self {
        let source_count = desc.positions.len();
        let Split { indices, source, normals, tangents } = split.unwrap_or_else(|| Split::of(&mut desc));
        let (flat, computed_tangents) = (!normals.is_empty(), !tangents.is_empty());
        let order = chunk::order(desc.influences.as_ref(), &source);
        let mut place = vec![0u32; source.len()];
        for (new, &old) in (0u32..).zip(&order) {
            place[old as usize] = new;
        }
        let source_vertices: Vec<u32> = order.iter().map(|&old| source[old as usize]).collect();
        let copies = Copies::of(&source_vertices, source_count);
        let influences = desc.influences.as_ref().map(|i| i.permuted(&source_vertices));
        Self {
            topology: desc.topology,
            indices: indices.iter().map(|&i| place[i as usize]).collect(),
            positions: permute(&desc.positions, &source_vertices),
            normals: if flat { permute(&normals, &order) } else { permute(&desc.normals, &source_vertices) },
            tangents: match (computed_tangents, flat) {
                (true, _) => permute(&tangents, &order),
                // Tangents without normals say nothing.
                (false, true) => Vec::new(),
                (false, false) => permute(&desc.tangents, &source_vertices),
            },
            uv_sets: desc.uv_sets.iter().map(|set| permute(set, &source_vertices)).collect(),
            colors: desc.colors.iter().map(|set| permute(set, &source_vertices)).collect(),
            targets: desc.targets.iter().map(|t| t.permuted(|v| copies.of_source(v))).collect(),
            material: desc.material,
            deformed_vertices: (0..source_count as u32)
                .map(|v| copies.of_source(v).first().copied().unwrap_or(0))
                .collect(),
            chunks: chunk::chunks(influences.as_ref(), source_vertices.len()),
            influences,
            source_vertices,
            flat,
            computed_tangents,
        }
    }

    fn apply(&mut self, bind: Mat4) {
        let normal_matrix = bind.inverse().transpose();
        let normal = |n: Vec3| normal_matrix.transform_vector3(n);
        let vector = |v: Vec3| bind.transform_vector3(v);
        // Directions become units again; their deltas shrink or grow with them.
        let length_of = |v: Vec3| if v.length() > 0.0 { v.length() } else { 1.0 };
        let normals: Vec<f32> = self.normals.iter().map(|n| length_of(normal(*n))).collect();
        let tangents: Vec<f32> = self.tangents.iter().map(|t| length_of(vector(t.truncate()))).collect();
        let length = |list: &[f32], vertex: u32| list.get(vertex as usize).copied().unwrap_or(1.0);
        for target in &mut self.targets {
            target.map(|vertex, d| Delta {
                position: vector(d.position),
                normal: normal(d.normal) / length(&normals, vertex),
                tangent: vector(d.tangent) / length(&tangents, vertex),
            });
        }
        let mirrors = bind.determinant() < 0.0;
        self.positions.iter_mut().for_each(|p| *p = bind.transform_point3(*p));
        self.normals.iter_mut().zip(normals).for_each(|(n, length)| *n = normal(*n) / length);
        for (tangent, length) in self.tangents.iter_mut().zip(tangents) {
            let w = if mirrors { -tangent.w } else { tangent.w };
            *tangent = (vector(tangent.truncate()) / length).extend(w);
        }
        if mirrors {
            self.reverse_winding();
        }
    }

    fn reverse_winding(&mut self) {
        if self.topology == Topology::TriangleStrip {
            list_triangles(&mut self.indices, &mut self.topology);
        }
        if self.topology == Topology::Triangles {
            self.indices.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
        }
    }
}

fn permute<T: Copy>(list: &[T], source: &[u32]) -> Vec<T> {
    if list.is_empty() { Vec::new() } else { source.iter().map(|&s| list[s as usize]).collect() }
}
