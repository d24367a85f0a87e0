//! What import refuses, repairs and reads. Hostile input first.
#![cfg(feature = "gltf")]
#![expect(clippy::unwrap_used, reason = "a test whose input cannot be built has failed")]

mod animations;
mod attributes;
mod compressed;
mod export;
mod fuzz;
#[path = "../common/glb.rs"]
mod glb;
mod guard;
mod skins;
mod uris;
