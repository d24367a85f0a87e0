//! All `JOINTS_n`/`WEIGHTS_n` sets of a primitive to one row of influences for each vertex.

use std::collections::BTreeMap;

use gltf::json::{
    self,
    mesh::{Primitive, Semantic},
    validation::Checked,
};

use super::{
    ImportError,
    accessor::Reader,
    codes,
    format::{self, Allowed},
};
use crate::model::{Influence, Influences, normalize_weights};

/// Influences and what a skin must offer for them.
pub(super) struct Rows {
    pub(super) influences: Influences,
    pub(super) joints: JointUse,
}

/// The joints that a primitive names.
#[derive(Clone, Copy, Default)]
pub(super) struct JointUse {
    /// The largest joint with a weight, and a vertex that uses it.
    pub(super) largest: u32,
    pub(super) vertex: usize,
    /// The largest joint of all, with or without a weight.
    pub(super) largest_named: u32,
}

/// Vertices in need of repair.
#[derive(Default)]
struct Repairs {
    not_finite: usize,
    zero: usize,
    scaled: usize,
    merged: usize,
}

/// Sums further from one are worth a diagnostic; 8-bit weights rounded one by one stay below.
const SUM_TOLERANCE: f64 = 1e-3;

pub(super) fn read(
    place: &str,
    primitive: &Primitive,
    vertices: usize,
    reader: &mut Reader<'_>,
) -> Result<Option<Rows>, ImportError> {
    let sets = sets(place, primitive)?;
    if sets.is_empty() {
        return Ok(None);
    }
    let (mut joints, mut weights, mut integer) = (Vec::new(), Vec::new(), false);
    for (set, [of_joints, of_weights]) in sets {
        let at = format!("{place}.attributes.JOINTS_{set}");
        let (values, layout) = reader.integers(of_joints, &at, &format::JOINTS)?;
        same_count(&at, layout.count, vertices)?;
        joints.push(values);
        let at = format!("{place}.attributes.WEIGHTS_{set}");
        let (values, layout) = reader.floats(of_weights, &at, &format::WEIGHTS)?;
        same_count(&at, layout.count, vertices)?;
        if layout.allowed == Allowed::Integer {
            integer = true;
            let message = "integer weights must be `normalized`; read as if they were";
            reader.report.add(codes::WEIGHTS_NOT_NORMALIZED_TYPE, at, message)?;
        }
        weights.push(values);
    }
    let (mut rows, repairs) = rows(&joints, &weights, vertices);
    report(place, &repairs, integer, reader)?;
    if let Some(kept) = reader.most_influences.map(|most| most.get() as usize)
        && rows.influences.max_per_vertex() > kept
    {
        cut(place, &mut rows.influences, kept, reader)?;
    }
    Ok(Some(rows))
}

/// Keeps the strongest influences of every vertex and says what was lost.
fn cut(
    place: &str,
    influences: &mut Influences,
    kept: usize,
    reader: &mut Reader<'_>,
) -> Result<(), ImportError> {
    let rows = (0..influences.vertices()).map(|vertex| influences.row(vertex)).filter(|row| row.len() > kept);
    let (vertices, largest) =
        rows.fold((0usize, 0.0f32), |(count, largest), row| (count + 1, largest.max(row[kept].weight)));
    *influences = influences.strongest(kept);
    let message =
        format!("{vertices} vertices cut to {kept} influences; the largest weight left out is {largest}");
    let numbers =
        [("vertices", vertices as f64), ("influences", kept as f64), ("weight", f64::from(largest))];
    reader.report.add_with(codes::INFLUENCES_CUT, format!("{place}.attributes.WEIGHTS_n"), message, numbers)
}

pub(super) fn same_count(place: &str, found: usize, vertices: usize) -> Result<(), ImportError> {
    if found == vertices {
        return Ok(());
    }
    let (found, expected) = (found as u64, vertices as u64);
    Err(ImportError::Count { place: place.into(), what: "values", found, expected })
}

type Pair = [json::Index<json::Accessor>; 2];

/// Joints and weights by set; both or neither.
fn sets(place: &str, primitive: &Primitive) -> Result<BTreeMap<u32, Pair>, ImportError> {
    let mut found: BTreeMap<u32, [Option<_>; 2]> = BTreeMap::new();
    for (semantic, accessor) in &primitive.attributes {
        match semantic {
            Checked::Valid(Semantic::Joints(set)) => found.entry(*set).or_default()[0] = Some(*accessor),
            Checked::Valid(Semantic::Weights(set)) => found.entry(*set).or_default()[1] = Some(*accessor),
            _ => {}
        }
    }
    let pair = |(set, pair): (u32, [Option<_>; 2])| match pair {
        [Some(joints), Some(weights)] => Ok((set, [joints, weights])),
        [joints, _] => {
            let (there, missing) =
                if joints.is_some() { ("JOINTS", "WEIGHTS") } else { ("WEIGHTS", "JOINTS") };
            let problem = format!("has {there}_{set} without {missing}_{set}");
            Err(ImportError::schema(format!("{place}.attributes"), problem))
        }
    };
    found.into_iter().map(pair).collect()
}

fn rows(joints: &[Vec<u32>], weights: &[Vec<f32>], vertices: usize) -> (Rows, Repairs) {
    let mut out = Rows { influences: Influences::with_capacity(vertices), joints: JointUse::default() };
    let mut repairs = Repairs::default();
    let (mut row_weights, mut row) = (Vec::new(), Vec::new());
    for vertex in 0..vertices {
        let four = vertex * 4..vertex * 4 + 4;
        row_weights.clear();
        weights.iter().for_each(|set| row_weights.extend_from_slice(&set[four.clone()]));
        repairs.count(&row_weights);
        normalize_weights(&mut row_weights);
        row.clear();
        for (joints, weights) in joints.iter().zip(row_weights.chunks_exact(4)) {
            for (&joint, &weight) in joints[four.clone()].iter().zip(weights) {
                out.joints.largest_named = out.joints.largest_named.max(joint);
                if weight > 0.0 {
                    if joint > out.joints.largest {
                        (out.joints.largest, out.joints.vertex) = (joint, vertex);
                    }
                    row.push(Influence { joint, weight });
                }
            }
        }
        repairs.merged += usize::from(merge(&mut row));
        out.influences.push(row.iter().copied());
    }
    (out, repairs)
}

impl Repairs {
    fn count(&mut self, weights: &[f32]) {
        let bad = |w: f32| !w.is_finite() || w < 0.0;
        self.not_finite += usize::from(weights.iter().any(|&w| bad(w)));
        let sum: f64 = weights.iter().filter(|&&w| !bad(w)).map(|&w| f64::from(w)).sum();
        self.zero += usize::from(sum == 0.0);
        self.scaled += usize::from(sum != 0.0 && (sum - 1.0).abs() > SUM_TOLERANCE);
    }
}

/// Adds up the weights of a joint that a vertex names twice. Order of first mention is kept.
fn merge(row: &mut Vec<Influence>) -> bool {
    let before = row.len();
    if before <= 8 {
        // Short rows: the usual case, without sorting.
        let mut at = 0;
        while at < row.len() {
            let joint = row[at].joint;
            match row[..at].iter().position(|i| i.joint == joint) {
                Some(first) => row[first].weight += row.remove(at).weight,
                None => at += 1,
            }
        }
        return row.len() < before;
    }
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    let mut kept: Vec<Influence> = Vec::with_capacity(before);
    for influence in row.iter() {
        match first.get(&influence.joint) {
            Some(&at) => kept[at].weight += influence.weight,
            None => {
                first.insert(influence.joint, kept.len());
                kept.push(*influence);
            }
        }
    }
    *row = kept;
    row.len() < before
}

fn report(place: &str, repairs: &Repairs, integer: bool, reader: &mut Reader<'_>) -> Result<(), ImportError> {
    let at = || format!("{place}.attributes.WEIGHTS_n");
    let mut add = |code, count: usize, what: &str| {
        let vertices = if count == 1 { "vertex" } else { "vertices" };
        let message = format!("{count} {vertices} {what}");
        if count == 0 {
            Ok(())
        } else {
            reader.report.add_with(code, at(), message, [("vertices", count as f64)])
        }
    };
    add(codes::WEIGHTS_NOT_FINITE, repairs.not_finite, "with NaN, infinite or negative weights, set to 0")?;
    add(codes::WEIGHTS_ZERO, repairs.zero, "without weights, bound to the first joint")?;
    if !integer {
        add(codes::WEIGHTS_NORMALIZED, repairs.scaled, "with weights that do not sum to one, scaled")?;
    }
    add(codes::JOINTS_MERGED, repairs.merged, "with one joint twice, weights added")
}
