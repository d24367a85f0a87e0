//! What a declaration is made from: parts of instances, and the groups that share bindings.

use std::ops::Range;

use sinew_graph::Buffer;

use super::{DeclareOptions, Deformer, OutputKind, SkinnedPart};
use crate::{
    animate::InstanceId,
    deform::{
        DeformError,
        cast::{Source, SourcePart},
        frame::{FrameBlock, Job, PartOutput},
        group::{Needs, Sharing},
        output::BYTES_A,
    },
};

/// The values of one part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Output {
    pub(super) values: Option<[Buffer; 2]>,
    pub(super) previous_a: Option<Buffer>,
}

/// What is deformed.
pub(super) struct Declared<'d> {
    pub(super) parts: Vec<DeclaredPart<'d>>,
    pub(super) groups: Vec<DeclaredGroup>,
}

/// Instances that are deformed with the same bindings.
pub(super) struct DeclaredGroup {
    pub(super) page: usize,
    pub(super) jobs: Vec<Job>,
    /// Among all parts.
    pub(super) parts: Range<usize>,
}

pub(super) struct DeclaredPart<'d> {
    pub(super) instance: InstanceId,
    pub(super) source: &'d Source,
    pub(super) part: &'d SourcePart,
    pub(super) kind: OutputKind,
}

impl<'d> Declared<'d> {
    pub(super) fn collect(
        deformer: &'d Deformer,
        instances: impl IntoIterator<Item = InstanceId>,
        options: &DeclareOptions<'_>,
    ) -> Result<Self, DeformError> {
        Self::shared_out(deformer, instances, options, |needs| needs)
    }

    /// The same for parts that share one output, of a size of its own.
    pub(super) fn collect_placed(
        deformer: &'d Deformer,
        instances: impl IntoIterator<Item = InstanceId>,
    ) -> Result<Self, DeformError> {
        let without_outputs = |needs| Needs { out_a: 0, out_b: 0, ..needs };
        Self::shared_out(deformer, instances, &DeclareOptions::default(), without_outputs)
    }

    /// `count` says which of an instance's needs count.
    fn shared_out(
        deformer: &'d Deformer,
        instances: impl IntoIterator<Item = InstanceId>,
        options: &DeclareOptions<'_>,
        count: impl Fn(Needs) -> Needs,
    ) -> Result<Self, DeformError> {
        let mut parts = Vec::new();
        let mut groups: Vec<DeclaredGroup> = Vec::new();
        let mut sharing = Sharing::new(deformer.cast.reach());
        let mut instances: Vec<InstanceId> = instances.into_iter().collect();
        for instance in &instances {
            deformer.cast.source_of(*instance)?;
        }
        // Those whose vertices lie together share bindings.
        instances.sort_by_key(|id| deformer.cast.source_of(*id).map_or(0, |source| source.page));
        for instance in instances {
            let source = deformer.cast.source_of(instance)?;
            let rows = deformer.cast.animator.palette(instance)?.len();
            if sharing.starts_group(source.page, count(source.needs(rows)))? {
                groups.push(DeclaredGroup {
                    page: source.page,
                    jobs: Vec::new(),
                    parts: parts.len()..parts.len(),
                });
            }
            let Some(group) = groups.last_mut() else { continue };
            group.jobs.push(Job::after(&group.jobs, instance, rows, parts.len())?);
            for part in &source.parts {
                parts.push(DeclaredPart {
                    instance,
                    source,
                    part,
                    kind: (options.kind)(instance, part.part),
                });
            }
            group.parts.end = parts.len();
        }
        if groups.is_empty() {
            groups.push(DeclaredGroup { page: 0, jobs: Vec::new(), parts: 0..0 });
        }
        Ok(Self { parts, groups })
    }

    /// Bytes of the block for these parts.
    pub(super) fn capacity(
        &self,
        deformer: &Deformer,
        jobs: &[Job],
        parts: &[usize],
    ) -> Result<u64, DeformError> {
        let mut outputs = vec![PartOutput::NOWHERE; self.parts.len()];
        parts.iter().for_each(|&part| outputs[part] = PartOutput { a: 0, b: 0 });
        Ok(FrameBlock::capacity(&deformer.cast, jobs, &outputs)? as u64 * 16)
    }
}

impl DeclaredPart<'_> {
    pub(super) fn name(&self, what: &str) -> String {
        let model = &self.source.model;
        format!("{} {what}", model.skeleton().names()[model.parts()[self.part.part as usize].node as usize])
    }

    pub(super) fn bytes_a(&self) -> u64 {
        u64::from(self.part.vertices.max(1)) * BYTES_A
    }

    pub(super) fn bytes_b(&self) -> u64 {
        let bytes = u64::from(self.part.vertices) * u64::from(self.source.precision.words_b()) * 4;
        // What exact variants bind at least; one layout serves all.
        bytes.max(16)
    }

    pub(super) fn with(&self, output: &Output) -> Option<SkinnedPart> {
        let [a, b] = output.values?;
        Some(SkinnedPart {
            instance: self.instance,
            model: self.source.model.clone(),
            part: self.part.part,
            a,
            b,
            previous_a: output.previous_a,
            precision: self.source.precision,
            first_vertices: self.part.primitives.iter().map(|p| p.first).collect(),
        })
    }
}
