use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// What to write, by the name of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// One PNG.
    Png(PathBuf),
    /// Numbered PNGs.
    Sequence(PathBuf),
    Gif(PathBuf),
    Apng(PathBuf),
}

impl Output {
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let text = path.to_string_lossy();
        if path.is_dir() || text.ends_with(['/', std::path::MAIN_SEPARATOR]) {
            return Ok(Self::Sequence(path.into()));
        }
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("png") => Ok(Self::Png(path.into())),
            Some("gif") => Ok(Self::Gif(path.into())),
            Some("apng") => Ok(Self::Apng(path.into())),
            _ => Err(Failure::usage(format_args!("`{text}` does not say what to write"))
                .help("end it in .png, .gif or .apng, or in / for a folder of PNGs")),
        }
    }

    /// Whether several pictures fit.
    pub(crate) fn is_animated(&self) -> bool {
        !matches!(self, Self::Png(_))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Png(path) | Self::Sequence(path) | Self::Gif(path) | Self::Apng(path) => path,
        }
    }
}
