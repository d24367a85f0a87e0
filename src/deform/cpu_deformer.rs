use super::{
    DeformError,
    capture::{self, Capture, CaptureError},
    cast::Cast,
    cpu,
    frame::FrameBlock,
    frustum::Frustum,
    group::Reach,
    output::{BakedPrimitive, OutputLayout, Outputs, bake},
    source::{Packing, Streams},
};
use crate::{
    animate::{Animator, InstanceId, JointMap, JointMatrix, ModelId},
    model::{Bounds, Model},
};

/// The deform service without a GPU: the kernel's twin on the same streams and tables. Slow, exact, and
/// never chosen silently.
#[derive(Debug, Default)]
pub struct CpuDeformer {
    cast: Cast,
    /// A page each.
    streams: Vec<Streams>,
    layout: OutputLayout,
    /// By group.
    stages: Vec<Stage>,
}

/// What one group of instances reads and writes.
#[derive(Debug, Default)]
struct Stage {
    frame: FrameBlock,
    items: Vec<cpu::Listed>,
    /// By output, whether the last run wrote it.
    written: Vec<bool>,
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
    pub fn add_model(&mut self, model: &Model, packing: impl Into<Packing>) -> Result<ModelId, DeformError> {
        let (id, page, streams) = self.cast.insert(self.cast.prepare(model, packing.into())?)?;
        match self.streams.get_mut(page) {
            Some(page) => page.append(streams),
            None => self.streams.push(streams),
        }
        Ok(id)
    }

    /// Forgets a model without instances and frees its vertices.
    pub fn remove_model(&mut self, id: ModelId) -> Result<(), DeformError> {
        self.cast.remove_model(id)?;
        self.streams = self.cast.repack(Reach::UNLIMITED)?;
        Ok(())
    }

    /// Adds an instance.
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

    /// Players, transforms and poses.
    #[must_use]
    pub fn animator(&self) -> &Animator {
        &self.cast.animator
    }

    /// Players, transforms and poses. Models and instances are added and removed on the deformer.
    pub fn animator_mut(&mut self) -> &mut Animator {
        &mut self.cast.animator
    }

    /// Evaluates every instance and deforms the visible ones, with the feature `threads` on all threads of the
    /// current rayon pool. Allocates only after models or instances changed, apart from what rayon itself does.
    pub fn run(&mut self) -> Result<(), DeformError> {
        self.cast.animator.evaluate();
        self.cast.cull()?;
        let _span = tracing::trace_span!("deform", device = "cpu").entered();
        self.layout.update(&self.cast, Reach::UNLIMITED)?;
        self.stages.resize_with(self.layout.groups.len(), Stage::default);
        for (group, stage) in self.layout.groups.iter().zip(&mut self.stages) {
            stage.out_a.resize(group.len_a as usize, [0; 4]);
            stage.out_b.resize(group.len_b as usize, 0);
            stage.palette.clear();
            for job in &group.jobs {
                stage.palette.extend_from_slice(self.cast.animator.palette(job.instance)?);
            }
            if stage.frame.build(&self.cast, &group.jobs, &group.outputs, &[])? {
                cpu::list(stage.frame.words(), &mut stage.items);
                stage.written.clear();
                for job in &group.jobs {
                    for part in &self.cast.source_of(job.instance)?.parts {
                        stage.written.push(self.cast.animator.is_part_shown(job.instance, part.part)?);
                    }
                }
            }
            let (streams, frame) = (&self.streams[group.page], stage.frame.words());
            let input = cpu::Input { streams, palette: &stage.palette, frame };
            cpu::deform(input, &stage.items, &mut stage.out_a, &mut stage.out_b);
        }
        Ok(())
    }

    /// Deforms only instances whose [bounds](Self::bounds) meet one of these regions of the world, from the next run
    /// on: what [`Animator::set_in_view`] says is replaced every time. `None` deforms all of them again.
    pub fn set_views(&mut self, views: Option<&[Frustum]>) -> Result<(), DeformError> {
        self.cast.set_views(views)
    }

    /// A box, in the instance's space, that holds every vertex of the parts that are not hidden, as of the last
    /// evaluation; see [`PoseBounds`](super::bounds::PoseBounds).
    pub fn bounds(&self, instance: InstanceId) -> Result<Bounds, DeformError> {
        self.cast.bounds(instance)
    }

    /// Gives output A of every primitive of an instance, part after part, as of the last [`CpuDeformer::run`]; nothing
    /// of parts that were hidden. Allocates nothing.
    pub(crate) fn each_primitive(
        &self,
        instance: InstanceId,
        mut take: impl FnMut(Option<&[[u32; 4]]>),
    ) -> Result<(), DeformError> {
        let source = self.cast.source_of(instance)?;
        let (group, first) = self.deformed(instance)?;
        let (outputs, stage) = (&self.layout.groups[group].outputs[first..], &self.stages[group]);
        let written = stage.written[first..].iter().copied();
        for ((part, output), is_written) in source.parts.iter().zip(outputs).zip(written) {
            for primitive in &part.primitives {
                let from = (output.a + primitive.first) as usize;
                let own = || &stage.out_a[from..from + primitive.packed.vertices as usize];
                take(is_written.then(own));
            }
        }
        Ok(())
    }

    /// The group of an instance that was deformed, and where the outputs of its parts start there.
    fn deformed(&self, instance: InstanceId) -> Result<(usize, usize), DeformError> {
        let parts = self.cast.source_of(instance)?.parts.len();
        let (group, first) = self.layout.place_of(&self.cast, instance)?;
        let is_deformed = parts == 0 || self.stages[group].written[first..first + parts].contains(&true);
        if is_deformed { Ok((group, first)) } else { Err(DeformError::NotDeformed { instance }) }
    }

    /// What the last [`CpuDeformer::run`] read and wrote, to be deformed again elsewhere. Fails with
    /// [`DeformError::NotRecorded`] once models or instances have changed since.
    pub fn capture(&self) -> Result<Capture, CaptureError> {
        if !self.layout.is_of(&self.cast) {
            return Err(DeformError::NotRecorded.into());
        }
        let both = self.layout.groups.iter().zip(&self.stages);
        let groups = both.map(|(group, stage)| {
            capture::group(&self.cast, group, stage.frame.words(), stage.palette.clone())
        });
        let outputs = self.stages.iter().map(|stage| (stage.out_a.clone(), stage.out_b.clone()));
        Capture::new("twin", self.streams.clone(), groups.collect::<Result<_, _>>()?, outputs.collect())
    }

    /// Every primitive of an instance as of the last [`CpuDeformer::run`], in the instance's space and
    /// the source's vertex order; parts that were hidden as they were before, or at the origin. Fails where that run
    /// deformed none of them.
    pub fn bake(&self, instance: InstanceId) -> Result<Vec<BakedPrimitive>, DeformError> {
        self.deformed(instance)?;
        let outputs = |group: usize| Outputs {
            a: &self.stages[group].out_a,
            b: &self.stages[group].out_b,
            start: [0; 2],
        };
        bake(&self.cast, &self.layout, None, instance, outputs)
    }
}
