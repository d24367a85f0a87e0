use std::{collections::BTreeMap, sync::Arc};

use sinew_graph::{RunId, UploadRing};

use super::{
    buffers::SourceBuffers,
    kernels::Kernels,
    own::{Own, Preparation},
    read_back::ReadBack,
};
use crate::{
    animate::{Animator, ClipRef, InstanceId, JointMap, ModelId, Player},
    deform::{
        DeformError,
        cast::Cast,
        frustum::Frustum,
        group::Reach,
        memory::{self, ModelMemory},
        output::OutputLayout,
        source::{Packing, Precision, Streams},
    },
    model::{Bounds, Model},
};

/// The deform service on wgpu: models in static streams, instances with their poses, and one compute
/// dispatch per kernel variant for all of them.
///
/// Inside a frame graph, declare it with [`declare`](super::declare). Without one, call
/// [`Deformer::record`] with your own encoder and draw from [`Deformer::vertices`].
/// It never submits, polls or waits.
///
/// What does not fit into one binding of the device is shared out over several, each with dispatches of its own; a
/// single model or instance that is too large alone is refused with the numbers.
#[derive(Debug)]
pub struct Deformer {
    pub(super) device: wgpu::Device,
    pub(super) cast: Cast,
    pub(super) kernels: Arc<Kernels>,
    /// A page each.
    pub(super) sources: Vec<SourceBuffers>,
    /// Rises when source buffers were replaced, so that a declaration can tell that it is stale.
    pub(super) generation: u64,
    pub(super) options: DeformerOptions,
    /// The last run of a graph that evaluated every instance, and whether palettes are here.
    pub(super) evaluated: Option<(RunId, bool)>,
    ring: UploadRing,
    layout: OutputLayout,
    pub(super) own: Option<Own>,
}

/// Choices for a [`Deformer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeformerOptions {
    /// Compile kernels without the checks that wgpu adds to every access: about a tenth faster. Every index that they
    /// use is validated on the CPU when models are packed and items are built; without the checks a mistake there
    /// would be undefined behaviour instead of a wrong vertex.
    pub trusted: bool,
    /// What the outputs of [`Deformer::record`] are for, beyond `VERTEX`, `STORAGE` and `COPY_SRC`: such as
    /// `BLAS_INPUT`, where the device has ray tracing. Positions are f32×3 at a stride of 16 bytes.
    pub output_usage: wgpu::BufferUsages,
    /// Keep palettes readable on the CPU: otherwise [`Animator::palette`] may show an older frame, and they are evaluated
    /// straight into upload memory, by all threads of the feature `threads`; no copy, for crowds of thousands. They are
    /// copied all the same where previous palettes are kept, where a scene takes several bindings, and in graphs that
    /// do not declare all instances in the order of [`Animator::instances`].
    pub keep_palettes: bool,
    /// [`Deformer::record`] leaves instances alone whose palettes, weights and shown parts are those of the record
    /// before. Needs `keep_palettes`, and costs a comparison of all of them.
    pub skip_unchanged: bool,
    /// Outputs of [`Deformer::record`] take memory only for what is shown: parts are placed anew, one after another,
    /// whenever something comes into view, goes out of it or is hidden, so [`Deformer::vertices`] are others after every
    /// record. Buffers grow to the most that was shown at once since models or instances changed.
    pub compact_outputs: bool,
}

impl Default for DeformerOptions {
    fn default() -> Self {
        Self {
            trusted: false,
            output_usage: wgpu::BufferUsages::empty(),
            keep_palettes: true,
            skip_unchanged: false,
            compact_outputs: false,
        }
    }
}

/// Where a part's deformed vertices lie after [`Deformer::record`].
#[derive(Clone, Copy, Debug)]
pub struct DeformedVertices<'d> {
    /// 16 bytes a vertex: position f32×3 and the normal as octahedral snorm16×2.
    pub a: wgpu::BufferSlice<'d>,
    /// 4 bytes a vertex (packed) or 32 (exact).
    pub b: wgpu::BufferSlice<'d>,
    /// Format of `b`.
    pub precision: Precision,
}

impl Deformer {
    /// An empty service on `device`. Needs nothing beyond WebGPU's default limits; where there is less, models are
    /// refused.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> Self {
        Self::with(device, DeformerOptions::default())
    }

    /// As [`Deformer::new`], with choices.
    #[must_use]
    pub fn with(device: &wgpu::Device, options: DeformerOptions) -> Self {
        Self {
            device: device.clone(),
            cast: Cast::new(Reach::of(&device.limits())),
            kernels: Arc::new(Kernels::new(device, options.trusted)),
            sources: Vec::new(),
            generation: 0,
            options,
            evaluated: None,
            ring: UploadRing::new(device),
            layout: OutputLayout::default(),
            own: None,
        }
    }

    /// Uploads a model's vertices in packed form and compiles the kernel variants it needs.
    pub fn add_model(&mut self, queue: &wgpu::Queue, model: &Model) -> Result<ModelId, DeformError> {
        self.add_model_with(queue, model, Precision::Packed)
    }

    /// As [`Deformer::add_model`], choosing how exactly vertices and morph deltas are kept.
    pub fn add_model_with(
        &mut self,
        queue: &wgpu::Queue,
        model: &Model,
        packing: impl Into<Packing>,
    ) -> Result<ModelId, DeformError> {
        Kernels::check(&self.device.limits())?;
        let id = self.cast.insert(self.cast.prepare(model, packing.into())?)?;
        let (id, page, streams) = id;
        self.upload(queue, page, &streams)?;
        self.compile(id);
        Ok(id)
    }

    /// As [`Deformer::add_model_with`], for many at once: buffers grow once for all of them. Adds none where one is
    /// refused; buffers may have grown all the same, and graphs have to be declared again.
    pub fn add_models<'m>(
        &mut self,
        queue: &wgpu::Queue,
        models: impl IntoIterator<Item = (&'m Model, Packing)>,
    ) -> Result<Vec<ModelId>, DeformError> {
        Kernels::check(&self.device.limits())?;
        let mut ids = Vec::new();
        let mut pages: BTreeMap<usize, Streams> = BTreeMap::new();
        let mut refused = None;
        for (model, packing) in models {
            match self.cast.prepare(model, packing).and_then(|prepared| self.cast.insert(prepared)) {
                Ok((id, page, streams)) => {
                    ids.push(id);
                    pages.entry(page).or_default().append(streams);
                }
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        // Also what is taken out again below: streams lie where they were placed.
        pages.into_iter().try_for_each(|(page, streams)| self.upload(queue, page, &streams))?;
        if let Some(refused) = refused {
            ids.into_iter().try_for_each(|id| self.cast.remove_model(id))?;
            return Err(refused);
        }
        ids.iter().for_each(|id| self.compile(*id));
        Ok(ids)
    }

    /// Forgets a model without instances and gives its memory back.
    pub fn remove_model(&mut self, queue: &wgpu::Queue, id: ModelId) -> Result<(), DeformError> {
        self.cast.remove_model(id)?;
        self.own = None;
        let pages = self.cast.repack(self.cast.reach())?;
        self.generation += 1;
        self.sources = pages.iter().map(|streams| self.source_buffers(queue, streams, None)).collect();
        Ok(())
    }

    /// Adds an instance: rest pose, no clip, at the origin.
    pub fn spawn(&mut self, model: ModelId) -> Result<InstanceId, DeformError> {
        Ok(self.cast.animator.spawn(model)?)
    }

    /// Adds an instance that [follows](Animator::spawn_following) another one: an outfit.
    pub fn spawn_following(
        &mut self,
        model: ModelId,
        leader: InstanceId,
        map: &JointMap,
    ) -> Result<InstanceId, DeformError> {
        Ok(self.cast.animator.spawn_following(model, leader, map)?)
    }

    /// Removes an instance.
    pub fn despawn(&mut self, id: InstanceId) -> Result<(), DeformError> {
        Ok(self.cast.animator.despawn(id)?)
    }

    /// Plays a clip, by index or name: from its start, looping, speed 1, unless the player that is returned is
    /// told otherwise.
    pub fn play<'c>(
        &mut self,
        id: InstanceId,
        clip: impl Into<ClipRef<'c>>,
    ) -> Result<&mut Player, DeformError> {
        Ok(self.cast.animator.play(id, clip)?)
    }

    /// Moves every player on by `seconds`.
    pub fn advance(&mut self, seconds: f64) {
        self.cast.animator.advance(seconds);
    }

    /// Players, transforms and poses.
    #[must_use]
    pub fn animator(&self) -> &Animator {
        &self.cast.animator
    }

    /// Players, transforms and poses. Models and instances are added and removed on the deformer.
    pub fn animator_mut(&mut self) -> &mut Animator {
        &mut self.cast.animator
    }

    /// Deforms only instances whose [bounds](Self::bounds) meet one of these regions of the world, such as what a camera
    /// and a shadow map see, from the next record or run of a graph on: instances are evaluated, then culled, and no work
    /// is listed for the others. What [`Animator::set_in_view`] says is replaced every time. `None` deforms all of them
    /// again.
    ///
    /// Needs palettes on the CPU: they are copied to upload memory whatever [`DeformerOptions::keep_palettes`] says.
    pub fn set_views(&mut self, views: Option<&[Frustum]>) -> Result<(), DeformError> {
        self.cast.set_views(views)
    }

    /// A box, in the instance's space, that holds every vertex of the parts that are not hidden, as of the last
    /// evaluation that kept palettes; see [`PoseBounds`](crate::deform::bounds::PoseBounds).
    pub fn bounds(&self, instance: InstanceId) -> Result<Bounds, DeformError> {
        self.cast.bounds(instance)
    }

    /// Evaluates every instance and records the deformation of the visible ones into `encoder`. Submit the
    /// encoder once; several records before one submit do not disturb each other's uploads, but write the
    /// same vertex buffers.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), DeformError> {
        self.record_timed(encoder, None)
    }

    /// As [`Deformer::record`], with timestamps around the compute pass.
    pub fn record_timed(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> Result<(), DeformError> {
        self.prepare()?;
        if let Some(own) = &mut self.own {
            own.record(encoder, &mut self.ring, &self.kernels, timestamp_writes)?;
        }
        Ok(())
    }

    /// The first half of the next [`Deformer::record`], for frames that encode elsewhere than they evaluate: evaluates
    /// every instance and fills upload memory. What is changed afterwards counts from the record after that on, except
    /// that models and instances that come or go have the record evaluate anew.
    pub fn prepare(&mut self) -> Result<(), DeformError> {
        let revision = self.cast.revision();
        if self.own.as_ref().is_none_or(|own| own.revision != revision) {
            self.own = None;
            self.layout.update(&self.cast, self.cast.reach())?;
            if self.layout.groups.is_empty() {
                self.cast.animator.evaluate();
                return self.cast.cull();
            }
            let sources = |page: usize| self.sources[page].buffers.clone();
            let own =
                Own::new(&self.device, &self.cast, &self.layout, &self.kernels, sources, &self.options)?;
            self.own = Some(own);
        }
        let Self { cast, layout, ring, .. } = self;
        let (device, kernels, options) = (&self.device, &self.kernels, &self.options);
        match &mut self.own {
            Some(own) => own.prepare(Preparation { device, kernels, cast, layout, ring, options }),
            None => Ok(()),
        }
    }

    /// Where a part's deformed vertices lie after a record, until models or instances change, or until the next record
    /// with [`DeformerOptions::compact_outputs`]. `part` is one of [`Model::shown_parts`].
    pub fn vertices(&self, instance: InstanceId, part: u32) -> Result<DeformedVertices<'_>, DeformError> {
        let revision = self.cast.revision();
        let recorded = self.own.as_ref().filter(|own| own.is_recorded && own.revision == revision);
        let recorded = recorded.ok_or(DeformError::NotRecorded)?;
        let (group, range) = self.layout.find(&self.cast, instance, part)?;
        let group = &recorded.groups[group];
        let (a, b) = (group.out_a.slice(range.a), group.out_b.slice(range.b));
        Ok(DeformedVertices { a, b, precision: range.precision })
    }

    /// The first vertex of each primitive of a part in its [`Deformer::vertices`]: the base vertex to draw it with.
    pub fn first_vertices(&self, instance: InstanceId, part: u32) -> Result<Vec<u32>, DeformError> {
        Ok(self.layout.find(&self.cast, instance, part)?.1.first_vertices)
    }

    /// Records a copy of all deformed vertices for the CPU, behind the last [`Deformer::record`] in the
    /// same or a later submit. The result is there once the caller's device was polled after the submit.
    pub fn read_back(&self, encoder: &mut wgpu::CommandEncoder) -> Result<ReadBack, DeformError> {
        let own = self.own.as_ref().filter(|own| own.is_recorded).ok_or(DeformError::NotRecorded)?;
        let outputs =
            own.groups.iter().enumerate().map(|(at, group)| {
                (at, [&group.out_a, &group.out_b].map(|output| (output, 0..output.size())))
            });
        Ok(ReadBack::record(&self.device, encoder, outputs, own.revision, self.layout.snapshot(), None))
    }

    /// As [`Deformer::read_back`], for one instance alone: copies no more than its vertices.
    pub fn read_back_of(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        instance: InstanceId,
    ) -> Result<ReadBack, DeformError> {
        let own = self.own.as_ref().filter(|own| own.is_recorded).ok_or(DeformError::NotRecorded)?;
        self.cast.animator.model_of(instance)?;
        let (group, [a, b]) = self.layout.find_instance(&self.cast, instance)?;
        let outputs = [(&own.groups[group].out_a, a), (&own.groups[group].out_b, b)];
        let revision = own.revision;
        Ok(ReadBack::record(
            &self.device,
            encoder,
            [(group, outputs)],
            revision,
            self.layout.snapshot(),
            Some(instance),
        ))
    }

    pub(super) fn cast_and_layout(&self) -> (&Cast, &OutputLayout) {
        (&self.cast, &self.layout)
    }

    /// Moves to a new device, after the old one was lost: everything on the GPU is built again from the
    /// models. Handles, players and poses stay as they are; graphs must be declared again. Fails, and stays
    /// on the old device, where the new one's limits are too low.
    pub fn rebuild(&mut self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<(), DeformError> {
        Kernels::check(&device.limits())?;
        let pages = self.cast.repack(Reach::of(&device.limits()))?;
        self.device = device.clone();
        self.kernels = Arc::new(Kernels::new(device, self.options.trusted));
        self.ring = UploadRing::new(device);
        self.own = None;
        self.generation += 1;
        self.sources = pages.iter().map(|streams| self.source_buffers(queue, streams, None)).collect();
        let models: Vec<_> = self.cast.animator.models().collect();
        models.into_iter().for_each(|id| self.compile(id));
        Ok(())
    }

    /// Bytes on the device: source streams, and outputs and uploads of the path without a graph.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let sources: u64 = self.sources.iter().map(SourceBuffers::bytes).sum();
        sources + self.own.as_ref().map_or(0, Own::bytes)
    }

    /// Bytes that a model takes, and each of its instances.
    pub fn model_memory(&self, id: ModelId) -> Result<ModelMemory, DeformError> {
        memory::of_model(&self.cast, id)
    }

    /// Puts streams behind what a page holds.
    fn upload(&mut self, queue: &wgpu::Queue, page: usize, streams: &Streams) -> Result<(), DeformError> {
        match self.sources.get_mut(page) {
            Some(buffers) if buffers.has_room(streams) => buffers.append(queue, streams),
            Some(_) => {
                let streams = self.cast.pack_page(page)?;
                let larger = self.source_buffers(queue, &streams, Some(&self.sources[page]));
                self.sources[page] = larger;
                self.generation += 1;
                self.own = None;
            }
            None => {
                let buffers = self.source_buffers(queue, streams, None);
                self.sources.push(buffers);
            }
        }
        Ok(())
    }

    fn source_buffers(
        &self,
        queue: &wgpu::Queue,
        streams: &Streams,
        before: Option<&SourceBuffers>,
    ) -> SourceBuffers {
        SourceBuffers::new(&self.device, queue, streams, self.cast.reach().bytes(), before)
    }
}
