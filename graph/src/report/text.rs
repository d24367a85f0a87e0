use std::fmt::Write;

use crate::report::data::{Buffer, Data, Pass, counted, nanoseconds};

pub(super) fn text(data: &Data<'_>) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write(&mut out, data);
    out
}

fn write(out: &mut String, data: &Data<'_>) -> std::fmt::Result {
    let totals = &data.totals;
    writeln!(out, "plan {:016x}: {}", data.fingerprint, counted(data.passes.len(), "pass", "passes"))?;
    let arenas = counted(data.arenas.len(), "arena", "arenas");
    let (peak, unaliased, live) = (totals.peak, totals.unaliased, totals.live);
    writeln!(
        out,
        "  buffers: {peak} bytes in {arenas} ({unaliased} without aliasing, at least {live} alive at once), {} kept",
        totals.kept
    )?;
    if totals.unaliased_textures > 0 {
        let (bytes, unaliased) = (totals.textures, totals.unaliased_textures);
        writeln!(out, "  textures: {bytes} bytes ({unaliased} without sharing)")?;
    }
    for (at, pass) in data.passes.iter().enumerate() {
        write_pass(out, at, pass)?;
    }
    for buffer in &data.buffers {
        let Buffer { label, size, first, last, .. } = buffer;
        write!(out, "  buffer `{label}`: {size} bytes, passes {first}..={last}, ")?;
        match buffer.place {
            Some((arena, offset)) => writeln!(out, "arena {arena} at {offset}")?,
            None => writeln!(out, "{}", buffer.residence)?,
        }
    }
    for texture in &data.textures {
        let (label, first, last) = (texture.label, texture.first, texture.last);
        write!(out, "  texture `{label}`: {}, passes {first}..={last}, ", texture.desc)?;
        match texture.slot {
            Some(slot) if texture.residence == "memoryless" => writeln!(out, "slot {slot}, memoryless")?,
            Some(slot) => writeln!(out, "slot {slot}")?,
            None => writeln!(out, "{}", texture.residence)?,
        }
    }
    for (label, reason) in &data.culled {
        writeln!(out, "  culled `{label}`: {reason}")?;
    }
    Ok(())
}

fn write_pass(out: &mut String, at: usize, pass: &Pass<'_>) -> std::fmt::Result {
    let (kind, label) = (pass.kind, pass.label);
    write!(out, "  pass {at}: {kind} `{label}` reads {} writes {}", pass.bytes_read, pass.bytes_written)?;
    match &pass.gpu {
        Some(gpu) => writeln!(out, " in {}", nanoseconds(gpu.end - gpu.start))?,
        None => writeln!(out)?,
    }
    for (role, texture, what) in &pass.attachments {
        writeln!(out, "    {role} `{texture}`: {what}")?;
    }
    Ok(())
}
