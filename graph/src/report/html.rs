use std::fmt::{self, Write};

use crate::report::{
    data::{Data, Pass, Resource, Use, bytes, counted, nanoseconds},
    svg,
};

const STYLE: &str = include_str!("style.css");

pub(super) fn html(data: &Data<'_>) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write(&mut out, data);
    out
}

fn write(out: &mut String, data: &Data<'_>) -> fmt::Result {
    let title = escaped(data.title);
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>")?;
    writeln!(out, "<h1>{title}</h1>")?;
    let culled =
        if data.culled.is_empty() { String::new() } else { format!(", {} culled", data.culled.len()) };
    writeln!(
        out,
        "<p class=\"sub\">{}{culled}, {}, {}. Plan {:016x}.</p>",
        counted(data.passes.len(), "pass", "passes"),
        counted(data.buffers.len(), "buffer", "buffers"),
        counted(data.textures.len(), "texture", "textures"),
        data.fingerprint
    )?;
    tiles(out, data)?;
    passes(out, data)?;
    writeln!(out, "<h2>Lifetimes</h2>")?;
    writeln!(
        out,
        "<p class=\"sub\">From the first pass that uses a resource to the last. A full dot writes, a hollow one reads.</p>"
    )?;
    writeln!(out, "<div class=\"scroll\">{}</div>", svg::lives(data))?;
    arenas(out, data)?;
    slots(out, data)?;
    if !data.culled.is_empty() {
        writeln!(out, "<h2>Not in the plan</h2>\n<table>\n<tr><th>pass</th><th>why</th></tr>")?;
        for (label, reason) in &data.culled {
            let reason = escaped(&reason.to_string());
            writeln!(out, "<tr><td><b>{}</b></td><td>{reason}</td></tr>", escaped(label))?;
        }
        writeln!(out, "</table>")?;
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn tiles(out: &mut String, data: &Data<'_>) -> fmt::Result {
    let totals = &data.totals;
    writeln!(out, "<div class=\"tiles\">")?;
    let mut tile = |name: &str, value: String, note: String| {
        writeln!(out, "<div><span>{name}</span><b>{value}</b><i>{note}</i></div>")
    };
    let saved = totals.unaliased.saturating_sub(totals.peak);
    let note = if saved == 0 { "none aliased".into() } else { format!("{} saved by aliasing", bytes(saved)) };
    tile("Transient buffers", bytes(totals.peak), note)?;
    if totals.unaliased_textures > 0 {
        let saved = totals.unaliased_textures.saturating_sub(totals.textures);
        let note =
            if saved > 0 { format!("{} saved by sharing", bytes(saved)) } else { "none shared".into() };
        tile("Transient textures", bytes(totals.textures), note)?;
    }
    if totals.kept > 0 {
        tile("Kept buffers", bytes(totals.kept), "from frame to frame".into())?;
    }
    tile("Uploaded", bytes(totals.upload), "at most, a frame".into())?;
    if let (Some(total), Some(frame)) = (data.gpu_total(), data.timed_frame) {
        tile("GPU time", nanoseconds(total), format!("first pass to last, frame {frame}"))?;
    }
    writeln!(out, "</div>")
}

fn passes(out: &mut String, data: &Data<'_>) -> fmt::Result {
    let longest = data.passes.iter().filter_map(|pass| pass.gpu.as_ref().map(|g| g.end - g.start)).max();
    writeln!(out, "<h2>Passes</h2>\n<div class=\"scroll\"><table>")?;
    write!(out, "<tr><th class=\"n\">#</th><th>pass</th><th>reads</th><th>writes</th>")?;
    write!(out, "<th class=\"n\">bytes read</th><th class=\"n\">written</th>")?;
    writeln!(out, "{}</tr>", if longest.is_some() { "<th>GPU time</th>" } else { "" })?;
    for (at, pass) in data.passes.iter().enumerate() {
        let kind = pass.kind.name();
        write!(out, "<tr><td class=\"n\">{at}</td><td class=\"pass\"><b>{}</b> ", escaped(pass.label))?;
        write!(out, "<span class=\"kind {kind}\">{kind}</span></td>")?;
        write!(out, "<td>{}</td><td>{}</td>", uses(pass, &pass.reads), uses(pass, &pass.writes))?;
        write!(out, "<td class=\"n\">{}</td>", bytes(pass.bytes_read))?;
        write!(out, "<td class=\"n\">{}</td>", bytes(pass.bytes_written))?;
        if let Some(longest) = longest {
            time(out, pass, longest)?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</table></div>")
}

fn time(out: &mut String, pass: &Pass<'_>, longest: u64) -> fmt::Result {
    let Some(gpu) = &pass.gpu else { return write!(out, "<td></td>") };
    let length = gpu.end - gpu.start;
    let share = 100.0 * length as f64 / longest.max(1) as f64;
    write!(
        out,
        "<td class=\"time\"><span class=\"bar\" style=\"width:{share:.1}%\"></span>{}</td>",
        nanoseconds(length)
    )
}

/// The resources, each once, with how it is used.
fn uses(pass: &Pass<'_>, list: &[Use<'_>]) -> String {
    const SHOWN: usize = 12;
    let mut seen: Vec<(&Use<'_>, Vec<&str>)> = Vec::new();
    for u in list {
        match seen.iter_mut().find(|(known, _)| (known.label, known.resource) == (u.label, u.resource)) {
            Some((_, usages)) if usages.contains(&u.usage) => {}
            Some((_, usages)) => usages.push(u.usage),
            None => seen.push((u, vec![u.usage])),
        }
    }
    let more = seen.len().saturating_sub(SHOWN);
    let one = |(u, usages): &(&Use<'_>, Vec<&str>)| {
        let is_texture = matches!(u.resource, Resource::Texture(_));
        let attachment = pass.attachments.iter().find(|(_, texture, _)| is_texture && *texture == u.label);
        let usage = match attachment {
            Some((role, _, ops)) => format!("{role}: {ops}"),
            None => usages.join(", "),
        };
        format!("<span class=\"use\">{} <i>{usage}</i></span>", escaped(u.label))
    };
    let mut text: Vec<_> = seen.iter().take(SHOWN).map(one).collect();
    if more > 0 {
        text.push(format!("<span class=\"use\">and {more} more</span>"));
    }
    text.join(" ")
}

fn arenas(out: &mut String, data: &Data<'_>) -> fmt::Result {
    if data.arenas.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Memory</h2>")?;
    writeln!(
        out,
        "<p class=\"sub\">One buffer on the device per arena. Across: passes; down: bytes. What shares bytes is never alive together; what one pass reads and writes lies in different arenas.</p>"
    )?;
    let largest = data.arenas.iter().map(|arena| arena.0).max().unwrap_or(1);
    for (at, (size, usage)) in data.arenas.iter().enumerate() {
        writeln!(out, "<h3>Arena {at} <span>{}, {}</span></h3>", bytes(*size), escaped(usage))?;
        writeln!(out, "<div class=\"scroll\">{}</div>", svg::arena(data, at as u32, largest))?;
    }
    Ok(())
}

fn slots(out: &mut String, data: &Data<'_>) -> fmt::Result {
    let count = data.textures.iter().filter_map(|texture| texture.slot).max().map_or(0, |slot| slot + 1);
    if count == 0 {
        return Ok(());
    }
    writeln!(out, "<h3>Texture slots <span>{}</span></h3>", bytes(data.totals.textures))?;
    writeln!(out, "<div class=\"scroll\">{}</div>", svg::slots(data, count))
}

/// Text for HTML and attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
