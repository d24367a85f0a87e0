use std::collections::{HashMap, hash_map::Entry};

use super::{
    DeformError,
    layout::VARIANTS,
    source::{PackedPrimitive, Precision, Streams},
    variant::Variant,
};
use crate::{
    animate::{AnimateError, Animator, InstanceId, ModelId},
    model::{Model, Part},
};

/// A model's place in the shared source streams.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) model: Model,
    pub(crate) precision: Precision,
    /// Where the model starts in each stream.
    pub(crate) start: Taken,
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

/// Units of the streams: vertices (A and B), extra, tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) vertices: u32,
    pub(crate) extra: u32,
    pub(crate) tables: u32,
}

impl Taken {
    fn of(streams: &Streams) -> Result<Self, DeformError> {
        let unit = |len: usize| u32::try_from(len).map_err(|_| DeformError::StreamTooLong { units: len });
        let vertices = unit(streams.a.len())?;
        Ok(Self { vertices, extra: unit(streams.extra.len())?, tables: unit(streams.tables.len())? })
    }

    fn plus(self, other: Self) -> Result<Self, DeformError> {
        let sum = |a: u32, b: u32| {
            let units = a as usize + b as usize;
            a.checked_add(b).ok_or(DeformError::StreamTooLong { units })
        };
        let vertices = sum(self.vertices, other.vertices)?;
        Ok(Self { vertices, extra: sum(self.extra, other.extra)?, tables: sum(self.tables, other.tables)? })
    }
}

/// A packed model that was not taken in yet.
#[derive(Debug)]
pub(crate) struct Prepared {
    source: Source,
    streams: Streams,
    /// What the streams will hold together.
    pub(crate) taken: Taken,
}

/// The models and instances that are deformed together: their poses, and where every vertex lies in the
/// kernel's streams. Shared by the GPU and the CPU deformer.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    pub(crate) animator: Animator,
    sources: HashMap<ModelId, Source>,
    /// How much of each stream is taken.
    taken: Taken,
    /// How often everything was packed anew.
    repacked: u64,
}

impl Cast {
    /// Packs `model` without taking it in yet; [`Cast::insert`] does.
    pub(crate) fn prepare(&self, model: &Model, precision: Precision) -> Result<Prepared, DeformError> {
        let (mut source, streams) = pack(model, precision)?;
        source.start = self.taken;
        let taken = self.taken.plus(Taken::of(&streams)?)?;
        Ok(Prepared { source, streams, taken })
    }

    /// Takes a prepared model in; its streams belong behind what was taken before.
    pub(crate) fn insert(&mut self, prepared: Prepared) -> Result<(ModelId, Streams), DeformError> {
        let Prepared { mut source, streams, taken } = prepared;
        let id = self.animator.add_model(&source.model);
        let rows = self.animator.palette_layout(id)?.parts();
        source.parts.iter_mut().zip(rows).for_each(|(part, row)| part.palette = *row);
        self.taken = taken;
        self.sources.insert(id, source);
        Ok((id, streams))
    }

    pub(crate) fn remove_model(&mut self, id: ModelId) -> Result<(), DeformError> {
        self.animator.remove_model(id)?;
        self.sources.remove(&id);
        Ok(())
    }

    /// Rises whenever models or instances change, or are packed anew.
    pub(crate) fn revision(&self) -> u64 {
        self.animator.revision() + self.repacked
    }

    /// How much of the streams is taken.
    #[cfg(feature = "gpu")]
    pub(crate) fn taken(&self) -> Taken {
        self.taken
    }

    pub(crate) fn source(&self, id: ModelId) -> Result<&Source, DeformError> {
        self.sources.get(&id).ok_or(AnimateError::StaleModel(id).into())
    }

    pub(crate) fn source_of(&self, id: InstanceId) -> Result<&Source, DeformError> {
        let model = self.animator.model_of(id)?;
        self.source(model)
    }

    /// Packs every model anew, one after another: after a removal, when buffers grow, or for a new device.
    pub(crate) fn repack(&mut self) -> Result<Streams, DeformError> {
        let mut streams = Streams::default();
        for id in self.animator.models() {
            if let Some(source) = self.sources.get_mut(&id) {
                let (_, own) = pack(&source.model, source.precision)?;
                source.start = Taken::of(&streams)?;
                streams.append(own);
            }
        }
        self.taken = Taken::of(&streams)?;
        self.repacked += 1;
        Ok(streams)
    }
}

/// Packs the shown parts of a model; offsets count from its own start, so that it can be moved.
fn pack(model: &Model, precision: Precision) -> Result<(Source, Streams), DeformError> {
    let mut streams = Streams::default();
    let mut meshes: HashMap<(u32, bool), Vec<PackedPrimitive>> = HashMap::new();
    let mut parts = Vec::with_capacity(model.shown_parts().len());
    for &index in model.shown_parts() {
        let Part { mesh, skin, .. } = model.parts()[index as usize];
        let packed = match meshes.entry((mesh, skin.is_some())) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let primitives = model.meshes()[mesh as usize].primitives().iter();
                let packed = primitives.map(|p| streams.push(p, precision, skin.is_some()));
                entry.insert(packed.collect::<Result<Vec<_>, _>>()?)
            }
        };
        parts.push(part(index, precision, packed));
    }
    Ok((Source { model: model.clone(), precision, start: Taken::default(), parts }, streams))
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
