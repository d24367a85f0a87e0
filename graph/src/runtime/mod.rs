//! The device side of a graph.

mod error;
mod frame;
mod groups;
mod host;
mod kept;
mod poison;
mod pool;
mod prepare;
mod resources;
mod target;
mod timing;
mod void;

pub use error::RunError;
pub use host::Host;
pub use resources::Resources;
pub(crate) use timing::is_timed;
pub use timing::{PassTime, Timings};

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{
    access::Target,
    error::Shape,
    graph::Graph,
    handle::{Buffer, Texture},
    loss::LossFlag,
    plan::{Plan, TexturePlace},
    runtime::{
        frame::Recording,
        kept::Keep,
        poison::Poison,
        pool::TexturePool,
        prepare::{Prepared, Scope},
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
    /// Runs, of any plan, after which the objects of a plan that had none go back to the device.
    pub idle_runs: u64,
    /// Fill every transient buffer with 0xFF before its first use, so that a pass that reads what nobody wrote
    /// shows it. For tests and debugging: it costs a copy of everything.
    pub poison: bool,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        Self { timestamps: true, plans: 8, idle_runs: 240, poison: false }
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
    pool: TexturePool,
    targets: Targets,
    ring: UploadRing,
    timer: Option<Timer>,
    void: Void,
    poison: Option<Poison>,
    loss: Option<LossFlag>,
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
            pool: TexturePool::default(),
            targets: Targets::default(),
            ring: UploadRing::new(device),
            timer: options.timestamps.then(|| Timer::new(device, queue)).flatten(),
            void: Void::new(device),
            poison: options.poison.then(|| Poison::new(device)),
            loss: None,
            frame: 0,
        }
    }

    /// Refuses to run once `flag` is raised. After that make another runtime on a new device.
    pub fn watch(&mut self, flag: &LossFlag) {
        self.loss = Some(flag.clone());
    }

    /// Gives `target` its view for the next run, which lets go of it. The view has the size, format and
    /// sample count that the target was declared with.
    pub fn bind_target(&mut self, target: Texture, view: &wgpu::TextureView) {
        self.targets.bind(target, view);
    }

    /// Records every pass of `plan` into `encoder`, in order; submitting it is the caller's. A run whose encoder is
    /// dropped counts all the same: histories have turned, and hold what was there before.
    ///
    /// The first run of a plan builds its objects, the second those for the other side of histories. Later ones
    /// allocate nothing and create nothing, as long as the staging buffers of earlier runs have come back and
    /// no import or view of a target is replaced that a bind group holds.
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
        self.check(graph, plan)?;
        let number = self.frame;
        let span = tracing::debug_span!(
            "frame",
            number,
            passes = plan.passes().len(),
            gpu_frame = tracing::field::Empty
        )
        .entered();
        let staging = self.staging(plan)?;
        let (at, kept_at) = self.prepare(graph, plan, encoder)?;
        self.frame += 1;
        let prepared = &mut self.prepared[at];
        prepared.last_run = number;
        let readback = self.timer.as_mut().and_then(|timer| timer.begin(number, &prepared.timed));
        let times = self.timer.as_ref().and_then(|timer| timer.newest(&prepared.timed));
        if let Some(times) = times {
            span.record("gpu_frame", times.frame());
        }
        let mut recording = Recording {
            scope: Scope { plan, targets: &self.targets, kept: &self.keep[kept_at] },
            prepared,
            void: &self.void,
            continuity: self.ring.continuity(),
            number,
            staging,
            poison: self.poison.as_ref(),
            timer: self.timer.as_ref().filter(|_| readback.is_some()),
            times,
            timed: 0,
            mistake: None,
            skipped: SmallVec::new(),
        };
        for (at, pass) in (0..).zip(plan.passes()) {
            recording.poison(at, encoder);
            if let Some(record) = graph.records.get_mut(pass.declared as usize) {
                recording.pass(pass, record, encoder, frame);
            }
        }
        let Recording { staging, mistake, skipped, .. } = recording;
        if let Some(staging) = staging {
            staging.finish(encoder);
        }
        if let (Some(timer), Some(readback)) = (&mut self.timer, readback) {
            timer.end(readback, encoder);
        }
        match mistake {
            Some(mistake) => Err(mistake),
            None => {
                self.keep[kept_at].end(plan, &skipped);
                Ok(())
            }
        }
    }

    /// GPU times of the newest run of `plan` whose work has finished; never waits.
    ///
    /// `None` until one has, and always without `TIMESTAMP_QUERY`.
    pub fn timings(&mut self, plan: &Plan) -> Option<&Timings> {
        let timer = self.timer.as_mut()?;
        timer.collect();
        let prepared = self.prepared.iter().find(|prepared| prepared.is_exactly(plan))?;
        timer.newest(&prepared.timed)
    }

    /// The bytes of an exported value after a run, until the next run: copy out of them behind it, in the same
    /// encoder or a later one.
    ///
    /// `None` if the plan was never run, or the value was not exported.
    pub fn exported(&self, plan: &Plan, buffer: Buffer) -> Option<wgpu::BufferSlice<'_>> {
        plan.place(buffer).filter(|_| plan.body.exported.binary_search(&buffer.index).is_ok())?;
        let prepared = self.prepared.iter().find(|prepared| prepared.is_exactly(plan))?;
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

    /// Textures on the device, other than those kept from run to run.
    pub fn pooled_textures(&self) -> usize {
        self.pool.len()
    }

    /// Staging buffers created so far; constant in a steady state.
    pub fn staging_created(&self) -> u64 {
        self.ring.created()
    }

    /// Gives all memory of all plans back to the device; the next run builds what it needs. What was persistent
    /// is lost, and targets must be bound again.
    pub fn clear(&mut self) {
        self.prepared.clear();
        self.pool.trim();
        self.keep.clear();
        self.targets.clear();
        self.ring.clear();
    }

    fn check<F>(&self, graph: &Graph<F>, plan: &Plan) -> Result<(), RunError> {
        let decl = &graph.decl;
        if let Some(loss) = self.loss.as_ref().and_then(LossFlag::loss) {
            return Err(RunError::DeviceLost { reason: loss.reason, message: loss.message.clone() });
        }
        if plan.family != graph.family {
            return Err(RunError::ForeignPlan);
        }
        if plan.graph != decl.id || plan.shape != decl.fingerprint() {
            return Err(RunError::StalePlan);
        }
        let targets = plan.body.textures.iter().enumerate();
        let mut targets = targets.filter(|(_, texture)| texture.place == TexturePlace::Target);
        targets.try_for_each(|(index, texture)| {
            let target = || texture.label.clone();
            let view = self.targets.view(plan.graph, index as u32);
            let view = view.ok_or_else(|| RunError::TargetNotBound { target: target() })?;
            let bound = view.texture();
            let (found, expected) = (shape(bound), texture.desc.shape());
            // The view's own level is not known.
            if bound.mip_level_count() == 1 && found != expected {
                return Err(RunError::TargetMismatch { target: target(), found, expected });
            }
            Ok(())
        })
    }

    /// Finds the objects of `plan` or builds them. Returns their place, and that of what the graph keeps.
    fn prepare<F>(
        &mut self,
        graph: &Graph<F>,
        plan: &Plan,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(usize, usize), RunError> {
        let kept_at = self.keep.of(&graph.alive, &graph.decl);
        let kept = &mut self.keep[kept_at];
        if kept.prepare(&self.device, plan, encoder) {
            // Other plans hold what was replaced.
            self.prepared.retain(|prepared| !prepared.is_of_graph(&graph.alive));
        }
        kept.begin();
        self.evict_idle(graph, plan);
        let found = self.prepared.iter().position(|prepared| prepared.is_of(&graph.alive, plan));
        let at = match found {
            Some(at) => {
                let scope = Scope { plan, targets: &self.targets, kept: &self.keep[kept_at] };
                self.prepared[at].refresh(&self.device, &graph.decl, scope);
                at
            }
            None => self.build(graph, plan, kept_at)?,
        };
        Ok((at, kept_at))
    }

    /// Gives back what was not run for long, and what dropped graphs had.
    fn evict_idle<F>(&mut self, graph: &Graph<F>, plan: &Plan) {
        let (number, idle) = (self.frame, self.options.idle_runs);
        let count = self.prepared.len();
        self.prepared.retain(|prepared| {
            let is_idle = number - prepared.last_run > idle && !prepared.is_of(&graph.alive, plan);
            prepared.is_alive() && !is_idle
        });
        if self.prepared.len() < count {
            self.release_unheld();
        }
    }

    /// Builds the objects of a plan that has none, in the place of what its graph needed before it was declared
    /// anew and of the plans that were not run for longest.
    fn build<F>(&mut self, graph: &Graph<F>, plan: &Plan, kept: usize) -> Result<usize, RunError> {
        if cfg!(debug_assertions)
            && let Some((a, b)) = plan.overlap()
        {
            return Err(RunError::DoubleBooked { first: a.label.clone(), second: b.label.clone() });
        }
        self.prepared.retain(|prepared| prepared.is_current(&graph.alive, plan.graph));
        while self.prepared.len() >= self.options.plans.max(1) {
            let oldest = self.prepared.iter().enumerate().min_by_key(|(_, prepared)| prepared.last_run);
            let Some((oldest, _)) = oldest else { break };
            self.prepared.swap_remove(oldest);
        }
        self.release_unheld();
        tracing::debug!(arenas = plan.arenas().len(), peak_bytes = plan.peak_bytes(), "prepared");
        let scope = Scope { plan, targets: &self.targets, kept: &self.keep[kept] };
        let (pool, poison) = (&mut self.pool, self.options.poison);
        self.prepared.push(Prepared::new(&self.device, pool, &graph.alive, &graph.decl, scope, poison));
        Ok(self.prepared.len() - 1)
    }

    /// Lets go of textures and times of plans that are gone.
    fn release_unheld(&mut self) {
        self.pool.trim();
        if let Some(timer) = &mut self.timer {
            timer.retain(|labels| self.prepared.iter().any(|prepared| Arc::ptr_eq(&prepared.timed, labels)));
        }
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

fn shape(texture: &wgpu::Texture) -> Shape {
    Shape { width: texture.width(), height: texture.height(), samples: texture.sample_count() }
}
