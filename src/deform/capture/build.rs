//! A capture from what a deformer has at hand.

use super::{Capture, CaptureError, CaptureOutput, CapturedGroup, CapturedPart};
use crate::{
    animate::JointMatrix,
    deform::{
        DeformError,
        cast::Cast,
        frame::Job,
        group::Group,
        layout::{VariantHeader, WorkItem},
        source::Streams,
    },
};

/// What one group read and wrote.
type Recorded = (CapturedGroup, (Vec<[u32; 4]>, Vec<u32>));

/// A group with the block that its kernels read and both outputs, whole. Its palettes are the animator's.
pub(crate) fn group(
    cast: &Cast,
    group: &Group,
    frame: &[[u32; 4]],
    out_a: &[[u32; 4]],
    out_b: &[u32],
) -> Result<Recorded, DeformError> {
    let mut palette: Vec<JointMatrix> = Vec::with_capacity(Job::rows(&group.jobs));
    for job in &group.jobs {
        palette.extend_from_slice(cast.animator.palette(job.instance)?);
    }
    let (len_a, len_b) = (group.len_a, group.len_b);
    let parts = parts(cast, group, frame)?;
    let captured =
        CapturedGroup { page: group.page as u32, frame: frame.to_vec(), palette, len_a, len_b, parts };
    Ok((captured, (out_a[..len_a as usize].to_vec(), out_b[..len_b as usize].to_vec())))
}

/// The parts that some work item writes.
fn parts(cast: &Cast, group: &Group, frame: &[[u32; 4]]) -> Result<Vec<CapturedPart>, DeformError> {
    let mut written: Vec<u32> = each_item(frame).map(|(_, item)| item.out_a).collect();
    written.sort_unstable();
    let mut parts = Vec::new();
    for job in &group.jobs {
        let source = cast.source_of(job.instance)?;
        let instance = cast.animator.instances().position(|id| id == job.instance).unwrap_or_default();
        for (part, output) in source.parts.iter().zip(&group.outputs[job.outputs..]) {
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
    /// Of all groups, checked like one that was read.
    pub(crate) fn new(
        adapter: impl Into<String>,
        pages: Vec<Streams>,
        groups: Vec<Recorded>,
    ) -> Result<Self, CaptureError> {
        let (groups, outputs) = groups.into_iter().unzip();
        let recorded = CaptureOutput { groups: outputs };
        let library = env!("CARGO_PKG_VERSION").into();
        let capture = Self { library, adapter: adapter.into(), pages, groups, recorded };
        capture.check()?;
        Ok(capture)
    }
}
