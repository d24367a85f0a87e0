//! Buffers and buffer views: where the bytes are.

use std::{borrow::Cow, ops::Range};

use super::{
    Budget, ImportError,
    codes::{self, Report},
    document::Document,
    meshopt,
    uri::Files,
};

/// The bytes of every view.
pub(super) struct Buffers<'a> {
    /// None for a fallback buffer without data.
    data: Vec<Option<Cow<'a, [u8]>>>,
    views: Vec<View>,
}

enum View {
    Range(usize, Range<usize>),
    Decoded(Vec<u8>),
}

impl Buffers<'_> {
    /// The bytes of a view.
    pub(super) fn view(&self, index: usize) -> Result<&[u8], ImportError> {
        match &self.views[index] {
            View::Decoded(bytes) => Ok(bytes),
            View::Range(buffer, range) => match &self.data[*buffer] {
                Some(data) => Ok(&data[range.clone()]),
                None => Err(ImportError::schema(format!("buffers[{buffer}]"), "has no data")),
            },
        }
    }
}

pub(super) fn load<'a>(
    document: &Document,
    bin: Option<&'a [u8]>,
    files: &Files<'_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<Buffers<'a>, ImportError> {
    let mut data = Vec::with_capacity(document.buffers.len());
    for index in 0..document.buffers.len() {
        data.push(buffer(document, index, bin, files, budget, report)?);
    }
    let mut views = Vec::with_capacity(document.views.len());
    for (index, view) in document.views.iter().enumerate() {
        let (offset, length) = (view.byte_offset.map_or(0, |o| o.0), view.byte_length.0);
        let buffer = view.buffer.value();
        let place = format!("bufferViews[{index}]");
        if let Some(compressed) = &document.compressed[index]
            && meshopt::AVAILABLE
        {
            let source = compressed.buffer;
            let available = data[source].as_ref().map_or(0, |d| d.len() as u64);
            let range = range(&place, source, compressed.offset, compressed.length, available)?;
            let bytes = data[source].as_ref().map_or(&[][..], |d| &d[range]);
            views.push(View::Decoded(meshopt::decode(&place, compressed, bytes, length, budget)?));
            continue;
        }
        // A view of a fallback buffer is checked when it is used; then there are no bytes at all.
        let available = data[buffer].as_ref().map_or(u64::MAX, |d| d.len() as u64);
        views.push(View::Range(buffer, range(&place, buffer, offset, length, available)?));
    }
    Ok(Buffers { data, views })
}

fn range(
    place: &str,
    buffer: usize,
    offset: u64,
    length: u64,
    available: u64,
) -> Result<Range<usize>, ImportError> {
    match offset.checked_add(length).filter(|end| *end <= available) {
        Some(end) => Ok(offset as usize..end as usize),
        None => {
            let needed = offset.saturating_add(length);
            let holder = format!("buffers[{buffer}]");
            Err(ImportError::Range { place: place.into(), needed, holder, available })
        }
    }
}

fn buffer<'a>(
    document: &Document,
    index: usize,
    bin: Option<&'a [u8]>,
    files: &Files<'_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<Option<Cow<'a, [u8]>>, ImportError> {
    let place = format!("buffers[{index}]");
    let buffer = &document.buffers[index];
    let length = buffer.byte_length.0;
    if length == 0 {
        return Err(ImportError::schema(format!("{place}.byteLength"), "is missing or 0, the least is 1"));
    }
    let bytes = match (&buffer.uri, bin) {
        (Some(uri), _) => {
            let content = files.read(&format!("{place}.uri"), uri, budget)?;
            let usual = ["application/octet-stream", "application/gltf-buffer"];
            if let Some(media) = content.media_type.filter(|m| !usual.contains(&m.as_str())) {
                let media: String = media.chars().take(80).collect();
                report.add(codes::DATA_URI_TYPE, format!("{place}.uri"), format!("media type {media:?}"))?;
            }
            Cow::Owned(content.bytes)
        }
        (None, Some(bin)) if index == 0 => Cow::Borrowed(bin),
        (None, _) if document.fallback[index] => return Ok(None),
        (None, _) => {
            return Err(ImportError::schema(place, "has no uri, and the file has no binary chunk for it"));
        }
    };
    let available = bytes.len() as u64;
    if length > available {
        let holder = if buffer.uri.is_some() { format!("{place}.uri") } else { "the binary chunk".into() };
        return Err(ImportError::Range { place, needed: length, holder, available });
    }
    Ok(Some(match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..length as usize]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(length as usize);
            Cow::Owned(bytes)
        }
    }))
}
