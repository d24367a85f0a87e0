//! A plan as text.

use std::fmt;

use crate::plan::{CullReason, Plan, PlannedBuffer, TexturePlace};

/// Passes in order, buffers with lifetime and place, and what was culled, one a line.
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
        }
        for buffer in self.buffers() {
            write_buffer(f, buffer)?;
        }
        for texture in &self.body.textures {
            let (label, first, last) = (&texture.label, texture.first, texture.last);
            match texture.place {
                TexturePlace::Unused => {}
                TexturePlace::Target => writeln!(f, "  texture `{label}`: passes {first}..={last}, target")?,
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

fn write_buffer(f: &mut fmt::Formatter<'_>, buffer: &PlannedBuffer) -> fmt::Result {
    let PlannedBuffer { label, size, first, last, .. } = buffer;
    write!(f, "  buffer `{label}`: {size} bytes, passes {first}..={last}, ")?;
    match buffer.placement {
        Some(place) => writeln!(f, "arena {} at {}", place.arena, place.offset),
        None => writeln!(f, "imported"),
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
