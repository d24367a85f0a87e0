//! A valid shader as Rust source: its text, and the tables that pipelines and layouts are made from.

use super::Validated;

impl Validated {
    /// Rust source that declares `pub static NAME: sinew::shaders::Shader`, for a build script to write and the crate to
    /// `include!`. `text` is what was validated. With feature `gpu`, bind group layouts come from it:
    /// `sinew::gpu::bind_group_layout_entries(&NAME, 0)`.
    #[must_use]
    pub fn to_rust(&self, name: &str, text: &str) -> String {
        let literal = self.literal(&format!("{text:?}"));
        let doc = format!("The shader `{}`.", self.name());
        format!(
            "#[doc = {doc:?}]\npub static {name}: sinew::shaders::Shader = {{\n    \
             #[allow(unused_imports)]\n    use sinew::shaders::*;\n    {literal}\n}};\n"
        )
    }

    /// The literal of a `Shader`, where its types are in scope; `source` is an expression for its text.
    pub(crate) fn literal(&self, source: &str) -> String {
        let mut out = format!("Shader {{ name: {:?}, source: {source}, entry_points: &[", self.name());
        for entry in self.entry_points() {
            let (stage, size) = (entry.stage, entry.workgroup_size);
            out += &format!(
                "EntryPoint {{ name: {:?}, stage: Stage::{stage:?}, workgroup_size: {size:?} }}, ",
                entry.name
            );
        }
        out += "], bindings: &[";
        for binding in self.bindings() {
            let kind = qualified(&format!("{:?}", binding.kind));
            out += &format!(
                "Binding {{ group: {}, binding: {}, name: {:?}, kind: BindingKind::{kind}, min_size: {}, \
                 stages: {:?} }}, ",
                binding.group, binding.binding, binding.name, binding.min_size, binding.stages
            );
        }
        out + "] }"
    }
}

/// A kind's `Debug` form as Rust: inner enums get their type's name.
fn qualified(kind: &str) -> String {
    kind.replace("sample: ", "sample: TextureSample::").replace("dimension: ", "dimension: Dimension::")
}
