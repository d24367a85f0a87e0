//! Which accessor types each use allows (glTF 2.0, 3.7.2.1, 3.7.3, 3.11; KHR_mesh_quantization).

use gltf::json::accessor::{ComponentType, Type};

/// How a component type is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// By glTF itself.
    Core,
    /// By KHR_mesh_quantization.
    Quantized,
    /// By nobody, but the meaning is plain: an integer weight without `normalized`.
    Integer,
    /// Not at all.
    No,
}

/// What one use allows.
pub(super) struct Format {
    pub(super) types: &'static [Type],
    pub(super) components: fn(ComponentType, bool) -> Allowed,
    /// For the message.
    pub(super) allowed: &'static str,
}

use Allowed::{Core, Integer, No, Quantized};
use ComponentType::{F32, I8, I16, U8, U16, U32};

fn float_only(component: ComponentType, _: bool) -> Allowed {
    if component == F32 { Core } else { No }
}

/// Float; integers of at most 16 bits as they are or normalised.
fn any_quantized(component: ComponentType, _: bool) -> Allowed {
    match component {
        F32 => Core,
        I8 | U8 | I16 | U16 => Quantized,
        U32 => No,
    }
}

/// Float; signed integers, normalised.
fn signed_normalized(component: ComponentType, normalized: bool) -> Allowed {
    match component {
        F32 => Core,
        I8 | I16 if normalized => Quantized,
        _ => No,
    }
}

fn texture_coordinates(component: ComponentType, normalized: bool) -> Allowed {
    match component {
        F32 => Core,
        U8 | U16 if normalized => Core,
        I8 | U8 | I16 | U16 => Quantized,
        U32 => No,
    }
}

fn unsigned_normalized(component: ComponentType, normalized: bool) -> Allowed {
    match component {
        F32 => Core,
        U8 | U16 if normalized => Core,
        _ => No,
    }
}

fn weights(component: ComponentType, normalized: bool) -> Allowed {
    match component {
        F32 => Core,
        U8 | U16 if normalized => Core,
        U8 | U16 => Integer,
        _ => No,
    }
}

fn joints(component: ComponentType, normalized: bool) -> Allowed {
    if matches!(component, U8 | U16) && !normalized { Core } else { No }
}

fn indices(component: ComponentType, normalized: bool) -> Allowed {
    if matches!(component, U8 | U16 | U32) && !normalized { Core } else { No }
}

fn any_normalized(component: ComponentType, normalized: bool) -> Allowed {
    match component {
        F32 => Core,
        I8 | U8 | I16 | U16 if normalized => Core,
        _ => No,
    }
}

const fn format(
    types: &'static [Type],
    components: fn(ComponentType, bool) -> Allowed,
    allowed: &'static str,
) -> Format {
    Format { types, components, allowed }
}

const QUANTIZED_VEC3: &str = "VEC3 of float, or of 8- or 16-bit integers";
const SIGNED_VEC3: &str = "VEC3 of float, or of normalized signed 8- or 16-bit integers";

pub(super) const POSITION: Format = format(&[Type::Vec3], any_quantized, QUANTIZED_VEC3);
pub(super) const NORMAL: Format = format(&[Type::Vec3], signed_normalized, SIGNED_VEC3);
pub(super) const TANGENT: Format =
    format(&[Type::Vec4], signed_normalized, "VEC4 of float, or of normalized signed 8- or 16-bit integers");
pub(super) const TEXCOORD: Format =
    format(&[Type::Vec2], texture_coordinates, "VEC2 of float, or of 8- or 16-bit integers");
pub(super) const COLOR: Format = format(
    &[Type::Vec3, Type::Vec4],
    unsigned_normalized,
    "VEC3 or VEC4 of float, or of normalized unsigned 8- or 16-bit integers",
);
pub(super) const JOINTS: Format = format(&[Type::Vec4], joints, "VEC4 of unsigned byte or unsigned short");
pub(super) const WEIGHTS: Format =
    format(&[Type::Vec4], weights, "VEC4 of float, or of normalized unsigned 8- or 16-bit integers");
pub(super) const INDICES: Format =
    format(&[Type::Scalar], indices, "SCALAR of unsigned byte, unsigned short or unsigned int");
pub(super) const INVERSE_BIND: Format = format(&[Type::Mat4], float_only, "MAT4 of float");
pub(super) const TIMES: Format = format(&[Type::Scalar], float_only, "SCALAR of float");
pub(super) const KEYS_VEC3: Format = format(&[Type::Vec3], any_normalized, "VEC3 of float");
pub(super) const KEYS_ROTATION: Format =
    format(&[Type::Vec4], any_normalized, "VEC4 of float, or of normalized 8- or 16-bit integers");
pub(super) const KEYS_WEIGHTS: Format =
    format(&[Type::Scalar], any_normalized, "SCALAR of float, or of normalized 8- or 16-bit integers");

/// `VEC2 of normalized unsigned byte`.
pub(super) fn describe(kind: Type, component: ComponentType, normalized: bool) -> String {
    let kind = match kind {
        Type::Scalar => "SCALAR",
        Type::Vec2 => "VEC2",
        Type::Vec3 => "VEC3",
        Type::Vec4 => "VEC4",
        Type::Mat2 => "MAT2",
        Type::Mat3 => "MAT3",
        Type::Mat4 => "MAT4",
    };
    let component = match component {
        I8 => "byte",
        U8 => "unsigned byte",
        I16 => "short",
        U16 => "unsigned short",
        U32 => "unsigned int",
        F32 => "float",
    };
    format!("{kind} of {}{component}", if normalized { "normalized " } else { "" })
}
