//! Animated glTF characters for wgpu.
