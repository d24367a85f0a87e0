//! The host pass: evaluation, and the blocks that the deform passes read.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use sinew_graph::{Access, Buffer, Host, role};

use super::{Deformer, deformer::write_palettes};
use crate::{
    animate::JointMatrix,
    deform::{
        DeformError,
        cast::Cast,
        frame::{FrameBlock, Job, PartOutput},
        layout::{NO_OUTPUT, VARIANTS},
        output::BYTES_A,
    },
};

/// Where the host pass writes palettes.
pub(super) struct Palettes {
    pub(super) current: Access<role::Upload>,
    pub(super) previous: Option<Access<role::Upload>>,
}

/// Work items of each variant, from the host pass to a compute pass.
#[derive(Debug, Default)]
pub(super) struct Counts([AtomicU32; VARIANTS]);

impl Counts {
    pub(super) fn get(&self) -> [u32; VARIANTS] {
        std::array::from_fn(|i| self.0[i].load(Ordering::Relaxed))
    }

    fn set(&self, counts: &[u32; VARIANTS]) {
        self.0.iter().zip(counts).for_each(|(shared, count)| shared.store(*count, Ordering::Relaxed));
    }
}

/// What one compute pass does this frame, kept so that no frame allocates.
pub(super) struct Work {
    /// The jobs that have a member.
    jobs: Vec<Job>,
    members: Vec<Member>,
    /// By part.
    outputs: Vec<PartOutput>,
    frame: FrameBlock,
    pub(super) counts: Arc<Counts>,
}

/// A part that the pass writes.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) part: usize,
    pub(super) a: Buffer,
    pub(super) b: Option<Buffer>,
    /// Written only where there is no frame before.
    pub(super) seeds: bool,
}

impl Work {
    /// Of `parts` parts altogether, some of all `jobs`.
    pub(super) fn new(parts: usize, jobs: &[Job], members: impl IntoIterator<Item = Member>) -> Self {
        let members: Vec<_> = members.into_iter().collect();
        let end = |at: usize| jobs.get(at + 1).map_or(parts, |next| next.outputs);
        let has_member = |at: usize, job: &Job| {
            // Members are in the order of the parts.
            let first = members.partition_point(|member| member.part < job.outputs);
            members.get(first).is_some_and(|member| member.part < end(at))
        };
        let own = jobs.iter().enumerate().filter(|(at, job)| has_member(*at, job));
        Self {
            jobs: own.map(|(_, job)| *job).collect(),
            members,
            outputs: vec![PartOutput::NOWHERE; parts],
            frame: FrameBlock::default(),
            counts: Arc::default(),
        }
    }

    /// Finds where the parts go this frame and lists their items.
    fn build(&mut self, cast: &Cast, host: &Host<'_>, parts: &[PartState]) -> Result<(), DeformError> {
        self.jobs.retain(|job| is_alive(cast, job));
        for member in &self.members {
            let has_history = || parts[member.part].has_previous && host.has_previous(member.a);
            self.outputs[member.part] = if member.seeds && has_history() {
                PartOutput::NOWHERE
            } else {
                PartOutput {
                    a: place(host.offset_in_pack(member.a), BYTES_A)?,
                    b: place(member.b.and_then(|b| host.offset_in_pack(b)), 4)?,
                }
            };
        }
        self.frame.build(cast, &self.jobs, &self.outputs)
    }
}

/// What the host pass remembers of a part.
#[derive(Clone, Copy, Default)]
struct PartState {
    /// Deformed by the frame before, and moved on from there.
    has_previous: bool,
    /// Deformed by this frame.
    written: bool,
}

/// State of the host pass.
pub(super) struct Animate {
    jobs: Vec<Job>,
    rows: usize,
    parts: Vec<PartState>,
    generation: u64,
    palettes: Palettes,
    works: Vec<(Work, Access<role::Upload>)>,
}

impl Animate {
    pub(super) fn new(
        jobs: Vec<Job>,
        parts: usize,
        generation: u64,
        palettes: Palettes,
        works: Vec<(Work, Access<role::Upload>)>,
    ) -> Self {
        let rows = Job::rows(&jobs);
        Self { jobs, rows, parts: vec![PartState::default(); parts], generation, palettes, works }
    }

    /// Evaluates every instance and fills the blocks; deforms nothing where that fails.
    pub(super) fn run(&mut self, deformer: &mut Deformer, host: &mut Host<'_>) {
        if self.palettes.previous.is_some() {
            deformer.animator_mut().keep_previous_palettes(true);
        }
        deformer.animator_mut().evaluate();
        if let Err(error) = self.fill(deformer, host) {
            self.fill_empty(host);
            host.fail(error);
        }
    }

    fn fill(&mut self, deformer: &Deformer, host: &mut Host<'_>) -> Result<(), DeformError> {
        if self.generation != deformer.generation {
            return Err(DeformError::StaleDeclaration);
        }
        let cast = &deformer.cast;
        self.jobs.retain(|job| is_alive(cast, job));
        self.remember(cast)?;
        let used = (self.rows * size_of::<JointMatrix>()) as u64;
        write_palettes(&self.jobs, host.write(self.palettes.current), |id| cast.animator.palette(id))?;
        host.set_used(self.palettes.current, used);
        if let Some(previous) = self.palettes.previous {
            write_palettes(&self.jobs, host.write(previous), |id| cast.animator.previous_palette(id))?;
            host.set_used(previous, used);
        }
        for (work, block) in &mut self.works {
            work.build(cast, host, &self.parts)?;
            let words: &[u8] = bytemuck::cast_slice(work.frame.words());
            host.write(*block).slice(..words.len()).copy_from_slice(words);
            host.set_used(*block, words.len() as u64);
            work.counts.set(work.frame.counts());
        }
        Ok(())
    }

    /// Notes which parts are deformed, and which were and may be compared with that.
    fn remember(&mut self, cast: &Cast) -> Result<(), DeformError> {
        for part in &mut self.parts {
            *part = PartState { has_previous: part.written, written: false };
        }
        for job in &self.jobs {
            let is_first = cast.animator.is_first(job.instance)?;
            let parts = &cast.source_of(job.instance)?.parts;
            for (state, part) in self.parts[job.outputs..].iter_mut().zip(parts) {
                state.written = cast.animator.is_part_shown(job.instance, part.part)?;
                state.has_previous &= !is_first;
            }
        }
        Ok(())
    }

    /// No items at all.
    fn fill_empty(&mut self, host: &mut Host<'_>) {
        self.parts.fill(PartState::default());
        let previous = self.palettes.previous;
        for block in self.works.iter().map(|(_, block)| *block).chain([self.palettes.current]).chain(previous)
        {
            host.set_used(block, 0);
        }
        for (work, _) in &mut self.works {
            work.frame.clear();
            work.counts.set(work.frame.counts());
        }
    }
}

/// Whether the instance was not despawned.
fn is_alive(cast: &Cast, job: &Job) -> bool {
    cast.animator.visible(job.instance).is_ok()
}

/// A member's offset in units of the kernel.
fn place(offset: Option<u64>, unit: u64) -> Result<u32, DeformError> {
    let Some(offset) = offset else { return Ok(NO_OUTPUT) };
    u32::try_from(offset / unit).map_err(|_| DeformError::StreamTooLong { units: (offset / unit) as usize })
}
