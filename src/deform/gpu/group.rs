//! Many instances as one resource of a frame graph: what is shown is placed anew in every run.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use sinew_graph::{Access, Bind, Buffer, Graph, Host, Resources, role};

use super::{
    Deformer, PaletteRows,
    animate::{Work, place},
    declare::{Stage, declare_palettes, declare_passes},
    declared::Declared,
    kernels::Kernels,
};
use crate::{
    animate::InstanceId,
    deform::{
        DeformError,
        cast::Cast,
        frame::{Job, PartOutput},
        layout::{NO_OUTPUT, PartBox},
        output::BYTES_A,
        source::Precision,
    },
    model::Model,
};

/// A crowd as one resource of a frame graph: what [`declare_group`] returns.
///
/// All of its vertices lie in one pair of buffers. A pass that draws it declares `pass.vertex(group.a)` and
/// `pass.vertex(group.b)`, binds them once, and draws each part that has [a first vertex](Self::first_vertex) in this run from there.
#[derive(Clone, Debug)]
pub struct SkinnedGroup {
    /// 16 bytes a vertex: position f32×3, normal as octahedral snorm16×2.
    pub a: Buffer,
    /// 4 bytes a vertex (packed) or 32 (exact), as in [`SkinnedPart::b`](super::SkinnedPart::b).
    pub b: Buffer,
    /// Format of `b`.
    pub precision: Precision,
    /// Vertices that there is room for.
    pub capacity: u32,
    /// A [`PartBox`](crate::deform::PartBox) for each of [`parts`](Self::parts), in that order, where
    /// [`GroupOptions::bounds`] asked for them.
    pub bounds: Option<Buffer>,
    parts: Vec<GroupPart>,
    palettes: HashMap<InstanceId, PaletteRows>,
    table: Arc<Table>,
}

/// Choices of [`declare_group`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupOptions {
    /// Vertices of all parts that are shown at the same time; `None` makes room for all parts.
    pub capacity: Option<u32>,
    /// Declare a compute pass `bounds` as well, which finds the box of every part from its deformed vertices, for culling on
    /// the GPU. Boxes are exact, and empty for what has no place. It runs when a pass reads them; one workgroup takes a
    /// part, so it is made for many parts rather than for large ones.
    pub bounds: bool,
}

/// One shown part of one instance of a group.
#[derive(Clone, Debug)]
pub struct GroupPart {
    /// Whose part it is.
    pub instance: InstanceId,
    /// The instance's model.
    pub model: Model,
    /// Index into the model's parts.
    pub part: u32,
    /// First vertex of each primitive, counted from the part's own.
    pub first_vertices: Vec<u32>,
}

/// Where parts lie in the current run, from the host pass to whoever draws.
#[derive(Debug)]
struct Table {
    first: Vec<AtomicU32>,
    left_out: AtomicU32,
}

impl SkinnedGroup {
    /// Every part of every instance; their places in this list are what [`first_vertex`](Self::first_vertex) asks for.
    #[must_use]
    pub fn parts(&self) -> &[GroupPart] {
        &self.parts
    }

    /// The first vertex of a part in this run, to add to those of its primitives: the base vertex to draw them with.
    /// `None` for what is hidden, out of view or despawned, and for what there was no room for. To be asked while the
    /// run records, or after it.
    #[must_use]
    pub fn first_vertex(&self, part: usize) -> Option<u32> {
        let first = self.table.first.get(part)?.load(Ordering::Relaxed);
        (first != NO_OUTPUT).then_some(first)
    }

    /// Parts that were to be shown in the last run and found no room: they are neither deformed nor drawn. Declare the
    /// group with more when it is not 0.
    #[must_use]
    pub fn left_out(&self) -> u32 {
        self.table.left_out.load(Ordering::Relaxed)
    }

    /// Where an instance's palettes lie; `None` for one that was not declared.
    #[must_use]
    pub fn palettes(&self, instance: InstanceId) -> Option<&PaletteRows> {
        self.palettes.get(&instance)
    }
}

/// Declares the deformation of `instances` as one resource with room for so many vertices. In every run, the parts that
/// are shown are placed one after another, in the order of the instances, so that what is hidden or out of view
/// ([`Deformer::set_views`], [`Animator::set_in_view`](crate::Animator::set_in_view)) takes no room; what comes after the
/// room has ended is left out, with a warning through `tracing`.
///
/// Apart from that it is [`declare`](super::declare): the same passes under the same names, the same refusals. Fails where the instances'
/// models have several precisions, and where they or `capacity` do not fit one set of bindings.
pub fn declare_group<F: 'static>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    instances: impl IntoIterator<Item = InstanceId>,
    options: GroupOptions,
    get: impl Fn(&mut F) -> &mut Deformer + wgpu::WasmNotSend + 'static,
) -> Result<SkinnedGroup, DeformError> {
    Kernels::check(&deformer.device.limits())?;
    let declared = Declared::collect_placed(deformer, instances)?;
    let [group] = &declared.groups[..] else {
        return Err(DeformError::GroupTooLarge { sets: declared.groups.len() });
    };
    let mut precisions = declared.parts.iter().map(|part| part.source.precision);
    let precision = precisions.next().unwrap_or_default();
    if precisions.any(|other| other != precision) {
        return Err(DeformError::MixedPrecision);
    }
    let reach = deformer.cast.reach();
    let GroupOptions { capacity, bounds } = options;
    let all = declared.parts.iter().map(|part| u64::from(part.part.vertices)).sum::<u64>();
    let capacity = capacity.unwrap_or_else(|| u32::try_from(all).unwrap_or(u32::MAX));
    // Never less than what may be bound.
    let bytes_a = u64::from(capacity.max(1)) * BYTES_A;
    let bytes_b = (u64::from(capacity) * u64::from(precision.words_b()) * 4).max(16);
    reach.check("deformed positions and normals of a group", bytes_a)?;
    reach.check("deformed tangents of a group", bytes_b)?;

    let palettes = declare_palettes(graph, &declared, 0, false);
    let pack_a = graph.pack("positions", [("group positions", bytes_a)]);
    let pack_b = graph.pack("tangents", [("group tangents", bytes_b)]);
    let [a, b] = [pack_a, pack_b].map(|pack| graph.members(pack).next());
    let (Some(a), Some(b)) = (a, b) else { return Err(DeformError::StaleDeclaration) };
    let all: Vec<usize> = (0..declared.parts.len()).collect();
    let block = graph.transient("work items", declared.capacity(deformer, &group.jobs, &all)?);
    let first = (0..declared.parts.len()).map(|_| AtomicU32::new(NO_OUTPUT)).collect();
    let table = Arc::new(Table { first, left_out: AtomicU32::new(0) });
    let table_of = Arc::clone(&table);
    let placing = Placing {
        a,
        b,
        capacity,
        precision,
        table: table_of,
        places: None,
        vertices: Vec::new(),
        left_out: 0,
    };
    let count = declared.parts.len();
    let places = bounds.then(|| graph.transient("places", (count as u64 + 1) * 8));
    let work = Work::placed(declared.parts.len(), &group.jobs, placing);
    let stage = Stage {
        label: "deform".into(),
        page: group.page,
        palettes: palettes.0,
        block,
        a: pack_a,
        b: pack_b,
        places,
        work,
    };
    let parts = declared.parts.iter().map(|part| GroupPart {
        instance: part.instance,
        model: part.source.model.clone(),
        part: part.part.part,
        first_vertices: part.part.primitives.iter().map(|p| p.first).collect(),
    });
    let rows = group.jobs.iter().map(|job| {
        let rows = job.palette..job.palette + job.rows;
        (job.instance, PaletteRows { current: palettes.0, previous: palettes.1, rows })
    });
    let (parts, rows) = (parts.collect(), rows.collect());
    declare_passes(graph, deformer, declared, vec![palettes], vec![stage], get);
    let bounds = places.map(|places| declare_bounds(graph, deformer, a, places, count));
    Ok(SkinnedGroup { a, b, precision, capacity, bounds, parts, palettes: rows, table })
}

/// The pass that finds the boxes of `count` parts.
fn declare_bounds<F: 'static>(
    graph: &mut Graph<F>,
    deformer: &Deformer,
    a: Buffer,
    places: Buffer,
    count: usize,
) -> Buffer {
    let boxes = graph.transient("bounds", (count.max(1) * size_of::<PartBox>()) as u64);
    let kernels = Arc::clone(&deformer.kernels);
    graph.compute("bounds", |pass| {
        let binds: [Bind; 3] =
            [pass.storage_read(a).into(), pass.storage_read(places).into(), pass.storage_write(boxes).into()];
        let group = pass.bind_group(&kernels.reduction().layout, (0..).zip(binds));
        move |pass: &mut wgpu::ComputePass<'_>, resources: &Resources<'_>, _: &F| {
            kernels.reduction().dispatch(pass, resources.group(group), count as u32, kernels.grid_width());
            resources.count_dispatches(1);
        }
    });
    boxes
}

/// Places the parts of a group.
pub(super) struct Placing {
    a: Buffer,
    b: Buffer,
    capacity: u32,
    precision: Precision,
    table: Arc<Table>,
    /// Where the places are written for other passes.
    pub(super) places: Option<(Buffer, Access<role::Upload>)>,
    /// Of each part that has a place, 0 for others.
    vertices: Vec<u32>,
    /// In the run before.
    left_out: u32,
}

impl Placing {
    /// Finds where the parts of `jobs` go: nowhere if nobody reads them.
    pub(super) fn place(
        &mut self,
        cast: &Cast,
        host: &Host<'_>,
        jobs: &[Job],
        outputs: &mut [PartOutput],
    ) -> Result<(), DeformError> {
        let a = place(host.offset_in_pack(self.a), BYTES_A)?;
        let b = place(host.offset_in_pack(self.b), 4)?;
        let is_read = a != NO_OUTPUT || b != NO_OUTPUT;
        outputs.fill(PartOutput::NOWHERE);
        self.vertices.clear();
        self.vertices.resize(outputs.len(), 0);
        let (mut next, mut left_out) = (0, 0);
        for job in jobs {
            let source = cast.source_of(job.instance)?;
            let places = outputs[job.outputs..].iter_mut().zip(&mut self.vertices[job.outputs..]);
            for (part, (output, vertices)) in source.parts.iter().zip(places) {
                if !is_read || !cast.animator.is_part_shown(job.instance, part.part)? {
                    continue;
                }
                if part.vertices > self.capacity - next {
                    left_out += 1;
                    continue;
                }
                let from = |base: u32, words: u32| if base == NO_OUTPUT { base } else { base + next * words };
                *output = PartOutput { a: from(a, 1), b: from(b, self.precision.words_b()) };
                *vertices = part.vertices;
                next += part.vertices;
            }
        }
        for (shared, output) in self.table.first.iter().zip(&*outputs) {
            let first = match (output.a, output.b) {
                (NO_OUTPUT, NO_OUTPUT) => NO_OUTPUT,
                (NO_OUTPUT, own) => (own - b) / self.precision.words_b(),
                (own, _) => own - a,
            };
            shared.store(first, Ordering::Relaxed);
        }
        if left_out > self.left_out {
            tracing::warn!(
                parts = left_out,
                capacity = self.capacity,
                "a group has no room for all that is shown"
            );
        }
        self.left_out = left_out;
        self.table.left_out.store(left_out, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the number of parts, then the first vertex and the vertices of each.
    pub(super) fn write(&self, host: &mut Host<'_>) {
        let Some((_, access)) = self.places.filter(|(buffer, _)| host.is_live(*buffer)) else { return };
        let mut memory = host.write(access);
        let mut at = 0;
        let mut push = |pair: [u32; 2]| {
            memory.slice(at..at + 8).copy_from_slice(bytemuck::bytes_of(&pair));
            at += 8;
        };
        push([self.table.first.len() as u32, 0]);
        for (first, vertices) in self.table.first.iter().zip(&self.vertices) {
            push([first.load(Ordering::Relaxed), *vertices]);
        }
    }

    /// Nothing is placed.
    pub(super) fn clear(&mut self) {
        self.left_out = 0;
        self.vertices.clear();
        self.vertices.resize(self.table.first.len(), 0);
        self.table.left_out.store(0, Ordering::Relaxed);
        self.table.first.iter().for_each(|first| first.store(NO_OUTPUT, Ordering::Relaxed));
    }
}
