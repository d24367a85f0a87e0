//! How large the numbers of a model's palettes can get, whatever clips are blended at whatever time.

use glam::{Affine3A, Vec3};

use super::{JointMatrix, PaletteLayout, bind_space::BindSpace};
use crate::model::{Channel, Clip, Interpolation, Model, Transform};

/// The largest scales and translations of each node, of the rest pose and of keys.
pub(super) struct Reach {
    translations: Vec<f64>,
    scales: Vec<f64>,
}

impl Reach {
    pub(super) fn new(model: &Model) -> Self {
        let skeleton = model.skeleton();
        let largest = |v: Vec3| f64::from(v.abs().max_element());
        let mut translations: Vec<_> = skeleton.rest().iter().map(|rest| largest(rest.translation)).collect();
        let mut scales: Vec<_> = skeleton.rest().iter().map(|rest| largest(rest.scale)).collect();
        for track in model.clips().iter().flat_map(Clip::tracks) {
            let list = match track.channel {
                Channel::Translation => &mut translations,
                Channel::Scale => &mut scales,
                Channel::Rotation | Channel::Weights => continue,
            };
            let largest = track.values.iter().fold(0.0f64, |most, v| most.max(f64::from(v.abs())));
            // A spline stays within both values and both tangents, which are per second.
            let reach = match track.interpolation {
                Interpolation::CubicSpline => 4.0 * (1.0 + f64::from(track.times[track.times.len() - 1])),
                _ => 1.0,
            };
            let known = &mut list[track.node as usize];
            *known = known.max(largest * reach);
        }
        Self { translations, scales }
    }

    /// Norms of the linear part and of the translation up each chain, with a little for rounding; `own` gives those of
    /// a local transform.
    fn norms(model: &Model, own: impl Fn(usize) -> (f64, f64)) -> Vec<(f64, f64)> {
        let skeleton = model.skeleton();
        let mut norms = vec![(1.0f64, 0.0f64); skeleton.len()];
        for &node in skeleton.order() {
            let n = node as usize;
            let (above, place) = skeleton.parents()[n].map_or((1.0, 0.0), |parent| norms[parent as usize]);
            let square = f64::from(skeleton.rest()[n].rotation.length_squared());
            let stretch = if (square - 1.0).abs() < 1e-3 { 1.001 } else { 3.0 * (square + 1.0) };
            let (linear, own) = own(n);
            norms[n] = (above * linear * stretch, above * own * 1.8 + place);
        }
        norms
    }

    fn local_norms(&self, model: &Model) -> Vec<(f64, f64)> {
        Self::norms(model, |n| (self.scales[n], self.translations[n]))
    }

    /// Whether no palette reaches its bound.
    pub(super) fn is_tame(&self, model: &Model, layout: &PaletteLayout) -> bool {
        let norms = self.local_norms(model);
        // Every matrix on the way must be held by f32; a NaN is within nothing.
        let limit = f64::from(JointMatrix::MAX) / 1e3;
        let mut is_tame = norms.iter().all(|&(linear, place)| linear <= limit && place <= limit);
        layout.each_row(model, |_, node, inverse| {
            is_tame &= row(norms[node as usize], inverse) <= limit;
        });
        is_tame
    }

    /// Whether numbers on the way through bind space are not so much larger than without that digits are lost, and
    /// rotations have the unit length that it takes for granted.
    pub(super) fn keeps_digits(&self, model: &Model, layout: &PaletteLayout, space: &BindSpace) -> bool {
        const TIMES: f64 = 64.0;
        let is_unit = |rest: &Transform| (rest.rotation.length_squared() - 1.0).abs() < 1e-6;
        let mut keeps = model.skeleton().rest().iter().all(is_unit);
        let local = self.local_norms(model);
        let norms = Self::norms(model, |n| space.reach(n, self.scales[n], self.translations[n]));
        layout.each_row(model, |_, node, inverse| {
            let n = node as usize;
            keeps &= row(norms[n], space.remainder(n, inverse)) <= TIMES * row(local[n], inverse);
        });
        keeps
    }
}

/// The largest number of a palette row: a matrix of such norms times an inverse bind matrix.
fn row((linear, place): (f64, f64), inverse: Option<Affine3A>) -> f64 {
    let inverse = inverse.map_or(1.0, |m| {
        let largest = m.to_cols_array().iter().fold(0.0f32, |most, v| most.max(v.abs()));
        if m.is_finite() { f64::from(largest) * 3.0 } else { f64::INFINITY }
    });
    linear * inverse.max(1.0) * 1.8 + place
}

#[cfg(test)]
mod tests {
    use glam::{Mat4, Quat};

    use super::{super::moving::Moving, *};
    use crate::model::{ModelDesc, Node, Skeleton, Skin};

    /// Two joints, with inverse bind matrices of several skins.
    fn keeps_digits(rotation: Quat, binds: &[[Mat4; 2]]) -> bool {
        let rest = Transform { rotation, ..Transform::from_translation(Vec3::Y) };
        let node = |parent| Node { parent, rest, ..Node::default() };
        let skeleton = Skeleton::new(vec![node(None), node(Some(0))]).unwrap();
        let skin = |binds: &[Mat4; 2]| Skin::new("s", &skeleton, vec![0, 1], Some(binds)).unwrap();
        let skins = binds.iter().map(skin).collect();
        let model =
            Model::new(ModelDesc { skins, skeleton: skeleton.clone(), ..ModelDesc::default() }).unwrap();
        let (layout, moving) = (PaletteLayout::new(&model), Moving::exactly(&model));
        Reach::new(&model).keeps_digits(&model, &layout, &moving.space)
    }

    const NEAR: Mat4 = Mat4::IDENTITY;

    fn far() -> Mat4 {
        Mat4::from_translation(Vec3::X * 1e5)
    }

    #[test]
    fn binds_that_lie_together_keep_their_digits_near_and_far() {
        assert!(keeps_digits(Quat::IDENTITY, &[[NEAR, NEAR]]));
        assert!(keeps_digits(Quat::IDENTITY, &[[far(), far()]]));
        assert!(keeps_digits(Quat::IDENTITY, &[[NEAR, NEAR], [far(), far()]]));
    }

    #[test]
    fn binds_far_from_each_other_would_lose_digits() {
        assert!(!keeps_digits(Quat::IDENTITY, &[[far(), NEAR]]));
        assert!(!keeps_digits(Quat::IDENTITY, &[[far(), far()], [NEAR, NEAR]]));
    }

    #[test]
    fn rotations_of_other_lengths_are_not_taken_to_bind_space() {
        assert!(!keeps_digits(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), &[[NEAR, NEAR]]));
        assert!(!keeps_digits(Quat::from_xyzw(0.0, 0.0, 0.0, 2.0), &[[NEAR, NEAR]]));
    }
}
