//! Writing a model as a GLB file.

use std::{fs, path::Path};

use sinew::Model;

use crate::failure::Failure;

/// Whether `output` can be such a file and is none of those that are read.
pub(crate) fn check(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
        return Err(Failure::usage(format_args!("`{}` does not end in .glb", output.display()))
            .help("give the name of a GLB file to write"));
    }
    let Ok(to) = output.canonicalize() else { return Ok(()) };
    if inputs.iter().any(|input| input.canonicalize().is_ok_and(|from| from == to)) {
        return Err(Failure::usage("the output is the file itself").help("write to another file"));
    }
    Ok(())
}

/// Writes a model and returns the bytes of the file.
pub(crate) fn write(output: &Path, model: &Model) -> Result<usize, Failure> {
    let bytes = model.to_glb()?;
    fs::write(output, &bytes).map_err(|error| {
        Failure::new(format_args!("cannot write `{}`: {error}", output.display()))
            .help("check that the folder exists and may be written to")
    })?;
    Ok(bytes.len())
}
