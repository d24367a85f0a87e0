//! A frame's deformation in one file: everything that the kernel read, and what came out, so that a fault on one
//! machine becomes a test on another. docs/capture.md has the bytes.

mod build;
mod check;
mod compare;
mod error;
mod format;

pub use compare::{
    DIRECTION_TOLERANCE, PACKED_DIRECTION_TOLERANCE, POSITION_TOLERANCE, PartDifference, Worst,
};
pub use error::CaptureError;

use std::{fmt, ops::Range};

use super::{
    cpu,
    layout::{VARIANTS, VariantHeader},
    source::{Precision, Streams},
    variant::Variant,
};
use crate::animate::JointMatrix;
pub(crate) use build::group;

/// One frame's deformation. What it holds was checked, so that a replay reads and writes nothing out of range.
///
/// ```
/// # use sinew::{CpuDeformer, Precision, deform::Capture, model::{Model, ModelDesc}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut deformer = CpuDeformer::new();
/// # let model = deformer.add_model(&Model::new(ModelDesc::default())?, Precision::Packed)?;
/// # deformer.spawn(model)?;
/// # deformer.run()?;
/// # let bytes = deformer.capture()?.to_bytes();
/// // let bytes = std::fs::read("fault.capture")?;
/// let capture = Capture::from_bytes(&bytes)?;
/// let differences = capture.compare(&capture.replay());
/// assert!(differences.iter().all(|part| part.is_within()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq)]
pub struct Capture {
    library: String,
    adapter: String,
    pub(crate) pages: Vec<Streams>,
    pub(crate) groups: Vec<CapturedGroup>,
    recorded: CaptureOutput,
}

/// What it is of; its numbers are nothing to read.
impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Capture");
        out.field("library", &self.library).field("adapter", &self.adapter);
        out.field("parts", &self.parts().collect::<Vec<_>>()).field("variants", &self.variants());
        out.finish_non_exhaustive()
    }
}

/// What is deformed with one set of bindings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CapturedGroup {
    /// Which set of source streams.
    pub(crate) page: u32,
    pub(crate) frame: Vec<[u32; 4]>,
    pub(crate) palette: Vec<JointMatrix>,
    /// Size of output A in `vec4`s and of output B in words.
    pub(crate) len_a: u32,
    pub(crate) len_b: u32,
    parts: Vec<CapturedPart>,
}

/// A part that was deformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPart {
    /// Counts instances in the order of [`Animator::instances`](crate::Animator::instances).
    pub instance: u32,
    /// Name of the model.
    pub model: String,
    /// Index into the model's parts.
    pub part: u32,
    /// Deformed vertices.
    pub vertices: u32,
    /// How they are kept.
    pub precision: Precision,
    /// First vertex in output A.
    a: u32,
    /// First word in output B.
    b: u32,
}

impl CapturedPart {
    fn in_a(&self) -> Range<usize> {
        self.a as usize..self.a as usize + self.vertices as usize
    }

    fn in_b(&self) -> Range<usize> {
        let words = self.vertices as usize * self.precision.words_b() as usize;
        self.b as usize..self.b as usize + words
    }
}

/// Both outputs of a group.
pub(crate) type Output = (Vec<[u32; 4]>, Vec<u32>);

/// The deformed vertices of a [`Capture`]: both outputs of every group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureOutput {
    pub(crate) groups: Vec<Output>,
}

impl Capture {
    /// Version of the library that made it.
    #[must_use]
    pub fn library(&self) -> &str {
        &self.library
    }

    /// What deformed it: the adapter's name, or `twin`.
    #[must_use]
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// The parts that were deformed.
    pub fn parts(&self) -> impl Iterator<Item = &CapturedPart> {
        self.groups.iter().flat_map(|group| &group.parts)
    }

    /// The kernel variants that were used, with the number of their work items.
    #[must_use]
    pub fn variants(&self) -> Vec<(Variant, u64)> {
        let mut sums = [0u64; VARIANTS];
        for group in &self.groups {
            sums.iter_mut().zip(counts(&group.frame)).for_each(|(sum, count)| *sum += u64::from(count));
        }
        let used = sums.into_iter().enumerate().filter(|(_, items)| *items > 0);
        used.map(|(at, items)| (Variant::from_index(at), items)).collect()
    }

    /// What came out where it was captured.
    #[must_use]
    pub fn recorded(&self) -> &CaptureOutput {
        &self.recorded
    }

    /// Deforms it again by the kernel's twin on the CPU.
    #[must_use]
    pub fn replay(&self) -> CaptureOutput {
        let mut items = Vec::new();
        let deform = |group: &CapturedGroup| {
            let (mut a, mut b) = (vec![[0; 4]; group.len_a as usize], vec![0; group.len_b as usize]);
            cpu::list(&group.frame, &mut items);
            let streams = &self.pages[group.page as usize];
            let input = cpu::Input { streams, palette: &group.palette, frame: &group.frame };
            cpu::deform(input, &items, &mut a, &mut b);
            (a, b)
        };
        CaptureOutput { groups: self.groups.iter().map(deform).collect() }
    }
}

/// Work items of each variant.
pub(crate) fn counts(frame: &[[u32; 4]]) -> [u32; VARIANTS] {
    let mut counts = [0; VARIANTS];
    for (count, header) in counts.iter_mut().zip(frame) {
        *count = bytemuck::cast::<_, VariantHeader>(*header).count;
    }
    counts
}
