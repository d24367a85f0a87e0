//! Several clips into one pose.

use glam::{Quat, Vec3, Vec4};

use super::{
    Layer, LayerKind, Mask, Reference,
    clips::Clips,
    mask::usable,
    math::{normalize, slerp},
    moving::LanePose,
    pose::{Pose, PoseMut, set_rest},
    sample::Sink,
};
use crate::model::Model;

/// Weighted sums of every component of one instance, kept so that no frame allocates.
#[derive(Debug)]
pub(super) struct Blend {
    translations: Vec<Sum<Vec3>>,
    /// Quaternions of one hemisphere.
    rotations: Vec<Sum<Vec4>>,
    scales: Vec<Sum<Vec3>>,
    weights: Vec<Sum<f32>>,
    /// What an additive layer has moved away from.
    reference: Pose,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum<T> {
    value: T,
    /// Of the layers that drive the component.
    weight: f32,
}

impl Blend {
    pub(super) fn new(model: &Model) -> Self {
        let nodes = model.skeleton().len();
        Self {
            translations: vec![Sum::default(); nodes],
            rotations: vec![Sum::default(); nodes],
            scales: vec![Sum::default(); nodes],
            weights: vec![Sum::default(); model.weight_count()],
            reference: Pose::rest(model),
        }
    }

    /// Sums up the layers that are weighed against each other.
    pub(super) fn gather(&mut self, clips: &Clips, layers: &[Layer], lanes: &mut LanePose) {
        self.translations.fill(Sum::default());
        self.rotations.fill(Sum::default());
        self.scales.fill(Sum::default());
        self.weights.fill(Sum::default());
        for layer in layers.iter().filter(|layer| layer.kind == LayerKind::Blend) {
            let weight = usable(layer.weight);
            if weight > 0.0 {
                let mut share = Share { blend: self, weight, mask: layer.mask.as_ref() };
                clips.drive(layer.player.clip(), layer.player.time() as f32, lanes, &mut share);
            }
        }
    }

    /// Puts the sums over `pose`, which holds rest pose and overrides. Each component is divided by the weight
    /// of the layers that drive it; what is missing up to `threshold` is the pose's own, and so is all of a
    /// component that no layer drives.
    pub(super) fn resolve(&self, threshold: f32, pose: &mut PoseMut<'_>) {
        for (own, sum) in pose.translations.iter_mut().zip(&self.translations) {
            if sum.weight > 0.0 {
                let fill = (threshold - sum.weight).max(0.0);
                *own = (sum.value + *own * fill) / (sum.weight + fill);
            }
        }
        for (own, sum) in pose.scales.iter_mut().zip(&self.scales) {
            if sum.weight > 0.0 {
                let fill = (threshold - sum.weight).max(0.0);
                *own = (sum.value + *own * fill) / (sum.weight + fill);
            }
        }
        for (own, sum) in pose.rotations.iter_mut().zip(&self.rotations) {
            if sum.weight > 0.0 {
                let fill = (threshold - sum.weight).max(0.0);
                let whole = sum.value + near(sum.value, Vec4::from(*own)) * fill;
                // Opposite rotations cancel each other out: then nothing is said.
                if whole.length_squared() > 1e-12 * (sum.weight + fill) * (sum.weight + fill) {
                    *own = normalize(Quat::from_vec4(whole));
                }
            }
        }
        for (own, sum) in pose.weights.iter_mut().zip(&self.weights) {
            if sum.weight > 0.0 {
                let fill = (threshold - sum.weight).max(0.0);
                *own = (sum.value + *own * fill) / (sum.weight + fill);
            }
        }
    }

    /// Puts the additive layers on top, one after another.
    pub(super) fn add(
        &mut self,
        clips: &Clips,
        layers: &[Layer],
        lanes: &mut LanePose,
        pose: &mut PoseMut<'_>,
    ) {
        for layer in layers {
            let LayerKind::Additive(reference) = layer.kind else { continue };
            let weight = usable(layer.weight).min(1.0);
            if weight == 0.0 {
                continue;
            }
            let clip = layer.player.clip();
            set_rest(clips.model(), &mut self.reference.as_mut());
            if let Reference::Time(time) = reference {
                clips.drive(clip, time, lanes, &mut self.reference.as_mut());
            }
            let mut on_top = OnTop { pose, reference: &self.reference, weight, mask: layer.mask.as_ref() };
            clips.drive(clip, layer.player.time() as f32, lanes, &mut on_top);
        }
    }
}

fn share(weight: f32, mask: Option<&Mask>, node: usize) -> f32 {
    weight * mask.map_or(1.0, |mask| mask.weights().get(node).copied().unwrap_or(0.0))
}

/// `q`, or the same rotation as `-q`, whichever lies on the side of `sum`.
fn near(sum: Vec4, q: Vec4) -> Vec4 {
    if sum.dot(q) < 0.0 { -q } else { q }
}

/// One layer on its way into the sums.
struct Share<'a> {
    blend: &'a mut Blend,
    weight: f32,
    mask: Option<&'a Mask>,
}

impl Sink for Share<'_> {
    fn translation(&mut self, node: usize, value: Vec3) {
        let weight = share(self.weight, self.mask, node);
        let sum = &mut self.blend.translations[node];
        sum.value += value * weight;
        sum.weight += weight;
    }

    fn rotation(&mut self, node: usize, value: Quat) {
        let weight = share(self.weight, self.mask, node);
        let sum = &mut self.blend.rotations[node];
        sum.value += near(sum.value, Vec4::from(value)) * weight;
        sum.weight += weight;
    }

    fn scale(&mut self, node: usize, value: Vec3) {
        let weight = share(self.weight, self.mask, node);
        let sum = &mut self.blend.scales[node];
        sum.value += value * weight;
        sum.weight += weight;
    }

    fn weight(&mut self, node: usize, index: usize, value: f32) {
        let weight = share(self.weight, self.mask, node);
        let sum = &mut self.blend.weights[index];
        sum.value += value * weight;
        sum.weight += weight;
    }
}

/// One additive layer on its way onto a pose.
struct OnTop<'a, 'p> {
    pose: &'a mut PoseMut<'p>,
    reference: &'a Pose,
    weight: f32,
    mask: Option<&'a Mask>,
}

impl OnTop<'_, '_> {
    fn share(&self, node: usize) -> f32 {
        share(self.weight, self.mask, node).min(1.0)
    }
}

impl Sink for OnTop<'_, '_> {
    fn translation(&mut self, node: usize, value: Vec3) {
        let weight = self.share(node);
        self.pose.translations[node] += (value - self.reference.translations[node]) * weight;
    }

    fn rotation(&mut self, node: usize, value: Quat) {
        let moved = normalize(self.reference.rotations[node].conjugate() * value);
        let moved = slerp(Quat::IDENTITY, moved, self.share(node));
        self.pose.rotations[node] = normalize(self.pose.rotations[node] * moved);
    }

    fn scale(&mut self, node: usize, value: Vec3) {
        let (weight, from) = (self.share(node), self.reference.scales[node]);
        // What was flat has grown by no factor.
        let factor =
            |value: f32, from: f32| if from == 0.0 { 1.0 } else { 1.0 + (value / from - 1.0) * weight };
        self.pose.scales[node] *=
            Vec3::new(factor(value.x, from.x), factor(value.y, from.y), factor(value.z, from.z));
    }

    fn weight(&mut self, node: usize, index: usize, value: f32) {
        self.pose.weights[index] += (value - self.reference.weights[index]) * self.share(node);
    }
}
