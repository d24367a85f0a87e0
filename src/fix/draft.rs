use glam::Mat4;

use super::FixError;
use crate::model::{Clip, Mesh, Model, ModelDesc, Part, PrimitiveDesc, Skin, Skinning, Track};

/// What changes of a model, taken apart.
pub(super) struct Draft {
    pub(super) skins: Vec<SkinDraft>,
    pub(super) meshes: Vec<MeshDraft>,
    pub(super) parts: Vec<Part>,
    pub(super) clips: Vec<ClipDraft>,
}

pub(super) struct SkinDraft {
    pub(super) name: String,
    pub(super) joints: Vec<u32>,
    pub(super) inverse_binds: Vec<Mat4>,
}

pub(super) struct MeshDraft {
    pub(super) name: String,
    pub(super) primitives: Vec<PrimitiveDesc>,
    pub(super) target_names: Vec<String>,
    pub(super) weights: Vec<f32>,
    pub(super) skinning: Skinning,
}

pub(super) struct ClipDraft {
    pub(super) name: String,
    pub(super) tracks: Vec<Track>,
}

impl Draft {
    pub(super) fn of(model: &Model) -> Self {
        let skins = model.skins().iter().map(|skin| SkinDraft {
            name: skin.name().into(),
            joints: skin.joints().to_vec(),
            inverse_binds: skin.inverse_binds().iter().map(|m| Mat4::from(*m)).collect(),
        });
        let meshes = model.meshes().iter().map(|mesh| MeshDraft {
            name: mesh.name().into(),
            primitives: mesh.primitives().iter().map(|primitive| primitive.to_desc()).collect(),
            target_names: mesh.target_names().to_vec(),
            weights: mesh.weights().to_vec(),
            skinning: mesh.skinning(),
        });
        let clips = model
            .clips()
            .iter()
            .map(|clip| ClipDraft { name: clip.name().into(), tracks: clip.tracks().to_vec() });
        Self {
            skins: skins.collect(),
            meshes: meshes.collect(),
            parts: model.parts().to_vec(),
            clips: clips.collect(),
        }
    }

    /// With all else as in `model`.
    pub(super) fn build(self, model: &Model) -> Result<Model, FixError> {
        let skeleton = model.skeleton().clone();
        let skin =
            |s: SkinDraft| Skin::accept_duplicates(s.name, &skeleton, s.joints, Some(&s.inverse_binds));
        let skins = self.skins.into_iter().map(skin).collect::<Result<_, _>>()?;
        let mesh = |m: MeshDraft| {
            Mesh::new(m.name, m.primitives, m.weights)
                .map(|mesh| mesh.with_target_names(m.target_names).with_skinning(m.skinning))
        };
        let meshes = self.meshes.into_iter().map(mesh).collect::<Result<_, _>>()?;
        let clips = self.clips.into_iter().map(|c| Clip::new(c.name, c.tracks)).collect::<Result<_, _>>()?;
        let model = Model::new(ModelDesc {
            name: model.name().into(),
            skeleton,
            skins,
            meshes,
            parts: self.parts,
            scenes: model.scenes().to_vec(),
            default_scene: model.default_scene(),
            clips,
            materials: model.materials().to_vec(),
            textures: model.textures().to_vec(),
            images: model.images().to_vec(),
            diagnostics: Vec::new(),
        })?;
        Ok(model)
    }
}
