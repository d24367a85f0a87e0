use std::path::Path;

use sinew::{Model, model::Skinning};

use crate::{failure::Failure, load::load, ui::Ui};

/// For every command that deforms.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Choice {
    /// How vertices follow several joints, in all meshes
    #[arg(long, value_enum, default_value_t, value_name = "METHOD")]
    skinning: Method,
}

/// How vertices follow several joints; files do not say.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Method {
    /// As glTF defines it
    #[default]
    Linear,
    /// Twisted limbs keep their volume
    DualQuaternion,
}

impl Choice {
    /// A file with all meshes skinned this way.
    pub(crate) fn load(self, path: &Path, ui: &Ui) -> Result<Model, Failure> {
        let model = load(path, ui)?;
        let skinning = match self.skinning {
            Method::Linear => Skinning::Linear,
            Method::DualQuaternion => Skinning::DualQuaternion,
        };
        let skinned = (0..model.meshes().len() as u32)
            .try_fold(model, |model, mesh| model.with_skinning(mesh, skinning));
        skinned.map_err(Failure::new)
    }
}
