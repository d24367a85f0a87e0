//! The deform kernel on the CPU: the same tables and the same arithmetic as wgsl/, file by file. It is
//! the fallback where no adapter answers (only when asked for), the picker's geometry and the reference.

mod blend;
#[expect(clippy::module_inception, reason = "one stage, one file, one name in both languages")]
mod deform;
mod morph;
mod output;
mod skin;
mod source;

pub(crate) use deform::deform;
