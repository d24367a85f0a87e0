//! The library's own shaders: composed, validated and reflected by the build script.
//!
//! Plain text and tables; nothing here needs wgpu or naga. The bind group layouts, workgroup sizes and
//! entry points that a pipeline needs are read from these tables, never written twice.

mod kinds;

pub use kinds::{BindingKind, Dimension, Stage, Stages, TextureSample};

/// A composed and validated WGSL module.
#[derive(Debug)]
pub struct Shader {
    /// The module's name, with the variant's index where it has variants: `deform_3`.
    pub name: &'static str,
    /// The whole WGSL text.
    pub source: &'static str,
    /// In the order of the text.
    pub entry_points: &'static [EntryPoint],
    /// Every binding that some entry point uses, by group and binding.
    pub bindings: &'static [Binding],
}

/// An entry point of a [`Shader`].
#[derive(Debug)]
pub struct EntryPoint {
    /// The function's name.
    pub name: &'static str,
    /// The stage it is for.
    pub stage: Stage,
    /// `@workgroup_size`, zeros unless the stage is compute.
    pub workgroup_size: [u32; 3],
}

/// A resource that a [`Shader`] binds.
#[derive(Debug)]
pub struct Binding {
    /// `@group`
    pub group: u32,
    /// `@binding`
    pub binding: u32,
    /// The variable's name.
    pub name: &'static str,
    /// What is bound.
    pub kind: BindingKind,
    /// Buffers: the fewest bytes that may be bound, with one element of a runtime-sized array. Others: 0.
    pub min_size: u64,
    /// The stages that use it.
    pub stages: Stages,
}

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
