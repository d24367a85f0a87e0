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
        cast: &Cast,
        instance: InstanceId,
        outputs: usize,
    ) -> Result<Self, DeformError> {
        let rows = cast.animator.palette(instance)?.len();
        let palette = jobs.last().map_or(0, |last| last.palette as usize + last.rows as usize);
        let whole = |units: usize| u32::try_from(units).map_err(|_| DeformError::StreamTooLong { units });
        whole(palette + rows)?;
        Ok(Self { instance, outputs, palette: palette as u32, rows: rows as u32 })
    }

    /// Palette rows of all jobs together.
    #[cfg(feature = "gpu")]
    pub(crate) fn rows(jobs: &[Self]) -> usize {
        jobs.last().map_or(0, |last| last.palette as usize + last.rows as usize)
    }
}

/// The block of work items and active morph targets that the kernel reads, built anew every frame
/// without allocating once it has reached its size.
#[derive(Debug, Default)]
pub(crate) struct FrameBlock {
    words: Vec<[u32; 4]>,
    counts: [u32; VARIANTS],
}

impl FrameBlock {
    /// Items of visible instances, grouped by kernel variant: headers, items, then morph blocks.
    pub(crate) fn build(
        &mut self,
        cast: &Cast,
        jobs: &[Job],
        outputs: &[PartOutput],
    ) -> Result<(), DeformError> {
        self.count(cast, jobs, outputs)?;
        let mut next = self.write_headers();
        for job in jobs {
            let palette = job.palette;
            if !cast.animator.visible(job.instance)? {
                continue;
            }
            let source = cast.source_of(job.instance)?;
            let weights = cast.animator.weights(job.instance)?;
            for (part, output) in source.parts.iter().zip(&outputs[job.outputs..]) {
                if output.is_dead() || !cast.animator.is_part_shown(job.instance, part.part)? {
                    continue;
                }
                let weights = &weights[source.model.weight_range(part.part)];
                for primitive in &part.primitives {
                    let morph = self.push_morph(source, primitive, weights);
                    let place = Placed { source, part, primitive, palette, morph, output: *output };
                    self.write_items(&place, &mut next);
                }
            }
        }
        Ok(())
    }

    /// The block, as the kernel's binding 5.
    pub(crate) fn words(&self) -> &[[u32; 4]] {
        &self.words
    }

    /// Work items of each variant.
    #[cfg(feature = "gpu")]
    pub(crate) fn counts(&self) -> &[u32; VARIANTS] {
        &self.counts
    }

    /// No items, no targets.
    #[cfg(feature = "gpu")]
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.counts = [0; VARIANTS];
    }

    /// Most `vec4`s a block for these jobs can take: every instance visible, every target active.
    #[cfg(feature = "gpu")]
    pub(crate) fn capacity(cast: &Cast, jobs: &[Job], outputs: &[PartOutput]) -> Result<usize, DeformError> {
        let mut most = HEADERS;
        for job in jobs {
            let parts = cast.source_of(job.instance)?.parts.iter().zip(&outputs[job.outputs..]);
            for (part, _) in parts.filter(|(_, output)| !output.is_dead()) {
                most += 2 * part.items.iter().sum::<u32>() as usize;
                most += part.primitives.iter().map(|p| 1 + 2 * p.packed.targets.len()).sum::<usize>();
            }
        }
        Ok(most)
    }

    fn count(&mut self, cast: &Cast, jobs: &[Job], outputs: &[PartOutput]) -> Result<(), DeformError> {
        self.counts = [0; VARIANTS];
        for job in jobs {
            if !cast.animator.visible(job.instance)? {
                continue;
            }
            let source = cast.source_of(job.instance)?;
            for (part, output) in source.parts.iter().zip(&outputs[job.outputs..]) {
                if !output.is_dead() && cast.animator.is_part_shown(job.instance, part.part)? {
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

    /// Lists the active targets behind the items; returns where, or 0 when none is.
    fn push_morph(&mut self, source: &Source, primitive: &PartPrimitive, weights: &[f32]) -> u32 {
        let active = weights.iter().filter(|w| is_active(**w)).count() as u32;
        if active == 0 || primitive.packed.targets.is_empty() {
            return 0;
        }
        let at = self.words.len() as u32;
        let first = source.start.vertices + primitive.packed.source;
        self.words.push(bytemuck::cast(MorphHeader { count: active, source: first, pad: [0; 2] }));
        let targets = primitive.packed.targets.iter().zip(weights);
        for (target, &weight) in targets.filter(|(_, w)| is_active(**w)) {
            let weight = weight.clamp(-MAX_MORPH_WEIGHT, MAX_MORPH_WEIGHT);
            let words: [[u32; 4]; 2] = bytemuck::cast(target.active(source.start.tables, weight));
            self.words.extend(words);
        }
        at
    }

    fn write_items(&mut self, place: &Placed<'_>, next: &mut [u32; VARIANTS]) {
        let Placed { source, part, primitive, palette, morph, output } = *place;
        let precision = source.precision;
        let has_targets = !primitive.packed.targets.is_empty();
        for chunk in &primitive.packed.chunks {
            let variant = Variant { class: chunk.class, precision, morph: has_targets }.index();
            let first = primitive.first + chunk.first;
            let item = WorkItem {
                source: source.start.vertices + primitive.packed.source + chunk.first * precision.stride(),
                counts: chunk.count | chunk.joint_count << 16,
                palette: palette + part.palette,
                joint_list: source.start.tables + chunk.joint_list,
                out_a: if output.a == NO_OUTPUT { NO_OUTPUT } else { output.a + first },
                out_b: if output.b == NO_OUTPUT { NO_OUTPUT } else { output.b + first * precision.words_b() },
                morph,
                extra: source.start.extra + chunk.extra,
            };
            let [a, b]: [[u32; 4]; 2] = bytemuck::cast(item);
            let at = next[variant] as usize;
            self.words[at] = a;
            self.words[at + 1] = b;
            next[variant] += 2;
        }
    }
}

/// A spline between huge keys can leave NaN.
fn is_active(weight: f32) -> bool {
    weight != 0.0 && !weight.is_nan()
}

#[derive(Clone, Copy)]
struct Placed<'a> {
    source: &'a Source,
    part: &'a SourcePart,
    primitive: &'a PartPrimitive,
    palette: u32,
    morph: u32,
    output: PartOutput,
}
