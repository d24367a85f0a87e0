//! What the services on wgpu share.

pub(crate) mod mapped;
mod reflect;
pub(crate) mod trusted;

pub use reflect::bind_group_layout_entries;
