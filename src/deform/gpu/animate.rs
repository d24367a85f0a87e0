//! The host pass: evaluation, and the blocks that the deform passes read.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use sinew_graph::{Access, Buffer, Continuity, Host, role};

use super::{
    Deformer,
    group::Placing,
    own::{trace_skipped, write_palettes},
};
use crate::{
    animate::{AnimateError, Animator, InstanceId, JointMatrix},
    deform::{
        DeformError,
        cast::Cast,
        frame::{FrameBlock, Job, PartOutput},
        layout::{NO_OUTPUT, VARIANTS},
        output::BYTES_A,
        unchanged::Unchanged,
    },
    gpu::mapped,
};

/// The palettes of one group of instances, and where the host pass writes them.
pub(super) struct Palettes {
    pub(super) jobs: Vec<Job>,
    pub(super) current: Access<role::Upload>,
    pub(super) previous: Option<Access<role::Upload>>,
}

impl Palettes {
    fn bytes(&self) -> u64 {
        (Job::rows(&self.jobs) * size_of::<JointMatrix>()) as u64
    }
}

/// Work items of each variant, from the host pass to a compute pass.
#[derive(Debug)]
pub(super) struct Counts([AtomicU32; VARIANTS]);

impl Default for Counts {
    fn default() -> Self {
        Self([const { AtomicU32::new(0) }; VARIANTS])
    }
}

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
    /// Present where parts have no members of their own.
    placing: Option<Placing>,
    /// Present where outputs persist.
    kept: Option<KeptOutputs>,
    pub(super) counts: Arc<Counts>,
}

/// What is known of outputs that are there from the runs before.
#[derive(Default)]
struct KeptOutputs {
    unchanged: Unchanged,
    written: Option<Continuity>,
    outputs: Vec<PartOutput>,
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
    /// Of `parts` parts altogether, some of all `jobs`; `persists` says that what one run writes is there in the next.
    pub(super) fn new(
        parts: usize,
        jobs: &[Job],
        members: impl IntoIterator<Item = Member>,
        persists: bool,
    ) -> Self {
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
            placing: None,
            kept: persists.then(KeptOutputs::default),
            counts: Arc::default(),
        }
    }

    /// Of all parts of `jobs`, which are placed anew in every frame.
    pub(super) fn placed(parts: usize, jobs: &[Job], placing: Placing) -> Self {
        Self {
            jobs: jobs.to_vec(),
            members: Vec::new(),
            outputs: vec![PartOutput::NOWHERE; parts],
            frame: FrameBlock::default(),
            placing: Some(placing),
            kept: None,
            counts: Arc::default(),
        }
    }

    /// Also says where the parts lie, for other passes.
    pub(super) fn write_places_to(&mut self, buffer: Buffer, access: Access<role::Upload>) {
        if let Some(placing) = &mut self.placing {
            placing.places = Some((buffer, access));
        }
    }

    /// Finds where the parts go this frame and lists their items. `has_palettes` says whether the animator holds the
    /// frame's palettes, to compare them.
    fn build(
        &mut self,
        cast: &Cast,
        host: &Host<'_>,
        parts: &[PartState],
        has_palettes: bool,
    ) -> Result<(), DeformError> {
        let before = self.jobs.len();
        self.jobs.retain(|job| is_alive(cast, job));
        if let Some(placing) = &mut self.placing {
            placing.place(cast, host, &self.jobs, &mut self.outputs)?;
        }
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
        let left_out = match &mut self.kept {
            Some(kept) => {
                let stays = has_palettes && before == self.jobs.len();
                kept.find(cast, host, &self.jobs, &self.members, &self.outputs, stays)?
            }
            None => &[],
        };
        trace_skipped(left_out);
        self.frame.build(cast, &self.jobs, &self.outputs, left_out)?;
        Ok(())
    }
}

impl KeptOutputs {
    /// By job, whether its outputs are there already. `stays` says that jobs are those of the run before and can be
    /// compared with it.
    fn find(
        &mut self,
        cast: &Cast,
        host: &Host<'_>,
        jobs: &[Job],
        members: &[Member],
        outputs: &[PartOutput],
        stays: bool,
    ) -> Result<&[bool], DeformError> {
        let is_there = stays && self.written.as_ref() == Some(host.continuity()) && self.outputs == outputs;
        self.written = Some(host.continuity().clone());
        self.outputs.clear();
        self.outputs.extend_from_slice(outputs);
        if !is_there {
            self.unchanged.forget();
        }
        if !stays {
            return Ok(&[]);
        }
        for (at, job) in jobs.iter().enumerate() {
            let end = jobs.get(at + 1).map_or(usize::MAX, |next| next.outputs);
            let first = members.partition_point(|member| member.part < job.outputs);
            let own = members[first..].iter().take_while(|member| member.part < end);
            if !own.into_iter().all(|member| host.has_previous(member.a)) {
                self.unchanged.forget_job(at);
            }
        }
        self.unchanged.update(cast, jobs)
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
    palettes: Vec<Palettes>,
    parts: Vec<PartState>,
    generation: u64,
    works: Vec<(Work, Access<role::Upload>)>,
    /// The models and instances of the declaration, if it has all instances in the animator's order: their palettes
    /// can be evaluated where they are needed.
    direct: Option<u64>,
}

impl Animate {
    pub(super) fn new(
        deformer: &Deformer,
        palettes: Vec<Palettes>,
        parts: usize,
        works: Vec<(Work, Access<role::Upload>)>,
    ) -> Self {
        let all = palettes.iter().flat_map(|group| &group.jobs).map(|job| job.instance);
        let is_direct = !deformer.options.keep_palettes
            && palettes.len() == 1
            && palettes[0].previous.is_none()
            && all.eq(deformer.animator().instances());
        let direct = is_direct.then(|| deformer.cast.revision());
        let (parts, generation) = (vec![PartState::default(); parts], deformer.generation);
        Self { palettes, parts, generation, works, direct }
    }

    /// Evaluates every instance and fills the blocks; deforms nothing where that fails.
    pub(super) fn run(&mut self, deformer: &mut Deformer, host: &mut Host<'_>) {
        if self.palettes.iter().any(|group| group.previous.is_some()) {
            deformer.animator_mut().keep_previous_palettes(true);
        }
        // Other declarations may have come before.
        let run = host.run();
        let before = deformer.evaluated.take().filter(|(known, _)| *known == run);
        let is_direct = before.is_none() && self.evaluate_directly(deformer, host);
        let culled = match &before {
            None if is_direct => Ok(()),
            None => {
                deformer.animator_mut().evaluate();
                deformer.cast.cull()
            }
            Some((_, true)) => Ok(()),
            // Their palettes went where only the other declaration has them.
            Some((_, false)) => self.refresh(deformer.animator_mut()),
        };
        deformer.evaluated = Some((run, before.map_or(!is_direct, |(_, is_here)| is_here)));
        if let Err(error) = culled.and_then(|()| self.fill(deformer, host, !is_direct)) {
            self.fill_empty(host);
            host.fail(error);
        }
    }

    /// Evaluates the declared instances again without another frame for them.
    fn refresh(&self, animator: &mut Animator) -> Result<(), DeformError> {
        for job in self.palettes.iter().flat_map(|group| &group.jobs) {
            if animator.visible(job.instance).is_ok() {
                animator.refresh(job.instance)?;
            }
        }
        Ok(())
    }

    /// Evaluates straight into the upload block, where that is possible.
    fn evaluate_directly(&self, deformer: &mut Deformer, host: &mut Host<'_>) -> bool {
        let revision = deformer.cast.revision();
        let is_culled = deformer.cast.is_culled();
        let animator: &mut Animator = deformer.animator_mut();
        if is_culled
            || self.direct != Some(revision)
            || animator.keeps_previous_palettes()
            || animator.palette_rows() == 0
        {
            return false;
        }
        let group = &self.palettes[0];
        let mut memory = host.write(group.current).into_slice(..group.bytes() as usize);
        mapped::elements(&mut memory).is_some_and(|palettes| animator.evaluate_into(palettes).is_ok())
    }

    fn fill(
        &mut self,
        deformer: &Deformer,
        host: &mut Host<'_>,
        has_palettes: bool,
    ) -> Result<(), DeformError> {
        if self.generation != deformer.generation {
            return Err(DeformError::StaleDeclaration);
        }
        let cast = &deformer.cast;
        for group in &mut self.palettes {
            let used = group.bytes();
            group.jobs.retain(|job| is_alive(cast, job));
            if has_palettes {
                let palette = |id: InstanceId| cast.animator.palette(id);
                write_palettes(&group.jobs, host.write(group.current), palette)?;
            }
            host.set_used(group.current, used);
            if let Some(previous) = group.previous {
                let palette =
                    |id: InstanceId| -> Result<_, AnimateError> { cast.animator.previous_palette(id) };
                write_palettes(&group.jobs, host.write(previous), palette)?;
                host.set_used(previous, used);
            }
        }
        self.remember(cast)?;
        for (work, block) in &mut self.works {
            work.build(cast, host, &self.parts, has_palettes)?;
            let words: &[u8] = bytemuck::cast_slice(work.frame.words());
            host.write(*block).slice(..words.len()).copy_from_slice(words);
            host.set_used(*block, words.len() as u64);
            work.counts.set(work.frame.counts());
            work.placing.iter_mut().for_each(|placing| placing.write(host));
        }
        Ok(())
    }

    /// Notes which parts are deformed, and which were and may be compared with that.
    fn remember(&mut self, cast: &Cast) -> Result<(), DeformError> {
        for part in &mut self.parts {
            *part = PartState { has_previous: part.written, written: false };
        }
        for job in self.palettes.iter().flat_map(|group| &group.jobs) {
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
        let palettes = self.palettes.iter().flat_map(|group| [Some(group.current), group.previous]);
        let blocks = self.works.iter().map(|(_, block)| Some(*block));
        palettes.chain(blocks).flatten().for_each(|block| host.set_used(block, 0));
        for (work, _) in &mut self.works {
            work.frame.clear();
            work.kept.iter_mut().for_each(|kept| kept.unchanged.forget());
            if let Some(placing) = &mut work.placing {
                placing.clear();
                placing.write(host);
            }
            work.counts.set(work.frame.counts());
        }
    }
}

/// Whether the instance was not despawned.
fn is_alive(cast: &Cast, job: &Job) -> bool {
    cast.animator.visible(job.instance).is_ok()
}

/// A member's offset in units of the kernel.
pub(super) fn place(offset: Option<u64>, unit: u64) -> Result<u32, DeformError> {
    let Some(offset) = offset else { return Ok(NO_OUTPUT) };
    u32::try_from(offset / unit).map_err(|_| DeformError::StreamTooLong { units: (offset / unit) as usize })
}
