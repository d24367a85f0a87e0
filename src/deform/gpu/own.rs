//! The path without a graph: buffers that persist until models or instances change.

use sinew_graph::{Continuity, Staging, UploadRing};

use super::{DeformerOptions, buffers::create, kernels::Kernels};
use crate::{
    animate::{AnimateError, Animator, InstanceId, JointMatrix},
    deform::{
        DeformError,
        cast::Cast,
        frame::{FrameBlock, Job},
        group::{Group, Reach},
        output::{BYTES_A, OutputLayout},
        unchanged::Unchanged,
    },
    gpu::mapped,
};

/// Buffers of all groups.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) revision: u64,
    pub(super) groups: Vec<OwnGroup>,
    /// Everything is in mapped memory, ready to be copied.
    is_prepared: bool,
    /// Outputs hold something.
    pub(super) is_recorded: bool,
}

#[derive(Debug)]
pub(super) struct OwnGroup {
    palettes: wgpu::Buffer,
    block: wgpu::Buffer,
    pub(super) out_a: wgpu::Buffer,
    pub(super) out_b: wgpu::Buffer,
    /// `vec4`s of output A and words of output B where everything is shown.
    most: [u32; 2],
    sources: [wgpu::Buffer; 4],
    bindings: wgpu::BindGroup,
    frame: FrameBlock,
    /// When the block was last sent; it is there as long as nothing was lost since.
    sent: Option<Continuity>,
    unchanged: Option<Unchanged>,
    /// Of the frame before, to tell whether its outputs are there.
    before: Option<Continuity>,
    staged: Staged,
}

/// Uploads that were filled and not recorded yet.
#[derive(Debug, Default)]
struct Staged {
    palettes: Option<Staging>,
    block: Option<Staging>,
}

/// What [`Own::prepare`] works with.
pub(super) struct Preparation<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) kernels: &'a Kernels,
    pub(super) cast: &'a mut Cast,
    pub(super) layout: &'a mut OutputLayout,
    pub(super) ring: &'a mut UploadRing,
    pub(super) options: &'a DeformerOptions,
}

impl Own {
    pub(super) fn new(
        device: &wgpu::Device,
        cast: &Cast,
        layout: &OutputLayout,
        kernels: &Kernels,
        sources: impl Fn(usize) -> [wgpu::Buffer; 4],
        options: &DeformerOptions,
    ) -> Result<Self, DeformError> {
        let reach = Reach::of(&device.limits());
        let group = |group: &Group| {
            let sources = sources(group.page);
            OwnGroup::new(device, reach, cast, group, kernels, sources, options)
        };
        let groups = layout.groups.iter().map(group).collect::<Result<_, _>>()?;
        Ok(Self { revision: cast.revision(), groups, is_prepared: false, is_recorded: false })
    }

    /// Whether blocks, layout and outputs are still those of a record: preparing the next one moves them on.
    pub(super) fn holds_last_record(&self) -> bool {
        self.is_recorded && !self.is_prepared
    }

    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> u64 {
        let sizes =
            self.groups.iter().map(|g| [&g.palettes, &g.block, &g.out_a, &g.out_b].map(wgpu::Buffer::size));
        sizes.flatten().sum()
    }

    /// Evaluates every instance and fills mapped memory, unless that was done since the last record.
    pub(super) fn prepare(&mut self, with: Preparation<'_>) -> Result<(), DeformError> {
        if self.is_prepared {
            return Ok(());
        }
        let Preparation { device, kernels, cast, layout, ring, options } = with;
        let is_direct = !options.keep_palettes
            && !cast.is_culled()
            && self.prepare_directly(&mut cast.animator, layout, ring)?;
        if !is_direct {
            cast.animator.evaluate();
            cast.cull()?;
        }
        if options.compact_outputs && layout.compact(cast)? {
            for (own, group) in self.groups.iter_mut().zip(&layout.groups) {
                own.make_room(device, kernels, group);
            }
        }
        for at in 0..self.groups.len() {
            let skips = options.skip_unchanged && !is_direct;
            let filled = self.groups[at].prepare(cast, &layout.groups[at], ring, skips, !is_direct);
            if filled.is_err() {
                // What was staged is not recorded, so nothing is known to be there.
                self.groups.iter_mut().for_each(OwnGroup::forget);
                return filled;
            }
        }
        self.is_prepared = true;
        Ok(())
    }

    /// Evaluates straight into mapped memory, where one group holds all palettes in their order.
    fn prepare_directly(
        &mut self,
        animator: &mut Animator,
        layout: &OutputLayout,
        ring: &mut UploadRing,
    ) -> Result<bool, DeformError> {
        let ([own], [group]) = (&mut self.groups[..], &layout.groups[..]) else { return Ok(false) };
        let rows = animator.palette_rows();
        if rows == 0 || Job::rows(&group.jobs) != rows || animator.keeps_previous_palettes() {
            return Ok(false);
        }
        let bytes = rows * size_of::<JointMatrix>();
        let mut staging = ring.take(bytes as u64).ok_or(DeformError::Map)?;
        let mut memory = staging.bytes().into_slice(..bytes);
        let Some(palettes) = mapped::elements::<JointMatrix>(&mut memory) else { return Ok(false) };
        animator.evaluate_into(palettes)?;
        own.staged.palettes = Some(staging);
        Ok(true)
    }

    /// Records the copies, then one pass with a dispatch for each kernel variant and group that has work.
    pub(super) fn record(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        ring: &mut UploadRing,
        kernels: &Kernels,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> Result<(), DeformError> {
        self.is_prepared = false;
        for group in &mut self.groups {
            group.copy(encoder, ring)?;
        }
        let _span = tracing::trace_span!("deform", device = "gpu").entered();
        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some("deform"), timestamp_writes });
        for group in &self.groups {
            kernels.dispatch(&mut pass, &group.bindings, group.frame.counts());
        }
        self.is_recorded = true;
        Ok(())
    }
}

impl OwnGroup {
    fn new(
        device: &wgpu::Device,
        reach: Reach,
        cast: &Cast,
        group: &Group,
        kernels: &Kernels,
        sources: [wgpu::Buffer; 4],
        options: &DeformerOptions,
    ) -> Result<Self, DeformError> {
        // Never less than the least that may be bound.
        let rows = Job::rows(&group.jobs).max(1) as u64;
        let frame_bytes = FrameBlock::capacity(cast, &group.jobs, &group.outputs)?.max(64) as u64 * 16;
        reach.check("work items and morph records", frame_bytes)?;
        let usage = options.output_usage | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
        // Captures copy both out again.
        let upload = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let palettes = create(device, "palettes", rows * size_of::<JointMatrix>() as u64, upload);
        let block = create(device, "work items", frame_bytes, upload);
        let most = [group.len_a, group.len_b];
        let [out_a, out_b] = outputs(device, if options.compact_outputs { [0; 2] } else { most }, usage);
        let bindings = bind(kernels, &sources, [&palettes, &block, &out_a, &out_b]);
        Ok(Self {
            palettes,
            block,
            out_a,
            out_b,
            most,
            sources,
            bindings,
            frame: FrameBlock::default(),
            sent: None,
            unchanged: None,
            before: None,
            staged: Staged::default(),
        })
    }

    /// After outputs were placed anew: nothing is where it was, and buffers must hold all of it.
    fn make_room(&mut self, device: &wgpu::Device, kernels: &Kernels, group: &Group) {
        if let Some(unchanged) = &mut self.unchanged {
            unchanged.forget();
        }
        let has = [self.out_a.size() / BYTES_A, self.out_b.size() / 4];
        let needs = [group.len_a, group.len_b];
        if needs.iter().zip(has).all(|(needs, has)| u64::from(*needs) <= has) {
            return;
        }
        // A quarter more than before at least, so that a crowd that comes into view does not grow them every frame.
        let grown =
            |at: usize| u64::from(needs[at]).max(has[at] + has[at] / 4).min(u64::from(self.most[at])) as u32;
        let usage = self.out_a.usage();
        [self.out_a, self.out_b] = outputs(device, [grown(0), grown(1)], usage);
        self.bindings = bind(kernels, &self.sources, [&self.palettes, &self.block, &self.out_a, &self.out_b]);
    }

    /// Fills mapped memory with the block, and with `palettes` if asked to.
    fn prepare(
        &mut self,
        cast: &Cast,
        group: &Group,
        ring: &mut UploadRing,
        skips_unchanged: bool,
        palettes: bool,
    ) -> Result<(), DeformError> {
        let now = ring.continuity();
        let left_out = if skips_unchanged {
            let unchanged = self.unchanged.get_or_insert_default();
            if self.before.as_ref() != Some(&now) {
                unchanged.forget();
            }
            let left_out = unchanged.update(cast, &group.jobs)?;
            trace_skipped(left_out);
            left_out
        } else {
            self.unchanged = None;
            &[]
        };
        let is_new = self.frame.build(cast, &group.jobs, &group.outputs, left_out)?;
        if is_new || self.frame.has_morphs() || self.sent.as_ref() != Some(&now) {
            self.stage_block(ring)?;
        }
        self.before = Some(now);
        let has_work = self.frame.counts().iter().any(|items| *items > 0);
        if palettes && has_work {
            let bytes = Job::rows(&group.jobs) * size_of::<JointMatrix>();
            let mut staging = ring.take(bytes as u64).ok_or(DeformError::Map)?;
            write_palettes(&group.jobs, staging.bytes().slice(..bytes), |id| cast.animator.palette(id))?;
            self.staged.palettes = Some(staging);
        }
        Ok(())
    }

    /// The block is sent whole or not at all: an encoder that is dropped or submitted late must not leave items of one
    /// frame beside morph records of another.
    fn stage_block(&mut self, ring: &mut UploadRing) -> Result<(), DeformError> {
        let words: &[u8] = bytemuck::cast_slice(self.frame.words());
        let mut staging = ring.take(words.len() as u64).ok_or(DeformError::Map)?;
        staging.bytes().slice(..words.len()).copy_from_slice(words);
        self.staged.block = Some(staging);
        Ok(())
    }

    /// The block of the last preparation.
    pub(super) fn frame(&self) -> &[[u32; 4]] {
        self.frame.words()
    }

    /// What kernels read of a record: palettes, and the block.
    pub(super) fn inputs(&self) -> [&wgpu::Buffer; 2] {
        [&self.palettes, &self.block]
    }

    fn forget(&mut self) {
        self.staged = Staged::default();
        self.sent = None;
        self.before = None;
    }

    fn copy(&mut self, encoder: &mut wgpu::CommandEncoder, ring: &mut UploadRing) -> Result<(), DeformError> {
        // It may have been lost since it was found to be there.
        if self.staged.block.is_none() && self.sent.as_ref() != Some(&ring.continuity()) {
            self.stage_block(ring)?;
        }
        let Staged { palettes, block } = std::mem::take(&mut self.staged);
        if let Some(mut staging) = palettes {
            let bytes = self.palettes.size().min(staging.size());
            staging.copy(encoder, 0..bytes, &self.palettes, 0);
            staging.finish(encoder);
        }
        if let Some(mut staging) = block {
            staging.copy(encoder, 0..self.frame.words().len() as u64 * 16, &self.block, 0);
            staging.finish(encoder);
            self.sent = Some(ring.continuity());
        }
        Ok(())
    }
}

/// Both outputs, in units of the kernel; never less than the least that may be bound.
fn outputs(device: &wgpu::Device, [a, b]: [u32; 2], usage: wgpu::BufferUsages) -> [wgpu::Buffer; 2] {
    [
        create(device, "deformed A", u64::from(a.max(1)) * BYTES_A, usage),
        create(device, "deformed B", u64::from(b.max(4)) * 4, usage),
    ]
}

/// Everything that the kernel reads and writes.
fn bind(kernels: &Kernels, sources: &[wgpu::Buffer; 4], others: [&wgpu::Buffer; 4]) -> wgpu::BindGroup {
    let [a, b, extra, tables] = sources;
    let [palettes, block, out_a, out_b] = others;
    kernels.bind([a, b, extra, tables, palettes, block, out_a, out_b])
}

/// Says how many instances are left as they are.
pub(super) fn trace_skipped(left_out: &[bool]) {
    let skipped = left_out.iter().filter(|left_out| **left_out).count();
    if skipped > 0 {
        tracing::trace!(instances = skipped, "skipped: unchanged");
    }
}

/// Writes the rows of every job to their place in mapped memory.
pub(super) fn write_palettes<'a>(
    jobs: &[Job],
    mut memory: wgpu::WriteOnly<'_, [u8]>,
    palette: impl Fn(InstanceId) -> Result<&'a [JointMatrix], AnimateError>,
) -> Result<(), DeformError> {
    for job in jobs {
        let bytes: &[u8] = bytemuck::cast_slice(palette(job.instance)?);
        let at = job.palette as usize * size_of::<JointMatrix>();
        memory.slice(at..at + bytes.len()).copy_from_slice(bytes);
    }
    Ok(())
}
