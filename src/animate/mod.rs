//! From clips to palettes on the CPU. Every stage is a function from slices to slices; the caller
//! owns the memory, and [`Animator`] is such a caller for any number of instances.

mod animator;
mod batch;
mod handle;
mod hierarchy;
mod joint_matrix;
pub mod math;
mod palette;
mod player;
mod pose;
mod sample;

pub use animator::{AnimateError, Animator, ClipRef, Instance, InstanceId, ModelId, ModelKind};
pub use batch::Stage;
pub use handle::Handle;
pub use hierarchy::set_world;
pub use palette::{JointMatrix, MAX_MORPH_WEIGHT, PaletteLayout, set_palette};
pub use player::{LoopMode, Player};
pub use pose::{Pose, PoseMut, set_rest};
pub use sample::{sample, set_channels};
