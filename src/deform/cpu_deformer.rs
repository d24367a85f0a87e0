use super::{
    DeformError,
    cast::Cast,
    cpu,
    frame::FrameBlock,
    output::{BakedPrimitive, OutputLayout, bake},
    source::{Precision, Streams},
};
use crate::{
    animate::{Animator, InstanceId, JointMatrix, ModelId},
    model::Model,
};

/// The deform service without a GPU: the kernel's twin on the same streams and tables. Slow, exact, and
/// never chosen silently.
#[derive(Debug, Default)]
pub struct CpuDeformer {
    cast: Cast,
    streams: Streams,
    frame: FrameBlock,
    layout: OutputLayout,
    palette: Vec<JointMatrix>,
    out_a: Vec<[u32; 4]>,
    out_b: Vec<u32>,
}

impl CpuDeformer {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Packs a model's vertices.
    pub fn add_model(&mut self, model: &Model, precision: Precision) -> Result<ModelId, DeformError> {
        let (id, streams) = self.cast.insert(self.cast.prepare(model, precision)?)?;
        self.streams.append(streams);
        Ok(id)
    }

    /// Forgets a model without instances and frees its vertices.
    pub fn remove_model(&mut self, id: ModelId) -> Result<(), DeformError> {
        self.cast.remove_model(id)?;
        self.streams = self.cast.repack()?;
        Ok(())
    }

    /// Adds an instance.
    pub fn spawn(&mut self, model: ModelId) -> Result<InstanceId, DeformError> {
        Ok(self.cast.animator.spawn(model)?)
    }

    /// Removes an instance.
    pub fn despawn(&mut self, id: InstanceId) -> Result<(), DeformError> {
        Ok(self.cast.animator.despawn(id)?)
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

    /// Evaluates every instance and deforms the visible ones. Allocates only after models or instances
    /// changed.
    pub fn run(&mut self) -> Result<(), DeformError> {
        self.cast.animator.evaluate();
        let _span = tracing::trace_span!("deform", device = "cpu").entered();
        self.layout.update(&self.cast)?;
        self.out_a.resize(self.layout.len_a as usize, [0; 4]);
        self.out_b.resize(self.layout.len_b as usize, 0);
        self.palette.clear();
        for job in &self.layout.jobs {
            self.palette.extend_from_slice(self.cast.animator.palette(job.instance)?);
        }
        self.frame.build(&self.cast, &self.layout.jobs, &self.layout.outputs)?;
        let frame = self.frame.words();
        cpu::deform(&self.streams, &self.palette, frame, &mut self.out_a, &mut self.out_b);
        Ok(())
    }

    /// Every primitive of an instance as of the last [`CpuDeformer::run`], in the instance's space and
    /// the source's vertex order.
    pub fn bake(&self, instance: InstanceId) -> Result<Vec<BakedPrimitive>, DeformError> {
        bake(&self.cast, &self.layout, instance, &self.out_a, &self.out_b)
    }
}
