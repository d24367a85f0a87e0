use std::{error::Error, path::Path};

use sinew::{
    Model,
    import::{ImportError, ImportOptions},
    model::Severity,
};

use crate::{failure::Failure, ui::Ui, wait::with_bar};

/// Loads a file and says what had to be repaired or ignored.
pub(crate) fn load(path: &Path, ui: &Ui) -> Result<Model, Failure> {
    let model = read(path, ui).map_err(|error| explain(path, &error))?;
    let worth = model.diagnostics().iter().filter(|d| d.severity > Severity::Info).count();
    if worth > 0 {
        let s = if worth == 1 { "" } else { "s" };
        ui.note(format_args!("{}: {worth} finding{s}; `sinew inspect` lists them", path.display()));
    }
    Ok(model)
}

/// Loads a file, with a bar where that takes long.
pub(crate) fn read(path: &Path, ui: &Ui) -> Result<Model, ImportError> {
    with_bar(*ui, |progress| Model::load_with(path, &ImportOptions { progress, ..Default::default() }))
}

/// An error of a loader, with what helps against it.
pub(crate) fn explain(path: &Path, error: &(dyn Error + 'static)) -> Failure {
    if !path.exists() {
        return Failure::new(format_args!("`{}` does not exist", path.display()))
            .help("give the path of a .gltf or .glb file");
    }
    let failure = Failure::new(format_args!("`{}`: {error}", path.display()));
    match error.downcast_ref::<ImportError>() {
        Some(error) => failure.help(error.help()),
        None => failure,
    }
}
