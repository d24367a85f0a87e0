//! A capture from what a deformer has at hand.

use super::{Capture, CaptureError, CaptureOutput, CapturedGroup, CapturedPart, Output};
use crate::{
    animate::JointMatrix,
    deform::{
        DeformError,
        cast::Cast,
        frame::PartOutput,
        group::Group,
        layout::{VariantHeader, WorkItem},
        source::Streams,
    },
};

/// A group, the block that its kernels read and the palettes that they read, both as of the same record.
pub(crate) fn group(
    cast: &Cast,
    group: &Group,
    frame: &[[u32; 4]],
    palette: Vec<JointMatrix>,
) -> Result<CapturedGroup, DeformError> {
    let (len_a, len_b) = (group.len_a, group.len_b);
    let parts = parts(cast, group, frame)?;
    Ok(CapturedGroup { page: group.page as u32, frame: frame.to_vec(), palette, len_a, len_b, parts })
}

/// The parts that some work item writes.
fn parts(cast: &Cast, group: &Group, frame: &[[u32; 4]]) -> Result<Vec<CapturedPart>, DeformError> {
    let mut written: Vec<u32> = each_item(frame).map(|(_, item)| item.out_a).collect();
    written.sort_unstable();
    let mut parts = Vec::new();
    for job in &group.jobs {
        let source = cast.source_of(job.instance)?;
        let instance = cast.animator.instances().position(|id| id == job.instance).unwrap_or_default();
        let outputs = source.parts.iter().zip(&group.outputs[job.outputs..]);
        for (part, output) in outputs.filter(|(_, output)| **output != PartOutput::NOWHERE) {
            let first = written.partition_point(|at| *at < output.a);
            let next = written.get(first).copied().unwrap_or(u32::MAX);
            if u64::from(next) < u64::from(output.a) + u64::from(part.vertices) {
                parts.push(CapturedPart {
                    instance: instance as u32,
                    model: source.model.name().to_owned(),
                    part: part.part,
                    vertices: part.vertices,
                    precision: source.precision,
                    a: output.a,
                    b: output.b,
                });
            }
        }
    }
    Ok(parts)
}

/// Every work item of a block with its variant, as far as they lie in it.
pub(super) fn each_item(frame: &[[u32; 4]]) -> impl Iterator<Item = (usize, WorkItem)> + '_ {
    let headers = frame.iter().take(crate::deform::layout::VARIANTS).enumerate();
    headers.flat_map(|(variant, header)| {
        let VariantHeader { first, count, .. } = bytemuck::cast(*header);
        let own = frame.get(first as usize..).unwrap_or_default().chunks_exact(2).take(count as usize);
        own.map(move |words| (variant, bytemuck::cast([words[0], words[1]])))
    })
}

impl Capture {
    /// Of all groups, each with its two outputs, checked like one that was read.
    pub(crate) fn new(
        adapter: impl Into<String>,
        pages: Vec<Streams>,
        groups: Vec<CapturedGroup>,
        outputs: Vec<Output>,
    ) -> Result<Self, CaptureError> {
        let recorded = CaptureOutput { groups: outputs };
        let library = env!("CARGO_PKG_VERSION").into();
        let capture = Self { library, adapter: adapter.into(), pages, groups, recorded };
        capture.check()?;
        Ok(capture)
    }
}
