use std::sync::Arc;

use sinew_graph::UploadRing;

use super::{
    buffers::{SourceBuffers, check, check_buffer, check_sources, create},
    kernels::Kernels,
    read_back::ReadBack,
};
use crate::{
    animate::{AnimateError, Animator, ClipRef, InstanceId, JointMatrix, ModelId, Player},
    deform::{
        DeformError,
        cast::Cast,
        frame::{FrameBlock, Job},
        output::{BYTES_A, DeformedRange, OutputLayout},
        source::Precision,
    },
    model::Model,
};

/// The deform service on wgpu: models in static streams, instances with their poses, and one compute
/// dispatch per kernel variant for all of them.
///
/// Inside a frame graph, declare it with [`declare`](super::declare). Without one, call
/// [`Deformer::record`] with your own encoder and draw from [`Deformer::vertices`].
/// It never submits, polls or waits.
#[derive(Debug)]
pub struct Deformer {
    pub(super) device: wgpu::Device,
    pub(super) cast: Cast,
    pub(super) kernels: Arc<Kernels>,
    pub(super) sources: SourceBuffers,
    /// Rises when source buffers were replaced, so that a declaration can tell that it is stale.
    pub(super) generation: u64,
    ring: UploadRing,
    frame: FrameBlock,
    layout: OutputLayout,
    own: Option<Own>,
}

/// Buffers of the path without a graph.
#[derive(Debug)]
struct Own {
    revision: u64,
    upload: wgpu::Buffer,
    /// Where the frame block starts in `upload`.
    frame_offset: u64,
    out_a: wgpu::Buffer,
    out_b: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl Deformer {
    /// An empty service on `device`. Needs nothing beyond WebGPU's default limits.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            cast: Cast::default(),
            kernels: Arc::new(Kernels::new(device)),
            sources: SourceBuffers::new(device),
            generation: 0,
            ring: UploadRing::new(device),
            frame: FrameBlock::default(),
            layout: OutputLayout::default(),
            own: None,
        }
    }

    /// Uploads a model's vertices in packed form and compiles the kernel variants it needs.
    pub fn add_model(&mut self, queue: &wgpu::Queue, model: &Model) -> Result<ModelId, DeformError> {
        self.add_model_with(queue, model, Precision::Packed)
    }

    /// As [`Deformer::add_model`], choosing how exactly vertices are kept.
    pub fn add_model_with(
        &mut self,
        queue: &wgpu::Queue,
        model: &Model,
        precision: Precision,
    ) -> Result<ModelId, DeformError> {
        let prepared = self.cast.prepare(model, precision)?;
        check_sources(&self.device, prepared.taken)?;
        let (id, streams) = self.cast.insert(prepared)?;
        if !self.sources.append(queue, &streams) {
            self.replace_sources(queue)?;
        }
        self.warm_up(id)?;
        Ok(id)
    }

    /// Forgets a model without instances and gives its memory back.
    pub fn remove_model(&mut self, queue: &wgpu::Queue, id: ModelId) -> Result<(), DeformError> {
        self.cast.remove_model(id)?;
        self.own = None;
        self.replace_sources(queue)
    }

    /// Adds an instance: rest pose, no clip, at the origin.
    pub fn spawn(&mut self, model: ModelId) -> Result<InstanceId, DeformError> {
        Ok(self.cast.animator.spawn(model)?)
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

    /// Evaluates every instance and records the deformation of the visible ones into `encoder`. Submit the
    /// encoder once; several records before one submit do not disturb each other's uploads, but write the
    /// same vertex buffers.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), DeformError> {
        self.cast.animator.evaluate();
        let mut own = match self.own.take().filter(|own| own.revision == self.cast.revision()) {
            Some(own) => own,
            None => match self.create_own()? {
                Some(own) => own,
                None => return Ok(()),
            },
        };
        let recorded = self.record_into(&mut own, encoder);
        self.own = Some(own);
        recorded
    }

    /// Where a part's deformed vertices lie in [`Deformer::buffers`] after a record. `part` is one of
    /// [`Model::shown_parts`].
    pub fn vertices(&self, instance: InstanceId, part: u32) -> Result<DeformedRange, DeformError> {
        let recorded = self.own.as_ref().filter(|own| own.revision == self.cast.revision());
        recorded.ok_or(DeformError::NotRecorded)?;
        self.layout.find(&self.cast, instance, part)
    }

    /// Outputs A and B of [`Deformer::record`]: vertex buffers, also usable as storage and copy source.
    /// `None` before the first record. They are replaced when models or instances change.
    #[must_use]
    pub fn buffers(&self) -> Option<(&wgpu::Buffer, &wgpu::Buffer)> {
        self.own.as_ref().map(|own| (&own.out_a, &own.out_b))
    }

    /// Records a copy of all deformed vertices for the CPU, behind the last [`Deformer::record`] in the
    /// same or a later submit. The result is there once the caller's device was polled after the submit.
    pub fn read_back(&self, encoder: &mut wgpu::CommandEncoder) -> Result<ReadBack, DeformError> {
        let own = self.own.as_ref().ok_or(DeformError::NotRecorded)?;
        Ok(ReadBack::record(&self.device, encoder, [&own.out_a, &own.out_b], own.revision))
    }

    pub(super) fn cast_and_layout(&self) -> (&Cast, &OutputLayout) {
        (&self.cast, &self.layout)
    }

    /// Moves to a new device, after the old one was lost: everything on the GPU is built again from the
    /// models. Handles, players and poses stay as they are; graphs must be declared again. Fails, and stays
    /// on the old device, where the new one's limits are too low.
    pub fn rebuild(&mut self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<(), DeformError> {
        let streams = self.cast.repack()?;
        check_sources(device, self.cast.taken())?;
        self.device = device.clone();
        self.kernels = Arc::new(Kernels::new(device));
        self.sources = SourceBuffers::new(device);
        self.ring = UploadRing::new(device);
        self.own = None;
        self.generation += 1;
        self.sources.replace(&self.device, queue, &streams)?;
        let models: Vec<_> = self.cast.animator.models().collect();
        models.into_iter().try_for_each(|id| self.warm_up(id))
    }

    /// Bytes on the device: source streams, and outputs and uploads of the path without a graph.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let own = self.own.as_ref();
        let own = own.map_or(0, |own| own.upload.size() + own.out_a.size() + own.out_b.size());
        self.sources.bytes() + own
    }

    fn replace_sources(&mut self, queue: &wgpu::Queue) -> Result<(), DeformError> {
        let streams = self.cast.repack()?;
        self.generation += 1;
        self.sources.replace(&self.device, queue, &streams)
    }

    /// Compiles the kernel variants that a model needs, so that no frame waits for it.
    fn warm_up(&self, id: ModelId) -> Result<(), DeformError> {
        for part in &self.cast.source(id)?.parts {
            let used = part.items.iter().enumerate().filter(|(_, items)| **items > 0);
            used.for_each(|(variant, _)| {
                self.kernels.pipeline(variant);
            });
        }
        Ok(())
    }

    fn create_own(&mut self) -> Result<Option<Own>, DeformError> {
        self.layout.update(&self.cast)?;
        if self.layout.len_a == 0 {
            return Ok(None);
        }
        let device = &self.device;
        let align = u64::from(device.limits().min_storage_buffer_offset_alignment);
        let rows = Job::rows(&self.layout.jobs) as u64;
        let palette_bytes = rows * size_of::<JointMatrix>() as u64;
        let frame_offset = palette_bytes.next_multiple_of(align);
        let frame_bytes =
            FrameBlock::capacity(&self.cast, &self.layout.jobs, &self.layout.outputs)? as u64 * 16;
        let (bytes_a, bytes_b) = (u64::from(self.layout.len_a) * BYTES_A, u64::from(self.layout.len_b) * 4);
        check(device, "palettes", palette_bytes)?;
        check(device, "work items and morph records", frame_bytes)?;
        check(device, "deformed positions and normals", bytes_a)?;
        check(device, "deformed tangents", bytes_b)?;
        let upload = frame_offset + frame_bytes;
        check_buffer(device, "palettes, work items and morph records together", upload)?;
        let upload = create(device, "deform upload", upload, wgpu::BufferUsages::COPY_DST);
        let vertex = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
        let out_a = create(device, "deformed A", bytes_a, vertex);
        let out_b = create(device, "deformed B", bytes_b, vertex);
        let range = |buffer, offset, size| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset,
                size: wgpu::BufferSize::new(size),
            })
        };
        let [a, b, extra, tables] = &self.sources.buffers;
        let resources = [
            a.as_entire_binding(),
            b.as_entire_binding(),
            extra.as_entire_binding(),
            tables.as_entire_binding(),
            range(&upload, 0, palette_bytes),
            range(&upload, frame_offset, frame_bytes),
            out_a.as_entire_binding(),
            out_b.as_entire_binding(),
        ];
        let entries: Vec<_> = (0u32..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("deform"),
            layout: self.kernels.group_layout(),
            entries: &entries,
        });
        Ok(Some(Own { revision: self.cast.revision(), upload, frame_offset, out_a, out_b, group }))
    }

    fn record_into(&mut self, own: &mut Own, encoder: &mut wgpu::CommandEncoder) -> Result<(), DeformError> {
        self.frame.build(&self.cast, &self.layout.jobs, &self.layout.outputs)?;
        let frame: &[u8] = bytemuck::cast_slice(self.frame.words());
        let frame_at = own.frame_offset as usize;
        let mut staging = self.ring.take(own.frame_offset + frame.len() as u64).ok_or(DeformError::Map)?;
        let mut bytes = staging.bytes();
        let palette = |id| self.cast.animator.palette(id);
        write_palettes(&self.layout.jobs, bytes.slice(..frame_at), palette)?;
        bytes.slice(frame_at..frame_at + frame.len()).copy_from_slice(frame);
        staging.copy(encoder, 0..own.frame_offset + frame.len() as u64, &own.upload, 0);
        staging.finish(encoder);
        let _span = tracing::trace_span!("deform", device = "gpu").entered();
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("deform"),
            timestamp_writes: None,
        });
        self.kernels.dispatch(&mut pass, &own.group, self.frame.counts());
        Ok(())
    }
}

/// Writes the rows of every job to their place in mapped memory.
pub(super) fn write_palettes<'a>(
    jobs: &[Job],
    mut memory: wgpu::WriteOnly<'_, [u8]>,
    palette: impl Fn(InstanceId) -> Result<&'a [JointMatrix], AnimateError>,
) -> Result<(), DeformError> {
    for job in jobs {
        let bytes: &[u8] = bytemuck::cast_slice(palette(job.instance)?);
        let at = job.palette as usize * size_of::<JointMatrix>();
        memory.slice(at..at + bytes.len()).copy_from_slice(bytes);
    }
    Ok(())
}
