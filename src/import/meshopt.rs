//! EXT_meshopt_compression and its successor KHR_meshopt_compression, which adds a filter: views whose bytes are compressed. Parameters are checked here, since the
//! C++ decoders assert them; damaged data is theirs to find.

use serde_json::Value;

use super::{Budget, ImportError};

pub(super) const EXT: &str = "EXT_meshopt_compression";
pub(super) const KHR: &str = "KHR_meshopt_compression";

/// Whether this build decodes it.
pub(super) const AVAILABLE: bool = cfg!(feature = "meshopt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// The extension's object on a view, checked.
#[cfg_attr(not(feature = "meshopt"), expect(dead_code, reason = "only the decoder reads mode and filter"))]
pub(super) struct Compressed {
    /// Which of the two says so.
    pub(super) extension: &'static str,
    pub(super) buffer: usize,
    pub(super) offset: u64,
    pub(super) length: u64,
    stride: usize,
    count: u64,
    mode: Mode,
    filter: Filter,
}

/// The extension's object and its name, whichever of the two is there.
pub(super) fn find(extensions: Option<&Value>) -> Option<(&'static str, &Value)> {
    [KHR, EXT].into_iter().find_map(|name| Some((name, extensions?.get(name)?)))
}

impl Compressed {
    pub(super) fn parse(place: &str, extension: &'static str, object: &Value) -> Result<Self, ImportError> {
        let place = |property: &str| format!("{place}.extensions.{extension}.{property}");
        let optional = |property: &str| match object.get(property) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(value) => Ok(Some(value)),
                None => Err(ImportError::schema(place(property), "must be a whole number")),
            },
        };
        let required = |property: &str| {
            optional(property)?.ok_or_else(|| ImportError::schema(place(property), "is missing"))
        };
        let mode = match object.get("mode").and_then(Value::as_str) {
            Some("ATTRIBUTES") => Mode::Attributes,
            Some("TRIANGLES") => Mode::Triangles,
            Some("INDICES") => Mode::Indices,
            _ => return Err(ImportError::schema(place("mode"), "is none of ATTRIBUTES, TRIANGLES, INDICES")),
        };
        let filter = match object.get("filter").map(Value::as_str) {
            None | Some(Some("NONE")) => Filter::None,
            Some(Some("OCTAHEDRAL")) => Filter::Octahedral,
            Some(Some("QUATERNION")) => Filter::Quaternion,
            Some(Some("EXPONENTIAL")) => Filter::Exponential,
            Some(Some("COLOR")) if extension == KHR => Filter::Color,
            _ => return Err(ImportError::schema(place("filter"), "is not known")),
        };
        let (stride, count) = (required("byteStride")?, required("count")?);
        let fits = match mode {
            Mode::Attributes => (4..=256).contains(&stride) && stride.is_multiple_of(4),
            Mode::Triangles | Mode::Indices => matches!(stride, 2 | 4),
        };
        let filtered = match filter {
            Filter::None => true,
            Filter::Octahedral | Filter::Color => mode == Mode::Attributes && matches!(stride, 4 | 8),
            Filter::Quaternion => mode == Mode::Attributes && stride == 8,
            Filter::Exponential => mode == Mode::Attributes,
        };
        if !fits || !filtered {
            let problem = format!("is {stride}, which {mode:?} with filter {filter:?} does not allow");
            return Err(ImportError::schema(place("byteStride"), problem));
        }
        if mode == Mode::Triangles && !count.is_multiple_of(3) {
            return Err(ImportError::schema(place("count"), format!("is {count}, not whole triangles")));
        }
        Ok(Self {
            extension,
            buffer: required("buffer")?.try_into().unwrap_or(usize::MAX),
            offset: optional("byteOffset")?.unwrap_or(0),
            length: required("byteLength")?,
            stride: stride as usize,
            count,
            mode,
            filter,
        })
    }
}

/// The decoded bytes of a view; `length` is what the view itself promises.
pub(super) fn decode(
    place: &str,
    compressed: &Compressed,
    bytes: &[u8],
    length: u64,
    budget: &mut Budget,
) -> Result<Vec<u8>, ImportError> {
    let decoded = compressed.count.checked_mul(compressed.stride as u64);
    if decoded != Some(length) {
        return Err(ImportError::Count {
            place: place.into(),
            what: "bytes",
            found: length,
            expected: decoded.unwrap_or(u64::MAX),
        });
    }
    budget.decoded(place, length, 1)?;
    decode_checked(compressed, bytes).map_err(|code| ImportError::Compressed { place: place.into(), code })
}

#[cfg(not(feature = "meshopt"))]
fn decode_checked(_: &Compressed, _: &[u8]) -> Result<Vec<u8>, i32> {
    Err(0)
}

/// `compressed.count * compressed.stride` bytes, or the decoder's error.
#[cfg(feature = "meshopt")]
fn decode_checked(compressed: &Compressed, bytes: &[u8]) -> Result<Vec<u8>, i32> {
    use meshopt::ffi;

    let (count, stride) = (compressed.count as usize, compressed.stride);
    // Words, because the filters read and write up to four bytes at once.
    let mut words = vec![0u32; (count * stride).div_ceil(4)];
    let out = words.as_mut_ptr().cast::<std::ffi::c_void>();
    let (source, size) = (bytes.as_ptr(), bytes.len());
    // SAFETY: `out` has room for `count` elements of `stride` bytes and is aligned to four; `source` has
    // `size` readable bytes. The parameters are those the decoders allow (checked in `parse`), and they
    // are made for untrusted data: they check every read and return an error code.
    let code = unsafe {
        match compressed.mode {
            Mode::Attributes => ffi::meshopt_decodeVertexBuffer(out, count, stride, source, size),
            Mode::Triangles => ffi::meshopt_decodeIndexBuffer(out, count, stride, source, size),
            Mode::Indices => ffi::meshopt_decodeIndexSequence(out, count, stride, source, size),
        }
    };
    if code != 0 {
        return Err(code);
    }
    // SAFETY: as above; the filters work in place on `count` elements of `stride` bytes, and `parse`
    // admits only the strides they are made for.
    unsafe {
        match compressed.filter {
            Filter::None => {}
            Filter::Octahedral => ffi::meshopt_decodeFilterOct(out, count, stride),
            Filter::Quaternion => ffi::meshopt_decodeFilterQuat(out, count, stride),
            Filter::Exponential => ffi::meshopt_decodeFilterExp(out, count, stride),
            Filter::Color => ffi::meshopt_decodeFilterColor(out, count, stride),
        }
    }
    let mut decoded = bytemuck::cast_slice(&words).to_vec();
    decoded.truncate(count * stride);
    Ok(decoded)
}
