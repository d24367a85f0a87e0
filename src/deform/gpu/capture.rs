//! Captures of what a device has deformed, and their replay on another one.

use super::{
    Deformer, Kernels,
    buffers::{SourceBuffers, create},
    read_back::ReadBack,
};
use crate::deform::{
    DeformError,
    capture::{self, Capture, CaptureError, CaptureOutput, CapturedGroup, counts},
    group::Reach,
    output::BYTES_A,
};

impl Deformer {
    /// What the last [`Deformer::record`] read, and what came out: `None` while `read_back`, of that record, has not
    /// arrived. Call it before anything is evaluated again. Source streams are packed anew from the models; work items,
    /// morph records and palettes are those that were sent. A frame that a graph has run is recorded once more for this.
    pub fn capture(&self, read_back: &ReadBack) -> Result<Option<Capture>, CaptureError> {
        if !self.options.keep_palettes {
            return Err(CaptureError::PalettesNotKept);
        }
        let (cast, layout) = self.cast_and_layout();
        let own =
            self.own.as_ref().filter(|own| own.is_recorded && Some(own.revision) == read_back.revision());
        let own = own.filter(|own| own.revision == cast.revision()).ok_or(DeformError::NotRecorded)?;
        let Some(views) = read_back.views()? else { return Ok(None) };
        let mut groups = Vec::with_capacity(own.groups.len());
        for ((group, own), [a, b]) in layout.groups.iter().zip(&own.groups).zip(&views) {
            let (a, b) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
            groups.push(capture::group(cast, group, own.frame(), a, b)?);
        }
        let pages = (0..self.sources.len()).map(|page| cast.pack_page(page));
        let pages = pages.collect::<Result<_, _>>()?;
        let adapter = self.device.adapter_info();
        Capture::new(format!("{} ({:?})", adapter.name, adapter.backend), pages, groups).map(Some)
    }
}

/// A capture that is deformed again, on its way to the CPU. Made by [`Capture::record`]; readable once the caller has
/// submitted the encoder and polled the device.
#[derive(Debug)]
pub struct Replay {
    read_back: ReadBack,
    lengths: Vec<[usize; 2]>,
}

impl Capture {
    /// Records its deformation on a device: buffers of its own, and a dispatch for each kernel variant and group.
    /// Kernels are compiled with all checks. Fails where the device's limits are too low.
    pub fn record(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Replay, CaptureError> {
        let reach = Reach::of(&device.limits());
        Kernels::check(&device.limits())?;
        let kernels = Kernels::new(device, false);
        for bytes in self.pages.iter().flat_map(|page| page.bytes()) {
            reach.check("source streams", bytes.len() as u64)?;
        }
        let page = |streams| SourceBuffers::new(device, queue, streams, reach.bytes(), None);
        let pages: Vec<_> = self.pages.iter().map(page).collect();
        let groups =
            self.groups.iter().map(|group| Bound::new(device, queue, reach, &kernels, group, &pages));
        let groups: Vec<_> = groups.collect::<Result<_, DeformError>>()?;
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("replay"),
                timestamp_writes: None,
            });
            for (bound, group) in groups.iter().zip(&self.groups) {
                kernels.dispatch(&mut pass, &bound.bindings, &counts(&group.frame));
            }
        }
        let whole = |buffer| -> (&wgpu::Buffer, _) { (buffer, 0..buffer.size()) };
        let outputs =
            groups.iter().enumerate().map(|(at, bound)| (at, [whole(&bound.out_a), whole(&bound.out_b)]));
        let lengths = self.groups.iter().map(|group| [group.len_a as usize, group.len_b as usize]);
        let read_back = ReadBack::record(device, encoder, outputs, 0, None, None);
        Ok(Replay { read_back, lengths: lengths.collect() })
    }
}

impl Replay {
    /// What came out; `None` while it is not there yet.
    pub fn output(&self) -> Result<Option<CaptureOutput>, DeformError> {
        let Some(views) = self.read_back.views()? else { return Ok(None) };
        let group = |([a, b], [len_a, len_b]): (&[wgpu::BufferView; 2], &[usize; 2])| {
            let (a, b): (&[[u32; 4]], &[u32]) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
            (a[..*len_a].to_vec(), b[..*len_b].to_vec())
        };
        Ok(Some(CaptureOutput { groups: views.iter().zip(&self.lengths).map(group).collect() }))
    }
}

/// A group's buffers that a replay needs after it was recorded.
struct Bound {
    out_a: wgpu::Buffer,
    out_b: wgpu::Buffer,
    bindings: wgpu::BindGroup,
}

impl Bound {
    fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        reach: Reach,
        kernels: &Kernels,
        group: &CapturedGroup,
        pages: &[SourceBuffers],
    ) -> Result<Self, DeformError> {
        let buffer = |what: &'static str, bytes: u64, usage| {
            // Never less than the least that may be bound.
            reach.check(what, bytes).map(|()| create(device, what, bytes.max(64), usage))
        };
        let filled = |what, bytes: &[u8]| -> Result<wgpu::Buffer, DeformError> {
            let buffer = buffer(what, bytes.len() as u64, wgpu::BufferUsages::COPY_DST)?;
            queue.write_buffer(&buffer, 0, bytes);
            Ok(buffer)
        };
        let palettes = filled("palettes", bytemuck::cast_slice(&group.palette))?;
        let block = filled("work items and morph records", bytemuck::cast_slice(&group.frame))?;
        let usage = wgpu::BufferUsages::COPY_SRC;
        let out_a = buffer("deformed positions and normals", u64::from(group.len_a) * BYTES_A, usage)?;
        let out_b = buffer("deformed tangents", u64::from(group.len_b) * 4, usage)?;
        // Checked when the capture was made or read.
        let [a, b, extra, tables] = &pages[group.page as usize].buffers;
        let bound = [a, b, extra, tables, &palettes, &block, &out_a, &out_b];
        let bindings = kernels.bind(bound);
        Ok(Self { out_a, out_b, bindings })
    }
}
