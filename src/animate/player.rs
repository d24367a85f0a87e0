/// What happens at the end of a clip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoopMode {
    /// Stops at the end (at the start when playing backwards).
    Once,
    /// Starts again.
    #[default]
    Repeat,
    /// Turns around at both ends.
    PingPong,
}

/// Where one instance is in a clip. Time is kept in f64 and reduced to the clip's length, so hours of
/// playback stay smooth.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    clip: u32,
    duration: f64,
    /// 0..duration, or 0..2·duration for ping-pong.
    phase: f64,
    /// Whole lengths of what `phase` runs over, backwards ones negative.
    rounds: i64,
    travel: Travel,
    finished: bool,
    mode: LoopMode,
    /// Seconds of clip per second; negative plays backwards.
    pub speed: f64,
    /// Holds the time while true.
    pub paused: bool,
}

impl Player {
    /// Plays clip number `clip`, `duration` seconds long, from the start: looping, speed 1.
    pub(crate) fn new(clip: u32, duration: f32) -> Self {
        let duration = f64::from(duration);
        Self {
            clip,
            duration,
            phase: 0.0,
            rounds: 0,
            travel: Travel { from: 0.0, to: 0.0, with_start: true },
            finished: false,
            mode: LoopMode::default(),
            speed: 1.0,
            paused: false,
        }
    }

    /// The clip's index in its model.
    #[must_use]
    pub fn clip(&self) -> u32 {
        self.clip
    }

    /// Seconds from the clip's zero, 0..=duration.
    #[must_use]
    pub fn time(&self) -> f64 {
        if self.phase > self.duration { 2.0 * self.duration - self.phase } else { self.phase }
    }

    /// Seconds that one round of the clip takes before it repeats itself; 0 if it does not.
    fn round(&self) -> f64 {
        match self.mode {
            LoopMode::Once => 0.0,
            LoopMode::Repeat => self.duration,
            LoopMode::PingPong => 2.0 * self.duration,
        }
    }

    /// Seconds of clip since the start of its first round: rises over the ends of a looping clip, where
    /// [`time`](Self::time) starts again.
    #[must_use]
    pub fn position(&self) -> f64 {
        self.rounds as f64 * self.round() + self.phase
    }

    /// Length of the clip in seconds.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Where the last [`advance`](Self::advance) led, for events and root motion. After a seek or a change of
    /// mode it is where that led to, and nothing was passed.
    #[must_use]
    pub fn travel(&self) -> Travel {
        self.travel
    }

    /// What happens at the end.
    #[must_use]
    pub fn mode(&self) -> LoopMode {
        self.mode
    }

    /// Changes what happens at the end; the time stays.
    pub fn set_mode(&mut self, mode: LoopMode) {
        self.phase = self.time();
        self.rounds = 0;
        self.mode = mode;
        self.finished = false;
        self.stay();
    }

    /// Whether a clip played once has reached its end.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Jumps to a time, clamped to the clip. NaN counts as 0.
    pub fn seek(&mut self, seconds: f64) {
        self.phase = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, self.duration) };
        self.rounds = 0;
        self.finished = false;
        self.stay();
    }

    /// Nothing was passed to get here, and what lies here is still to come.
    fn stay(&mut self) {
        let here = self.position();
        self.travel = Travel { from: here, to: here, with_start: true };
    }

    /// Moves on by `seconds` of real time. Steps of any size and sign; infinite and NaN ones are ignored.
    pub fn advance(&mut self, seconds: f64) {
        let step = seconds * self.speed;
        let from = self.position();
        if self.paused || !step.is_finite() || step == 0.0 {
            // What the start of a travel holds stays to come while nothing moved.
            let with_start = self.travel.with_start && self.travel.from == self.travel.to;
            self.travel = Travel { from, to: from, with_start };
            return;
        }
        let with_start = self.travel.with_start && self.travel.from == self.travel.to;
        let next = self.phase + step;
        match self.mode {
            LoopMode::Once => {
                self.phase = next.clamp(0.0, self.duration);
                self.finished = if step > 0.0 { next >= self.duration } else { next <= 0.0 };
            }
            // Within the round.
            LoopMode::Repeat | LoopMode::PingPong if next >= 0.0 && next < self.round() => self.phase = next,
            LoopMode::Repeat | LoopMode::PingPong => {
                self.phase = wrap(next, self.round());
                // Exact, since the phase is what is left of `next`.
                let rounds =
                    if self.round() > 0.0 { ((next - self.phase) / self.round()).round() } else { 0.0 };
                self.rounds = self.rounds.saturating_add(rounds as i64);
            }
        }
        self.travel = Travel { from, to: self.position(), with_start };
    }
}

/// A stretch of a player's [positions](Player::position).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Travel {
    /// Where it began.
    pub from: f64,
    /// Where it ended; before `from` when played backwards.
    pub to: f64,
    /// Whether what lies at `from` itself belongs to it: only once after a start or a seek, so that stretches
    /// that follow each other share nothing.
    pub with_start: bool,
}

/// 0..length; `rem_euclid` may round up to the length itself.
fn wrap(time: f64, length: f64) -> f64 {
    if length <= 0.0 {
        return 0.0;
    }
    let wrapped = time.rem_euclid(length);
    if wrapped >= length { 0.0 } else { wrapped }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(mode: LoopMode, speed: f64) -> Player {
        let mut player = Player::new(0, 1.0);
        player.set_mode(mode);
        player.speed = speed;
        player
    }

    #[test]
    fn defaults_are_playing_looping_speed_one() {
        let player = Player::new(3, 2.0);
        assert_eq!((player.clip(), player.time(), player.speed), (3, 0.0, 1.0));
        assert_eq!((player.paused, player.mode(), player.finished()), (false, LoopMode::Repeat, false));
    }

    #[test]
    fn playing_backwards_wraps_from_zero_to_the_end() {
        let mut player = player(LoopMode::Repeat, -1.0);
        player.advance(0.25);
        assert_eq!(player.time(), 0.75);
    }

    #[test]
    fn playing_backwards_once_stops_at_zero_and_is_finished() {
        let mut player = player(LoopMode::Once, -1.0);
        player.seek(0.5);
        player.advance(2.0);
        assert_eq!((player.time(), player.finished()), (0.0, true));
    }

    #[test]
    fn once_stops_at_the_end_and_is_finished() {
        let mut player = player(LoopMode::Once, 1.0);
        player.advance(0.5);
        assert!(!player.finished());
        player.advance(0.5);
        assert_eq!((player.time(), player.finished()), (1.0, true));
    }

    #[test]
    fn ping_pong_turns_around_at_both_ends() {
        let mut player = player(LoopMode::PingPong, 1.0);
        player.advance(1.25);
        assert_eq!(player.time(), 0.75);
        player.advance(1.0);
        assert_eq!(player.time(), 0.25);
    }

    #[test]
    fn a_clip_without_duration_stays_at_zero() {
        for mode in [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong] {
            let mut player = Player::new(0, 0.0);
            player.set_mode(mode);
            player.advance(1.5);
            assert_eq!(player.time(), 0.0, "{mode:?}");
        }
    }

    #[test]
    fn time_wraps_exactly_and_never_reaches_the_duration() {
        let mut player = player(LoopMode::Repeat, 1.0);
        player.advance(3.0);
        assert_eq!(player.time(), 0.0);
        player.advance(-1e-18);
        assert!(player.time() < 1.0);
    }

    #[test]
    fn ten_hours_of_small_steps_drift_less_than_a_microsecond() {
        let mut player = player(LoopMode::Repeat, 1.0);
        (0..36_000 * 64).for_each(|_| player.advance(1.0 / 64.0));
        assert!(player.time() < 1e-6, "{}", player.time());
    }

    #[test]
    fn infinite_and_nan_steps_are_ignored() {
        let mut player = player(LoopMode::Repeat, 1.0);
        player.seek(0.5);
        player.advance(f64::INFINITY);
        player.advance(f64::NAN);
        assert_eq!(player.time(), 0.5);
        player.seek(f64::NAN);
        assert_eq!(player.time(), 0.0);
    }
}
