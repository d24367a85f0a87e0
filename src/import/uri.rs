//! What a URI may name: data inside the document, or a file in the model's folder or below.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{Budget, ImportError, Resolver};

/// Where external files come from.
pub(super) enum Files<'a> {
    /// A folder; nothing outside is read.
    Folder(PathBuf),
    /// The caller's function.
    Resolver(Resolver<'a>),
    /// Nowhere.
    None,
}

/// Bytes behind a URI, and the media type that a data URI gives.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) media_type: Option<String>,
}

/// Padding is optional: files without it are common and unambiguous.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

impl Files<'_> {
    /// Reads what `uri` names, charged to the budget of file bytes.
    pub(super) fn read(&self, place: &str, uri: &str, budget: &mut Budget) -> Result<Content, ImportError> {
        let refuse = |problem: String| ImportError::Uri { place: place.into(), uri: shortened(uri), problem };
        if let Some(rest) = strip_scheme(uri, "data:") {
            let (bytes, media_type) = data(rest).map_err(refuse)?;
            budget.file_bytes(place, bytes.len() as u64)?;
            return Ok(Content { bytes, media_type: Some(media_type) });
        }
        let name = relative(uri).map_err(|problem| refuse(problem.into()))?;
        let bytes = match self {
            Self::Folder(folder) => {
                let limit = budget.file_bytes_left();
                read_inside(folder, &name, limit).map_err(|e| refuse(format!("cannot be read: {e}")))?
            }
            Self::Resolver(resolve) => {
                resolve(&name).map_err(|e| refuse(format!("was not resolved: {e}")))?
            }
            Self::None => {
                return Err(refuse(
                    "is outside the given bytes and `ImportOptions::resolver` is not set".into(),
                ));
            }
        };
        budget.file_bytes(place, bytes.len() as u64)?;
        Ok(Content { bytes, media_type: None })
    }
}

fn strip_scheme<'a>(uri: &'a str, scheme: &str) -> Option<&'a str> {
    let (head, rest) = uri.split_at_checked(scheme.len())?;
    head.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// RFC 2397, base64 only (glTF 2.0, 3.6.1.1).
fn data(rest: &str) -> Result<(Vec<u8>, String), String> {
    let Some((head, body)) = rest.split_once(',') else {
        return Err("is a data URI without a comma".into());
    };
    let Some(media_type) = head.strip_suffix(";base64") else {
        return Err("is a data URI without `;base64`".into());
    };
    let bytes = BASE64.decode(body).map_err(|e| format!("is not base64: {e}"))?;
    Ok((bytes, media_type.split(';').next().unwrap_or_default().into()))
}

/// The decoded relative path, `/` between its parts, or why it is refused.
fn relative(uri: &str) -> Result<String, &'static str> {
    if uri.is_empty() {
        return Err("is empty");
    }
    if uri.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err("has a scheme; only data: and relative paths are read");
    }
    if uri.contains(['?', '#']) {
        return Err("has a query or fragment");
    }
    let mut parts = Vec::new();
    for part in uri.split('/') {
        let Ok(part) = percent_encoding::percent_decode_str(part).decode_utf8() else {
            return Err("is not UTF-8 after percent-decoding");
        };
        match &*part {
            "" => return Err("is an absolute path or has an empty part"),
            "." => continue,
            ".." => return Err("leaves the model's folder"),
            p if p.contains(['/', '\\', ':']) => return Err("has a separator inside a name"),
            p if p.contains(|c: char| c.is_control()) => return Err("has a control character"),
            _ => parts.push(part.into_owned()),
        }
    }
    if parts.is_empty() {
        return Err("names no file");
    }
    Ok(parts.join("/"))
}

/// Follows links only as far as they stay inside.
fn read_inside(folder: &Path, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    let folder = folder.canonicalize()?;
    let path = folder.join(name).canonicalize()?;
    if !path.starts_with(&folder) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is a link out of the model's folder",
        ));
    }
    read_limited(&path, limit)
}

/// Reads a regular file of at most `limit` bytes. (Opening a pipe could wait for ever.)
pub(super) fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > limit {
        let message = format!("{length} bytes, but the limit leaves {limit}");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    // Room for all of it at once; one byte more, so that the end is seen without growing.
    let mut bytes = Vec::with_capacity(length as usize + 1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Data URIs can be megabytes long.
pub(super) fn shortened(uri: &str) -> String {
    match uri.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &uri[..end]),
        None => uri.into(),
    }
}
