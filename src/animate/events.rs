use super::{LoopMode, Player, Travel};

/// Things that happen at times of a clip: a foot that touches the ground, a sound, a hit.
///
/// They belong to the caller, beside the clip that they were made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Events<T> {
    /// By time.
    list: Vec<(f64, T)>,
}

/// An event outside its clip.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("event {index} is at {time} seconds; events are at finite times from 0 to the clip's {duration}")]
pub struct EventError {
    /// Which of those given.
    pub index: usize,
    /// Its time.
    pub time: f64,
    /// The clip's.
    pub duration: f64,
}

impl<T> Events<T> {
    /// Events at seconds of a clip `duration` seconds long, in any order. Those of one time keep theirs.
    pub fn new(duration: f64, events: impl IntoIterator<Item = (f64, T)>) -> Result<Self, EventError> {
        let mut list: Vec<_> = events.into_iter().collect();
        // Written so that NaN is refused.
        let is_inside = |time: f64| time >= 0.0 && time <= duration && time.is_finite();
        if let Some((index, (time, _))) = list.iter().enumerate().find(|(_, (time, _))| !is_inside(*time)) {
            return Err(EventError { index, time: *time, duration });
        }
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Self { list })
    }

    /// What the player passed by its last [`Player::advance`], in the order it was passed: each time of each
    /// round exactly once, in either direction.
    pub fn passed(&self, player: &Player) -> Passed<'_, T> {
        self.over(player.travel(), player.mode(), player.duration())
    }

    /// What lies on a stretch of [positions](Player::position) of a clip that goes on as `mode` says.
    ///
    /// Where a clip repeats itself, its end and the start of the next round are one position: events at both
    /// happen there, the end's first. Where it turns around, an event at that very time happens once.
    pub fn over(&self, travel: Travel, mode: LoopMode, duration: f64) -> Passed<'_, T> {
        let round = match mode {
            LoopMode::Once => f64::INFINITY,
            LoopMode::Repeat => duration,
            LoopMode::PingPong => 2.0 * duration,
        };
        let backwards = travel.to < travel.from;
        // Nothing repeats itself in no time.
        let rounds = if round > 0.0 && round.is_finite() {
            let first = (travel.from.min(travel.to) / round).floor() - 1.0;
            let last = (travel.from.max(travel.to) / round).floor() + 1.0;
            (first as i64, last as i64)
        } else {
            (0, 0)
        };
        let count = match mode {
            LoopMode::PingPong => 2 * self.list.len(),
            LoopMode::Once | LoopMode::Repeat => self.list.len(),
        };
        let at = if backwards { (rounds.1, count) } else { (rounds.0, 0) };
        Passed { events: self, travel, round, duration, backwards, rounds, count, at }
    }
}

/// The events on a stretch; see [`Events::over`]. Allocates nothing.
#[derive(Clone, Debug)]
pub struct Passed<'e, T> {
    events: &'e Events<T>,
    travel: Travel,
    round: f64,
    duration: f64,
    backwards: bool,
    /// First and last round that may hold one.
    rounds: (i64, i64),
    /// Events of a round: of ping-pong there and back.
    count: usize,
    /// Round and event: the next one forwards, the last one seen backwards.
    at: (i64, usize),
}

impl<'e, T> Passed<'e, T> {
    /// Position and event number `index` of a round; `None` where the way back names one that was there.
    fn event(&self, round: i64, index: usize) -> Option<(f64, &'e T)> {
        let start = if self.round.is_finite() { round as f64 * self.round } else { 0.0 };
        let list = &self.events.list;
        match list.get(index) {
            Some((time, value)) => Some((start + time, value)),
            None => {
                let (time, value) = &list[2 * list.len() - 1 - index];
                let is_turn = *time == 0.0 || *time == self.duration;
                (!is_turn).then_some((start + self.round - time, value))
            }
        }
    }

    fn is_on_the_way(&self, round: i64, position: f64) -> bool {
        let Travel { from, to, with_start } = self.travel;
        if position == from {
            // A start or a seek leads into the first round, which had none before it.
            return with_start && round == 0;
        }
        if self.backwards { position < from && position >= to } else { position > from && position <= to }
    }
}

impl<'e, T> Iterator for Passed<'e, T> {
    /// The position and what happens there.
    type Item = (f64, &'e T);

    fn next(&mut self) -> Option<Self::Item> {
        if self.count == 0 {
            return None;
        }
        loop {
            let (round, index) = self.at;
            let (round, index) = if self.backwards {
                if index == 0 {
                    if round <= self.rounds.0 {
                        return None;
                    }
                    self.at = (round - 1, self.count);
                    continue;
                }
                self.at = (round, index - 1);
                (round, index - 1)
            } else {
                if index == self.count {
                    if round >= self.rounds.1 {
                        return None;
                    }
                    self.at = (round + 1, 0);
                    continue;
                }
                self.at = (round, index + 1);
                (round, index)
            };
            if let Some(event) = self.event(round, index).filter(|event| self.is_on_the_way(round, event.0)) {
                return Some(event);
            }
        }
    }
}
