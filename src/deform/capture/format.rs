//! The bytes of a capture, all little-endian. Lists are read only as far as there are bytes for them.

use bytemuck::Pod;

use super::{Capture, CaptureError, CaptureOutput, CapturedGroup, CapturedPart};
use crate::deform::{
    layout::{LAYOUT, VARIANTS},
    source::{Precision, Streams},
    variant::Variant,
};

const MAGIC: &[u8; 8] = b"SINEWCAP";

/// Rises when the bytes around streams and blocks change.
const FORMAT: u32 = 1;

impl Capture {
    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.word(FORMAT);
        out.text(&self.library);
        out.word(LAYOUT);
        out.text(&self.adapter);
        out.word(VARIANTS as u32);
        (0..VARIANTS).for_each(|at| out.text(&name(at)));
        out.word(self.pages.len() as u32);
        for Streams { a, b, extra, tables } in &self.pages {
            [a, b, extra].into_iter().for_each(|stream| out.list(stream.as_flattened()));
            out.list(tables);
        }
        out.word(self.groups.len() as u32);
        for (group, (a, b)) in self.groups.iter().zip(&self.recorded.groups) {
            out.word(group.page);
            out.list(group.frame.as_flattened());
            out.list::<u32>(bytemuck::cast_slice(&group.palette));
            out.word(group.parts.len() as u32);
            for part in &group.parts {
                out.text(&part.model);
                let precision = u32::from(part.precision == Precision::Exact);
                [part.instance, part.part, part.vertices, precision, part.a, part.b]
                    .into_iter()
                    .for_each(|word| out.word(word));
            }
            out.list(a.as_flattened());
            out.list(b);
        }
        let sum = checksum(&out.0);
        out.0.extend(sum.to_le_bytes());
        out.0
    }

    /// Reads a file, and checks that a replay stays inside of it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CaptureError> {
        if !bytes.starts_with(MAGIC) {
            return Err(CaptureError::NoCapture);
        }
        let end = bytes.len().saturating_sub(8).max(MAGIC.len());
        let mut file = Reader { bytes: &bytes[..end], at: MAGIC.len() };
        let found = file.word("the format")?;
        if found != FORMAT {
            return Err(CaptureError::OtherFormat { found, expected: FORMAT });
        }
        let library = file.text("the library's version")?;
        let found = file.word("the layout")?;
        if found != LAYOUT {
            return Err(CaptureError::OtherLayout { found, expected: LAYOUT, library });
        }
        let adapter = file.text("the adapter's name")?;
        file.variants(&library)?;
        let pages = file.many("the pages", Reader::page)?;
        let groups = file.many("the groups", Reader::group)?;
        if file.at < end {
            return Err(CaptureError::TooLong { bytes: end - file.at });
        }
        let expected = Reader { bytes, at: end }.take::<8>("the checksum")?;
        let (found, expected) = (checksum(&bytes[..end]), u64::from_le_bytes(expected));
        if found != expected {
            return Err(CaptureError::Checksum { found, expected });
        }
        let (groups, outputs) = groups.into_iter().unzip();
        let recorded = CaptureOutput { groups: outputs };
        let capture = Self { library, adapter, pages, groups, recorded };
        capture.check()?;
        Ok(capture)
    }
}

/// Says all about a variant, so that those of another version are told apart.
fn name(variant: usize) -> String {
    Variant::from_index(variant).to_string()
}

/// FNV-1a in 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

struct Writer(Vec<u8>);

impl Writer {
    fn word(&mut self, word: u32) {
        self.0.extend(word.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    /// The number of words, then the words.
    fn list<W: Pod>(&mut self, words: &[W]) {
        let words: &[u32] = bytemuck::cast_slice(words);
        self.word(words.len() as u32);
        words.iter().for_each(|word| self.word(*word));
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

type Group = (CapturedGroup, (Vec<[u32; 4]>, Vec<u32>));

impl<'b> Reader<'b> {
    fn slice(&mut self, what: &'static str, bytes: usize) -> Result<&'b [u8], CaptureError> {
        let there = &self.bytes[self.at..];
        let Some(slice) = there.get(..bytes) else {
            return Err(CaptureError::Truncated { what, at: self.at, end: self.bytes.len() });
        };
        self.at += bytes;
        Ok(slice)
    }

    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], CaptureError> {
        let mut out = [0; N];
        out.copy_from_slice(self.slice(what, N)?);
        Ok(out)
    }

    fn word(&mut self, what: &'static str) -> Result<u32, CaptureError> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn text(&mut self, what: &'static str) -> Result<String, CaptureError> {
        let length = self.word(what)? as usize;
        let at = self.at;
        let text = str::from_utf8(self.slice(what, length)?);
        text.map(Into::into).map_err(|_| CaptureError::Meaningless { what, at })
    }

    /// A number, then as many things. Grows with what is read, whatever the number claims.
    fn many<T>(
        &mut self,
        what: &'static str,
        mut one: impl FnMut(&mut Self) -> Result<T, CaptureError>,
    ) -> Result<Vec<T>, CaptureError> {
        let count = self.word(what)?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// A number of words, then the words, `N` for each value.
    fn list<const N: usize>(&mut self, what: &'static str) -> Result<Vec<[u32; N]>, CaptureError> {
        let at = self.at;
        let words = self.word(what)? as usize;
        if !words.is_multiple_of(N) {
            return Err(CaptureError::Meaningless { what, at });
        }
        let Some(bytes) = words.checked_mul(4) else {
            return Err(CaptureError::Truncated { what, at, end: self.bytes.len() });
        };
        let values = self.slice(what, bytes)?.chunks_exact(4 * N);
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Ok(values.map(|value| std::array::from_fn(|i| word(&value[4 * i..]))).collect())
    }

    fn words(&mut self, what: &'static str) -> Result<Vec<u32>, CaptureError> {
        Ok(self.list::<1>(what)?.into_flattened())
    }

    /// Fails where the kernel has other variants: their headers and items would mean something else.
    fn variants(&mut self, library: &str) -> Result<(), CaptureError> {
        let count = self.word("the kernel variants")? as usize;
        for index in 0..count.max(VARIANTS) {
            let found = if index < count { self.text("a kernel variant")? } else { "none".into() };
            let expected = if index < VARIANTS { name(index) } else { "none".into() };
            if found != expected {
                let library = library.into();
                return Err(CaptureError::OtherVariants { index, found, expected, library });
            }
        }
        Ok(())
    }

    fn page(&mut self) -> Result<Streams, CaptureError> {
        Ok(Streams {
            a: self.list("source vertices A")?,
            b: self.list("source vertices B")?,
            extra: self.list("extra influences")?,
            tables: self.words("the tables")?,
        })
    }

    fn group(&mut self) -> Result<Group, CaptureError> {
        let page = self.word("a group's page")?;
        let frame = self.list("the frame block")?;
        let palette = self.list::<12>("the palettes")?.into_iter().map(bytemuck::cast).collect();
        let parts = self.many("the parts", Self::part)?;
        let a: Vec<[u32; 4]> = self.list("output A")?;
        let b = self.words("output B")?;
        let (len_a, len_b) = (a.len() as u32, b.len() as u32);
        Ok((CapturedGroup { page, frame, palette, len_a, len_b, parts }, (a, b)))
    }

    fn part(&mut self) -> Result<CapturedPart, CaptureError> {
        let what = "a part";
        let model = self.text("a model's name")?;
        let (instance, part, vertices) = (self.word(what)?, self.word(what)?, self.word(what)?);
        let at = self.at;
        let precision = match self.word(what)? {
            0 => Precision::Packed,
            1 => Precision::Exact,
            _ => return Err(CaptureError::Meaningless { what: "precision", at }),
        };
        let (a, b) = (self.word(what)?, self.word(what)?);
        Ok(CapturedPart { instance, model, part, vertices, precision, a, b })
    }
}
