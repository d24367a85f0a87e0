//! Readers of the deformed surface on the CPU: what a ray meets, and where things that are attached belong.
//!
//! ```text
//! Model ─Picker::new→ triangles, tree          once per model
//! CpuDeformer or ReadBack ─refit→ boxes        once per pose
//! Ray ─nearest→ Hit ─Socket::surface→ where that point is in later frames
//! ```

mod error;
mod picker;
mod query;
mod ray;
mod socket;
mod surface;
mod tree;

pub use error::PickError;
pub use picker::{Hit, PickOptions, Picker, Sides};
pub use ray::{Ray, RayError};
pub use socket::{Socket, SurfaceFrame, SurfacePoint};
