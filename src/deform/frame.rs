use super::{
    DeformError,
    cast::{Cast, PartPrimitive, Source, SourcePart},
    layout::{HEADERS, MorphHeader, NO_OUTPUT, VARIANTS, VariantHeader, WorkItem},
    variant::Variant,
};
use crate::animate::{InstanceId, MAX_MORPH_WEIGHT};

/// Where one part's vertices go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartOutput {
    /// First vertex in output A, in `vec4`s; [`NO_OUTPUT`] when nobody reads it.
    pub(crate) a: u32,
    /// First word in output B; [`NO_OUTPUT`] when nobody reads it.
    pub(crate) b: u32,
}

impl PartOutput {
    pub(crate) const NOWHERE: Self = Self { a: NO_OUTPUT, b: NO_OUTPUT };

    /// Whether no pass reads the part.
    fn is_dead(self) -> bool {
        self == Self::NOWHERE
    }
}

/// One instance to deform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) instance: InstanceId,
    /// Where its parts' outputs start in the list beside the jobs.
    pub(crate) outputs: usize,
    /// Its first row among the palettes of all jobs.
    pub(crate) palette: u32,
    /// How many rows it has.
    pub(crate) rows: u32,
}

impl Job {
    /// The next job behind `jobs`.
    pub(crate) fn after(
        jobs: &[Self],
        instance: InstanceId,
        rows: usize,
        outputs: usize,
    ) -> Result<Self, DeformError> {
        let palette = Self::rows(jobs);
        let whole = |units: usize| u32::try_from(units).map_err(|_| DeformError::StreamTooLong { units });
        whole(palette + rows)?;
        Ok(Self { instance, outputs, palette: palette as u32, rows: rows as u32 })
    }

    /// Palette rows of all jobs together.
    pub(crate) fn rows(jobs: &[Self]) -> usize {
        jobs.last().map_or(0, |last| last.palette as usize + last.rows as usize)
    }
}

/// The block that the kernel reads beside palettes: headers and work items, which change only when something is
/// shown, hidden or placed elsewhere, and behind them the active morph targets of the frame. Built without allocating
/// once it has reached its size.
#[derive(Debug)]
pub(crate) struct FrameBlock {
    words: Vec<[u32; 4]>,
    counts: [u32; VARIANTS],
    /// Where morph headers start in `words`; items end there.
    morphs_at: usize,
    /// The morphed primitives of shown parts, in the order of their headers.
    morphs: Vec<Morph>,
    /// What the items were built from.
    key: Option<(u64, u64)>,
    outputs: Vec<PartOutput>,
    left_out: Vec<bool>,
    /// Instances of one model, and where one of its parts goes: kept so that no frame allocates.
    run: Vec<Job>,
    places: Vec<(Job, PartOutput)>,
}

/// A morphed primitive of an instance.
#[derive(Clone, Copy, Debug)]
struct Morph {
    instance: InstanceId,
    /// Place among the model's shown parts, and in the part.
    part: usize,
    primitive: usize,
}

impl Default for FrameBlock {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            counts: [0; VARIANTS],
            morphs_at: 0,
            morphs: Vec::new(),
            key: None,
            outputs: Vec::new(),
            left_out: Vec::new(),
            run: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl FrameBlock {
    /// Items of shown parts, grouped by kernel variant, and their active targets. `left_out` says which jobs are to be
    /// left as they are; shorter, it leaves no others out. Returns whether headers and items are others than before.
    pub(crate) fn build(
        &mut self,
        cast: &Cast,
        jobs: &[Job],
        outputs: &[PartOutput],
        left_out: &[bool],
    ) -> Result<bool, DeformError> {
        let key = Some((cast.revision(), cast.animator.visibility()));
        let is_new = self.key != key || self.outputs != outputs || self.left_out != left_out;
        if is_new {
            // Not valid until it is complete.
            self.key = None;
            self.build_items(cast, jobs, outputs, left_out)?;
            self.outputs.clear();
            self.outputs.extend_from_slice(outputs);
            self.left_out.clear();
            self.left_out.extend_from_slice(left_out);
            self.key = key;
        }
        self.build_morphs(cast)?;
        Ok(is_new)
    }

    /// The block, as the kernel's binding 5.
    pub(crate) fn words(&self) -> &[[u32; 4]] {
        &self.words
    }

    /// Whether anything in the block changes from frame to frame.
    #[cfg(feature = "gpu")]
    pub(crate) fn has_morphs(&self) -> bool {
        !self.morphs.is_empty()
    }

    /// Work items of each variant.
    #[cfg(feature = "gpu")]
    pub(crate) fn counts(&self) -> &[u32; VARIANTS] {
        &self.counts
    }

    /// No items, no targets.
    #[cfg(feature = "gpu")]
    pub(crate) fn clear(&mut self) {
        self.key = None;
        self.words.clear();
        self.counts = [0; VARIANTS];
    }

    /// Most `vec4`s a block for these jobs can take: every instance visible, every target active.
    #[cfg(feature = "gpu")]
    pub(crate) fn capacity(cast: &Cast, jobs: &[Job], outputs: &[PartOutput]) -> Result<usize, DeformError> {
        let mut most = HEADERS;
        for job in jobs {
            let parts = cast.source_of(job.instance)?.parts.iter().zip(&outputs[job.outputs..]);
            most +=
                parts.filter(|(_, output)| !output.is_dead()).map(|(part, _)| part.words()).sum::<usize>();
        }
        Ok(most)
    }

    fn build_items(
        &mut self,
        cast: &Cast,
        jobs: &[Job],
        outputs: &[PartOutput],
        left_out: &[bool],
    ) -> Result<(), DeformError> {
        self.count(cast, jobs, outputs, left_out)?;
        let mut next = self.write_headers();
        self.morphs_at = self.words.len();
        self.morphs.clear();
        let mut run = std::mem::take(&mut self.run);
        let mut jobs = shown(cast, jobs, left_out).peekable();
        while let Some(first) = jobs.next() {
            let model = cast.animator.model_of(first.instance)?;
            run.clear();
            run.push(*first);
            while let Some(job) = jobs.next_if(|job| cast.animator.model_of(job.instance) == Ok(model)) {
                run.push(*job);
            }
            self.build_run(cast, cast.source(model)?, &run, outputs, &mut next)?;
        }
        self.run = run;
        Ok(())
    }

    /// Items of instances of one model: chunk after chunk, so that workgroups beside each other read the same source.
    fn build_run(
        &mut self,
        cast: &Cast,
        source: &Source,
        run: &[Job],
        outputs: &[PartOutput],
        next: &mut [u32; VARIANTS],
    ) -> Result<(), DeformError> {
        let mut places = std::mem::take(&mut self.places);
        for (at, part) in source.parts.iter().enumerate() {
            places.clear();
            for job in run {
                let output = outputs[job.outputs + at];
                if is_written(cast, job, part, output)? {
                    places.push((*job, output));
                }
            }
            for (index, primitive) in part.primitives.iter().enumerate() {
                let morphs = if primitive.packed.targets.is_empty() {
                    None
                } else {
                    let first = (self.morphs_at + self.morphs.len()) as u32;
                    let morph =
                        |(job, _): &(Job, _)| Morph { instance: job.instance, part: at, primitive: index };
                    self.morphs.extend(places.iter().map(morph));
                    Some(first)
                };
                self.write_items(source, part, primitive, &places, morphs, next);
            }
        }
        self.places = places;
        Ok(())
    }

    fn count(
        &mut self,
        cast: &Cast,
        jobs: &[Job],
        outputs: &[PartOutput],
        left_out: &[bool],
    ) -> Result<(), DeformError> {
        self.counts = [0; VARIANTS];
        for job in shown(cast, jobs, left_out) {
            let source = cast.source_of(job.instance)?;
            for (part, output) in source.parts.iter().zip(&outputs[job.outputs..]) {
                if is_written(cast, job, part, *output)? {
                    self.counts.iter_mut().zip(part.items).for_each(|(sum, items)| *sum += items);
                }
            }
        }
        Ok(())
    }

    /// Makes room for headers and items; returns where each variant's first item goes.
    fn write_headers(&mut self) -> [u32; VARIANTS] {
        let items: u32 = self.counts.iter().sum();
        self.words.clear();
        self.words.resize(HEADERS + items as usize * 2, [0; 4]);
        let mut first = HEADERS as u32;
        let mut next = [0; VARIANTS];
        for ((header, &count), next) in self.words.iter_mut().zip(&self.counts).zip(&mut next) {
            *header = bytemuck::cast(VariantHeader { first, count, pad: [0; 2] });
            *next = first;
            first += count * 2;
        }
        next
    }

    fn write_items(
        &mut self,
        source: &Source,
        part: &SourcePart,
        primitive: &PartPrimitive,
        places: &[(Job, PartOutput)],
        morphs: Option<u32>,
        next: &mut [u32; VARIANTS],
    ) {
        let precision = source.precision;
        for chunk in &primitive.packed.chunks {
            let (class, skinning, morph) = (chunk.class, part.skinning, morphs.is_some());
            let next = &mut next[Variant { class, skinning, precision, morph }.index()];
            let first = primitive.first + chunk.first;
            for (number, (job, output)) in (0u32..).zip(places) {
                let item = WorkItem {
                    source: source.start.vertices
                        + primitive.packed.source
                        + chunk.first * precision.stride(),
                    counts: chunk.count | chunk.joint_count << 16,
                    palette: job.palette + part.palette,
                    joint_list: source.start.tables + chunk.joint_list,
                    out_a: match output.a {
                        NO_OUTPUT => NO_OUTPUT,
                        a => a + first,
                    },
                    out_b: match output.b {
                        NO_OUTPUT => NO_OUTPUT,
                        b => b + first * precision.words_b(),
                    },
                    morph: morphs.map_or(0, |morphs| morphs + number),
                    extra: source.start.extra + chunk.extra,
                };
                let [a, b]: [[u32; 4]; 2] = bytemuck::cast(item);
                let at = *next as usize;
                self.words[at] = a;
                self.words[at + 1] = b;
                *next += 2;
            }
        }
    }

    /// A header for each morphed primitive, then the active targets of all of them.
    fn build_morphs(&mut self, cast: &Cast) -> Result<(), DeformError> {
        let Self { words, morphs, morphs_at, .. } = self;
        words.truncate(*morphs_at);
        words.resize(*morphs_at + morphs.len(), [0; 4]);
        for (at, morph) in morphs.iter().enumerate() {
            let source = cast.source_of(morph.instance)?;
            let part = &source.parts[morph.part];
            let primitive = &part.primitives[morph.primitive].packed;
            let weights = &cast.animator.weights(morph.instance)?[source.model.weight_range(part.part)];
            let first = words.len() as u32;
            let weights = weights.iter().map(|weight| active_weight(*weight));
            let targets = primitive.targets.iter().zip(weights);
            for (target, weight) in targets.filter_map(|(target, weight)| Some((target, weight?))) {
                let active: [[u32; 4]; 2] = bytemuck::cast(target.active(source.start.tables, weight));
                words.extend(active);
            }
            words[*morphs_at + at] = bytemuck::cast(MorphHeader {
                count: (words.len() as u32 - first) / 2,
                source: source.start.vertices + primitive.source,
                first,
                pad: 0,
            });
        }
        Ok(())
    }
}

/// The jobs whose instances are shown. Those of instances that are gone are none.
fn shown<'j>(cast: &'j Cast, jobs: &'j [Job], left_out: &'j [bool]) -> impl Iterator<Item = &'j Job> {
    let is_shown = |job: &Job| cast.animator.is_shown(job.instance).unwrap_or_default();
    let stays = |at: usize| left_out.get(at).copied().unwrap_or_default();
    jobs.iter().enumerate().filter(move |(at, job)| !stays(*at) && is_shown(job)).map(|(_, job)| job)
}

/// Whether some pass reads the part and it is shown.
fn is_written(cast: &Cast, job: &Job, part: &SourcePart, output: PartOutput) -> Result<bool, DeformError> {
    Ok(!output.is_dead() && cast.animator.is_part_shown(job.instance, part.part)?)
}

/// What a morph weight counts as; `None` where its target moves nothing. A spline between huge keys can leave NaN.
pub(super) fn active_weight(weight: f32) -> Option<f32> {
    let is_active = weight != 0.0 && !weight.is_nan();
    is_active.then(|| weight.clamp(-MAX_MORPH_WEIGHT, MAX_MORPH_WEIGHT))
}
