//! Accessors to numbers. Every size is checked before anything is allocated for it.

use std::num::NonZeroU32;

use gltf::json::{
    self,
    accessor::{ComponentType, Type},
    validation::Checked,
};

use super::{
    Budget, ImportError,
    buffers::Buffers,
    codes::{self, Report},
    document::Document,
    format::{self, Allowed, Format},
};

/// Reads accessors and pays for them.
pub(super) struct Reader<'a> {
    document: &'a Document,
    buffers: &'a Buffers<'a>,
    pub(super) budget: Budget,
    pub(super) report: Report,
    /// Of a vertex.
    pub(super) most_influences: Option<NonZeroU32>,
}

/// A checked accessor.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    index: usize,
    pub(super) count: usize,
    /// Components of an element.
    pub(super) width: usize,
    pub(super) component: ComponentType,
    normalized: bool,
    pub(super) allowed: Allowed,
}

type Accessor = json::Index<json::Accessor>;

impl<'a> Reader<'a> {
    pub(super) fn new(
        document: &'a Document,
        buffers: &'a Buffers<'a>,
        budget: Budget,
        report: Report,
        most_influences: Option<NonZeroU32>,
    ) -> Self {
        Self { document, buffers, budget, report, most_influences }
    }

    /// Checks an accessor's type against its use.
    pub(super) fn layout(
        &mut self,
        accessor: Accessor,
        place: &str,
        format: &Format,
    ) -> Result<Layout, ImportError> {
        let index = accessor.value();
        let accessor = &self.document.accessors[index];
        let own = |property: &str| format!("accessors[{index}].{property}");
        let Checked::Valid(component) = accessor.component_type else {
            return Err(ImportError::schema(own("componentType"), "is none of 5120-5123, 5125 and 5126"));
        };
        let Checked::Valid(kind) = accessor.type_ else {
            return Err(ImportError::schema(own("type"), "is none of SCALAR, VEC2-VEC4 and MAT2-MAT4"));
        };
        let (component, normalized) = (component.0, accessor.normalized);
        let allowed = match format.types.contains(&kind) {
            true => (format.components)(component, normalized),
            false => Allowed::No,
        };
        if allowed == Allowed::No {
            let found = format::describe(kind, component, normalized);
            return Err(ImportError::Format {
                place: place.into(),
                accessor: index,
                found,
                allowed: format.allowed,
            });
        }
        if allowed == Allowed::Quantized && !self.document.quantized {
            let message = "integers are allowed only with KHR_mesh_quantization in extensionsUsed";
            self.report.add(codes::QUANTIZATION_UNDECLARED, place, message)?;
        }
        if accessor.count.0 == 0 {
            return Err(ImportError::schema(own("count"), "is 0, the least is 1"));
        }
        let width = width(kind);
        // Also keeps every later product of sizes far from overflow.
        let bytes = (width * component.size()) as u64;
        if accessor.count.0 > u64::from(u32::MAX) {
            let limit = u64::from(u32::MAX);
            return Err(ImportError::Limit {
                place: own("count"),
                what: "elements",
                found: accessor.count.0,
                limit,
            });
        }
        if let Some(view) = accessor.buffer_view {
            let offset = accessor.byte_offset.map_or(0, |o| o.0);
            self.slice(&own("bufferView"), view, offset, accessor.count.0, bytes, true)?;
        }
        let count = accessor.count.0 as usize;
        Ok(Layout { index, count, width, component, normalized, allowed })
    }

    /// Numbers as floats, normalised integers decoded (glTF 2.0, 3.6.2.2). They may be NaN or infinite.
    pub(super) fn floats(
        &mut self,
        accessor: Accessor,
        place: &str,
        format: &Format,
    ) -> Result<(Vec<f32>, Layout), ImportError> {
        let layout = self.layout(accessor, place, format)?;
        let normalized = layout.normalized;
        let values = match layout.component {
            ComponentType::F32 => self.read(place, layout, f32::from_le_bytes),
            ComponentType::U32 => self.read(place, layout, |b| u32::from_le_bytes(b) as f32),
            ComponentType::U8 if normalized => self.read(place, layout, |[b]: [u8; 1]| f32::from(b) / 255.0),
            ComponentType::U8 => self.read(place, layout, |[b]: [u8; 1]| f32::from(b)),
            ComponentType::I8 if normalized => {
                self.read(place, layout, |b| (f32::from(i8::from_le_bytes(b)) / 127.0).max(-1.0))
            }
            ComponentType::I8 => self.read(place, layout, |b| f32::from(i8::from_le_bytes(b))),
            ComponentType::U16 if normalized => {
                self.read(place, layout, |b| f32::from(u16::from_le_bytes(b)) / 65535.0)
            }
            ComponentType::U16 => self.read(place, layout, |b| f32::from(u16::from_le_bytes(b))),
            ComponentType::I16 if normalized => {
                self.read(place, layout, |b| (f32::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0))
            }
            ComponentType::I16 => self.read(place, layout, |b| f32::from(i16::from_le_bytes(b))),
        }?;
        Ok((values, layout))
    }

    /// As [`Reader::floats`], refusing NaN and infinity.
    pub(super) fn finite(
        &mut self,
        accessor: Accessor,
        place: &str,
        format: &Format,
    ) -> Result<(Vec<f32>, Layout), ImportError> {
        let (values, layout) = self.floats(accessor, place, format)?;
        // Without a way out the loop is over eight numbers at once.
        if values.iter().fold(true, |all, v| all & v.is_finite()) {
            return Ok((values, layout));
        }
        match values.iter().position(|v| !v.is_finite()) {
            Some(at) => {
                let problem = format!("element {} holds {}", at / layout.width, values[at]);
                Err(ImportError::value(place, problem))
            }
            None => Ok((values, layout)),
        }
    }

    /// Unsigned integers.
    pub(super) fn integers(
        &mut self,
        accessor: Accessor,
        place: &str,
        format: &Format,
    ) -> Result<(Vec<u32>, Layout), ImportError> {
        let layout = self.layout(accessor, place, format)?;
        let values = match layout.component.size() {
            1 => self.read(place, layout, |[b]: [u8; 1]| u32::from(b)),
            2 => self.read(place, layout, |b| u32::from(u16::from_le_bytes(b))),
            _ => self.read(place, layout, u32::from_le_bytes),
        }?;
        Ok((values, layout))
    }

    /// Dense values, zeros without a view, then the sparse ones over them.
    fn read<T: Copy + Default, const N: usize>(
        &mut self,
        place: &str,
        layout: Layout,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, ImportError> {
        let accessor = &self.document.accessors[layout.index];
        self.budget.decoded(place, (layout.count * layout.width) as u64, 4)?;
        let own = |part: &str| format!("accessors[{}].{part}", layout.index);
        let size = layout.width * N;
        let values = layout.count * layout.width;
        let mut out = match accessor.buffer_view {
            None => vec![T::default(); values],
            Some(view) => {
                let offset = accessor.byte_offset.map_or(0, |o| o.0);
                let (bytes, stride) =
                    self.slice(&own("bufferView"), view, offset, layout.count as u64, size as u64, true)?;
                let mut out = Vec::with_capacity(values);
                let decoded = |bytes: &'a [u8]| bytes.as_chunks().0.iter().map(|bytes| decode(*bytes));
                if stride == size {
                    // Without gaps it is one long copy.
                    out.extend(decoded(bytes));
                } else {
                    bytes.chunks(stride).for_each(|element| out.extend(decoded(&element[..size])));
                }
                out
            }
        };
        let Some(sparse) = &accessor.sparse else { return Ok(out) };
        let count = sparse.count.0;
        if count == 0 || count > layout.count as u64 {
            let problem = format!("is {count}; it must be 1 to {}", layout.count);
            return Err(ImportError::schema(own("sparse.count"), problem));
        }
        let Checked::Valid(kind) = sparse.indices.component_type else {
            let problem = "is none of 5121, 5123 and 5125";
            return Err(ImportError::schema(own("sparse.indices.componentType"), problem));
        };
        let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset.0);
        let index_size = kind.0.size();
        let (indices, _) =
            self.slice(&own("sparse.indices"), view, offset, count, index_size as u64, false)?;
        let (view, offset) = (sparse.values.buffer_view, sparse.values.byte_offset.0);
        let (values, _) = self.slice(&own("sparse.values"), view, offset, count, size as u64, false)?;
        let mut before = None;
        for (bytes, value) in indices.chunks_exact(index_size).zip(values.chunks_exact(size)) {
            let mut four = [0; 4];
            four[..index_size].copy_from_slice(bytes);
            let index = u32::from_le_bytes(four) as usize;
            if index >= layout.count || before.is_some_and(|b| b >= index) {
                let problem =
                    format!("index {index} must be below {} and above the one before it", layout.count);
                return Err(ImportError::value(own("sparse.indices"), problem));
            }
            before = Some(index);
            decode_element(&mut out[index * layout.width..][..layout.width], value, &decode);
        }
        Ok(out)
    }

    /// The bytes of `count` elements of `size` bytes, and their distance.
    fn slice(
        &self,
        place: &str,
        view: json::Index<json::buffer::View>,
        offset: u64,
        count: u64,
        size: u64,
        strided: bool,
    ) -> Result<(&'a [u8], usize), ImportError> {
        let index = view.value();
        let bytes = self.buffers.view(index)?;
        let stride = self.document.views[index].byte_stride.filter(|_| strided);
        let stride = stride.map_or(size, |s| s.0 as u64);
        if stride < size {
            let problem = format!("is {stride}, but elements of {size} bytes are read from it");
            return Err(ImportError::schema(format!("bufferViews[{index}].byteStride"), problem));
        }
        let needed = (count - 1)
            .checked_mul(stride)
            .and_then(|span| span.checked_add(size))
            .and_then(|span| span.checked_add(offset));
        let available = bytes.len() as u64;
        match needed.filter(|n| *n <= available) {
            Some(needed) => Ok((&bytes[offset as usize..needed as usize], stride as usize)),
            None => {
                let (needed, holder) = (needed.unwrap_or(u64::MAX), format!("bufferViews[{index}]"));
                Err(ImportError::Range { place: place.into(), needed, holder, available })
            }
        }
    }
}

fn decode_element<T, const N: usize>(element: &mut [T], bytes: &[u8], decode: impl Fn([u8; N]) -> T) {
    for (value, bytes) in element.iter_mut().zip(bytes.as_chunks().0) {
        *value = decode(*bytes);
    }
}

fn width(kind: Type) -> usize {
    match kind {
        Type::Scalar => 1,
        Type::Vec2 => 2,
        Type::Vec3 => 3,
        Type::Vec4 | Type::Mat2 => 4,
        Type::Mat3 => 9,
        Type::Mat4 => 16,
    }
}
