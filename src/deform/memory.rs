use super::{
    DeformError,
    cast::Cast,
    gpu::Kernels,
    group::{Needs, Reach, Sharing},
    source::Packing,
};
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
    /// All of it, without what buffers are rounded up by: source buffers by up to an eighth.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sources + self.outputs + self.palettes + self.items
    }
}

fn needs(cast: &Cast, id: ModelId) -> Result<Needs, DeformError> {
    Ok(cast.source(id)?.needs(cast.animator.palette_layout(id)?.len()))
}

pub(super) fn of_model(cast: &Cast, id: ModelId) -> Result<ModelMemory, DeformError> {
    let needs = needs(cast, id)?;
    Ok(ModelMemory {
        sources: cast.source(id)?.own.bytes().iter().sum(),
        outputs: needs.out_a + needs.out_b,
        palettes: needs.palettes,
        items: needs.frame,
    })
}

/// What a scene would take on a device with these limits, before anything is created: models, how each is kept, and how
/// many instances it has. Fails with the numbers where no kernel runs there, or one model or instance alone does not fit a
/// binding. Packs every model, so it takes as long as adding them.
pub fn preflight<'m>(
    limits: &wgpu::Limits,
    scene: impl IntoIterator<Item = (&'m Model, Packing, usize)>,
) -> Result<SceneMemory, DeformError> {
    Kernels::check(limits)?;
    let reach = Reach::of(limits);
    let mut cast = Cast::new(reach);
    let mut memory = SceneMemory::default();
    let mut sharing = Sharing::new(reach);
    for (model, packing, instances) in scene {
        let (id, page, _) = cast.insert(cast.prepare(model, packing)?)?;
        let needs = needs(&cast, id)?;
        for _ in 0..instances {
            memory.groups += usize::from(sharing.starts_group(page, needs)?);
        }
        let own = of_model(&cast, id)?;
        let count = instances as u64;
        memory.sources += own.sources;
        memory.outputs += own.outputs * count;
        memory.palettes += own.palettes * count;
        memory.items += own.items * count;
        memory.models.push(own);
    }
    Ok(memory)
}
