//! Animated glTF characters for wgpu.

pub mod model;

pub use model::Model;
