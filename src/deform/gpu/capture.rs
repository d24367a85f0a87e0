//! Captures of what a device has deformed, and their replay on another one.

use super::{
    Deformer, Kernels,
    buffers::{SourceBuffers, create},
    own::Own,
    read_back::ReadBack,
};
use crate::animate::JointMatrix;
use crate::deform::{
    DeformError,
    capture::{self, Capture, CaptureError, CaptureOutput, CapturedGroup, Output, counts},
    frame::Job,
    group::Reach,
    output::BYTES_A,
    source::Streams,
};

impl Deformer {
    /// Records copies of what the last [`Deformer::record`] has its kernels read (palettes, work items and morph records)
    /// and of what they write, behind it in the same or a later submit. Source streams are packed anew from the models
    /// at once, so whatever is evaluated, recorded, added or removed afterwards is no part of it. Outputs that another
    /// record has overwritten before the submit are those of that record. A frame that a graph has run is recorded once
    /// more for this.
    ///
    /// Fails with [`DeformError::NotRecorded`] where models or instances have changed since the record, and where the
    /// next one is [prepared](Deformer::prepare) already: then call it before that.
    pub fn start_capture(&self, encoder: &mut wgpu::CommandEncoder) -> Result<PendingCapture, CaptureError> {
        let (cast, layout) = self.cast_and_layout();
        let is_current = |own: &&Own| own.holds_last_record() && own.revision == cast.revision();
        let own = self.own.as_ref().filter(is_current).ok_or(DeformError::NotRecorded)?;
        let groups = layout.groups.iter().zip(&own.groups).map(|(group, own)| {
            let palette = vec![JointMatrix::IDENTITY; Job::rows(&group.jobs)];
            capture::group(cast, group, own.frame(), palette)
        });
        let groups: Vec<CapturedGroup> = groups.collect::<Result<_, _>>()?;
        let pages = (0..self.sources.len()).map(|page| cast.pack_page(page));
        let pages = pages.collect::<Result<_, _>>()?;
        let read = own.groups.iter().zip(&groups).enumerate().map(|(at, (own, group))| {
            let [palettes, block] = own.inputs();
            let bytes = [
                bytemuck::cast_slice::<_, u8>(&group.palette).len(),
                group.frame.len() * size_of::<[u32; 4]>(),
            ];
            (at, [(palettes, 0..bytes[0] as u64), (block, 0..bytes[1] as u64)])
        });
        let inputs = ReadBack::record(&self.device, encoder, read, own.revision, None, None);
        let outputs = self.read_back(encoder)?;
        let adapter = self.device.adapter_info();
        let adapter = format!("{} ({:?})", adapter.name, adapter.backend);
        Ok(PendingCapture { adapter, pages, groups, inputs, outputs })
    }
}

/// A capture of a [`Deformer`]'s last record, on its way to the CPU. Made by [`Deformer::start_capture`]; complete once
/// the caller has submitted the encoder and polled the device.
#[derive(Debug)]
pub struct PendingCapture {
    adapter: String,
    pages: Vec<Streams>,
    /// With the sizes of what is still to come.
    groups: Vec<CapturedGroup>,
    inputs: ReadBack,
    outputs: ReadBack,
}

impl PendingCapture {
    /// Whether [`PendingCapture::finish`] has an answer, be it the capture or an error. Does not wait; it changes when
    /// the caller polls the device.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.inputs.is_ready() && self.outputs.is_ready()
    }

    /// The capture; `None` while it is not there yet. Fails with [`DeformError::Map`] where the device was lost or the
    /// encoder dropped.
    pub fn finish(&self) -> Result<Option<Capture>, CaptureError> {
        let (Some(inputs), Some(outputs)) = (self.inputs.views()?, self.outputs.views()?) else {
            return Ok(None);
        };
        let mut groups = self.groups.clone();
        for (group, [palettes, block]) in groups.iter_mut().zip(&inputs) {
            fill(&mut group.palette, palettes);
            fill(&mut group.frame, block);
        }
        let lengths = groups.iter().map(|group| [group.len_a, group.len_b]);
        let outputs = outputs.iter().zip(lengths).map(output).collect();
        Capture::new(&self.adapter, self.pages.clone(), groups, outputs).map(Some)
    }
}

/// The first values of a view.
fn fill<T: bytemuck::Pod>(values: &mut [T], view: &[u8]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
    let length = bytes.len();
    bytes.copy_from_slice(&view[..length]);
}

/// Both outputs of a group as far as they are used.
fn output(([a, b], [len_a, len_b]): (&[wgpu::BufferView; 2], [u32; 2])) -> Output {
    let mut output = (vec![[0; 4]; len_a as usize], vec![0; len_b as usize]);
    fill(&mut output.0, a);
    fill(&mut output.1, b);
    output
}

/// A capture that is deformed again, on its way to the CPU. Made by [`Capture::record_replay`]; readable once the caller has
/// submitted the encoder and polled the device.
#[derive(Debug)]
pub struct Replay {
    read_back: ReadBack,
    lengths: Vec<[u32; 2]>,
}

impl Capture {
    /// Records its deformation on a device: buffers of its own, and a dispatch for each kernel variant and group.
    /// Kernels are compiled with all checks. Fails where the device's limits are too low.
    pub fn record_replay(
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
        let lengths = self.groups.iter().map(|group| [group.len_a, group.len_b]);
        let read_back = ReadBack::record(device, encoder, outputs, 0, None, None);
        Ok(Replay { read_back, lengths: lengths.collect() })
    }
}

impl Replay {
    /// Whether [`Replay::output`] has an answer, be it vertices or an error. Does not wait; it changes when the caller
    /// polls the device.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.read_back.is_ready()
    }

    /// What came out; `None` while it is not there yet.
    pub fn output(&self) -> Result<Option<CaptureOutput>, DeformError> {
        let Some(views) = self.read_back.views()? else { return Ok(None) };
        let groups = views.iter().zip(self.lengths.iter().copied()).map(output);
        Ok(Some(CaptureOutput { groups: groups.collect() }))
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
