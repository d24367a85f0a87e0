//! Retargeting: what is refused, each option by itself, three.js's results, and the program.
#![cfg(feature = "gltf")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod bodies;
mod clips;
mod drive;
mod names;
mod oracle;
#[cfg(feature = "cli")]
mod program;
mod refused;
mod rest_relative;
mod world_copy;
