use std::fmt::Write;

use crate::report::data::{Buffer, Data, Pass, Resource, Texture, Use};

/// Rises when a field changes its meaning or goes.
const SCHEMA: u32 = 1;

pub(super) fn json(data: &Data<'_>) -> String {
    let totals = data.totals;
    let mut out = String::from("{\n");
    let mut field = |name: &str, value: String, last: bool| {
        let comma = if last { "" } else { "," };
        // Writing into a String cannot fail.
        let _ = writeln!(out, "  {}: {value}{comma}", string(name));
    };
    field("schema", SCHEMA.to_string(), false);
    field("title", string(data.title), false);
    field("fingerprint", string(&format!("{:016x}", data.fingerprint)), false);
    field("timed_frame", or_null(data.timed_frame), false);
    let totals = object(&[
        ("peak_bytes", totals.peak.to_string()),
        ("unaliased_bytes", totals.unaliased.to_string()),
        ("live_bytes", totals.live.to_string()),
        ("kept_bytes", totals.kept.to_string()),
        ("upload_bytes", totals.upload.to_string()),
        ("texture_bytes", totals.textures.to_string()),
        ("unaliased_texture_bytes", totals.unaliased_textures.to_string()),
        ("gpu_ns", or_null(data.gpu_total())),
    ]);
    field("totals", totals, false);
    field("passes", rows(data.passes.iter().map(pass)), false);
    field("buffers", rows(data.buffers.iter().map(buffer)), false);
    field("textures", rows(data.textures.iter().map(texture)), false);
    let arena =
        |(size, usage): &(u64, String)| object(&[("bytes", size.to_string()), ("usage", string(usage))]);
    field("arenas", rows(data.arenas.iter().map(arena)), false);
    let culled = data
        .culled
        .iter()
        .map(|(label, reason)| object(&[("label", string(label)), ("reason", string(&reason.to_string()))]));
    field("culled", rows(culled), true);
    out.push_str("}\n");
    out
}

fn pass(pass: &Pass<'_>) -> String {
    let attachment = |(role, texture, ops): &(&str, &str, String)| {
        object(&[("role", string(role)), ("texture", string(texture)), ("operations", string(ops))])
    };
    object(&[
        ("label", string(pass.label)),
        ("kind", string(pass.kind.name())),
        ("reads", list(pass.reads.iter().map(one_use))),
        ("writes", list(pass.writes.iter().map(one_use))),
        ("bytes_read", pass.bytes_read.to_string()),
        ("bytes_written", pass.bytes_written.to_string()),
        ("attachments", list(pass.attachments.iter().map(attachment))),
        ("gpu_begin_ns", or_null(pass.gpu.as_ref().map(|gpu| gpu.start))),
        ("gpu_end_ns", or_null(pass.gpu.as_ref().map(|gpu| gpu.end))),
    ])
}

fn one_use(u: &Use<'_>) -> String {
    let (kind, index) = match u.resource {
        Resource::Buffer(index) => ("buffer", index),
        Resource::Texture(index) => ("texture", index),
    };
    object(&[("resource", string(u.label)), ("usage", string(u.usage)), (kind, index.to_string())])
}

fn buffer(buffer: &Buffer<'_>) -> String {
    object(&[
        ("label", string(buffer.label)),
        ("bytes", buffer.size.to_string()),
        ("first", buffer.first.to_string()),
        ("last", buffer.last.to_string()),
        ("residence", string(buffer.residence)),
        ("arena", or_null(buffer.place.map(|place| place.0))),
        ("offset", or_null(buffer.place.map(|place| place.1))),
    ])
}

fn texture(texture: &Texture<'_>) -> String {
    object(&[
        ("label", string(texture.label)),
        ("desc", string(&texture.desc)),
        ("bytes", texture.bytes.to_string()),
        ("first", texture.first.to_string()),
        ("last", texture.last.to_string()),
        ("residence", string(texture.residence)),
        ("slot", or_null(texture.slot)),
    ])
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{}: {value}", string(name))).collect();
    format!("{{{}}}", fields.join(", "))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A list with an item a line.
fn rows(items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    if items.is_empty() { "[]".into() } else { format!("[\n    {}\n  ]", items.join(",\n    ")) }
}

fn or_null(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "null".into(), |value| value.to_string())
}

/// A JSON string (RFC 8259, section 7).
fn string(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
