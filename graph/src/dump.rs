//! A plan as text.

use std::fmt;

use crate::plan::{CullReason, KeptPlace, Plan, PlannedBuffer, PlannedPass, TexturePlace};

/// Passes in order with what they do to their attachments, buffers and textures with lifetime and place, and
/// what was culled, one a line.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "plan {:016x}: {} passes, {} bytes in {} arenas ({} without aliasing, at least {} alive at once)",
            self.fingerprint(),
            self.passes().len(),
            self.peak_bytes(),
            self.arenas().len(),
            self.unaliased_bytes(),
            self.live_bytes(),
        )?;
        for (at, pass) in self.passes().iter().enumerate() {
            let (kind, label) = (pass.kind, &pass.label);
            writeln!(
                f,
                "  pass {at}: {kind} `{label}` reads {} writes {}",
                pass.bytes_read, pass.bytes_written
            )?;
            write_attachments(f, self, pass)?;
        }
        for buffer in self.buffers() {
            write_buffer(f, self, buffer)?;
        }
        for texture in &self.body.textures {
            let (label, first, last) = (&texture.label, texture.first, texture.last);
            match texture.place {
                TexturePlace::Unused => {}
                TexturePlace::Target => writeln!(f, "  texture `{label}`: passes {first}..={last}, target")?,
                TexturePlace::Kept(kept) => {
                    let is_history =
                        self.body.kept_textures[kept.index as usize].is_some_and(|k| k.is_history);
                    let residence = if is_history { "history" } else { "persistent" };
                    writeln!(f, "  texture `{label}`: passes {first}..={last}, {residence}")?;
                }
                TexturePlace::Slot(slot) => {
                    writeln!(f, "  texture `{label}`: passes {first}..={last}, slot {slot}")?;
                }
            }
        }
        for culled in self.culled() {
            writeln!(f, "  culled `{}`: {}", culled.label, culled.reason)?;
        }
        Ok(())
    }
}

fn write_attachments(f: &mut fmt::Formatter<'_>, plan: &Plan, pass: &PlannedPass) -> fmt::Result {
    let label = |texture: u32| &plan.body.textures[texture as usize].label;
    for color in &pass.color {
        write!(f, "    color `{}`: {}", label(color.texture), operations(&color.ops))?;
        match color.resolve {
            Some(into) => writeln!(f, ", resolve into `{}`", label(into))?,
            None => writeln!(f)?,
        }
    }
    if let Some(depth) = &pass.depth {
        let what = depth.depth.as_ref().map_or("read only", operations);
        writeln!(f, "    depth `{}`: {what}", label(depth.texture))?;
    }
    Ok(())
}

fn operations<V>(ops: &wgpu::Operations<V>) -> &'static str {
    match (&ops.load, ops.store) {
        (wgpu::LoadOp::Load, wgpu::StoreOp::Store) => "load, store",
        (wgpu::LoadOp::Load, wgpu::StoreOp::Discard) => "load, discard",
        (_, wgpu::StoreOp::Store) => "clear, store",
        (_, wgpu::StoreOp::Discard) => "clear, discard",
    }
}

fn write_buffer(f: &mut fmt::Formatter<'_>, plan: &Plan, buffer: &PlannedBuffer) -> fmt::Result {
    let PlannedBuffer { label, size, first, last, .. } = buffer;
    write!(f, "  buffer `{label}`: {size} bytes, passes {first}..={last}, ")?;
    match buffer.placement {
        Some(place) => writeln!(f, "arena {} at {}", place.arena, place.offset),
        None => writeln!(f, "{}", residence(buffer.kept, plan)),
    }
}

fn residence(kept: Option<KeptPlace>, plan: &Plan) -> &'static str {
    match kept.and_then(|kept| plan.body.kept[kept.index as usize]) {
        None => "imported",
        Some(kept) if kept.is_history => "history",
        Some(_) => "persistent",
    }
}

impl fmt::Display for CullReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("disabled"),
            Self::WritesNothing => f.write_str("writes nothing"),
            Self::Unread { resources } => {
                f.write_str("no pass reads ")?;
                for (at, resource) in resources.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}`{resource}`")?;
                }
                Ok(())
            }
        }
    }
}
