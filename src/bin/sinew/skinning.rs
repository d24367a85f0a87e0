use sinew::{Model, model::Skinning};

use crate::failure::Failure;

/// How vertices follow several joints; files do not say.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Method {
    /// As glTF defines it
    #[default]
    Linear,
    /// Twisted limbs keep their volume
    DualQuaternion,
}

impl Method {
    /// The same model with all meshes skinned this way.
    pub(crate) fn apply(self, model: Model) -> Result<Model, Failure> {
        let skinning = match self {
            Self::Linear => Skinning::Linear,
            Self::DualQuaternion => Skinning::DualQuaternion,
        };
        let skinned = (0..model.meshes().len() as u32)
            .try_fold(model, |model, mesh| model.with_skinning(mesh, skinning));
        skinned.map_err(|error| Failure::new(format_args!("{error}")))
    }
}
