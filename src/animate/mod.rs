//! From clips to palettes on the CPU. Every stage is a function from slices to slices; the caller
//! owns the memory, and [`Animator`] is such a caller for any number of instances.

mod animator;
mod batch;
mod bind;
mod blend;
mod clips;
mod compressed;
mod control;
mod controls;
mod evaluate;
mod events;
mod handle;
mod hierarchy;
mod joint_matrix;
mod kernel;
mod lanes;
mod layer;
mod mask;
pub mod math;
mod moving;
mod palette;
mod player;
mod pose;
mod rate;
mod rig;
mod root_motion;
mod rows;
mod sample;
mod sampling;
mod slice;
mod stage;

pub use animator::{AnimateError, Animator, ClipRef, Instance, InstanceId, ModelId, ModelKind};
pub use bind::{bind_here, bind_pose};
pub use compressed::{CompressError, CompressOptions, CompressedClip, CompressedClips};
pub use controls::{BindMode, WorldPose};
pub use events::{EventError, Events, Passed};
pub use handle::Handle;
pub use hierarchy::set_world;
pub use layer::{Layer, LayerId, LayerKind, Reference};
pub use mask::Mask;
pub use palette::{JointMatrix, MAX_MORPH_WEIGHT, PaletteLayout, set_palette};
pub use player::{LoopMode, Player, Travel};
pub use pose::{Pose, PoseMut, set_rest};
pub use root_motion::{RootDelta, RootMotion, RootMotionError};
pub use sample::{sample, set_channels};
pub use stage::Stage;
