//! What import refuses, repairs and reads. Hostile input first.
#![cfg(feature = "gltf")]
#![expect(clippy::unwrap_used, reason = "a test whose input cannot be built has failed")]

mod animations;
mod attributes;
mod claims;
mod compressed;
mod deep;
mod export;
mod extensions;
mod fuzz;
#[path = "../common/glb.rs"]
mod glb;
mod guard;
mod images;
mod materials;
mod progress;
mod skins;
mod tangents;
mod uris;

/// What this process held at most, in bytes; unknown where there is no /proc.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
