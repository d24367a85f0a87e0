use std::{
    collections::{HashMap, hash_map::Entry},
    sync::OnceLock,
};

use super::{
    DeformError,
    bounds::PoseBounds,
    cull::Culling,
    group::{Needs, Reach},
    layout::VARIANTS,
    source::{PackedPrimitive, Packing, Precision, SOURCES, Streams},
    variant::Variant,
};
use crate::{
    animate::{AnimateError, Animator, InstanceId, ModelId},
    model::{Model, Part, Skinning},
};

/// A model's place in the shared source streams.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) model: Model,
    /// Of vertices.
    pub(crate) precision: Precision,
    packing: Packing,
    /// Which set of streams holds its vertices.
    pub(crate) page: usize,
    /// Where the model starts in each stream.
    pub(crate) start: Taken,
    /// How much of each it takes.
    pub(crate) own: Taken,
    /// One per shown part, in that order.
    pub(crate) parts: Vec<SourcePart>,
    bounds: OnceLock<PoseBounds>,
}

/// One shown part: the packed primitives of its mesh and what a frame needs to know about them.
#[derive(Clone, Debug)]
pub(crate) struct SourcePart {
    pub(crate) part: u32,
    /// Of several influences.
    pub(crate) skinning: Skinning,
    /// First palette row in the instance's range.
    pub(crate) palette: u32,
    pub(crate) primitives: Vec<PartPrimitive>,
    /// Deformed vertices of all primitives.
    pub(crate) vertices: u32,
    /// Chunks of each kernel variant.
    pub(crate) items: [u32; VARIANTS],
}

impl SourcePart {
    /// Most `vec4`s of the frame block that one instance of the part takes: all chunks, every target active.
    pub(crate) fn words(&self) -> usize {
        let items = 2 * self.items.iter().sum::<u32>() as usize;
        let morphs = self.primitives.iter().map(|p| p.packed.targets.len()).filter(|targets| *targets > 0);
        items + morphs.map(|targets| 1 + 2 * targets).sum::<usize>()
    }
}

impl Source {
    /// Made when somebody asks for the first time.
    pub(crate) fn bounds(&self) -> &PoseBounds {
        self.bounds.get_or_init(|| PoseBounds::new(&self.model))
    }

    /// What an instance takes.
    pub(crate) fn needs(&self, rows: usize) -> Needs {
        Needs::of(&self.parts, rows, self.precision)
    }
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

    /// `None` where 32-bit offsets do not reach.
    fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            vertices: self.vertices.checked_add(other.vertices)?,
            extra: self.extra.checked_add(other.extra)?,
            tables: self.tables.checked_add(other.tables)?,
        })
    }

    /// Bytes of each stream, in the order of their bindings.
    pub(crate) fn bytes(self) -> [u64; 4] {
        let vertices = u64::from(self.vertices) * 16;
        [vertices, vertices, u64::from(self.extra) * 16, u64::from(self.tables) * 4]
    }

    fn check(self, reach: Reach) -> Result<(), DeformError> {
        SOURCES.iter().zip(self.bytes()).try_for_each(|(what, bytes)| reach.check(what, bytes))
    }
}

/// How much of each page's streams is taken; a model lies in one page.
#[derive(Debug, Default)]
struct Pages {
    reach: Reach,
    taken: Vec<Taken>,
}

impl Pages {
    /// The page for a model that takes `own`: the last one, or one more where the last has no room. Fails where a
    /// model alone is too large.
    fn place(&self, own: Taken) -> Result<(usize, Taken), DeformError> {
        own.check(self.reach)?;
        if let Some(last) = self.taken.last() {
            let together = last.plus(own).filter(|together| together.check(self.reach).is_ok());
            if together.is_some() {
                return Ok((self.taken.len() - 1, *last));
            }
        }
        Ok((self.taken.len(), Taken::default()))
    }

    fn take(&mut self, page: usize, own: Taken) {
        if page == self.taken.len() {
            self.taken.push(Taken::default());
        }
        // `place` has found room.
        self.taken[page] = self.taken[page].plus(own).unwrap_or_default();
    }
}

/// A packed model that was not taken in yet.
#[derive(Debug)]
pub(crate) struct Prepared {
    source: Source,
    streams: Streams,
}

/// The models and instances that are deformed together: their poses, and where every vertex lies in the
/// kernel's streams. Shared by the GPU and the CPU deformer.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    pub(crate) animator: Animator,
    sources: HashMap<ModelId, Source>,
    pages: Pages,
    pub(super) culling: Culling,
    /// How often everything was packed anew.
    repacked: u64,
}

impl Cast {
    /// Nothing, in streams of this size at most.
    #[cfg(feature = "gpu")]
    pub(crate) fn new(reach: Reach) -> Self {
        Self { pages: Pages { reach, taken: Vec::new() }, ..Self::default() }
    }

    /// Packs `model` without taking it in yet; [`Cast::insert`] does.
    pub(crate) fn prepare(&self, model: &Model, packing: Packing) -> Result<Prepared, DeformError> {
        let (mut source, streams) = pack(model, packing)?;
        (source.page, source.start) = self.pages.place(source.own)?;
        Ok(Prepared { source, streams })
    }

    /// Takes a prepared model in; its streams belong behind what was taken in its page before.
    pub(crate) fn insert(&mut self, prepared: Prepared) -> Result<(ModelId, usize, Streams), DeformError> {
        let Prepared { mut source, streams } = prepared;
        let id = self.animator.add_model(&source.model);
        let rows = self.animator.palette_layout(id)?.parts();
        source.parts.iter_mut().zip(rows).for_each(|(part, row)| part.palette = *row);
        let page = source.page;
        self.pages.take(page, source.own);
        self.sources.insert(id, source);
        Ok((id, page, streams))
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

    pub(crate) fn source(&self, id: ModelId) -> Result<&Source, DeformError> {
        self.sources.get(&id).ok_or(AnimateError::StaleModel(id).into())
    }

    pub(crate) fn source_of(&self, id: InstanceId) -> Result<&Source, DeformError> {
        let model = self.animator.model_of(id)?;
        self.source(model)
    }

    /// Packs every model anew, one after another, a [`Streams`] for each page: after a removal, or for another
    /// device. Fails, and changes nothing, where a model is too large for `reach`.
    pub(crate) fn repack(&mut self, reach: Reach) -> Result<Vec<Streams>, DeformError> {
        // Models may also be removed on the animator.
        self.sources.retain(|id, _| self.animator.model(*id).is_ok());
        let mut pages = Pages { reach, taken: Vec::new() };
        let mut streams: Vec<Streams> = Vec::new();
        let mut places = Vec::new();
        for id in self.animator.models() {
            let Some(source) = self.sources.get(&id) else { continue };
            let (_, own) = pack(&source.model, source.packing)?;
            let taken = Taken::of(&own)?;
            let (page, start) = pages.place(taken)?;
            pages.take(page, taken);
            match streams.get_mut(page) {
                Some(streams) => streams.append(own),
                None => streams.push(own),
            }
            places.push((id, page, start));
        }
        for (id, page, start) in places {
            if let Some(source) = self.sources.get_mut(&id) {
                (source.page, source.start) = (page, start);
            }
        }
        self.pages = pages;
        self.repacked += 1;
        Ok(streams)
    }

    /// Everything in one page anew, for larger buffers; nothing moves.
    #[cfg(feature = "gpu")]
    pub(crate) fn pack_page(&self, page: usize) -> Result<Streams, DeformError> {
        let mut streams = Streams::default();
        let mut inside: Vec<_> = self
            .sources
            .iter()
            .filter(|(id, source)| source.page == page && self.animator.model(**id).is_ok())
            .map(|(_, source)| source)
            .collect();
        inside.sort_by_key(|source| (source.start.vertices, source.start.tables, source.start.extra));
        for source in inside {
            // Models that were refused or removed may have left gaps.
            let Taken { vertices, extra, tables } = source.start;
            streams.pad(vertices, extra, tables);
            streams.append(pack(&source.model, source.packing)?.1);
        }
        Ok(streams)
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn reach(&self) -> Reach {
        self.pages.reach
    }
}

/// Packs the shown parts of a model; offsets count from its own start, so that it can be moved.
fn pack(model: &Model, packing: Packing) -> Result<(Source, Streams), DeformError> {
    let mut streams = Streams::default();
    let mut meshes: HashMap<(u32, bool), Vec<PackedPrimitive>> = HashMap::new();
    let mut parts = Vec::with_capacity(model.shown_parts().len());
    for &index in model.shown_parts() {
        let Part { mesh, skin, .. } = model.parts()[index as usize];
        let data = &model.meshes()[mesh as usize];
        let packed = match meshes.entry((mesh, skin.is_some())) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let packed = data.primitives().iter().map(|p| streams.push(p, packing, skin.is_some()));
                entry.insert(packed.collect::<Result<Vec<_>, _>>()?)
            }
        };
        let skinning = if skin.is_some() { data.skinning() } else { Skinning::Linear };
        parts.push(part(index, skinning, packing.vertices, packed));
    }
    let source = Source {
        model: model.clone(),
        precision: packing.vertices,
        packing,
        page: 0,
        start: Taken::default(),
        own: Taken::of(&streams)?,
        parts,
        bounds: OnceLock::new(),
    };
    Ok((source, streams))
}

fn part(index: u32, skinning: Skinning, precision: Precision, packed: &[PackedPrimitive]) -> SourcePart {
    let mut part = SourcePart {
        part: index,
        skinning,
        palette: 0,
        primitives: Vec::new(),
        vertices: 0,
        items: [0; VARIANTS],
    };
    for primitive in packed {
        let morph = !primitive.targets.is_empty();
        for chunk in &primitive.chunks {
            part.items[Variant { class: chunk.class, skinning, precision, morph }.index()] += 1;
        }
        part.primitives.push(PartPrimitive { packed: primitive.clone(), first: part.vertices });
        part.vertices += primitive.vertices;
    }
    part
}
