/// The stages of a frame, in the order they run for every instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Every component to the model's rest pose.
    Rest,
    /// Components set by the caller.
    Overrides,
    /// Components driven by clips: of a single layer straight into the pose, of several into weighted sums.
    Channels,
    /// The sums into one pose, then additive layers on top.
    Blend,
    /// [Modifiers](super::Modifier) of the blended pose, such as inverse kinematics and springs.
    Modifiers,
    /// World transforms from elsewhere, such as physics.
    WorldPoses,
    /// Hidden joints to zero scale.
    Visibility,
    /// Local transforms to model space.
    Hierarchy,
    /// Model space to palette rows.
    Palette,
}

impl Stage {
    /// All stages in order.
    pub const ORDER: [Self; 9] = [
        Self::Rest,
        Self::Overrides,
        Self::Channels,
        Self::Blend,
        Self::Modifiers,
        Self::WorldPoses,
        Self::Visibility,
        Self::Hierarchy,
        Self::Palette,
    ];
}
