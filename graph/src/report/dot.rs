use std::fmt::Write;

use crate::{
    access::PassKind,
    report::data::{Data, Resource, Use, bytes, nanoseconds},
};

pub(super) fn dot(data: &Data<'_>) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write(&mut out, data);
    out
}

fn write(out: &mut String, data: &Data<'_>) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quoted(data.title))?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [fontname=\"sans-serif\", fontsize=11, style=filled, color=\"#00000040\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#00000090\"];")?;
    for (at, pass) in data.passes.iter().enumerate() {
        let time = pass.gpu.as_ref().map(|gpu| format!("\n{}", nanoseconds(gpu.end - gpu.start)));
        let label = format!("{at} {}\n{}{}", pass.label, pass.kind, time.unwrap_or_default());
        writeln!(
            out,
            "  pass{at} [shape=box, label={}, fillcolor=\"{}\"];",
            quoted(&label),
            fill(pass.kind)
        )?;
    }
    for (at, buffer) in data.buffers.iter().enumerate() {
        let place = match buffer.place {
            Some((arena, offset)) => format!("arena {arena} at {offset}"),
            None => buffer.residence.to_owned(),
        };
        let label = format!("{}\n{}, {place}", buffer.label, bytes(buffer.size));
        writeln!(out, "  buffer{at} [shape=ellipse, label={}, fillcolor=\"#eef1f4\"];", quoted(&label))?;
    }
    for (at, texture) in data.textures.iter().enumerate() {
        let place = texture.slot.map_or_else(|| texture.residence.to_owned(), |slot| format!("slot {slot}"));
        let label = format!("{}\n{}, {place}", texture.label, texture.desc);
        writeln!(out, "  texture{at} [shape=octagon, label={}, fillcolor=\"#f6efe6\"];", quoted(&label))?;
    }
    for (at, pass) in data.passes.iter().enumerate() {
        for u in &pass.reads {
            writeln!(out, "  {} -> pass{at} [label={}];", node(u), quoted(u.usage))?;
        }
        for u in &pass.writes {
            writeln!(out, "  pass{at} -> {} [label={}];", node(u), quoted(u.usage))?;
        }
    }
    for (at, (label, reason)) in data.culled.iter().enumerate() {
        let label = format!("{label}\nculled: {reason}");
        let style = "style=dashed, fontcolor=\"#00000090\"";
        writeln!(out, "  culled{at} [shape=box, label={}, {style}];", quoted(&label))?;
    }
    writeln!(out, "}}")
}

fn node(u: &Use<'_>) -> String {
    match u.resource {
        Resource::Buffer(at) => format!("buffer{at}"),
        Resource::Texture(at) => format!("texture{at}"),
    }
}

fn fill(kind: PassKind) -> &'static str {
    match kind {
        PassKind::Host => "#f6d58b",
        PassKind::Compute => "#a9c8f5",
        PassKind::Raster => "#b5dcab",
        PassKind::Transfer => "#d6bdea",
    }
}

/// A quoted identifier of the DOT language.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
