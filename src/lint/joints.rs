//! Skins: bind matrices and joints.

use super::{Uses, codes, counted, named};
use crate::model::{Diagnostic, Model, Skin};

/// Axes of a bind matrix further from a right angle than this are sheared, in degrees: what rounding leaves is less.
const RIGHT_ANGLE_TOLERANCE: f32 = 0.1;

pub(super) fn check(model: &Model, uses: &Uses, found: &mut Vec<Diagnostic>) {
    for (at, skin) in model.skins().iter().enumerate() {
        let place = |part: &str| named(format!("skins[{at}].{part}"), skin.name());
        let sheared: Vec<(usize, f32)> =
            (0..).zip(shears(skin)).filter(|(_, shear)| *shear > RIGHT_ANGLE_TOLERANCE).collect();
        if let Some(&(joint, worst)) = sheared.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            let message = format!(
                "{} sheared, joint {joint} by {worst:.2} degrees",
                counted(sheared.len(), "matrix is", "matrices are"),
            );
            found.push(codes::BIND_SHEARED.at(place("inverseBindMatrices"), message).with([
                ("joints", sheared.len() as f64),
                ("joint", joint as f64),
                ("degrees", f64::from(worst)),
            ]));
        }
        let used = uses.used_joints(model, at as u32);
        let unused = used.iter().filter(|used| !**used).count();
        if unused > 0 {
            let all = skin.joints().len();
            let message = format!("{} of {all} joints move no vertex", unused);
            let numbers = [("unused", unused as f64), ("joints", all as f64)];
            found.push(codes::JOINTS_UNUSED.at(place("joints"), message).with(numbers));
        }
    }
}

/// How far the axes of each inverse bind matrix are from right angles, in degrees.
fn shears(skin: &Skin) -> impl Iterator<Item = f32> {
    skin.inverse_binds().iter().map(|m| {
        let [x, y, z] =
            [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis].map(|axis| axis.normalize_or_zero());
        let cosine = x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs());
        cosine.min(1.0).asin().to_degrees()
    })
}
