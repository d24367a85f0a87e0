/// How a track goes from key to key (glTF 2.0, appendix C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Holds the value until the next key.
    Step,
    /// Straight; rotations along the shorter arc (slerp).
    Linear,
    /// Cubic Hermite; each key holds in-tangent, value, out-tangent.
    CubicSpline,
}

/// What a track drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Three values a key.
    Translation,
    /// Four values a key, `xyzw`.
    Rotation,
    /// Three values a key.
    Scale,
    /// One value per morph target a key.
    Weights,
}

/// Keys of one channel of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The node it drives.
    pub node: u32,
    /// Which part of the node.
    pub channel: Channel,
    /// How keys are joined.
    pub interpolation: Interpolation,
    /// Seconds, finite, not negative, strictly rising, at least one.
    pub times: Vec<f32>,
    /// `times.len() * width` numbers, three times as many for cubic splines.
    pub values: Vec<f32>,
    /// Numbers per value: 3, 4, or the number of morph targets.
    pub width: u32,
}

/// A named animation: tracks that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    name: String,
    tracks: Vec<Track>,
    start: f32,
    duration: f32,
}

/// Why tracks do not make a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// A track without keys.
    #[error("track {track} has no keys")]
    NoKeys {
        /// Which track.
        track: usize,
    },
    /// Times must rise.
    #[error(
        "track {track}: time {time} of key {key} must be finite, not negative and later than the key before"
    )]
    Times {
        /// Which track.
        track: usize,
        /// Which key.
        key: usize,
        /// Its time.
        time: f32,
    },
    /// Values and keys do not match.
    #[error("track {track}: {found} numbers where {expected} are needed")]
    ValueCount {
        /// Which track.
        track: usize,
        /// Numbers given.
        found: usize,
        /// Numbers needed.
        expected: usize,
    },
    /// NaN or infinity among the values.
    #[error("track {track}: value {index} is not finite")]
    NotFinite {
        /// Which track.
        track: usize,
        /// Which number.
        index: usize,
    },
    /// The width does not fit the channel.
    #[error("track {track}: {channel:?} has {width} numbers a value")]
    Width {
        /// Which track.
        track: usize,
        /// Its channel.
        channel: Channel,
        /// Its width.
        width: u32,
    },
}

impl Clip {
    /// Checks the tracks. The duration is the last key of any track.
    pub fn new(name: impl Into<String>, tracks: Vec<Track>) -> Result<Self, ClipError> {
        let (mut start, mut duration) = (f32::INFINITY, 0.0f32);
        for (index, track) in tracks.iter().enumerate() {
            check(index, track)?;
            start = start.min(track.times[0]);
            duration = duration.max(track.times[track.times.len() - 1]);
        }
        Ok(Self { name: name.into(), tracks, start: if start.is_finite() { start } else { 0.0 }, duration })
    }

    /// The clip's name; empty where the source had none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All tracks; at most one per node and channel when imported.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Time of the first key of any track, in seconds. A clip may start after 0.
    #[must_use]
    pub fn start(&self) -> f32 {
        self.start
    }

    /// Time of the last key of any track, in seconds.
    #[must_use]
    pub fn duration(&self) -> f32 {
        self.duration
    }
}

fn check(index: usize, track: &Track) -> Result<(), ClipError> {
    if track.times.is_empty() {
        return Err(ClipError::NoKeys { track: index });
    }
    let mut before = -1.0f32;
    for (key, &time) in track.times.iter().enumerate() {
        if !time.is_finite() || time < 0.0 || time <= before {
            return Err(ClipError::Times { track: index, key, time });
        }
        before = time;
    }
    let fits = match track.channel {
        Channel::Translation | Channel::Scale => track.width == 3,
        Channel::Rotation => track.width == 4,
        Channel::Weights => track.width >= 1,
    };
    if !fits {
        return Err(ClipError::Width { track: index, channel: track.channel, width: track.width });
    }
    let per_key = if track.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let expected = track.times.len() * per_key * track.width as usize;
    if track.values.len() != expected {
        return Err(ClipError::ValueCount { track: index, found: track.values.len(), expected });
    }
    match track.values.iter().position(|v| !v.is_finite()) {
        Some(value) => Err(ClipError::NotFinite { track: index, index: value }),
        None => Ok(()),
    }
}
