use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use sinew_graph::{Access, Buffer, Graph, role};

use super::{
    Deformer, OutputKind,
    buffers::SOURCES,
    deformer::write_palettes,
    persist::{Kept, persist},
};
use crate::{
    animate::{InstanceId, JointMatrix},
    deform::{
        DeformError,
        cast::{Cast, Source, SourcePart},
        frame::{FrameBlock, Job, PartOutput, palette_rows},
        layout::{NO_OUTPUT, VARIANTS},
        output::BYTES_A,
        source::Precision,
    },
    model::Model,
};

/// Skinned meshes as resources of a frame graph: what [`declare`] returns.
#[derive(Clone, Debug)]
pub struct Skinned {
    parts: Vec<SkinnedPart>,
    of_instance: HashMap<InstanceId, std::ops::Range<usize>>,
}

/// One shown part of one instance. A pass that draws it declares `pass.vertex(part.a)` and, unless it
/// only needs positions and normals, `pass.vertex(part.b)`. What no pass reads is not deformed.
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
    /// Format of `b`.
    pub precision: Precision,
    /// Base vertex of each primitive.
    pub first_vertices: Vec<u32>,
    /// The buffers behind `a` and `b` where the part's output is [`OutputKind::Persistent`].
    pub persistent: Option<[wgpu::Buffer; 2]>,
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
        self.of_instance.get(&instance).map_or(&[], |range| &self.parts[range.clone()])
    }
}

/// State of the host pass, kept from frame to frame so that none of them allocates.
struct Animate {
    jobs: Vec<Job>,
    outputs: Vec<PartOutput>,
    /// A and B of every output.
    members: Vec<(Buffer, Buffer)>,
    frame: FrameBlock,
    generation: u64,
    palette: Access<role::Upload>,
    block: Access<role::Upload>,
    counts: Arc<[AtomicU32; VARIANTS]>,
    /// By output: whether it is deformed this frame.
    written: Arc<[AtomicBool]>,
}

/// Declares the deformation of `instances` in `graph`: a host pass `animate` that evaluates them and
/// fills one upload block, and a compute pass `deform` that writes every part's vertices. `get` finds the
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
    declare_with(graph, deformer, instances, |_, _| OutputKind::Transient, get)
}

/// As [`declare`], choosing how long each part's vertices live: `kind` gets the instance and the index of
/// the part in its model. Parts that persist are deformed whether a pass reads them or not.
pub fn declare_with<F: 'static>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    instances: impl IntoIterator<Item = InstanceId>,
    kind: impl Fn(InstanceId, u32) -> OutputKind,
    get: impl Fn(&mut F) -> &mut Deformer + wgpu::WasmNotSend + 'static,
) -> Result<Skinned, DeformError> {
    let declared = Declared::collect(deformer, instances)?;
    let Declared { parts, of_instance, jobs, sizes_a, sizes_b } = declared;
    let rows = palette_rows(&deformer.cast, &jobs)?;
    let block_bytes = FrameBlock::capacity(&deformer.cast, &jobs)? as u64 * 16;
    // Never less than one element: nothing may be bound that is smaller.
    let palette = graph.transient("palettes", (rows.max(1) * size_of::<JointMatrix>()) as u64);
    let block = graph.transient("work items", block_bytes);
    let bytes: Vec<_> = sizes_a.iter().zip(&sizes_b).map(|((_, a), (_, b))| [*a, *b]).collect();
    let pack_a = graph.pack("positions", sizes_a);
    let pack_b = graph.pack("tangents", sizes_b);
    let members: Vec<_> = graph.members(pack_a).zip(graph.members(pack_b)).collect();
    let parts = parts.into_iter().zip(&members).map(|(part, &(a, b))| part.with(a, b)).collect();
    let mut skinned = Skinned { parts, of_instance };
    let written: Arc<[AtomicBool]> = members.iter().map(|_| AtomicBool::new(false)).collect();
    let marks = Arc::clone(&written);
    let sources: Vec<_> =
        SOURCES.iter().zip(&deformer.sources.buffers).map(|(label, b)| graph.import(*label, b)).collect();
    let counts: Arc<[AtomicU32; VARIANTS]> = Arc::default();

    let shared = Arc::clone(&counts);
    let generation = deformer.generation;
    graph.host("animate", |pass| {
        let mut animate = Animate {
            outputs: vec![PartOutput { a: NO_OUTPUT, b: NO_OUTPUT }; members.len()],
            jobs,
            members,
            frame: FrameBlock::default(),
            generation,
            palette: pass.upload(palette),
            block: pass.upload(block),
            counts: shared,
            written: marks,
        };
        move |host: &mut sinew_graph::Host<'_>, frame: &mut F| {
            let deformer = get(frame);
            deformer.animator_mut().evaluate();
            if let Err(error) = animate.fill(deformer, host) {
                animate.fill_empty(host);
                host.fail(error);
            }
        }
    });

    let kernels = Arc::clone(&deformer.kernels);
    graph.compute("deform", |pass| {
        let mut entries = Vec::with_capacity(8);
        for (binding, source) in (0u32..).zip(sources) {
            entries.push((binding, pass.storage_read(source).into()));
        }
        entries.push((4, pass.storage_read(palette).into()));
        entries.push((5, pass.storage_read(block).into()));
        entries.push((6, pass.pack_write(pack_a).into()));
        entries.push((7, pass.pack_write(pack_b).into()));
        let group = pass.bind_group(kernels.group_layout(), entries);
        move |pass: &mut wgpu::ComputePass<'_>, resources: &sinew_graph::Resources<'_>, _: &F| {
            let counts = std::array::from_fn(|i| counts[i].load(Ordering::Relaxed));
            let dispatches = kernels.dispatch(pass, resources.group(group), &counts);
            resources.count_dispatches(u64::from(dispatches));
        }
    });
    let persistent = |part: &SkinnedPart| kind(part.instance, part.part) == OutputKind::Persistent;
    let kept = skinned.parts.iter().enumerate().filter(|(_, part)| persistent(part));
    let kept = kept.map(|(index, part)| Kept { index, transient: [part.a, part.b], bytes: bytes[index] });
    let kept: Vec<_> = kept.collect();
    for part in persist(graph, &deformer.device, &kept, written) {
        let declared = &mut skinned.parts[part.index];
        [declared.a, declared.b] = part.values;
        declared.persistent = Some(part.buffers);
    }
    Ok(skinned)
}

/// What is deformed and how much room it takes.
struct Declared<'d> {
    parts: Vec<DeclaredPart<'d>>,
    of_instance: HashMap<InstanceId, std::ops::Range<usize>>,
    jobs: Vec<Job>,
    sizes_a: Vec<(String, u64)>,
    sizes_b: Vec<(String, u64)>,
}

struct DeclaredPart<'d> {
    instance: InstanceId,
    source: &'d Source,
    part: &'d SourcePart,
}

impl DeclaredPart<'_> {
    fn with(self, a: Buffer, b: Buffer) -> SkinnedPart {
        SkinnedPart {
            instance: self.instance,
            model: self.source.model.clone(),
            part: self.part.part,
            a,
            b,
            precision: self.source.precision,
            first_vertices: self.part.primitives.iter().map(|p| p.first).collect(),
            persistent: None,
        }
    }
}

impl<'d> Declared<'d> {
    fn collect(
        deformer: &'d Deformer,
        instances: impl IntoIterator<Item = InstanceId>,
    ) -> Result<Self, DeformError> {
        let mut parts = Vec::new();
        let mut of_instance = HashMap::new();
        let (mut jobs, mut sizes_a, mut sizes_b) = (Vec::new(), Vec::new(), Vec::new());
        for instance in instances {
            let source = deformer.cast.source_of(instance)?;
            let first = parts.len();
            jobs.push(Job { instance, outputs: first });
            for part in &source.parts {
                let name =
                    &source.model.skeleton().names()[source.model.parts()[part.part as usize].node as usize];
                let vertices = u64::from(part.vertices.max(1));
                sizes_a.push((format!("{name} positions"), vertices * BYTES_A));
                sizes_b
                    .push((format!("{name} tangents"), vertices * u64::from(source.precision.words_b()) * 4));
                parts.push(DeclaredPart { instance, source, part });
            }
            of_instance.insert(instance, first..parts.len());
        }
        Ok(Self { parts, of_instance, jobs, sizes_a, sizes_b })
    }
}

impl Animate {
    fn fill(&mut self, deformer: &Deformer, host: &mut sinew_graph::Host<'_>) -> Result<(), DeformError> {
        if self.generation != deformer.generation {
            return Err(DeformError::StaleDeclaration);
        }
        let cast = &deformer.cast;
        self.jobs.retain(|job| cast.animator.visible(job.instance).is_ok());
        for (output, (a, b)) in self.outputs.iter_mut().zip(&self.members) {
            output.a = place(host.offset_in_pack(*a), BYTES_A)?;
            output.b = place(host.offset_in_pack(*b), 4)?;
        }
        self.mark_written(cast)?;
        self.frame.build(cast, &self.jobs, &self.outputs)?;
        let rows = palette_rows(cast, &self.jobs)?;
        let words: &[u8] = bytemuck::cast_slice(self.frame.words());
        let [palette, mut block] = host.write_all([self.palette, self.block]);
        write_palettes(cast, &self.jobs, palette)?;
        block.slice(..words.len()).copy_from_slice(words);
        host.set_used(self.palette, (rows * size_of::<JointMatrix>()) as u64);
        host.set_used(self.block, words.len() as u64);
        self.publish();
        Ok(())
    }

    fn mark_written(&self, cast: &Cast) -> Result<(), DeformError> {
        self.written.iter().for_each(|mark| mark.store(false, Ordering::Relaxed));
        for job in &self.jobs {
            let visible = cast.animator.visible(job.instance)?;
            let parts = cast.source_of(job.instance)?.parts.len();
            let marks = &self.written[job.outputs..job.outputs + parts];
            marks.iter().for_each(|mark| mark.store(visible, Ordering::Relaxed));
        }
        Ok(())
    }

    /// No items at all.
    fn fill_empty(&mut self, host: &mut sinew_graph::Host<'_>) {
        self.frame.clear();
        self.written.iter().for_each(|mark| mark.store(false, Ordering::Relaxed));
        host.set_used(self.palette, 0);
        host.set_used(self.block, 0);
        self.publish();
    }

    fn publish(&self) {
        let counts = self.counts.iter().zip(self.frame.counts());
        counts.for_each(|(shared, count)| shared.store(*count, Ordering::Relaxed));
    }
}

/// A member's offset in units of the kernel.
fn place(offset: Option<u64>, unit: u64) -> Result<u32, DeformError> {
    let Some(offset) = offset else { return Ok(NO_OUTPUT) };
    u32::try_from(offset / unit).map_err(|_| DeformError::StreamTooLong { units: (offset / unit) as usize })
}
