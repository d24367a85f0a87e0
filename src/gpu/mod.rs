//! What the services on wgpu share.

mod reflect;

pub use reflect::bind_group_layout_entries;
