//! The device side of a graph.

mod error;
mod frame;
mod host;
mod kept;
mod prepare;
mod resources;
mod target;
mod timing;
mod void;

pub use error::RunError;
pub use host::Host;
pub use resources::Resources;
pub use timing::{PassTime, Timings};

use crate::{
    access::Target,
    decl::Declarations,
    graph::Graph,
    handle::{Buffer, Texture},
    plan::{Plan, TexturePlace},
    runtime::{
        frame::Recording,
        kept::Keep,
        prepare::{Prepared, World},
        target::Targets,
        timing::Timer,
        void::Void,
    },
    upload::UploadRing,
};

/// Choices for a [`Runtime`].
#[derive(Clone, Copy, Debug)]
pub struct RuntimeOptions {
    /// Time compute and raster passes on the GPU, if the device has `TIMESTAMP_QUERY`.
    pub timestamps: bool,
    /// Plans whose objects are kept on the device; the one that was not run for longest goes first.
    pub plans: usize,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        Self { timestamps: true, plans: 8 }
    }
}

/// Arenas, textures, bind groups, staging memory and timestamps on one device, for any number of graphs.
///
/// Dropping it gives everything back to the device.
#[derive(Debug)]
pub struct Runtime {
    device: wgpu::Device,
    options: RuntimeOptions,
    prepared: Vec<Prepared>,
    keep: Keep,
    targets: Targets,
    ring: UploadRing,
    timer: Option<Timer>,
    void: Void,
    frame: u64,
}

impl Runtime {
    /// A runtime with nothing prepared. It keeps handles to `device`, and sets no callback on it.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, options: RuntimeOptions) -> Self {
        Self {
            device: device.clone(),
            options,
            prepared: Vec::new(),
            keep: Keep::default(),
            targets: Targets::default(),
            ring: UploadRing::new(device),
            timer: options.timestamps.then(|| Timer::new(device, queue)).flatten(),
            void: Void::new(device),
            frame: 0,
        }
    }

    /// Gives `target` its view for the next run, which lets go of it. The view has the size, format and
    /// sample count that the target was declared with.
    pub fn bind_target(&mut self, target: Texture, view: &wgpu::TextureView) {
        self.targets.bind(target, view);
    }

    /// Records every pass of `plan` into `encoder`, in order; submitting it is the caller's.
    ///
    /// The first run of a plan builds its objects. Later ones allocate nothing and create nothing, as long as
    /// the staging buffers of earlier runs have come back.
    pub fn run<F>(
        &mut self,
        graph: &mut Graph<F>,
        plan: &Plan,
        encoder: &mut wgpu::CommandEncoder,
        frame: &mut F,
    ) -> Result<(), RunError> {
        let recorded = self.record(graph, plan, encoder, frame);
        self.targets.release(plan.graph);
        recorded
    }

    fn record<F>(
        &mut self,
        graph: &mut Graph<F>,
        plan: &Plan,
        encoder: &mut wgpu::CommandEncoder,
        frame: &mut F,
    ) -> Result<(), RunError> {
        self.check(&graph.decl, plan)?;
        let number = self.frame;
        let span = tracing::debug_span!(
            "frame",
            number,
            passes = plan.passes().len(),
            gpu_frame = tracing::field::Empty
        )
        .entered();
        let staging = self.staging(plan)?;
        let at = self.prepare(graph, plan)?;
        let kept = self.keep.get(plan.graph).ok_or(RunError::ForeignPlan)?;
        self.frame += 1;
        let prepared = &mut self.prepared[at];
        prepared.last_run = number;
        let readback = self.timer.as_mut().and_then(|timer| timer.begin(number, &prepared.timed));
        let times = self.timer.as_ref().and_then(Timer::newest);
        if let Some(times) = times {
            span.record("gpu_frame", times.frame());
        }
        let mut recording = Recording {
            world: World { plan, targets: &self.targets, kept },
            prepared,
            void: &self.void,
            staging,
            timer: self.timer.as_ref().filter(|_| readback.is_some()),
            times,
            timed: 0,
            mistake: None,
        };
        for pass in plan.passes() {
            if let Some(record) = graph.records.get_mut(pass.declared as usize) {
                recording.pass(pass, record, encoder, frame);
            }
        }
        let Recording { staging, mistake, .. } = recording;
        if let Some(staging) = staging {
            staging.finish(encoder);
        }
        if let (Some(timer), Some(readback)) = (&mut self.timer, readback) {
            timer.end(readback, encoder);
        }
        match mistake {
            Some(mistake) => Err(mistake),
            None => {
                self.keep.of(&graph.alive, &graph.decl).end(plan);
                Ok(())
            }
        }
    }

    /// GPU times of the newest run whose work has finished; never waits.
    ///
    /// `None` until one has, and always without `TIMESTAMP_QUERY`.
    pub fn timings(&mut self) -> Option<&Timings> {
        let timer = self.timer.as_mut()?;
        timer.collect();
        timer.newest()
    }

    /// The bytes of an exported value, valid from the submit of one run until the next; copy out of them.
    ///
    /// `None` if the plan was never run, or does not give the value memory.
    pub fn exported(&self, plan: &Plan, buffer: Buffer) -> Option<wgpu::BufferSlice<'_>> {
        plan.place(buffer)?;
        let prepared = &self.prepared[self.find(plan)?];
        let bytes = prepared.bytes(Target::Buffer(buffer.index), self.keep.get(plan.graph)?)?;
        Some(bytes.slice())
    }

    /// Plans whose objects are on the device.
    pub fn prepared_plans(&self) -> usize {
        self.prepared.len()
    }

    /// Bytes of buffers on the device: arenas of prepared plans, and what is kept for graphs. Without textures,
    /// staging and timestamps.
    pub fn device_bytes(&self) -> u64 {
        let arenas: u64 = self.prepared.iter().map(|prepared| prepared.arena_bytes).sum();
        arenas + self.keep.bytes()
    }

    /// Staging buffers created so far; constant in a steady state.
    pub fn staging_created(&self) -> u64 {
        self.ring.created()
    }

    /// Gives all memory of all plans back to the device; the next run builds what it needs.
    pub fn clear(&mut self) {
        self.prepared.clear();
        self.keep.clear();
        self.targets.clear();
        self.ring.clear();
    }

    fn check(&self, decl: &Declarations, plan: &Plan) -> Result<(), RunError> {
        if plan.graph != decl.id {
            return Err(RunError::ForeignPlan);
        }
        if plan.shape != decl.fingerprint() {
            return Err(RunError::StalePlan);
        }
        let targets = plan.body.textures.iter().enumerate();
        let mut targets = targets.filter(|(_, texture)| texture.place == TexturePlace::Target);
        let unbound = targets.find(|(index, _)| self.targets.view(plan.graph, *index as u32).is_none());
        match unbound {
            Some((_, texture)) => Err(RunError::TargetNotBound { target: texture.label.clone() }),
            None => Ok(()),
        }
    }

    /// Finds the objects of `plan` or builds them, evicting the plan that was not run for longest.
    fn prepare<F>(&mut self, graph: &Graph<F>, plan: &Plan) -> Result<usize, RunError> {
        let decl = &graph.decl;
        let kept = self.keep.of(&graph.alive, decl);
        if kept.prepare(&self.device, plan) {
            // Other plans hold what was replaced.
            self.prepared.retain(|prepared| prepared.graph != plan.graph);
        }
        kept.begin();
        if let Some(at) = self.find(plan) {
            let kept = self.keep.get(plan.graph).ok_or(RunError::ForeignPlan)?;
            let world = World { plan, targets: &self.targets, kept };
            self.prepared[at].refresh(&self.device, decl, world);
            return Ok(at);
        }
        if cfg!(debug_assertions)
            && let Some((a, b)) = plan.overlap()
        {
            return Err(RunError::DoubleBooked { first: a.label.clone(), second: b.label.clone() });
        }
        self.prepared.retain(|prepared| self.keep.is_current(prepared.graph));
        while self.prepared.len() >= self.options.plans.max(1) {
            let oldest = self.prepared.iter().enumerate().min_by_key(|(_, prepared)| prepared.last_run);
            let Some((oldest, _)) = oldest else { break };
            self.prepared.swap_remove(oldest);
        }
        tracing::debug!(arenas = plan.arenas().len(), peak_bytes = plan.peak_bytes(), "prepared");
        let kept = self.keep.get(plan.graph).ok_or(RunError::ForeignPlan)?;
        let world = World { plan, targets: &self.targets, kept };
        self.prepared.push(Prepared::new(&self.device, decl, world));
        Ok(self.prepared.len() - 1)
    }

    fn find(&self, plan: &Plan) -> Option<usize> {
        let key = (plan.graph, plan.fingerprint());
        self.prepared.iter().position(|prepared| (prepared.graph, prepared.fingerprint) == key)
    }

    /// One staging buffer for every upload block of the plan.
    fn staging(&mut self, plan: &Plan) -> Result<Option<crate::upload::Staging>, RunError> {
        let bytes = plan.body.upload_bytes;
        if bytes == 0 {
            return Ok(None);
        }
        self.ring.take(bytes).map(Some).ok_or(RunError::NoUploadMemory { bytes })
    }
}
