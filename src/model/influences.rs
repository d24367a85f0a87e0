/// One joint's share of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// Joint index in the skin.
    pub joint: u32,
    /// Finite, not negative. Used as given: a vertex whose weights sum to 2 moves twice as far.
    pub weight: f32,
}

/// Any number of influences for each vertex, strongest first within a vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// `vertices + 1` row starts into `entries`.
    starts: Vec<u32>,
    entries: Vec<Influence>,
}

/// Why influences were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InfluenceError {
    /// Joints and weights come in equal numbers.
    #[error(
        "{joints} joint values and {weights} weights; both must be {per_vertex} for each of {vertices} vertices"
    )]
    Unpaired {
        /// Joint values given.
        joints: usize,
        /// Weights given.
        weights: usize,
        /// Influences per vertex.
        per_vertex: usize,
        /// Vertices.
        vertices: usize,
    },
    /// Sets hold four values per vertex.
    #[error("{per_vertex} influences per vertex; sets hold four each, so this must be a multiple of four")]
    NotFourPerVertex {
        /// Influences per vertex.
        per_vertex: usize,
    },
    /// NaN, infinite or negative.
    #[error("vertex {vertex} has weight {weight}; weights must be finite and not negative")]
    BadWeight {
        /// The vertex.
        vertex: usize,
        /// Its weight.
        weight: f32,
    },
    /// The joint is not in the skin.
    #[error("vertex {vertex} uses joint {joint}, but the skin has {joints} joints")]
    JointOutOfRange {
        /// The vertex.
        vertex: usize,
        /// The joint it names.
        joint: u32,
        /// Joints of the skin.
        joints: usize,
    },
}

impl Influences {
    /// From sets of four: `per_vertex` (a multiple of four) values for each of `vertices` vertices.
    /// Zero weights are dropped, weights are used as given.
    pub fn from_sets(
        vertices: usize,
        per_vertex: usize,
        joints: &[u32],
        weights: &[f32],
    ) -> Result<Self, InfluenceError> {
        if per_vertex == 0 || !per_vertex.is_multiple_of(4) {
            return Err(InfluenceError::NotFourPerVertex { per_vertex });
        }
        if joints.len() != weights.len() || Some(joints.len()) != vertices.checked_mul(per_vertex) {
            let (joints, weights) = (joints.len(), weights.len());
            return Err(InfluenceError::Unpaired { joints, weights, per_vertex, vertices });
        }
        let mut out = Self::with_capacity(vertices);
        for (joints, weights) in joints.chunks_exact(per_vertex).zip(weights.chunks_exact(per_vertex)) {
            if let Some(&weight) = weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
                return Err(InfluenceError::BadWeight { vertex: out.vertices(), weight });
            }
            out.push(joints.iter().zip(weights).map(|(&joint, &weight)| Influence { joint, weight }));
        }
        Ok(out)
    }

    /// Room for so many vertices; add them with [`Influences::push`].
    #[must_use]
    pub fn with_capacity(vertices: usize) -> Self {
        let mut starts = Vec::with_capacity(vertices + 1);
        starts.push(0);
        Self { starts, entries: Vec::with_capacity(vertices * 4) }
    }

    /// Adds one vertex: zero weights are dropped, the rest sorted, strongest first (ties keep their order).
    pub fn push(&mut self, row: impl IntoIterator<Item = Influence>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let from = self.entries.len();
        self.entries.extend(row.into_iter().filter(|i| i.weight != 0.0));
        let row = &mut self.entries[from..];
        if !row.is_sorted_by(|a, b| a.weight >= b.weight) {
            row.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        }
        self.starts.push(self.entries.len() as u32);
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Influences of one vertex, strongest first; empty where every weight is zero.
    #[must_use]
    pub fn row(&self, vertex: usize) -> &[Influence] {
        &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// The largest number of influences of any vertex.
    #[must_use]
    pub fn max_per_vertex(&self) -> usize {
        self.starts.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }

    /// The same with so many influences of each vertex at most: the strongest, scaled up to a sum of one where others
    /// were left out.
    #[must_use]
    pub fn strongest(&self, kept: usize) -> Self {
        let mut out = Self::with_capacity(self.vertices());
        for vertex in 0..self.vertices() {
            let row = self.row(vertex);
            if row.len() <= kept {
                out.push(row.iter().copied());
                continue;
            }
            let mut weights: Vec<f32> = row[..kept].iter().map(|i| i.weight).collect();
            normalize_weights(&mut weights);
            out.push(row.iter().zip(weights).map(|(i, weight)| Influence { weight, ..*i }));
        }
        out
    }

    /// Checks joints against the skin and weights against the contract.
    pub fn check(&self, joints: usize) -> Result<(), InfluenceError> {
        for vertex in 0..self.vertices() {
            for influence in self.row(vertex) {
                if influence.joint as usize >= joints {
                    return Err(InfluenceError::JointOutOfRange { vertex, joint: influence.joint, joints });
                }
                if !influence.weight.is_finite() || influence.weight < 0.0 {
                    return Err(InfluenceError::BadWeight { vertex, weight: influence.weight });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn permuted(&self, source_vertex: &[u32]) -> Self {
        let rows = || source_vertex.iter().map(|&source| self.row(source as usize));
        let mut starts = Vec::with_capacity(source_vertex.len() + 1);
        starts.push(0);
        let mut entries = Vec::with_capacity(rows().map(<[_]>::len).sum());
        for row in rows() {
            // Sorted already.
            entries.extend_from_slice(row);
            starts.push(entries.len() as u32);
        }
        Self { starts, entries }
    }
}

/// Scales the weights of one vertex, over all its sets, so that their magnitudes sum to one.
///
/// NaN, infinite and negative weights become 0 first; the sum is accumulated in f64, so huge finite
/// weights keep their proportions. Without any weight left the first influence gets all of it.
/// Returns whether anything had to be replaced (not merely scaled).
pub fn normalize_weights(weights: &mut [f32]) -> bool {
    let mut repaired = false;
    for weight in weights.iter_mut().filter(|w| !w.is_finite() || **w < 0.0) {
        *weight = 0.0;
        repaired = true;
    }
    let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    // Already one within rounding: left alone, so that normalising twice changes nothing.
    if (sum - 1.0).abs() <= f64::from(f32::EPSILON) {
        return repaired;
    }
    if sum > 0.0 {
        for weight in weights.iter_mut() {
            *weight = (f64::from(*weight) / sum) as f32;
        }
        return repaired;
    }
    if let Some(first) = weights.first_mut() {
        *first = 1.0;
    }
    true
}
