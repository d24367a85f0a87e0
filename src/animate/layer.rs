use super::{Mask, Player, mask::usable};

/// One clip among those that an instance plays at once.
#[derive(Clone, Debug)]
pub struct Layer {
    pub(super) id: LayerId,
    /// Where it is in its clip.
    pub player: Player,
    /// Its share, from 0 up; NaN and negative ones count as 0.
    pub weight: f32,
    /// Times this for each node; everything without one.
    pub mask: Option<Mask>,
    /// How it is put together with the others.
    pub kind: LayerKind,
    fade: Option<Fade>,
    is_over: bool,
}

/// Names a layer of an instance as long as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerId(pub(super) u64);

/// How a layer is put together with the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LayerKind {
    /// Weighed against the other layers of this kind, component by component; see
    /// [`Animator::set_threshold`](super::Animator::set_threshold).
    #[default]
    Blend,
    /// Put on top of what was blended: how far the clip has moved away from a reference, times the weight.
    Additive(Reference),
}

/// What an additive clip has moved away from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// The model's rest pose.
    Rest,
    /// The clip itself at this time in seconds.
    Time(f32),
}

/// A weight on its way.
#[derive(Clone, Copy, Debug)]
struct Fade {
    target: f32,
    /// Weight per second.
    rate: f32,
    removes: bool,
}

impl Layer {
    pub(super) fn new(id: LayerId, player: Player, weight: f32, kind: LayerKind) -> Self {
        Self { id, player, weight, mask: None, kind, fade: None, is_over: false }
    }

    /// Names it.
    #[must_use]
    pub fn id(&self) -> LayerId {
        self.id
    }

    /// Lets the weight go to `target` in `seconds`, at once if that is not more than 0.
    pub fn fade_to(&mut self, target: f32, seconds: f32) {
        self.fade(target, seconds, false);
    }

    /// Lets the weight go to 0 in `seconds`; the layer is gone then.
    pub fn fade_out(&mut self, seconds: f32) {
        self.fade(0.0, seconds, true);
    }

    fn fade(&mut self, target: f32, seconds: f32, removes: bool) {
        let target = usable(target);
        self.weight = usable(self.weight);
        let rate = if seconds > 0.0 { (target - self.weight).abs() / seconds } else { f32::INFINITY };
        self.fade = Some(Fade { target, rate, removes });
        if rate.is_infinite() {
            self.weight = target;
        }
    }

    /// Moves the clip and the weight on. Returns whether the layer stays.
    pub(super) fn advance(&mut self, seconds: f64) -> bool {
        self.player.advance(seconds);
        let Some(fade) = self.fade else { return true };
        // Fades run in real time, forwards.
        let step = (fade.rate * seconds.abs() as f32).max(0.0);
        let distance = fade.target - self.weight;
        if distance.abs() <= step || !step.is_finite() {
            self.weight = fade.target;
            self.fade = None;
            self.is_over = fade.removes;
            return !fade.removes;
        }
        self.weight += step.copysign(distance);
        true
    }

    /// What the last [`advance`](Self::advance) returned.
    pub(super) fn stays(&self) -> bool {
        !self.is_over
    }
}
