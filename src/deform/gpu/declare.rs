use std::{borrow::Cow, collections::HashMap, ops::Range, sync::Arc};

use sinew_graph::{Bind, Buffer, Graph, History, Pack};

use super::{
    Deformer,
    animate::{Animate, Counts, Member, Palettes, Work},
    buffers::SourceBuffers,
    declared::{Declared, DeclaredGroup, Output},
    kernels::Kernels,
};
use crate::{
    animate::{InstanceId, JointMatrix},
    deform::{
        DeformError,
        frame::Job,
        source::{Precision, SOURCES},
    },
    model::Model,
};

/// How long a part's deformed vertices live; chosen per part when it is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputKind {
    /// Inside the frame; the graph gives the memory to something else afterwards.
    #[default]
    Transient,
    /// From run to run, in memory of their own: kept while the instance is hidden, not deformed again while its
    /// palettes, weights and shown parts stay as they are (so no pass may change them in place), and readable outside the
    /// graph through [`Runtime::exported`](sinew_graph::Runtime::exported). Undefined until the instance is
    /// first shown under this declaration.
    Persistent,
    /// Positions and normals twice: this frame's and the frame before's, for motion vectors. Where there is no
    /// frame before, because the instance was spawned, shown, or
    /// [told to forget it](crate::Animator::forget_previous), both are this frame's. Valid in runs in which the
    /// instance is shown; readable outside the graph as well.
    History,
}

/// Choices of [`declare_with`].
#[derive(Clone, Copy)]
pub struct DeclareOptions<'a> {
    /// The kind of each part, from its instance and its index in the model's parts. What is not transient
    /// is deformed whether a pass reads it or not.
    pub kind: &'a dyn Fn(InstanceId, u32) -> OutputKind,
    /// Upload the palettes of the frame before as well, for shaders of your own.
    pub previous_palettes: bool,
    /// What persistent outputs and histories are for outside the graph, beyond `VERTEX` and `COPY_SRC`: such as
    /// `BLAS_INPUT`, where the device has ray tracing. Inside it, passes say what they need.
    pub usage: wgpu::BufferUsages,
}

impl Default for DeclareOptions<'_> {
    fn default() -> Self {
        Self {
            kind: &|_, _| OutputKind::Transient,
            previous_palettes: false,
            usage: wgpu::BufferUsages::empty(),
        }
    }
}

/// Skinned meshes as resources of a frame graph: what [`declare`] returns.
#[derive(Clone, Debug)]
pub struct Skinned {
    parts: Vec<SkinnedPart>,
    of_instance: HashMap<InstanceId, Declaration>,
}

/// What belongs to one instance.
#[derive(Clone, Debug)]
struct Declaration {
    parts: Range<usize>,
    palette: PaletteRows,
}

/// Where the palettes of one instance lie: rows of 48 bytes, [`JointMatrix`], in a buffer that it shares with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaletteRows {
    /// Of this frame.
    pub current: Buffer,
    /// Of the frame before; the current ones in an instance's first frame. `None` unless
    /// [`DeclareOptions::previous_palettes`] asked for them.
    pub previous: Option<Buffer>,
    /// In both.
    pub rows: Range<u32>,
}

/// One shown part of one instance. A pass that draws it declares `pass.vertex(part.a)` and, unless it
/// only needs positions and normals, `pass.vertex(part.b)`. A transient part that no pass reads is not
/// deformed.
#[derive(Clone, Debug)]
pub struct SkinnedPart {
    /// Whose part it is.
    pub instance: InstanceId,
    /// The instance's model.
    pub model: Model,
    /// Index into the model's parts.
    pub part: u32,
    /// 16 bytes a vertex: position f32×3, normal as octahedral snorm16×2.
    pub a: Buffer,
    /// 4 bytes a vertex (packed): tangent as octahedral snorm16×2, handedness in the lowest bit of y;
    /// 32 bytes (exact): normal, tangent, handedness, orientation, all f32.
    pub b: Buffer,
    /// `a` as of the frame before, where the part's output is [`OutputKind::History`].
    pub previous_a: Option<Buffer>,
    /// Format of `b`.
    pub precision: Precision,
    /// Base vertex of each primitive.
    pub first_vertices: Vec<u32>,
}

impl Skinned {
    /// All parts of all declared instances.
    #[must_use]
    pub fn all(&self) -> &[SkinnedPart] {
        &self.parts
    }

    /// The shown parts of one instance; empty for one that was not declared.
    #[must_use]
    pub fn parts(&self, instance: InstanceId) -> &[SkinnedPart] {
        self.of_instance.get(&instance).map_or(&[], |of| &self.parts[of.parts.clone()])
    }

    /// Where an instance's palettes lie; `None` for one that was not declared. All instances share one buffer, unless
    /// they or their models are too many for one binding.
    #[must_use]
    pub fn palettes(&self, instance: InstanceId) -> Option<&PaletteRows> {
        self.of_instance.get(&instance).map(|of| &of.palette)
    }
}

/// Declares the deformation of `instances` in `graph`: a host pass `animate` that evaluates them and
/// fills the upload blocks, and a compute pass `deform` that writes every part's vertices (`deform 2` and so on where
/// they do not fit one binding). `get` finds the
/// deformer in the frame's data.
///
/// Hidden instances ([`Animator::set_visible`](crate::Animator::set_visible)) and despawned ones are
/// skipped frame by frame under the same plan. Instances spawned later, and models added or removed, need
/// a new declaration; until then a frame whose source buffers were replaced deforms nothing, and its run
/// ends with [`RunError::HostFailed`](sinew_graph::RunError::HostFailed).
///
/// Evaluation is part of the plan: where no pass reads a part, nothing is evaluated either.
pub fn declare<F: 'static>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    instances: impl IntoIterator<Item = InstanceId>,
    get: impl Fn(&mut F) -> &mut Deformer + wgpu::WasmNotSend + 'static,
) -> Result<Skinned, DeformError> {
    declare_with(graph, deformer, instances, &DeclareOptions::default(), get)
}

/// As [`declare`], with choices. Each kind of output has a compute pass of its own; what a history lacks for
/// its first frame is filled by another, `seed history`.
pub fn declare_with<F: 'static>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    instances: impl IntoIterator<Item = InstanceId>,
    options: &DeclareOptions<'_>,
    get: impl Fn(&mut F) -> &mut Deformer + wgpu::WasmNotSend + 'static,
) -> Result<Skinned, DeformError> {
    Kernels::check(&deformer.device.limits())?;
    let declared = Declared::collect(deformer, instances, options)?;
    let mut outputs = vec![Output::default(); declared.parts.len()];
    let (mut stages, mut palettes) = (Vec::new(), Vec::new());
    for group in 0..declared.groups.len() {
        let own = declare_palettes(graph, &declared, group, options.previous_palettes);
        for kind in OutputKind::ALL {
            declare_outputs(
                graph,
                deformer,
                &declared,
                group,
                kind,
                own.0,
                options,
                &mut outputs,
                &mut stages,
            )?;
        }
        palettes.push(own);
    }
    let mut of_instance = HashMap::new();
    for (group, &(current, previous)) in declared.groups.iter().zip(&palettes) {
        for job in &group.jobs {
            let rows = job.palette..job.palette + job.rows;
            let parts = declared.parts[job.outputs..].iter().take_while(|part| part.instance == job.instance);
            let parts = job.outputs..job.outputs + parts.count();
            let palette = PaletteRows { current, previous, rows };
            of_instance.insert(job.instance, Declaration { parts, palette });
        }
    }
    let parts = declared.parts.iter().zip(&outputs);
    let parts = parts.filter_map(|(part, output)| part.with(output)).collect();
    declare_passes(graph, deformer, declared, palettes, stages, get);
    Ok(Skinned { parts, of_instance })
}

/// The host pass that fills palettes and the blocks of all `stages`, and a compute pass for each of them.
pub(super) fn declare_passes<F: 'static>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    declared: Declared<'_>,
    palettes: Vec<(Buffer, Option<Buffer>)>,
    stages: Vec<Stage>,
    get: impl Fn(&mut F) -> &mut Deformer + wgpu::WasmNotSend + 'static,
) {
    let passes: Vec<_> = stages.iter().map(Stage::pass).collect();
    let parts = declared.parts.len();
    let groups = declared.groups;
    graph.host("animate", |pass| {
        let mut palettes_of =
            |(group, (current, previous)): (DeclaredGroup, (Buffer, Option<Buffer>))| Palettes {
                jobs: group.jobs,
                current: pass.upload(current),
                previous: previous.map(|previous| pass.upload(previous)),
            };
        let palettes = groups.into_iter().zip(palettes).map(&mut palettes_of).collect();
        let mut work_of = |mut stage: Stage| {
            if let Some(places) = stage.places {
                stage.work.write_places_to(places, pass.upload(places));
            }
            (stage.work, pass.upload(stage.block))
        };
        let works = stages.into_iter().map(&mut work_of).collect();
        let mut animate = Animate::new(deformer, palettes, parts, works);
        move |host: &mut sinew_graph::Host<'_>, frame: &mut F| animate.run(get(frame), host)
    });
    let mut sources = HashMap::new();
    for pass in passes {
        let import = |graph: &mut Graph<F>| -> Vec<Buffer> {
            let none = || SourceBuffers::empty(&deformer.device).buffers;
            let buffers = deformer.sources.get(pass.page).map_or_else(none, |page| page.buffers.clone());
            SOURCES.iter().zip(&buffers).map(|(label, buffer)| graph.import(*label, buffer)).collect()
        };
        let sources = sources.entry(pass.page).or_insert_with(|| import(graph));
        declare_deform(graph, &deformer.kernels, sources, pass);
    }
}

/// Palettes of this frame, and of the one before where they are asked for.
pub(super) fn declare_palettes<F>(
    graph: &mut Graph<F>,
    declared: &Declared<'_>,
    group: usize,
    has_previous: bool,
) -> (Buffer, Option<Buffer>) {
    // Never less than one element: nothing may be bound that is smaller.
    let bytes = (Job::rows(&declared.groups[group].jobs).max(1) * size_of::<JointMatrix>()) as u64;
    let current = graph.transient(numbered("palettes", group), bytes);
    let previous = has_previous.then(|| graph.transient(numbered("previous palettes", group), bytes));
    (current, previous)
}

/// A compute pass: what it reads is bound from 0 on, then both outputs.
fn declare_deform<F>(graph: &mut Graph<F>, kernels: &Arc<Kernels>, sources: &[Buffer], pass: DeformPass) {
    let kernels = Arc::clone(kernels);
    let DeformPass { label, palettes, block, writes, counts, .. } = pass;
    let reads = [sources, &[palettes, block]].concat();
    graph.compute(label, |pass| {
        let mut binds: Vec<Bind> = reads.into_iter().map(|buffer| pass.storage_read(buffer).into()).collect();
        binds.extend(writes.map(|pack| Bind::from(pass.pack_write(pack))));
        let group = pass.bind_group(kernels.group_layout(), (0..).zip(binds));
        move |pass: &mut wgpu::ComputePass<'_>, resources: &sinew_graph::Resources<'_>, _: &F| {
            let dispatches = kernels.dispatch(pass, resources.group(group), &counts.get());
            resources.count_dispatches(u64::from(dispatches));
        }
    });
}

/// What a compute pass is declared from.
struct DeformPass {
    label: Cow<'static, str>,
    page: usize,
    palettes: Buffer,
    block: Buffer,
    writes: [Pack; 2],
    counts: Arc<Counts>,
}

/// One compute pass: what it reads its items from and where it writes.
pub(super) struct Stage {
    pub(super) label: Cow<'static, str>,
    pub(super) page: usize,
    pub(super) palettes: Buffer,
    pub(super) block: Buffer,
    pub(super) a: Pack,
    pub(super) b: Pack,
    /// Where the work says how its parts lie.
    pub(super) places: Option<Buffer>,
    pub(super) work: Work,
}

impl Stage {
    fn pass(&self) -> DeformPass {
        DeformPass {
            label: self.label.clone(),
            page: self.page,
            palettes: self.palettes,
            block: self.block,
            writes: [self.a, self.b],
            counts: Arc::clone(&self.work.counts),
        }
    }
}

/// The name, numbered from the second group on.
fn numbered(name: &'static str, group: usize) -> Cow<'static, str> {
    if group == 0 { name.into() } else { format!("{name} {}", group + 1).into() }
}

/// What passes and resources of a kind are called.
struct Labels {
    pass: &'static str,
    a: &'static str,
    b: &'static str,
    block: &'static str,
}

impl OutputKind {
    const ALL: [Self; 3] = [Self::Transient, Self::Persistent, Self::History];

    const fn labels(self) -> Labels {
        match self {
            Self::Transient => Labels { pass: "deform", a: "positions", b: "tangents", block: "work items" },
            Self::Persistent => Labels {
                pass: "deform persistent",
                a: "persistent positions",
                b: "persistent tangents",
                block: "persistent work items",
            },
            Self::History => Labels {
                pass: "deform history",
                a: "history positions",
                b: "history tangents",
                block: "history work items",
            },
        }
    }
}

/// Declares the packs of all parts of one kind in a group, and how they are filled.
#[expect(clippy::too_many_arguments, reason = "one long step of declare_with, cut out to be read alone")]
fn declare_outputs<F>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    declared: &Declared<'_>,
    group: usize,
    kind: OutputKind,
    palettes: Buffer,
    options: &DeclareOptions<'_>,
    outputs: &mut [Output],
    stages: &mut Vec<Stage>,
) -> Result<(), DeformError> {
    let DeclaredGroup { page, jobs, parts } = &declared.groups[group];
    let indices: Vec<usize> = parts.clone().filter(|index| declared.parts[*index].kind == kind).collect();
    // A declaration of nothing has its passes too, so that it can be compiled and traced like any other.
    let stands_for_nothing = declared.parts.is_empty() && kind == OutputKind::Transient;
    if indices.is_empty() && !stands_for_nothing {
        return Ok(());
    }
    let part = |index: &usize| &declared.parts[*index];
    let sizes_a: Vec<_> = indices.iter().map(part).map(|p| (p.name("positions"), p.bytes_a())).collect();
    let sizes_b: Vec<_> = indices.iter().map(part).map(|p| (p.name("tangents"), p.bytes_b())).collect();
    let labels = kind.labels();
    let (label_a, label_b) = (numbered(labels.a, group), numbered(labels.b, group));
    let (a, b, previous) = match kind {
        OutputKind::Transient => (graph.pack(label_a, sizes_a), graph.pack(label_b, sizes_b), None),
        OutputKind::Persistent => {
            (graph.persistent_pack(label_a, sizes_a), graph.persistent_pack(label_b, sizes_b), None)
        }
        OutputKind::History => {
            let History { current, previous } = graph.history_pack(label_a, sizes_a);
            (current, graph.persistent_pack(label_b, sizes_b), Some(previous))
        }
    };
    let values: Vec<[Buffer; 2]> = graph.members(a).zip(graph.members(b)).map(|(a, b)| [a, b]).collect();
    let before: Vec<Buffer> = previous.map(|pack| graph.members(pack).collect()).unwrap_or_default();
    for (at, &index) in indices.iter().enumerate() {
        outputs[index] = Output { values: Some(values[at]), previous_a: before.get(at).copied() };
        if kind != OutputKind::Transient {
            let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC | options.usage;
            values[at].into_iter().for_each(|value| graph.export_for(value, usage));
        }
    }

    let capacity = declared.capacity(deformer, jobs, &indices)?;
    let members = indices.iter().zip(&values);
    let members = members.map(|(&part, &[a, b])| Member { part, a, b: Some(b), seeds: false });
    let work = Work::new(outputs.len(), jobs, members, kind == OutputKind::Persistent);
    let block = graph.transient(numbered(labels.block, group), capacity);
    let label = numbered(labels.pass, group);
    stages.push(Stage { label, page: *page, palettes, block, a, b, places: None, work });
    if let Some(previous) = previous {
        let members = indices.iter().zip(&before);
        let members = members.map(|(&part, &a)| Member { part, a, b: None, seeds: true });
        let work = Work::new(outputs.len(), jobs, members, false);
        let block = graph.transient(numbered("history seeds", group), capacity);
        // The kernel has two outputs; this pass fills one.
        let unused = numbered("history tangents (unused)", group);
        let unused = graph.pack(unused, [("history tangents (unused)", 16)]);
        let label = numbered("seed history", group);
        stages.push(Stage {
            label,
            page: *page,
            palettes,
            block,
            a: previous,
            b: unused,
            places: None,
            work,
        });
    }
    Ok(())
}
