//! Rust structs against the WGSL structs they are written into.

use naga::TypeInner;

use super::{ShaderError, Validated};

/// The layout of a `#[repr(C)]` struct; [`rust_layout!`](crate::rust_layout) writes it.
#[derive(Clone, Copy, Debug)]
pub struct RustLayout {
    /// The type's name.
    pub name: &'static str,
    /// `size_of`
    pub size: usize,
    /// `align_of`
    pub align: usize,
    /// Name, `offset_of` and size of each field that the shader also has; padding is left out.
    pub fields: &'static [(&'static str, usize, usize)],
}

/// The [`RustLayout`](crate::shader::RustLayout) of a struct: the type, then every field but padding.
#[macro_export]
macro_rules! rust_layout {
    ($type:ty, $($field:ident),+ $(,)?) => {{
        /// The size of what a field accessor returns; the accessor never runs.
        const fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
            ::core::mem::size_of::<F>()
        }
        $crate::shader::RustLayout {
            name: ::core::stringify!($type),
            size: ::core::mem::size_of::<$type>(),
            align: ::core::mem::align_of::<$type>(),
            fields: const { &[$((
                ::core::stringify!($field),
                ::core::mem::offset_of!($type, $field),
                size_of_field(|s: &$type| &s.$field),
            )),+] },
        }
    }};
}

/// A struct as naga lays it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// The struct's name in the composed text.
    pub name: String,
    /// Bytes, a multiple of `align`; a runtime-sized array at the end counts as one element.
    pub size: u32,
    /// Bytes.
    pub align: u32,
    /// In the order of the text.
    pub members: Vec<Member>,
}

/// A member of a [`StructLayout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// Bytes, without padding behind it.
    pub size: u32,
}

/// One disagreement between a Rust struct and a WGSL struct; all numbers are bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The whole structs differ in size.
    #[error("size: {wgsl} in WGSL, {rust} in Rust")]
    Size {
        /// The WGSL struct.
        wgsl: usize,
        /// The Rust struct.
        rust: usize,
    },
    /// The Rust struct asks for more alignment than a WGSL offset promises.
    #[error("alignment: {wgsl} in WGSL, {rust} in Rust")]
    Align {
        /// The WGSL struct.
        wgsl: usize,
        /// The Rust struct.
        rust: usize,
    },
    /// A field starts elsewhere.
    #[error("`{field}`: offset {wgsl} in WGSL, {rust} in Rust")]
    Offset {
        /// The field.
        field: String,
        /// In the WGSL struct.
        wgsl: usize,
        /// In the Rust struct.
        rust: usize,
    },
    /// A field is of another size.
    #[error("`{field}`: size {wgsl} in WGSL, {rust} in Rust")]
    FieldSize {
        /// The field.
        field: String,
        /// In the WGSL struct.
        wgsl: usize,
        /// In the Rust struct.
        rust: usize,
    },
    /// A field is declared on one side only.
    #[error("`{field}`: only in {side}")]
    Missing {
        /// The field.
        field: String,
        /// `WGSL` or `Rust`, the side that has it.
        side: &'static str,
    },
}

impl Validated {
    /// Every struct that the module declares and uses.
    #[must_use]
    pub fn structs(&self) -> Vec<StructLayout> {
        let types = self.module.types.iter();
        let layout = |(handle, ty): (_, &naga::Type)| {
            let TypeInner::Struct { members, .. } = &ty.inner else { return None };
            let members = members.iter().map(|member| Member {
                name: member.name.clone().unwrap_or_default(),
                offset: member.offset,
                size: self.layouter[member.ty].size,
            });
            let whole = self.layouter[handle];
            Some(StructLayout {
                name: ty.name.clone()?,
                size: whole.size,
                align: whole.alignment * 1,
                members: members.collect(),
            })
        };
        types.filter_map(layout).collect()
    }

    /// Compares the struct `name` with a Rust struct that is copied into it byte by byte.
    ///
    /// Fields match by name. A Rust struct may ask for less alignment than WGSL does (`[f32; 4]` for
    /// `vec4f`), never for more.
    ///
    /// # Errors
    /// [`ShaderError::NoStruct`], or [`ShaderError::Layout`] with every disagreement.
    pub fn check_layout(&self, name: &str, rust: &RustLayout) -> Result<(), ShaderError> {
        let structs = self.structs();
        let Some(wgsl) = structs.iter().find(|layout| layout.name == name) else {
            let known = structs.into_iter().map(|layout| layout.name).collect();
            return Err(ShaderError::NoStruct { shader: self.name.clone(), name: name.into(), known });
        };
        let mismatches = compare(wgsl, rust);
        if mismatches.is_empty() {
            return Ok(());
        }
        let (shader, rust) = (self.name.clone(), rust.name.into());
        Err(ShaderError::Layout { shader, name: name.into(), rust, mismatches })
    }
}

fn compare(wgsl: &StructLayout, rust: &RustLayout) -> Vec<Mismatch> {
    let mut found = Vec::new();
    if wgsl.size as usize != rust.size {
        found.push(Mismatch::Size { wgsl: wgsl.size as usize, rust: rust.size });
    }
    if rust.align > wgsl.align as usize {
        found.push(Mismatch::Align { wgsl: wgsl.align as usize, rust: rust.align });
    }
    for member in &wgsl.members {
        let field = member.name.clone();
        let Some(&(_, offset, size)) = rust.fields.iter().find(|(name, ..)| *name == member.name) else {
            found.push(Mismatch::Missing { field, side: "WGSL" });
            continue;
        };
        if member.offset as usize != offset {
            found.push(Mismatch::Offset { field: field.clone(), wgsl: member.offset as usize, rust: offset });
        }
        if member.size as usize != size {
            found.push(Mismatch::FieldSize { field, wgsl: member.size as usize, rust: size });
        }
    }
    for (name, ..) in rust.fields {
        if wgsl.members.iter().all(|member| member.name != *name) {
            found.push(Mismatch::Missing { field: (*name).into(), side: "Rust" });
        }
    }
    found
}
