//! What import refuses, repairs and reads. Hostile input first.
#![cfg(feature = "gltf")]
#![expect(clippy::unwrap_used, reason = "a test whose input cannot be built has failed")]

mod animations;
mod attributes;
mod compressed;
mod export;
mod extensions;
mod fuzz;
mod glb;
mod guard;
mod images;
mod materials;
mod skins;
mod tangents;
mod uris;
