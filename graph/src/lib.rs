//! A frame graph for wgpu.
#![forbid(unsafe_code)]
