use glam::Vec3;

/// Displacements of one morph target, stored only for the vertices it moves.
///
/// `normals` and `tangents` are empty (this target leaves them alone) or as long as `vertices`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    vertices: Vec<u32>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec3>,
}

/// One vertex that a target moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delta {
    /// Added to the position, times the weight.
    pub position: Vec3,
    /// Added to the normal.
    pub normal: Vec3,
    /// Added to the tangent's xyz.
    pub tangent: Vec3,
}

impl Delta {
    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.normal.is_finite() && self.tangent.is_finite()
    }
}

impl MorphTarget {
    /// From dense attributes. Each is empty (absent) or one delta per vertex; vertices whose deltas
    /// are all zero are not stored.
    #[must_use]
    pub fn from_dense(positions: &[Vec3], normals: &[Vec3], tangents: &[Vec3]) -> Self {
        let vertices = positions.len().max(normals.len()).max(tangents.len());
        let get = |list: &[Vec3], v: usize| list.get(v).copied().unwrap_or(Vec3::ZERO);
        let rows = (0..vertices).map(|v| {
            let delta =
                Delta { position: get(positions, v), normal: get(normals, v), tangent: get(tangents, v) };
            (v as u32, delta)
        });
        Self::from_rows(!normals.is_empty(), !tangents.is_empty(), rows)
    }

    /// From rows in rising vertex order; rows of zeros are not stored.
    pub fn from_rows(
        has_normals: bool,
        has_tangents: bool,
        rows: impl IntoIterator<Item = (u32, Delta)>,
    ) -> Self {
        let mut out = Self::default();
        for (vertex, delta) in rows {
            if delta == Delta::default() {
                continue;
            }
            out.vertices.push(vertex);
            out.positions.push(delta.position);
            if has_normals {
                out.normals.push(delta.normal);
            }
            if has_tangents {
                out.tangents.push(delta.tangent);
            }
        }
        out
    }

    /// The vertices it moves, rising.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Position deltas, one per entry of [`MorphTarget::vertices`].
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Normal deltas; empty when the target has none.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Tangent deltas; empty when the target has none.
    #[must_use]
    pub fn tangents(&self) -> &[Vec3] {
        &self.tangents
    }

    /// Row `i` with absent attributes as zero.
    #[must_use]
    pub fn delta(&self, i: usize) -> Delta {
        Delta {
            position: self.positions[i],
            normal: self.normals.get(i).copied().unwrap_or_default(),
            tangent: self.tangents.get(i).copied().unwrap_or_default(),
        }
    }

    /// The same target after vertices moved: `targets_of[v]` lists the new places of old vertex `v`.
    pub(crate) fn permuted<'a>(&self, targets_of: impl Fn(u32) -> &'a [u32]) -> Self {
        let mut rows: Vec<(u32, Delta)> = Vec::with_capacity(self.vertices.len());
        for (i, &vertex) in self.vertices.iter().enumerate() {
            rows.extend(targets_of(vertex).iter().map(|&new| (new, self.delta(i))));
        }
        rows.sort_by_key(|row| row.0);
        Self::from_rows(!self.normals.is_empty(), !self.tangents.is_empty(), rows)
    }

    /// Changes every row; gets the vertex it moves.
    pub(crate) fn map(&mut self, change: impl Fn(u32, Delta) -> Delta) {
        for row in 0..self.vertices.len() {
            let new = change(self.vertices[row], self.delta(row));
            self.positions[row] = new.position;
            self.normals.get_mut(row).into_iter().for_each(|n| *n = new.normal);
            self.tangents.get_mut(row).into_iter().for_each(|t| *t = new.tangent);
        }
    }
}
