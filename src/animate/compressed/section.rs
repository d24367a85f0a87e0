use super::super::{
    lanes::{F8, Key},
    moving::NONE,
};

/// Tracks of one channel, eight side by side.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Section {
    pub(in super::super) groups: Vec<Group>,
    /// For translations and scales, per group: the first plus components times the second plus the fourth
    /// component times the third.
    pub(in super::super) spans: Vec<[[F8; 3]; 3]>,
    /// Whether rotations of neighbouring keys are close to each other.
    pub(in super::super) is_near: bool,
    pub(in super::super) keys: Keys,
}

/// Eight tracks.
#[derive(Clone, Debug)]
pub(in super::super) struct Group {
    /// Places among what moves. Of a group that fills one of the pose in its order, [`NONE`] for lanes that leave
    /// that as it is.
    pub(in super::super) targets: [u32; 8],
    pub(in super::super) fills: Option<u32>,
    /// Whether every lane does.
    pub(in super::super) is_full: bool,
}

impl Group {
    /// Places in each lane, or [`NONE`].
    pub(super) fn new(targets: [u32; 8], nowhere: u32) -> Self {
        let mut places = (0..).zip(targets).filter(|(_, place)| *place != NONE);
        let group = places.clone().next().map_or(0, |(_, place)| place / 8);
        if places.all(|(lane, place)| place == group * 8 + lane) {
            return Self { targets, fills: Some(group), is_full: !targets.contains(&NONE) };
        }
        let targets = targets.map(|place| if place == NONE { nowhere } else { place });
        Self { targets, fills: None, is_full: false }
    }
}

/// Where keys lie.
#[derive(Clone, Debug)]
pub(in super::super) enum Keys {
    /// A row for every frame and group.
    Frames {
        /// Per second.
        rate: f32,
        /// At least two.
        frames: u32,
        /// Frame after frame.
        rows: Vec<[[i16; 8]; 4]>,
    },
    /// Keys of each track, one behind the other.
    Sparse {
        /// Ticks per second.
        rate: f32,
        /// Buckets of time per second.
        bucket_rate: f32,
        buckets: u32,
        /// First key of each track of each group, and the last that has one behind it.
        bounds: Vec<[[u32; 8]; 2]>,
        /// Per bucket and group: how many keys behind its first each track's current key is at least.
        index: Vec<[u16; 8]>,
        /// Ticks, and two more.
        times: Vec<u16>,
        keys: Vec<Key>,
    },
}

impl Default for Keys {
    fn default() -> Self {
        Self::Frames { rate: 0.0, frames: 2, rows: Vec::new() }
    }
}

impl Section {
    pub(super) fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Frames { rows, .. } => size_of_val(&rows[..]),
            Keys::Sparse { bounds, index, times, keys, .. } => {
                size_of_val(&bounds[..])
                    + size_of_val(&index[..])
                    + size_of_val(&times[..])
                    + size_of_val(&keys[..])
            }
        };
        keys + size_of_val(&self.groups[..]) + size_of_val(&self.spans[..])
    }
}
