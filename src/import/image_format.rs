//! What an image is, by its first bytes; what the file says may be wrong.

/// A format that is read is a media type, any other one a name for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageFormat {
    Read(&'static str),
    Other(&'static str),
    Unknown,
}

use ImageFormat::{Other, Read, Unknown};

impl ImageFormat {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Read("image/png"),
            [0xFF, 0xD8, 0xFF, ..] => Read("image/jpeg"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Other("WebP"),
            [0xAB, b'K', b'T', b'X', b' ', b'2', b'0', 0xBB, ..] => Other("KTX2"),
            [0xAB, b'K', b'T', b'X', b' ', b'1', b'1', 0xBB, ..] => Other("KTX"),
            // A box of ISO media, whose brand says what is in it.
            [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's', ..] => Other("AVIF"),
            [b'D', b'D', b'S', b' ', ..] => Other("DDS"),
            [b'G', b'I', b'F', b'8', ..] => Other("GIF"),
            _ => Unknown,
        }
    }

    /// The media type of what is read, or what is wrong and what to do.
    pub(super) fn media_type(self) -> Result<&'static str, String> {
        match self {
            Read(media_type) => Ok(media_type),
            Other(name) => Err(format!("is {name}, which is not read: convert it to PNG or JPEG")),
            Unknown => Err("is neither PNG nor JPEG".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_format() {
        let cases: [(&[u8], ImageFormat); 10] = [
            (b"", Unknown),
            (b"RIFF\0\0\0\0WAVE", Unknown),
            (b"\0\0\0\x18ftypmp42", Unknown),
            (b"RIFF\x24\0\0\0WEBPVP8 ", Other("WebP")),
            (b"\xABKTX 20\xBB\r\n\x1A\n", Other("KTX2")),
            (b"\0\0\0\x1Cftypavif", Other("AVIF")),
            (b"DDS |\0\0\0", Other("DDS")),
            (b"GIF89a", Other("GIF")),
            (b"\x89PNG\r\n\x1a\n", Read("image/png")),
            (b"\xFF\xD8\xFF\xE0", Read("image/jpeg")),
        ];
        for (bytes, format) in cases {
            assert_eq!(ImageFormat::of(bytes), format, "{bytes:?}");
            // A format cut off in its first bytes is not known, and nothing panics.
            (0..bytes.len().min(3)).for_each(|end| assert_eq!(ImageFormat::of(&bytes[..end]), Unknown));
        }
    }
}
