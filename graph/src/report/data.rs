//! What the four forms show, gathered once.

use crate::{
    access::{PassKind, Target},
    plan::{CullReason, KeptPlace, Plan, PlannedPass, PlannedUse, TexturePlace},
    report::Report,
};

pub(super) struct Data<'a> {
    pub(super) title: &'a str,
    pub(super) fingerprint: u64,
    pub(super) passes: Vec<Pass<'a>>,
    pub(super) buffers: Vec<Buffer<'a>>,
    pub(super) textures: Vec<Texture<'a>>,
    /// Bytes and usages.
    pub(super) arenas: Vec<(u64, String)>,
    pub(super) culled: Vec<(&'a str, &'a CullReason)>,
    pub(super) totals: Totals,
    /// The run whose times are shown.
    pub(super) timed_frame: Option<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct Totals {
    /// All arenas.
    pub(super) peak: u64,
    /// A buffer for every transient.
    pub(super) unaliased: u64,
    /// Transients alive at once, at most.
    pub(super) live: u64,
    pub(super) kept: u64,
    pub(super) upload: u64,
    /// The pooled textures, and a texture for each declared one.
    pub(super) textures: u64,
    pub(super) unaliased_textures: u64,
}

pub(super) struct Pass<'a> {
    pub(super) label: &'a str,
    pub(super) kind: PassKind,
    pub(super) reads: Vec<Use<'a>>,
    pub(super) writes: Vec<Use<'a>>,
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
    /// Attachments with their operations.
    pub(super) attachments: Vec<(&'static str, &'a str, String)>,
    /// Begin and end on the GPU in nanoseconds since the frame's first pass began.
    pub(super) gpu: Option<std::ops::Range<u64>>,
}

pub(super) struct Use<'a> {
    /// What it is by itself: the member of a pack.
    pub(super) label: &'a str,
    pub(super) usage: &'static str,
    pub(super) resource: Resource,
}

/// Index into the buffers or textures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Buffer(usize),
    Texture(usize),
}

pub(super) struct Buffer<'a> {
    pub(super) label: &'a str,
    pub(super) size: u64,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Arena and offset of a transient.
    pub(super) place: Option<(u32, u64)>,
    pub(super) residence: &'static str,
}

pub(super) struct Texture<'a> {
    pub(super) label: &'a str,
    pub(super) desc: String,
    pub(super) bytes: u64,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) slot: Option<u32>,
    pub(super) residence: &'static str,
}

impl<'a> Data<'a> {
    pub(super) fn new(report: &Report<'a>) -> Self {
        let Report { plan, times, title } = *report;
        let body = &*plan.body;
        // Planned textures are by declaration; those that no pass uses are not shown.
        let mut shown = vec![usize::MAX; body.textures.len()];
        let used = body.textures.iter().enumerate().filter(|(_, t)| t.place != TexturePlace::Unused);
        let textures: Vec<_> = used
            .enumerate()
            .map(|(at, (index, texture))| {
                shown[index] = at;
                let size = texture.desc.size;
                let samples = texture.desc.samples;
                let (slot, residence) = match texture.place {
                    TexturePlace::Slot(slot) => {
                        let memoryless = body.slots[slot as usize].memoryless;
                        (Some(slot), if memoryless { "memoryless" } else { "transient" })
                    }
                    TexturePlace::Target => (None, "target"),
                    TexturePlace::Kept(kept) => {
                        let kept = body.kept_textures[kept.index as usize];
                        (None, if kept.is_some_and(|k| k.is_history) { "history" } else { "persistent" })
                    }
                    TexturePlace::Unused => (None, "unused"),
                };
                let format = format!("{:?}", texture.desc.format);
                let times = if samples > 1 { format!(" x{samples}") } else { String::new() };
                Texture {
                    label: &texture.label,
                    desc: format!("{}x{} {format}{times}", size.width, size.height),
                    bytes: texture.desc.bytes(),
                    first: texture.first,
                    last: texture.last,
                    slot,
                    residence,
                }
            })
            .collect();
        let buffers = body.buffers.iter().map(|buffer| Buffer {
            label: &buffer.label,
            size: buffer.size,
            first: buffer.first,
            last: buffer.last,
            place: buffer.placement.map(|place| (place.arena, place.offset)),
            residence: residence(plan, buffer.placement.is_some(), buffer.kept),
        });
        let mut data = Self {
            title,
            fingerprint: plan.fingerprint(),
            passes: body.passes.iter().map(|pass| one_pass(plan, pass, &shown)).collect(),
            buffers: buffers.collect(),
            arenas: body.arenas.iter().map(|a| (a.size, usages(a.usage))).collect(),
            culled: body.culled.iter().map(|culled| (&*culled.label, &culled.reason)).collect(),
            totals: Totals {
                peak: plan.peak_bytes(),
                unaliased: plan.unaliased_bytes(),
                live: plan.live_bytes(),
                kept: plan.kept_bytes(),
                upload: body.upload_bytes,
                textures: plan.texture_bytes(),
                unaliased_textures: plan.unaliased_texture_bytes(),
            },
            textures,
            timed_frame: None,
        };
        if let Some(times) = times {
            let timed =
                data.passes.iter().filter(|p| crate::runtime::is_timed(p.kind)).map(|pass| pass.label);
            if timed.eq(times.passes().map(|pass| pass.label)) {
                data.timed_frame = Some(times.frame());
                let passes = data.passes.iter_mut().filter(|pass| crate::runtime::is_timed(pass.kind));
                passes.zip(times.passes()).for_each(|(pass, time)| pass.gpu = Some(time.span));
            }
        }
        data
    }

    /// Nanoseconds from the first timed pass's begin to the last one's end.
    pub(super) fn gpu_total(&self) -> Option<u64> {
        self.passes.iter().filter_map(|pass| pass.gpu.as_ref().map(|gpu| gpu.end)).max()
    }
}

fn residence(plan: &Plan, is_transient: bool, kept: Option<KeptPlace>) -> &'static str {
    match kept.and_then(|kept| plan.body.kept[kept.index as usize]) {
        _ if is_transient => "transient",
        None => "imported",
        Some(kept) if kept.is_history => "history",
        Some(_) => "persistent",
    }
}

fn one_pass<'a>(plan: &'a Plan, pass: &'a PlannedPass, shown: &[usize]) -> Pass<'a> {
    let body = &*plan.body;
    let uses = &body.uses[pass.uses.start as usize..pass.uses.end as usize];
    let one = |u: &PlannedUse| {
        let (label, resource): (&str, _) = match u.target {
            Target::Buffer(value) => {
                let place = body.values[value as usize]?;
                let label = &body.labels[value as usize];
                let whole = &body.buffers[place.buffer as usize].label;
                let label = if label.is_empty() { whole } else { label };
                (label, Resource::Buffer(place.buffer as usize))
            }
            Target::Pack(pack) => {
                let buffer = body.packs[pack as usize]?;
                (&body.buffers[buffer as usize].label, Resource::Buffer(buffer as usize))
            }
            Target::Texture(texture) => {
                let label = &body.textures[texture as usize].label;
                (label, Resource::Texture(shown[texture as usize]))
            }
            Target::Unknown => return None,
        };
        Some(Use { label, usage: u.usage.name(), resource })
    };
    let texture = |index: u32| &*body.textures[index as usize].label;
    let mut attachments = Vec::new();
    for color in &pass.color {
        attachments.push(("color", texture(color.texture), operations(&color.ops).to_owned()));
        if let Some(into) = color.resolve {
            attachments.push(("resolve", texture(into), "store".to_owned()));
        }
    }
    if let Some(depth) = &pass.depth {
        let what = depth.depth.as_ref().map_or("read only", operations);
        attachments.push(("depth", texture(depth.texture), what.to_owned()));
    }
    Pass {
        label: &pass.label,
        kind: pass.kind,
        reads: uses.iter().filter(|u| !u.usage.writes()).filter_map(one).collect(),
        writes: uses.iter().filter(|u| u.usage.writes()).filter_map(one).collect(),
        bytes_read: pass.bytes_read,
        bytes_written: pass.bytes_written,
        attachments,
        gpu: None,
    }
}

fn operations<V>(ops: &wgpu::Operations<V>) -> &'static str {
    match (&ops.load, ops.store) {
        (wgpu::LoadOp::Load, wgpu::StoreOp::Store) => "load, store",
        (wgpu::LoadOp::Load, wgpu::StoreOp::Discard) => "load, discard",
        (_, wgpu::StoreOp::Store) => "clear, store",
        (_, wgpu::StoreOp::Discard) => "clear, discard",
    }
}

/// The flags alone.
fn usages(usage: wgpu::BufferUsages) -> String {
    let text = format!("{usage:?}");
    let flags = text.strip_prefix("BufferUsages(").and_then(|rest| rest.strip_suffix(')'));
    flags.unwrap_or(&text).to_owned()
}

/// Bytes as people read them.
pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let exponent = (bytes.ilog2() / 10).min(4) as usize;
    let value = bytes as f64 / (1u64 << (10 * exponent)) as f64;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {}", UNITS[exponent - 1])
}

/// Nanoseconds as people read them.
pub(super) fn nanoseconds(time: u64) -> String {
    match time {
        0..1_000 => format!("{time} ns"),
        1_000..1_000_000 => format!("{:.1} µs", time as f64 / 1e3),
        _ => format!("{:.2} ms", time as f64 / 1e6),
    }
}

/// A number and what it counts.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
