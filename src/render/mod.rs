//! The standard raster pass over deformed vertices, with its camera, light and textures.
//!
//! ```text
//! model ─add_model→ indices, uvs, colours, textures, materials        (once)
//! deformed vertices ─declare→ view (host) → lit (raster) → target     (every frame, in the graph)
//! ```

mod camera;
pub mod codes;
mod draw;
mod error;
mod extents;
mod geometry;
mod layout;
mod light;
mod lit;
mod material;
mod mip;
mod pass;
mod pipeline;
mod texture;

pub use camera::Camera;
pub use draw::RenderFrame;
pub use error::RenderError;
pub use extents::extents;
pub use light::Light;
pub use lit::{Renderer, RendererOptions};
pub use pass::Output;
pub use pipeline::DEPTH_FORMAT;
