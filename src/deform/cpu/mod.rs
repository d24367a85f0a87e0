//! The deform kernel on the CPU: the same tables and the same arithmetic as wgsl/, file by file. It is
//! the fallback where no adapter answers (only when asked for), the picker's geometry and the reference.

mod blend;
mod deform;
mod dual;
mod morph;
mod output;
mod rotation;
mod single;
mod skin;
mod source;

pub(crate) use deform::{Input, Listed, deform, list};
pub(crate) use single::deform_single;
pub(super) use source::{Four, load_four, load_next_four, load_row};
