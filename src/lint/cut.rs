//! What is lost where a vertex keeps only its strongest influences.

use glam::{Vec3, Vec4};

use super::{Poses, Uses, codes, counted};
use crate::{
    animate::JointMatrix,
    model::{Diagnostic, Influence, Model, Primitive},
};

/// The worst of cutting a primitive's influences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Vertices that lose influences.
    pub vertices: usize,
    /// How far one of them moves away at most, in metres of model space; morph targets at weight 0.
    pub displacement: f32,
    /// The source vertex that moves furthest.
    pub vertex: u32,
    /// The clip in which it does; none at rest.
    pub clip: Option<u32>,
    /// The time in that clip, in seconds.
    pub time: f32,
    /// The largest weight of an influence that is dropped.
    pub dropped: f32,
    /// Poses that were compared: fewer than there are where that would take too long.
    pub poses: usize,
}

/// Influences times poses that are compared at most.
const MOST_WORK: usize = 200_000_000;

/// Compares each vertex of a primitive with what is left of it when only its `kept` strongest influences, scaled up to
/// the same sum, move it. None where no vertex has more.
#[must_use]
pub fn worst_cut(primitive: &Primitive, skin: u32, kept: usize, poses: &Poses) -> Option<Cut> {
    let influences = primitive.influences()?;
    let rows: Vec<(usize, &[Influence])> = (0..influences.vertices())
        .map(|vertex| (vertex, influences.row(vertex)))
        .filter(|(_, row)| row.len() > kept)
        .collect();
    let dropped = rows.iter().map(|(_, row)| row[kept].weight).fold(0.0, f32::max);
    let (first, _) = rows.first()?;
    let vertex = primitive.source_vertex(*first);
    let mut worst =
        Cut { vertices: rows.len(), displacement: 0.0, vertex, clip: None, time: 0.0, dropped, poses: 0 };
    let work = rows.iter().map(|(_, row)| row.len()).sum::<usize>().saturating_mul(poses.times.len());
    let step = work.div_ceil(MOST_WORK).max(1);
    for (palette, &(clip, time)) in poses.of_skin(skin).zip(&poses.times).step_by(step) {
        worst.poses += 1;
        for &(vertex, row) in &rows {
            let position = primitive.positions()[vertex];
            let displacement = displacement(position, row, kept, palette);
            if displacement > worst.displacement {
                let vertex = primitive.source_vertex(vertex);
                worst = Cut { displacement, vertex, clip, time, ..worst };
            }
        }
    }
    Some(worst)
}

/// The worst over several skins that a primitive is used with.
pub(crate) fn worst_cut_of<'s>(
    primitive: &Primitive,
    skins: impl IntoIterator<Item = &'s u32>,
    kept: usize,
    poses: &Poses,
) -> Option<Cut> {
    let cuts = skins.into_iter().filter_map(|&skin| worst_cut(primitive, skin, kept, poses));
    cuts.max_by(|a, b| a.displacement.total_cmp(&b.displacement))
}

/// Between all influences and the first `kept` of them, scaled up to the same sum. Weights are as given.
fn displacement(position: Vec3, row: &[Influence], kept: usize, palette: &[JointMatrix]) -> f32 {
    let position = position.extend(1.0);
    let moved = |influences: &[Influence]| -> (Vec3, f32) {
        influences.iter().fold((Vec3::ZERO, 0.0), |(sum, weight), i| {
            let m = palette[i.joint as usize];
            let p = [m.x, m.y, m.z].map(|row| Vec4::from_array(row).dot(position));
            (sum + i.weight * Vec3::from_array(p), weight + i.weight)
        })
    };
    let (strong, strong_weight) = moved(&row[..kept]);
    let (weak, weak_weight) = moved(&row[kept..]);
    if strong_weight <= 0.0 {
        return 0.0;
    }
    (strong * ((strong_weight + weak_weight) / strong_weight) - (strong + weak)).length()
}

/// For every skinned primitive, cut to four and to eight.
pub(super) fn check(model: &Model, uses: &Uses, times: usize, found: &mut Vec<Diagnostic>) {
    let most = |primitive: &Primitive| primitive.influences().map_or(0, |i| i.max_per_vertex());
    let all = || model.meshes().iter().flat_map(|mesh| mesh.primitives());
    if all().all(|primitive| most(primitive) <= 4) {
        return;
    }
    let poses = Poses::new(model, times);
    for (at, mesh) in model.meshes().iter().enumerate() {
        for (p, primitive) in mesh.primitives().iter().enumerate() {
            for (code, kept) in [(codes::INFLUENCES_OVER_4, 4), (codes::INFLUENCES_OVER_8, 8)] {
                let skins = &uses.skins_of_mesh[at];
                let Some(cut) = worst_cut_of(primitive, skins, kept, &poses) else { continue };
                let place = format!("meshes[{at}].primitives[{p}].attributes.WEIGHTS_n");
                let most = most(primitive);
                let message = format!(
                    "{} with up to {most} influences; cut to {kept}, vertex {} moves by {:.3e} m at most ({}), the largest weight lost is {:.3}",
                    counted(cut.vertices, "vertex", "vertices"),
                    cut.vertex,
                    cut.displacement,
                    where_to(model, &cut),
                    cut.dropped,
                );
                found.push(code.at(place, message).with([
                    ("vertices", cut.vertices as f64),
                    ("influences", most as f64),
                    ("displacement", f64::from(cut.displacement)),
                    ("vertex", f64::from(cut.vertex)),
                    ("clip", cut.clip.map_or(-1.0, f64::from)),
                    ("time", f64::from(cut.time)),
                    ("largestDropped", f64::from(cut.dropped)),
                    ("poses", cut.poses as f64),
                ]));
            }
        }
    }
}

/// When it is worst.
pub(crate) fn where_to(model: &Model, cut: &Cut) -> String {
    match cut.clip {
        None => "at rest".into(),
        Some(clip) => format!("clip {clip} {:?} at {:.3} s", model.clips()[clip as usize].name(), cut.time),
    }
}
