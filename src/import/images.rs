//! Textures, samplers and encoded images. A model without its pictures is still a model, so whatever
//! is wrong with an image's bytes is a diagnostic and leaves it empty.

use gltf::json::{
    self,
    texture::{MagFilter, MinFilter, WrappingMode},
    validation::Checked,
};

use serde_json::Value;

use super::{
    Budget, ImportError,
    buffers::Buffers,
    codes::{self, Report},
    document::Document,
    image_format::ImageFormat,
    uri::Files,
};
use crate::model::{Image, Sampler, Texture, Wrap};

pub(super) struct Images {
    pub(super) textures: Vec<Texture>,
    pub(super) images: Vec<Image>,
}

/// Extensions by which a texture names an image in a format that is not read.
const ALTERNATIVES: [&str; 4] =
    ["KHR_texture_basisu", "EXT_texture_webp", "EXT_texture_avif", "MSFT_texture_dds"];

/// An image that an extension names beside, or instead of, a texture's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    extension: &'static str,
    image: usize,
}

impl Alternative {
    /// Looks for one among a texture's extensions.
    pub(super) fn find(extensions: Option<&Value>) -> Option<Self> {
        let (extension, object) =
            ALTERNATIVES.into_iter().find_map(|name| Some((name, extensions?.get(name)?)))?;
        let image = object.get("source").and_then(Value::as_u64);
        Some(Self { extension, image: image.map_or(usize::MAX, |i| i as usize) })
    }
}

/// Who asks for an image.
#[derive(Clone, Copy)]
enum Use {
    /// A texture itself; also nobody.
    Plain,
    /// An extension of this texture, which has nothing else.
    Only(usize, &'static str),
    /// Extensions of textures that have an image of their own: nothing is lost without it.
    Beside,
}

pub(super) fn load(
    document: &Document,
    buffers: &Buffers<'_>,
    files: &Files<'_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<Images, ImportError> {
    let mut images = Vec::with_capacity(document.images.len());
    for ((index, source), wanted) in document.images.iter().enumerate().zip(uses(document)) {
        let place = format!("images[{index}]");
        let mut image = Image {
            name: source.name.clone().unwrap_or_default(),
            mime_type: String::new(),
            bytes: Vec::new(),
        };
        if !matches!(wanted, Use::Beside) {
            match bytes(&place, source, buffers, files, budget) {
                Ok((mime_type, bytes)) => (image.mime_type, image.bytes) = (mime_type.into(), bytes),
                Err(Unread::Refused(error)) => return Err(error),
                Err(Unread::Left(problem)) => match wanted {
                    Use::Only(texture, extension) => {
                        let message = format!("its image comes only by {extension}: {place} {problem}");
                        report.add(codes::IMAGE_UNREADABLE, format!("textures[{texture}]"), message)?;
                    }
                    _ => report.add(codes::IMAGE_UNREADABLE, place, problem)?,
                },
            }
        }
        images.push(image);
    }
    let mut textures = Vec::with_capacity(document.textures.len());
    for (index, texture) in document.textures.iter().enumerate() {
        let sampler = match texture.sampler {
            Some(sampler) => sampler_of(sampler.value(), &document.samplers[sampler.value()])?,
            None => Sampler::default(),
        };
        let image = image_of(document, index).unwrap_or(images.len());
        if image == images.len() {
            report.add(codes::IMAGE_UNREADABLE, format!("textures[{index}]"), "has no image")?;
            images.push(Image { name: String::new(), mime_type: String::new(), bytes: Vec::new() });
        }
        textures.push(Texture { image: image as u32, sampler });
    }
    Ok(Images { textures, images })
}

/// The image of a texture: its own, or else an extension's, whose bytes may be of a format that is read.
fn image_of(document: &Document, texture: usize) -> Option<usize> {
    let own = document.textures[texture].source.value();
    let other = document.alternatives[texture].map_or(usize::MAX, |a| a.image);
    [own, other].into_iter().find(|image| *image < document.images.len())
}

/// Who asks for each image.
fn uses(document: &Document) -> Vec<Use> {
    let count = document.images.len();
    let mut uses: Vec<Option<Use>> = vec![None; count];
    for (texture, alternative) in document.alternatives.iter().enumerate() {
        let Some(Alternative { extension, image }) = alternative.filter(|a| a.image < count) else {
            continue;
        };
        match image_of(document, texture) {
            Some(own) if own != image => {
                uses[image].get_or_insert(Use::Beside);
            }
            _ => uses[image] = Some(Use::Only(texture, extension)),
        }
    }
    for texture in &document.textures {
        if let Some(wanted) = uses.get_mut(texture.source.value()) {
            *wanted = Some(Use::Plain);
        }
    }
    uses.into_iter().map(|wanted| wanted.unwrap_or(Use::Plain)).collect()
}

/// Why there are no bytes.
enum Unread {
    /// The file costs too much.
    Refused(ImportError),
    /// The image stays empty.
    Left(String),
}

/// The media type and the bytes.
fn bytes(
    place: &str,
    source: &json::Image,
    buffers: &Buffers<'_>,
    files: &Files<'_>,
    budget: &mut Budget,
) -> Result<(&'static str, Vec<u8>), Unread> {
    let read = match encoded(place, source, buffers, files, budget) {
        Ok(bytes) => ImageFormat::of(&bytes).media_type().map(|media_type| (media_type, bytes)),
        Err(error @ ImportError::Limit { .. }) => return Err(Unread::Refused(error)),
        Err(error) => Err(error.to_string()),
    };
    read.map_err(Unread::Left)
}

fn encoded(
    place: &str,
    source: &json::Image,
    buffers: &Buffers<'_>,
    files: &Files<'_>,
    budget: &mut Budget,
) -> Result<Vec<u8>, ImportError> {
    match (&source.uri, source.buffer_view) {
        (_, Some(view)) => {
            let bytes = buffers.view(view.value())?;
            budget.decoded(place, bytes.len() as u64, 1)?;
            Ok(bytes.to_vec())
        }
        (Some(uri), None) => Ok(files.read(&format!("{place}.uri"), uri, budget)?.bytes),
        (None, None) => Err(ImportError::schema(place, "has neither uri nor bufferView")),
    }
}

fn sampler_of(index: usize, source: &json::texture::Sampler) -> Result<Sampler, ImportError> {
    let invalid = |property: &str| {
        ImportError::schema(format!("samplers[{index}].{property}"), "is not one of glTF's values")
    };
    let mag_linear = match source.mag_filter {
        None | Some(Checked::Valid(MagFilter::Linear)) => true,
        Some(Checked::Valid(MagFilter::Nearest)) => false,
        Some(Checked::Invalid) => return Err(invalid("magFilter")),
    };
    let (min_linear, mip_linear) = match source.min_filter {
        None => (true, Some(true)),
        Some(Checked::Valid(filter)) => match filter {
            MinFilter::Nearest => (false, None),
            MinFilter::Linear => (true, None),
            MinFilter::NearestMipmapNearest => (false, Some(false)),
            MinFilter::LinearMipmapNearest => (true, Some(false)),
            MinFilter::NearestMipmapLinear => (false, Some(true)),
            MinFilter::LinearMipmapLinear => (true, Some(true)),
        },
        Some(Checked::Invalid) => return Err(invalid("minFilter")),
    };
    let wrap = |property: &str, mode: &Checked<WrappingMode>| match mode {
        Checked::Valid(WrappingMode::Repeat) => Ok(Wrap::Repeat),
        Checked::Valid(WrappingMode::MirroredRepeat) => Ok(Wrap::Mirror),
        Checked::Valid(WrappingMode::ClampToEdge) => Ok(Wrap::Clamp),
        Checked::Invalid => Err(invalid(property)),
    };
    let wrap = [wrap("wrapS", &source.wrap_s)?, wrap("wrapT", &source.wrap_t)?];
    Ok(Sampler { mag_linear, min_linear, mip_linear, wrap })
}
