use std::collections::HashMap;

use super::{
    DeformError,
    layout::VARIANTS,
    source::{PackedPrimitive, Precision, Streams},
    variant::Variant,
};
use crate::{
    animate::{Animator, InstanceId, ModelId},
    model::Model,
};

/// A model's place in the shared source streams.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) model: Model,
    pub(crate) precision: Precision,
    /// Where the model starts in each stream: vertices (A and B), extra, tables.
    pub(crate) vertices: u32,
    pub(crate) extra: u32,
    pub(crate) tables: u32,
    /// One per shown part, in that order.
    pub(crate) parts: Vec<SourcePart>,
}

/// One shown part: the packed primitives of its mesh and what a frame needs to know about them.
#[derive(Clone, Debug)]
pub(crate) struct SourcePart {
    pub(crate) part: u32,
    /// First palette row in the instance's range.
    pub(crate) palette: u32,
    pub(crate) primitives: Vec<PartPrimitive>,
    /// Deformed vertices of all primitives.
    pub(crate) vertices: u32,
    /// Chunks of each kernel variant.
    pub(crate) items: [u32; VARIANTS],
}

/// A packed primitive inside a part.
#[derive(Clone, Debug)]
pub(crate) struct PartPrimitive {
    pub(crate) packed: PackedPrimitive,
    /// First vertex inside the part's output.
    pub(crate) first: u32,
}

/// The models and instances that are deformed together: their poses, and where every vertex lies in the
/// kernel's streams. Shared by the GPU and the CPU deformer.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    pub(crate) animator: Animator,
    sources: HashMap<ModelId, Source>,
    /// Rises whenever models or instances change.
    revision: u64,
}

impl Cast {
    /// Packs `model` behind what `streams` hold already.
    pub(crate) fn add_model(
        &mut self,
        model: &Model,
        precision: Precision,
        streams: &mut Streams,
    ) -> Result<ModelId, DeformError> {
        let source = pack(model, precision, streams)?;
        let id = self.animator.add_model(model);
        let rows = self.animator.palette_layout(id)?.parts().to_vec();
        let mut source = source;
        source.parts.iter_mut().zip(rows).for_each(|(part, row)| part.palette = row);
        self.sources.insert(id, source);
        self.revision += 1;
        Ok(id)
    }

    pub(crate) fn remove_model(&mut self, id: ModelId) -> Result<(), DeformError> {
        self.animator.remove_model(id)?;
        self.sources.remove(&id);
        self.revision += 1;
        Ok(())
    }

    pub(crate) fn spawn(&mut self, id: ModelId) -> Result<InstanceId, DeformError> {
        self.revision += 1;
        Ok(self.animator.spawn(id)?)
    }

    pub(crate) fn despawn(&mut self, id: InstanceId) -> Result<(), DeformError> {
        self.revision += 1;
        Ok(self.animator.despawn(id)?)
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn source(&self, id: ModelId) -> Option<&Source> {
        self.sources.get(&id)
    }

    pub(crate) fn source_of(&self, id: InstanceId) -> Result<&Source, DeformError> {
        let model = self.animator.model_of(id)?;
        self.sources.get(&model).ok_or(crate::animate::AnimateError::StaleModel(model).into())
    }

    /// Packs every model anew, one after another: after a removal, or for a new device.
    pub(crate) fn repack(&mut self) -> Result<Streams, DeformError> {
        let mut streams = Streams::default();
        let ids: Vec<_> = self.animator.models().collect();
        for id in ids {
            if let Some(source) = self.sources.get_mut(&id) {
                let packed = pack(&source.model, source.precision, &mut streams)?;
                (source.vertices, source.extra, source.tables) =
                    (packed.vertices, packed.extra, packed.tables);
            }
        }
        Ok(streams)
    }

    /// Palette rows of all instances.
    pub(crate) fn palette_rows(&self) -> usize {
        self.animator.palettes().map(<[_]>::len).sum()
    }
}

fn pack(model: &Model, precision: Precision, streams: &mut Streams) -> Result<Source, DeformError> {
    let too_long = |units: usize| DeformError::StreamTooLong { units };
    let start = |len: usize| u32::try_from(len).map_err(|_| too_long(len));
    let vertices = start(streams.a.len())?;
    let extra = start(streams.extra.len())?;
    let tables = start(streams.tables.len())?;
    // Offsets inside a model count from its own start, so that it can be moved.
    let mut own = Streams::default();
    let mut meshes: HashMap<u32, Vec<PackedPrimitive>> = HashMap::new();
    let mut parts = Vec::with_capacity(model.shown_parts().len());
    for &index in model.shown_parts() {
        let mesh = model.parts()[index as usize].mesh;
        if let std::collections::hash_map::Entry::Vacant(entry) = meshes.entry(mesh) {
            let primitives = model.meshes()[mesh as usize].primitives();
            let packed = primitives.iter().map(|p| own.push(p, precision)).collect::<Result<Vec<_>, _>>()?;
            entry.insert(packed);
        }
        parts.push(part(index, precision, &meshes[&mesh]));
    }
    streams.a.append(&mut own.a);
    streams.b.append(&mut own.b);
    streams.extra.append(&mut own.extra);
    streams.tables.append(&mut own.tables);
    Ok(Source { model: model.clone(), precision, vertices, extra, tables, parts })
}

fn part(index: u32, precision: Precision, packed: &[PackedPrimitive]) -> SourcePart {
    let mut part =
        SourcePart { part: index, palette: 0, primitives: Vec::new(), vertices: 0, items: [0; VARIANTS] };
    for primitive in packed {
        let morph = !primitive.targets.is_empty();
        for chunk in &primitive.chunks {
            part.items[Variant { class: chunk.class, precision, morph }.index()] += 1;
        }
        part.primitives.push(PartPrimitive { packed: primitive.clone(), first: part.vertices });
        part.vertices += primitive.vertices;
    }
    part
}
