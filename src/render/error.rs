use crate::animate::AnimateError;

/// Why drawing was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A handle that does not exist.
    #[error(transparent)]
    Animate(#[from] AnimateError),
    /// Instances of a model that the renderer was not given.
    #[error("the renderer does not know the model `{name}`; add it with Renderer::add_model")]
    UnknownModel {
        /// The model's name.
        name: String,
    },
    /// A part that its model does not show.
    #[error("part {part} is not among the {shown} parts that its model shows")]
    UnknownPart {
        /// What was asked for.
        part: u32,
        /// Parts shown.
        shown: usize,
    },
    /// The pass reads packed vertices.
    #[error("part {part} is deformed with Precision::Exact; the raster pass reads Precision::Packed")]
    Precision {
        /// The part.
        part: u32,
    },
    /// Deformed vertices that do not lie as the renderer's own streams do.
    #[error(
        "part {part}: its primitives start at deformed vertices {found:?}, the renderer has {expected:?}"
    )]
    VertexOrder {
        /// The part.
        part: u32,
        /// First vertices given.
        found: Vec<u32>,
        /// First vertices known.
        expected: Vec<u32>,
    },
    /// A buffer would pass one of the device's limits.
    #[error("the {what} of the model need {bytes} bytes, over the device's `max_buffer_size` of {limit}")]
    TooLarge {
        /// Which buffer.
        what: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// Only these are guaranteed for every colour format.
    #[error("{samples} samples per pixel; choose 1 or 4")]
    Samples {
        /// What was asked for.
        samples: u32,
    },
    /// Shading is linear and relies on the target to encode.
    #[error("{format:?} does not encode sRGB; draw into a view of {} instead", suggestion(*.format))]
    Format {
        /// The format.
        format: wgpu::TextureFormat,
    },
}

fn suggestion(format: wgpu::TextureFormat) -> String {
    let srgb = format.add_srgb_suffix();
    if srgb == format { "an sRGB format such as Rgba8UnormSrgb".into() } else { format!("{srgb:?}") }
}
