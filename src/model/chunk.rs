//! Order and cut of the vertices, so that one workgroup works on one kernel variant with few joints.

use super::Influences;

/// Most vertices of one chunk.
pub const CHUNK_VERTICES: usize = 1280;
/// Most joints of one chunk: what a workgroup keeps of the palette, and what 8-bit joints must reach.
pub const CHUNK_JOINTS: usize = 64;

/// How many influences a kernel variant applies to each vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InfluenceClass {
    /// None or one; also vertices that ride rigidly on a node.
    One,
    /// Two to four.
    Four,
    /// Five to eight.
    Eight,
    /// More than eight, through a row of any length.
    Any,
}

impl InfluenceClass {
    /// The class for so many influences.
    #[must_use]
    pub fn of(influences: usize) -> Self {
        match influences {
            0..=1 => Self::One,
            2..=4 => Self::Four,
            5..=8 => Self::Eight,
            _ => Self::Any,
        }
    }
}

/// A run of vertices of one class that touches at most [`CHUNK_JOINTS`] joints (class `Any` lists none:
/// it reads the palette directly).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// First deformed vertex.
    pub first: u32,
    /// Up to [`CHUNK_VERTICES`].
    pub count: u32,
    /// Which kernel variant deforms it.
    pub class: InfluenceClass,
    /// The skin's joints that its vertices use, rising; a vertex stores places in this list.
    pub joints: Vec<u32>,
}

/// New order of the vertices behind `source`: by class, then by the number of influences, so that vertices beside
/// each other take as long, then by the set of joints, so that they read the same ones at the same time, then as given.
pub(super) fn order(influences: Option<&Influences>, source: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..source.len() as u32).collect();
    if let Some(influences) = influences {
        let (mut joints, mut starts) = (Vec::new(), vec![0]);
        for &vertex in source {
            let from = joints.len();
            joints.extend(influences.row(vertex as usize).iter().map(|i| i.joint));
            joints[from..].sort_unstable();
            starts.push(joints.len());
        }
        let set = |v: u32| &joints[starts[v as usize]..starts[v as usize + 1]];
        // More influences are a higher class, too.
        order.sort_by(|&a, &b| set(a).len().cmp(&set(b).len()).then_with(|| set(a).cmp(set(b))));
        // None and one are of one class, and belong together by joint.
        let one = order.partition_point(|v| set(*v).len() <= 1);
        order[..one].sort_by(|&a, &b| set(a).cmp(set(b)));
    }
    order
}

/// Cuts ordered vertices where the class changes or a limit is reached.
pub(crate) fn chunks(influences: Option<&Influences>, vertices: usize) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for vertex in 0..vertices {
        let row = influences.map_or(&[][..], |i| i.row(vertex));
        let class = InfluenceClass::of(row.len());
        let listed = if class == InfluenceClass::Any { &[][..] } else { row };
        let fits = |c: &Chunk| {
            let new = listed.iter().filter(|i| c.joints.binary_search(&i.joint).is_err()).count();
            c.class == class && (c.count as usize) < CHUNK_VERTICES && c.joints.len() + new <= CHUNK_JOINTS
        };
        if !chunks.last().is_some_and(fits) {
            chunks.push(Chunk { first: vertex as u32, count: 0, class, joints: Vec::new() });
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.count += 1;
            for influence in listed {
                if let Err(at) = chunk.joints.binary_search(&influence.joint) {
                    chunk.joints.insert(at, influence.joint);
                }
            }
        }
    }
    // A kernel that keeps joints in workgroup memory reads the first even for a weight of zero.
    for chunk in chunks.iter_mut().filter(|c| c.class != InfluenceClass::Any && c.joints.is_empty()) {
        chunk.joints.push(0);
    }
    chunks
}
