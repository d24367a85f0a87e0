//! Records the passes of one run.

use std::cell::Cell;

use smallvec::SmallVec;
use tracing::field::Empty;

use crate::{
    access::{PassKind, Target},
    plan::{PlannedPass, UploadBlock},
    record::{ComputeRecord, HostRecord, RasterRecord, Record, TransferRecord},
    runtime::{
        error::RunError,
        host::Host,
        kept::kept_of,
        poison::Poison,
        prepare::{Prepared, Scope},
        resources::Resources,
        timing::{self, Timer},
        void::Void,
    },
    upload::{Continuity, Staging},
};

/// The state of a run while its passes are recorded.
pub(super) struct Recording<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) prepared: &'a mut Prepared,
    pub(super) void: &'a Void,
    pub(super) continuity: Continuity,
    pub(super) number: u64,
    pub(super) staging: Option<Staging>,
    pub(super) poison: Option<&'a Poison>,
    /// Present if this run is timed.
    pub(super) timer: Option<&'a Timer>,
    /// The newest GPU times, for spans.
    pub(super) times: Option<&'a timing::Timings>,
    /// Timed passes recorded so far.
    pub(super) timed: usize,
    /// Kept resources whose host pass wrote nothing.
    pub(super) skipped: SmallVec<[u32; 2]>,
    /// The first mistake of a closure.
    pub(super) mistake: Option<RunError>,
}

impl Recording<'_> {
    /// Before the pass `at` of the plan.
    pub(super) fn poison(&self, at: u32, encoder: &mut wgpu::CommandEncoder) {
        if let Some(poison) = self.poison {
            poison.fill(encoder, self.prepared, self.scope, at);
        }
    }

    pub(super) fn pass<F>(
        &mut self,
        pass: &PlannedPass,
        record: &mut Record<F>,
        encoder: &mut wgpu::CommandEncoder,
        frame: &mut F,
    ) {
        let span = tracing::debug_span!(
            "pass",
            label = &*pass.label,
            kind = pass.kind.name(),
            bytes_read = pass.bytes_read,
            bytes_written = Empty,
            dispatches = Empty,
            draws = Empty,
            gpu_ns = Empty,
        )
        .entered();
        let written = match record {
            Record::Host(record) => self.host(pass, &mut **record, encoder, frame),
            Record::Compute(record) => self.compute(pass, &mut **record, encoder, frame, &span),
            Record::Raster(record) => self.raster(pass, &mut **record, encoder, frame, &span),
            Record::Transfer(record) => self.transfer(pass, &mut **record, encoder, frame, &span),
        };
        span.record("bytes_written", written);
        if timing::is_timed(pass.kind) {
            let known = self.times.and_then(|t| t.nanoseconds(self.timed));
            if let Some(nanoseconds) = known {
                span.record("gpu_ns", nanoseconds);
            }
            self.timed += 1;
        }
    }

    /// Runs the closure, then records one copy per block that it wrote. Returns the bytes copied.
    fn host<F>(
        &mut self,
        pass: &PlannedPass,
        record: &mut dyn HostRecord<F>,
        encoder: &mut wgpu::CommandEncoder,
        frame: &mut F,
    ) -> u64 {
        let blocks = pass.uploads.len();
        let used = &mut self.prepared.upload_used[..blocks];
        used.fill(0);
        let bytes = self.staging.as_mut().map_or_else(Default::default, Staging::bytes);
        let (scope, continuity, number) = (self.scope, &self.continuity, self.number);
        let mut host =
            Host { scope, pass, continuity, number, bytes, used, undeclared: false, failure: None };
        record.record(&mut host, frame);
        let (undeclared, failure) = (host.undeclared, host.failure.take());
        if undeclared {
            self.undeclared(pass, "an upload");
        }
        if let Some(reason) = failure {
            self.mistake.get_or_insert_with(|| RunError::HostFailed { pass: pass.label.clone(), reason });
        }
        let mut copied = 0;
        for (at, &UploadBlock { value, offset, .. }) in pass.uploads.iter().enumerate() {
            let used = self.prepared.upload_used[at];
            if used == 0 {
                self.skipped.extend(kept_of(self.scope.plan, value));
            }
            let bytes = self.prepared.bytes(Target::Buffer(value), self.scope.kept);
            if let (Some(bytes), Some(staging), true) = (bytes, &mut self.staging, used > 0) {
                staging.copy(encoder, offset..offset + used, bytes.buffer, bytes.offset);
                copied += used;
            }
        }
        copied
    }

    fn compute<F>(
        &mut self,
        pass: &PlannedPass,
        record: &mut dyn ComputeRecord<F>,
        encoder: &mut wgpu::CommandEncoder,
        frame: &F,
        span: &tracing::Span,
    ) -> u64 {
        let queries = self.timer.and_then(|timer| timer.queries(self.timed));
        let mut open = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&pass.label),
            timestamp_writes: queries.map(|(query_set, begin, end)| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(begin),
                end_of_pass_write_index: Some(end),
            }),
        });
        let resources = self.resources(pass);
        record.record(&mut open, &resources, frame);
        let seen = Seen::of(&resources);
        self.close(pass, seen, span)
    }

    fn raster<F>(
        &mut self,
        pass: &PlannedPass,
        record: &mut dyn RasterRecord<F>,
        encoder: &mut wgpu::CommandEncoder,
        frame: &F,
        span: &tracing::Span,
    ) -> u64 {
        let mut open = self.begin_raster(pass, encoder);
        let resources = self.resources(pass);
        record.record(&mut open, &resources, frame);
        let seen = Seen::of(&resources);
        self.close(pass, seen, span)
    }

    fn begin_raster<'e>(
        &self,
        pass: &PlannedPass,
        encoder: &'e mut wgpu::CommandEncoder,
    ) -> wgpu::RenderPass<'e> {
        let queries = self.timer.and_then(|timer| timer.queries(self.timed));
        let view = |texture| self.prepared.attachment(texture, self.scope);
        let color: SmallVec<[_; 8]> = pass
            .color
            .iter()
            .map(|color| {
                Some(wgpu::RenderPassColorAttachment {
                    view: view(color.texture)?,
                    depth_slice: None,
                    resolve_target: color.resolve.and_then(view),
                    ops: color.ops,
                })
            })
            .collect();
        let depth = pass.depth.as_ref().and_then(|depth| {
            Some(wgpu::RenderPassDepthStencilAttachment {
                view: view(depth.texture)?,
                depth_ops: depth.depth,
                stencil_ops: depth.stencil,
            })
        });
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(&pass.label),
            color_attachments: &color,
            depth_stencil_attachment: depth,
            timestamp_writes: queries.map(|(query_set, begin, end)| wgpu::RenderPassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(begin),
                end_of_pass_write_index: Some(end),
            }),
            ..Default::default()
        })
    }

    fn transfer<F>(
        &mut self,
        pass: &PlannedPass,
        record: &mut dyn TransferRecord<F>,
        encoder: &mut wgpu::CommandEncoder,
        frame: &F,
        span: &tracing::Span,
    ) -> u64 {
        let resources = self.resources(pass);
        record.record(encoder, &resources, frame);
        let seen = Seen::of(&resources);
        self.close(pass, seen, span)
    }

    fn resources(&self, pass: &PlannedPass) -> Resources<'_> {
        Resources {
            scope: self.scope,
            prepared: self.prepared,
            void: self.void,
            pass: pass.declared,
            dispatches: Cell::new(0),
            draws: Cell::new(0),
            undeclared: Cell::new(None),
        }
    }

    /// Notes what the closure reported. Returns the bytes that the pass may have written.
    fn close(&mut self, pass: &PlannedPass, seen: Seen, span: &tracing::Span) -> u64 {
        match pass.kind {
            PassKind::Compute => span.record("dispatches", seen.dispatches),
            PassKind::Raster => span.record("draws", seen.draws),
            PassKind::Host | PassKind::Transfer => span,
        };
        if let Some(kind) = seen.undeclared {
            self.undeclared(pass, kind);
        }
        pass.bytes_written
    }

    fn undeclared(&mut self, pass: &PlannedPass, kind: &'static str) {
        self.mistake.get_or_insert_with(|| RunError::Undeclared { pass: pass.label.clone(), kind });
    }
}

/// What a closure left in its [`Resources`].
#[derive(Clone, Copy)]
struct Seen {
    dispatches: u64,
    draws: u64,
    undeclared: Option<&'static str>,
}

impl Seen {
    fn of(resources: &Resources<'_>) -> Self {
        Self {
            dispatches: resources.dispatches.get(),
            draws: resources.draws.get(),
            undeclared: resources.undeclared.get(),
        }
    }
}
