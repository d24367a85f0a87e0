use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use super::{Deformer, SkinnedPart};
use crate::{
    animate::InstanceId,
    deform::{
        DeformError,
        output::{BakedPrimitive, Outputs, Snapshot, bake, bake_part},
    },
};

const WAITING: u8 = 0;
pub(super) const MAPPED: u8 = 1;
pub(super) const FAILED: u8 = 2;

/// Deformed vertices on their way to the CPU. Made by [`Deformer::read_back`], [`Deformer::read_back_of`] or a pass of
/// [`declare_read_back`](super::declare_read_back); readable once the caller has submitted the encoder and polled the
/// device. Any number may be under way: each has buffers of its own.
#[derive(Debug)]
pub struct ReadBack {
    copied: Vec<[Copied; 2]>,
    of: Of,
}

/// What was copied.
#[derive(Debug)]
enum Of {
    /// Outputs of groups, or what one instance has of them, by [`Deformer::record`].
    Groups {
        /// By place in `copied`.
        groups: Vec<usize>,
        /// The only one.
        instance: Option<InstanceId>,
        /// Of the models and instances whose vertices these are.
        revision: u64,
        /// Where their parts lay, if that changes from record to record.
        snapshot: Option<Snapshot>,
    },
    /// Resources of a graph, one by one.
    Parts(Arc<[SkinnedPart]>),
}

/// Part of one buffer.
#[derive(Debug)]
pub(super) struct Copied {
    buffer: wgpu::Buffer,
    pub(super) state: Arc<AtomicU8>,
    range: Range<u64>,
}

/// Waits for one buffer. Dropped without an answer, because its encoder was dropped, it has failed.
#[derive(Debug)]
struct Notice(Arc<AtomicU8>);

impl Notice {
    /// By method: a closure that touched the field alone would capture only that, and drop this early.
    fn answer(&self, mapped: bool) {
        self.0.store(if mapped { MAPPED } else { FAILED }, Ordering::Release);
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        let _ = self.0.compare_exchange(WAITING, FAILED, Ordering::Release, Ordering::Relaxed);
    }
}

/// A buffer and the bytes to copy.
type Piece<'o> = (&'o wgpu::Buffer, Range<u64>);

impl ReadBack {
    /// Of groups by their numbers.
    pub(super) fn record<'o>(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        outputs: impl IntoIterator<Item = (usize, [Piece<'o>; 2])>,
        revision: u64,
        snapshot: Option<Snapshot>,
        instance: Option<InstanceId>,
    ) -> Self {
        let (mut groups, mut copied) = (Vec::new(), Vec::new());
        for (group, pieces) in outputs {
            groups.push(group);
            copied.push(pieces.map(|piece| Copied::record(device, encoder, piece)));
        }
        Self { copied, of: Of::Groups { groups, instance, revision, snapshot } }
    }

    /// Of parts, each with its two buffers.
    pub(super) fn record_parts<'o>(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        parts: &Arc<[SkinnedPart]>,
        outputs: impl IntoIterator<Item = [Piece<'o>; 2]>,
    ) -> Self {
        let copied =
            outputs.into_iter().map(|pieces| pieces.map(|piece| Copied::record(device, encoder, piece)));
        Self { copied: copied.collect(), of: Of::Parts(Arc::clone(parts)) }
    }

    /// Whether [`ReadBack::bake`] has an answer, be it vertices or an error. Does not wait; it changes when the caller
    /// polls the device.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let mut states = self.states();
        states.all(|state| state != WAITING) || self.states().any(|state| state == FAILED)
    }

    /// Every primitive of an instance, in its space and the source's vertex order, without those of parts that had no
    /// place among [compact outputs](super::DeformerOptions::compact_outputs); `None` while the vertices are not there yet. Fails with [`DeformError::NotRecorded`] once models or instances have
    /// changed since the record (not where it was a graph's), with [`DeformError::NotReadBack`] for an instance that was
    /// left out, and with [`DeformError::Map`] where the device was lost or the encoder dropped.
    pub fn bake(
        &self,
        deformer: &Deformer,
        instance: InstanceId,
    ) -> Result<Option<Vec<BakedPrimitive>>, DeformError> {
        let Some(views) = self.views()? else { return Ok(None) };
        let outputs = |at: usize| {
            let [a, b] = &views[at];
            let start = [self.copied[at][0].range.start, self.copied[at][1].range.start];
            Outputs { a: bytemuck::cast_slice(a), b: bytemuck::cast_slice(b), start }
        };
        match &self.of {
            Of::Groups { groups, instance: only, revision, snapshot } => {
                let (cast, layout) = deformer.cast_and_layout();
                if cast.revision() != *revision {
                    return Err(DeformError::NotRecorded);
                }
                if only.is_some_and(|only| only != instance) {
                    return Err(DeformError::NotReadBack { instance });
                }
                let place =
                    |group: usize| groups.iter().position(|known| *known == group).unwrap_or_default();
                bake(cast, layout, snapshot.as_ref(), instance, |group| outputs(place(group))).map(Some)
            }
            Of::Parts(parts) => {
                let own = parts.iter().enumerate().filter(|(_, part)| part.instance == instance);
                let primitives: Vec<_> = own
                    .flat_map(|(at, part)| {
                        let Outputs { a, b, .. } = outputs(at);
                        bake_part(&part.model, part.part, part.precision, &part.first_vertices, a, b)
                    })
                    .collect();
                if primitives.is_empty() {
                    Err(DeformError::NotReadBack { instance })
                } else {
                    Ok(Some(primitives))
                }
            }
        }
    }

    /// Both outputs of everything that was copied; `None` while they are not there yet.
    pub(super) fn views(&self) -> Result<Option<Vec<[wgpu::BufferView; 2]>>, DeformError> {
        if self.states().any(|state| state == FAILED) {
            return Err(DeformError::Map);
        }
        if !self.is_ready() {
            return Ok(None);
        }
        let views = self.copied.iter().map(|[a, b]| Ok([a.mapped()?, b.mapped()?]));
        views.collect::<Result<_, _>>().map(Some)
    }

    fn states(&self) -> impl Iterator<Item = u8> + '_ {
        self.copied.iter().flatten().map(|copied| copied.state.load(Ordering::Acquire))
    }
}

impl Copied {
    pub(super) fn record(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        (output, range): Piece<'_>,
    ) -> Self {
        let bytes = range.end - range.start;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            // Nothing of no size can be mapped.
            size: bytes.max(16),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        if bytes > 0 {
            encoder.copy_buffer_to_buffer(output, range.start, &buffer, 0, bytes);
        }
        let state = Arc::new(AtomicU8::new(WAITING));
        let notice = Notice(Arc::clone(&state));
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |result| {
            notice.answer(result.is_ok());
        });
        Self { buffer, state, range }
    }

    fn mapped(&self) -> Result<wgpu::BufferView, DeformError> {
        self.buffer.slice(..).get_mapped_range().map_err(|_| DeformError::Map)
    }
}
