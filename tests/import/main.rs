//! What import refuses, repairs and reads. Hostile input first.
#![cfg(feature = "gltf")]

mod animations;
mod attributes;
mod export;
mod fuzz;
mod glb;
mod guard;
mod skins;
mod uris;
