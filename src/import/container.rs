//! The GLB container (glTF 2.0, 4.4), and a first look at the JSON before anything is allocated for it.

use super::{
    ImportError, Limits,
    codes::{self, Report},
};

const MAGIC: &[u8] = b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// Deeper documents are refused: the parser recurses.
const MAX_DEPTH: usize = 120;

/// The two parts of a file.
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    pub(super) bin: Option<&'a [u8]>,
}

pub(super) fn split<'a>(
    bytes: &'a [u8],
    limits: &Limits,
    report: &mut Report,
) -> Result<Container<'a>, ImportError> {
    let container = if bytes.starts_with(MAGIC) {
        glb(bytes, report)?
    } else {
        let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if json.trim_ascii_start().first().is_none_or(|c| *c != b'{' && *c != b'[') {
            return Err(bad("it starts with neither the GLB magic `glTF` nor a JSON object"));
        }
        Container { json, bin: None }
    };
    check_size(container.json, limits)?;
    Ok(container)
}

fn glb<'a>(bytes: &'a [u8], report: &mut Report) -> Result<Container<'a>, ImportError> {
    let (Some(version), Some(length)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(bad(format!("the GLB header needs 12 bytes, the file has {}", bytes.len())));
    };
    if version != 2 {
        return Err(bad(format!("GLB container version {version}, only 2 is known")));
    }
    let length = length as usize;
    let Some(body) = bytes.get(12..length) else {
        return Err(bad(format!("the GLB header gives {length} bytes, the file has {}", bytes.len())));
    };
    if length < bytes.len() {
        let message = format!("{} bytes after the end were ignored", bytes.len() - length);
        report.add_with(codes::GLB_TRAILING, "", message, [("bytes", (bytes.len() - length) as f64)])?;
    }
    let (first, rest) = chunk(body)?.ok_or_else(|| bad("the GLB holds no chunk"))?;
    if first.kind != JSON {
        return Err(bad(format!("the first GLB chunk has type {:#010x}, not JSON", first.kind)));
    }
    let bin = chunk(rest)?.filter(|(second, _)| second.kind == BIN).map(|(second, _)| second.data);
    let end = first.data.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1);
    Ok(Container { json: &first.data[..end], bin })
}

struct Chunk<'a> {
    kind: u32,
    data: &'a [u8],
}

/// The next chunk and what follows it; none at the end.
fn chunk(bytes: &[u8]) -> Result<Option<(Chunk<'_>, &[u8])>, ImportError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (Some(length), Some(kind)) = (u32_at(bytes, 0), u32_at(bytes, 4)) else {
        return Err(bad("a GLB chunk header is cut off"));
    };
    let rest = bytes.get(8..).unwrap_or_default();
    let Some((data, rest)) = rest.split_at_checked(length as usize) else {
        return Err(bad(format!("a GLB chunk of {length} bytes, but only {} follow", rest.len())));
    };
    Ok(Some((Chunk { kind, data }, rest)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// Depth and number of values, counted outside strings, so that parsing can neither overflow the stack
/// nor multiply a small file into gigabytes.
fn check_size(json: &[u8], limits: &Limits) -> Result<(), ImportError> {
    let (mut depth, mut values, mut in_string, mut escaped) = (0usize, 0u64, false, false);
    for &byte in json {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                values += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            let (found, limit) = (depth as u64, MAX_DEPTH as u64);
            return Err(ImportError::Limit { place: "JSON".into(), what: "nested levels", found, limit });
        }
    }
    if values > limits.json_values {
        let limit = limits.json_values;
        return Err(ImportError::Limit { place: "JSON".into(), what: "values", found: values, limit });
    }
    Ok(())
}

fn bad(problem: impl Into<String>) -> ImportError {
    ImportError::Container { problem: problem.into() }
}
