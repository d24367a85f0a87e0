//! Lives and arenas as pictures: x is the pass, everywhere at the same place.

use std::fmt::{self, Write};

use crate::report::{
    data::{Buffer, Data, Resource, bytes},
    html::escaped,
};

const WIDTH: f64 = 1180.0;
/// Room for labels on the left.
const LEFT: f64 = 210.0;
const TOP: f64 = 26.0;
const ROW: f64 = 20.0;
/// Height of the largest arena.
const ARENA: f64 = 360.0;
/// Rough width of a character of the small text.
const CHARACTER: f64 = 6.3;

/// Where the columns of the passes lie.
struct Columns {
    width: f64,
    count: usize,
}

impl Columns {
    fn new(data: &Data<'_>) -> Self {
        let count = data.passes.len().max(1);
        Self { width: (WIDTH - LEFT) / count as f64, count }
    }

    fn left(&self, pass: u32) -> f64 {
        LEFT + f64::from(pass) * self.width
    }

    fn span(&self, first: u32, last: u32) -> f64 {
        f64::from(last - first + 1) * self.width
    }
}

/// One row per resource, from its first pass to its last, with a mark where it is written or read.
pub(super) fn lives(data: &Data<'_>) -> String {
    let columns = Columns::new(data);
    let rows = data.buffers.len() + data.textures.len();
    let mut out = open(TOP + rows as f64 * ROW + 4.0, "Lifetimes of all resources over the passes");
    // Writing into a String cannot fail.
    let _ = write_lives(&mut out, data, &columns, rows);
    out.push_str("</svg>\n");
    out
}

fn write_lives(out: &mut String, data: &Data<'_>, columns: &Columns, rows: usize) -> fmt::Result {
    axis(out, data, columns, rows as f64 * ROW)?;
    let buffers = data.buffers.iter().enumerate().map(|(at, buffer)| {
        let place = match buffer.place {
            Some((arena, offset)) => format!("arena {arena} at {offset}"),
            None => buffer.residence.to_owned(),
        };
        let detail = format!("{}, {place}", bytes(buffer.size));
        (Resource::Buffer(at), buffer.label, buffer.first, buffer.last, detail)
    });
    let textures = data.textures.iter().enumerate().map(|(at, texture)| {
        let place = texture.slot.map_or_else(|| texture.residence.to_owned(), |slot| format!("slot {slot}"));
        let detail = format!("{}, {place}", texture.desc);
        (Resource::Texture(at), texture.label, texture.first, texture.last, detail)
    });
    for (row, (resource, label, first, last, detail)) in buffers.chain(textures).enumerate() {
        let y = TOP + row as f64 * ROW;
        let (x, width) = (columns.left(first), columns.span(first, last));
        let hue = hue(resource);
        let tip = escaped(&format!("{label}: {detail}, passes {first} to {last}"));
        writeln!(out, "<g><title>{tip}</title>")?;
        let fits = ((LEFT - 16.0) / CHARACTER) as usize;
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"name\">{}</text>",
            LEFT - 8.0,
            y + 14.0,
            escaped(&cut(label, fits))
        )?;
        writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" class=\"life\" style=\"--hue:{hue}\"/>",
            x + 1.0,
            y + 3.0,
            (width - 2.0).max(1.0),
            ROW - 6.0
        )?;
        marks(out, data, columns, resource, y)?;
        writeln!(out, "</g>")?;
    }
    Ok(())
}

/// A full dot where a pass writes, a hollow one where it only reads.
fn marks(out: &mut String, data: &Data<'_>, columns: &Columns, resource: Resource, y: f64) -> fmt::Result {
    for (at, pass) in data.passes.iter().enumerate() {
        let writes = pass.writes.iter().any(|u| u.resource == resource);
        let reads = pass.reads.iter().any(|u| u.resource == resource);
        if writes || reads {
            let class = if writes { "write" } else { "read" };
            let x = columns.left(at as u32) + columns.width / 2.0;
            let radius = 4.0f64.min(columns.width / 3.0);
            writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" class=\"{class}\"/>",
                y + ROW / 2.0
            )?;
        }
    }
    Ok(())
}

/// One picture per arena: x is the pass, y the offset, a rectangle per transient.
pub(super) fn arena(data: &Data<'_>, arena: u32, largest: u64) -> String {
    let columns = Columns::new(data);
    let size = data.arenas[arena as usize].0.max(1);
    let items = data.buffers.iter().filter(|b| b.place.is_some_and(|place| place.0 == arena)).count();
    let most = ARENA.min(60.0 * items as f64);
    let height = (most * size as f64 / largest.max(1) as f64).max(48.0);
    let mut out = open(TOP + height + 6.0, &format!("Map of arena {arena} over the passes"));
    // Writing into a String cannot fail.
    let _ = write_arena(&mut out, data, &columns, arena, size, height);
    out.push_str("</svg>\n");
    out
}

fn write_arena(
    out: &mut String,
    data: &Data<'_>,
    columns: &Columns,
    arena: u32,
    size: u64,
    height: f64,
) -> fmt::Result {
    axis(out, data, columns, height)?;
    for (bytes_at, y) in [(0, 0.0), (size / 2, height / 2.0), (size, height)] {
        let x = LEFT - 8.0;
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" class=\"name\">{}</text>",
            TOP + y + 4.0,
            bytes(bytes_at)
        )?;
    }
    for (at, buffer) in data.buffers.iter().enumerate() {
        let Buffer { label, first, last, .. } = *buffer;
        let Some((_, offset)) = buffer.place.filter(|place| place.0 == arena) else { continue };
        let scale = height / size as f64;
        let (x, y) = (columns.left(first), TOP + offset as f64 * scale);
        let (width, tall) = (columns.span(first, last), buffer.size as f64 * scale);
        let tip = format!("{label}: {} at {offset}, passes {first} to {last}", bytes(buffer.size));
        writeln!(out, "<g><title>{}</title>", escaped(&tip))?;
        writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{:.2}\" class=\"place\" style=\"--hue:{}\"/>",
            x + 0.5,
            (width - 1.0).max(1.0),
            (tall - 0.5).max(1.0),
            hue(Resource::Buffer(at))
        )?;
        let fits = ((width - 8.0) / CHARACTER).max(0.0) as usize;
        if tall >= 13.0 && fits >= 3 {
            writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"inside\">{}</text>",
                x + 5.0,
                y + tall.min(26.0) / 2.0 + 4.0,
                escaped(&cut(label, fits))
            )?;
        }
        writeln!(out, "</g>")?;
    }
    Ok(())
}

/// One row per pooled texture, with the textures that it is in turn.
pub(super) fn slots(data: &Data<'_>, count: u32) -> String {
    let columns = Columns::new(data);
    let mut out = open(TOP + f64::from(count) * ROW + 4.0, "Textures of each slot over the passes");
    // Writing into a String cannot fail.
    let _ = write_slots(&mut out, data, &columns, count);
    out.push_str("</svg>\n");
    out
}

fn write_slots(out: &mut String, data: &Data<'_>, columns: &Columns, count: u32) -> fmt::Result {
    axis(out, data, columns, f64::from(count) * ROW)?;
    for slot in 0..count {
        let y = TOP + f64::from(slot) * ROW;
        let textures = data.textures.iter().enumerate().filter(|(_, texture)| texture.slot == Some(slot));
        for (nth, (at, texture)) in textures.enumerate() {
            if nth == 0 {
                let x = LEFT - 8.0;
                let name = escaped(&cut(&texture.desc, ((LEFT - 16.0) / CHARACTER) as usize));
                writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" class=\"name\">{name}</text>", y + 14.0)?;
            }
            let (x, width) = (columns.left(texture.first), columns.span(texture.first, texture.last));
            let tip = format!("{}: {}, {}", texture.label, texture.desc, bytes(texture.bytes));
            writeln!(out, "<g><title>{}</title>", escaped(&tip))?;
            writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"place\" style=\"--hue:{}\"/>",
                x + 0.5,
                y + 1.5,
                (width - 1.0).max(1.0),
                ROW - 3.0,
                hue(Resource::Texture(at))
            )?;
            let fits = ((width - 8.0) / CHARACTER).max(0.0) as usize;
            if fits >= 3 {
                let label = escaped(&cut(texture.label, fits));
                let (x, y) = (x + 5.0, y + 14.0);
                writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"inside\">{label}</text>")?;
            }
            writeln!(out, "</g>")?;
        }
    }
    Ok(())
}

fn open(height: f64, what: &str) -> String {
    let what = escaped(what);
    format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{what}\">\n")
}

/// Numbers of the passes, their names where there is room, and a line between them.
fn axis(out: &mut String, data: &Data<'_>, columns: &Columns, height: f64) -> fmt::Result {
    let every = (18.0 / columns.width).ceil().max(1.0) as usize;
    for at in 0..columns.count {
        let x = columns.left(at as u32);
        writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" class=\"grid\"/>",
            TOP - 2.0,
            TOP + height
        )?;
        let Some(pass) = data.passes.get(at).filter(|_| at % every == 0) else { continue };
        let room = (columns.width / CHARACTER) as usize;
        let text = if room > 6 { format!("{at} {}", pass.label) } else { at.to_string() };
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"axis\">{}<title>{at} {}</title></text>",
            x + columns.width / 2.0,
            TOP - 9.0,
            escaped(&cut(&text, room.max(3))),
            escaped(pass.label)
        )?;
    }
    Ok(())
}

/// Neighbours differ: steps of the golden angle.
fn hue(resource: Resource) -> u32 {
    let (at, offset) = match resource {
        Resource::Buffer(at) => (at, 205.0),
        Resource::Texture(at) => (at, 30.0),
    };
    ((at as f64 * 137.508 + offset) % 360.0) as u32
}

/// At most `most` characters, the last of them a dot leader where some are missing.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(most.saturating_sub(1)).collect();
    out.push('…');
    out
}
