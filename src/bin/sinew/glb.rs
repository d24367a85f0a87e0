//! Writing a model as a GLB file.

use std::{fs, path::Path};

use sinew::Model;

use crate::{encode::cannot_write, failure::Failure};

/// Whether `output` can be such a file and is none of those that are read.
pub(crate) fn check(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
        return Err(Failure::usage(format_args!("`{}` does not end in .glb", output.display()))
            .help("give the name of a GLB file to write"));
    }
    spare(inputs, [output])
}

/// Refuses to write over a file that is read.
pub(crate) fn spare<P: AsRef<Path>>(
    inputs: &[&Path],
    outputs: impl IntoIterator<Item = P>,
) -> Result<(), Failure> {
    let inputs: Vec<_> = inputs.iter().filter_map(|input| input.canonicalize().ok()).collect();
    for output in outputs {
        let output = output.as_ref();
        if output.canonicalize().is_ok_and(|output| inputs.contains(&output)) {
            return Err(Failure::usage(format_args!("the output `{}` is the file itself", output.display()))
                .help("write to another file"));
        }
    }
    Ok(())
}

/// Writes a model and returns the bytes of the file.
pub(crate) fn write(output: &Path, model: &Model) -> Result<usize, Failure> {
    let bytes = model.to_glb()?;
    fs::write(output, &bytes).map_err(|error| cannot_write(output, &error))?;
    Ok(bytes.len())
}
