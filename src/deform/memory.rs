use super::{DeformError, cast::Cast, group::Reach, output::OutputLayout, source::Packing};
use crate::{animate::ModelId, model::Model};

/// Bytes of device memory that a model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelMemory {
    /// Vertices, influences, joint lists and morph targets, shared by all instances.
    pub sources: u64,
    /// Deformed vertices of one instance, all parts shown.
    pub outputs: u64,
    /// Palettes of one instance.
    pub palettes: u64,
    /// Work items of one instance, and morph records with every target active.
    pub items: u64,
}

/// Bytes of device memory that a scene takes without a graph. In a graph, outputs are transient; what they come to is
/// [`Plan::peak_bytes`](sinew_graph::Plan::peak_bytes).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SceneMemory {
    /// Of each model, in the order given.
    pub models: Vec<ModelMemory>,
    /// Of all models.
    pub sources: u64,
    /// Of all instances.
    pub outputs: u64,
    /// Of all instances.
    pub palettes: u64,
    /// Of all instances.
    pub items: u64,
    /// Sets of bindings over which the scene is shared out; each takes a dispatch for every kernel variant in it.
    pub groups: usize,
}

impl SceneMemory {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sources + self.outputs + self.palettes + self.items
    }
}

pub(super) fn of_model(cast: &Cast, id: ModelId) -> Result<ModelMemory, DeformError> {
    let source = cast.source(id)?;
    let needs = source.needs(cast.animator.palette_layout(id)?.len());
    Ok(ModelMemory {
        sources: source.own.bytes().iter().sum(),
        outputs: needs.out_a + needs.out_b,
        palettes: needs.palettes,
        items: needs.frame,
    })
}

/// What a scene would take on a device with these limits, before anything is created: models, how each is kept, and how
/// many instances it has. Fails with the numbers where one model or instance alone does not fit a binding. Packs every
/// model, so it takes as long as adding them.
pub fn preflight<'m>(
    limits: &wgpu::Limits,
    scene: impl IntoIterator<Item = (&'m Model, Packing, usize)>,
) -> Result<SceneMemory, DeformError> {
    let reach = Reach::of(limits);
    let mut cast = Cast::new(reach);
    let mut memory = SceneMemory::default();
    for (model, packing, instances) in scene {
        let (id, ..) = cast.insert(cast.prepare(model, packing)?)?;
        for _ in 0..instances {
            cast.animator.spawn(id)?;
        }
        let own = of_model(&cast, id)?;
        let count = instances as u64;
        memory.sources += own.sources;
        memory.outputs += own.outputs * count;
        memory.palettes += own.palettes * count;
        memory.items += own.items * count;
        memory.models.push(own);
    }
    let mut layout = OutputLayout::default();
    layout.update(&cast, reach)?;
    memory.groups = layout.groups.len();
    Ok(memory)
}
