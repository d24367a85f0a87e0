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
    /// Two.
    Two,
    /// Three or four.
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
            2 => Self::Two,
            3..=4 => Self::Four,
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

/// Fewer vertices of a class than this join the next one up to [`InfluenceClass::Four`], where influences without weight
/// cost less than work items of their own.
const FEW: usize = 2000;
/// The same for [`InfluenceClass::Eight`], which also reads more.
const FEW_FOR_EIGHT: usize = 256;

/// The class of vertices by their number of influences, given how many vertices have so many.
#[derive(Clone, Copy, Debug)]
struct Classes([InfluenceClass; 5]);

impl Classes {
    fn of(counts: impl Iterator<Item = usize>) -> Self {
        const ALL: [InfluenceClass; 5] = [
            InfluenceClass::One,
            InfluenceClass::Two,
            InfluenceClass::Four,
            InfluenceClass::Eight,
            InfluenceClass::Any,
        ];
        let mut vertices = [0; 5];
        counts.for_each(|influences| vertices[InfluenceClass::of(influences) as usize] += 1);
        let mut classes = ALL;
        // Vertices of the class `Any` are read in another way.
        for class in 0..3 {
            let next = (class + 1..4).find(|next| vertices[*next] > 0);
            let few = |next: &usize| if ALL[*next] == InfluenceClass::Eight { FEW_FOR_EIGHT } else { FEW };
            if let Some(next) = next.filter(|next| (1..few(next)).contains(&vertices[class])) {
                vertices[next] += vertices[class];
                vertices[class] = 0;
                classes[..=class].iter_mut().filter(|c| **c == ALL[class]).for_each(|c| *c = ALL[next]);
            }
        }
        Self(classes)
    }

    fn class(self, influences: usize) -> InfluenceClass {
        self.0[InfluenceClass::of(influences) as usize]
    }
}

/// A number that compares as class, then joints do; none where they do not fit, which is rare.
fn key(class: InfluenceClass, joints: &[u32]) -> Option<u64> {
    const BITS: usize = 15;
    const MOST: u32 = (1 << BITS) - 2;
    if joints.len() > 4 || joints.iter().any(|joint| *joint > MOST) {
        return None;
    }
    // Shorter before longer: no joint is less than any.
    let set = (0..4).fold(0, |set, i| set << BITS | joints.get(i).map_or(0, |joint| u64::from(joint + 1)));
    Some((class as u64) << (4 * BITS) | set)
}

/// New order of the vertices behind `source`: by class, then by the set of joints, so that vertices beside each other
/// read the same ones at the same time, then as given.
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
        let classes = Classes::of(order.iter().map(|v| set(*v).len()));
        let keys: Option<Vec<_>> =
            order.iter().map(|&v| Some((key(classes.class(set(v).len()), set(v))?, v))).collect();
        if let Some(mut keys) = keys {
            keys.sort_unstable();
            return keys.into_iter().map(|(_, vertex)| vertex).collect();
        }
        order.sort_by(|&a, &b| {
            let (a, b) = (set(a), set(b));
            classes.class(a.len()).cmp(&classes.class(b.len())).then_with(|| a.cmp(b))
        });
    }
    order
}

/// Cuts ordered vertices where the class changes or a limit is reached.
pub(crate) fn chunks(influences: Option<&Influences>, vertices: usize) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let row = |vertex: usize| influences.map_or(&[][..], |i| i.row(vertex));
    let classes = Classes::of((0..vertices).map(|vertex| row(vertex).len()));
    for vertex in 0..vertices {
        let row = row(vertex);
        let class = classes.class(row.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Influence;

    /// So many vertices with so many influences each, all over the same joints.
    fn influences(groups: &[(usize, u32)]) -> Influences {
        let mut all = Influences::default();
        for &(vertices, count) in groups {
            let row = (0..count).map(|joint| Influence { joint, weight: 1.0 / count as f32 });
            (0..vertices).for_each(|_| all.push(row.clone()));
        }
        all
    }

    /// Vertices of each class that there is.
    fn classes(groups: &[(usize, u32)]) -> Vec<(InfluenceClass, u32)> {
        let influences = influences(groups);
        let chunks = chunks(Some(&influences), influences.vertices());
        let by_class = chunks.chunk_by(|a, b| a.class == b.class);
        by_class.map(|chunks| (chunks[0].class, chunks.iter().map(|c| c.count).sum())).collect()
    }

    #[test]
    fn keys_compare_as_class_and_joints_do() {
        let sets: [&[u32]; 8] =
            [&[], &[0], &[0, 1], &[0, 1, 2, 3], &[0, 32_766], &[1], &[32_766], &[u32::MAX]];
        for (a, b) in sets.iter().flat_map(|a| sets.iter().map(move |b| (*a, *b))) {
            for (x, y) in
                [(InfluenceClass::Two, InfluenceClass::Two), (InfluenceClass::Four, InfluenceClass::One)]
            {
                if let (Some(left), Some(right)) = (key(x, a), key(y, b)) {
                    assert_eq!(left.cmp(&right), (x, a).cmp(&(y, b)), "{a:?} {b:?}");
                }
            }
        }
        assert_eq!(key(InfluenceClass::One, &[32_767]), None);
    }

    #[test]
    fn many_vertices_of_a_class_have_chunks_of_their_own() {
        use InfluenceClass::{Eight, Four, One, Two};
        assert_eq!(
            classes(&[(2000, 1), (2000, 2), (256, 3), (256, 5)]),
            [(One, 2000), (Two, 2000), (Four, 256), (Eight, 256)]
        );
    }

    #[test]
    fn few_vertices_join_the_next_class_that_has_any() {
        use InfluenceClass::{Eight, Four};
        assert_eq!(classes(&[(1999, 1), (10, 4)]), [(Four, 2009)]);
        assert_eq!(classes(&[(255, 1), (10, 5)]), [(Eight, 265)]);
        assert_eq!(classes(&[(100, 1), (100, 2), (5, 6)]), [(Eight, 205)]);
    }

    #[test]
    fn few_vertices_stay_where_no_higher_class_has_any_but_rows_of_any_length() {
        use InfluenceClass::{Any, Two};
        assert_eq!(classes(&[(3, 2), (3, 9)]), [(Two, 3), (Any, 3)]);
    }
}
