//! What several test binaries share.
#![allow(dead_code, unreachable_pub, reason = "each binary uses a part")]

pub mod crowd;
#[cfg(feature = "gpu")]
pub mod deformed;
pub mod dual;
#[cfg(feature = "gltf")]
pub mod glb;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod models;
#[cfg(feature = "gltf")]
pub mod oracle;
#[cfg(feature = "render")]
pub mod picture;
#[cfg(feature = "gpu")]
pub mod sides;
pub mod tube;
