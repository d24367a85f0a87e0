//! Rust source of the tables in `src/shaders.rs`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::shader::Validated;

/// `pub static NAME: [Shader; n]`.
pub(crate) fn list(name: &str, doc: &str, shaders: &[Validated]) -> String {
    let items: String = shaders.iter().map(|shader| format!("    {},\n", literal(shader))).collect();
    format!("/// {doc}\npub static {name}: [Shader; {}] = [\n{items}];\n\n", shaders.len())
}

/// `pub static NAME: Shader`.
pub(crate) fn one(name: &str, doc: &str, shader: &Validated) -> String {
    format!("/// {doc}\npub static {name}: Shader = {};\n\n", literal(shader))
}

/// The literal of one `Shader`; its text is the file that composition dumped.
fn literal(shader: &Validated) -> String {
    let name = shader.name();
    shader.literal(&format!("include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.wgsl\"))"))
}

/// `pub static MODULES`: the modules below `root` as written, by name, for other crates to import.
pub(crate) fn modules(root: &Path) -> io::Result<String> {
    let mut files = files(root)?;
    files.sort();
    let mut items = String::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).with_extension("");
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let text = format!(
            "include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))",
            format!("/{}", file.display())
        );
        items += &format!("    ({:?}, {text}),\n", name.join("::"));
    }
    let doc = "/// The library's WESL modules by name and text, for `shader::Source::library`.";
    Ok(format!("{doc}\npub static MODULES: &[(&str, &str)] = &[\n{items}];\n\n"))
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|ext| ext == "wgsl") {
            found.push(path);
        }
    }
    Ok(found)
}
