//! Textures, samplers and encoded images. A model without its pictures is still a model, so whatever
//! is wrong with an image's bytes is a diagnostic and leaves it empty.

use gltf::json::{
    self,
    texture::{MagFilter, MinFilter, WrappingMode},
    validation::Checked,
};

use super::{
    Budget, ImportError,
    buffers::Buffers,
    codes::{self, Report},
    document::Document,
    uri::Files,
};
use crate::model::{Image, Sampler, Texture, Wrap};

pub(super) struct Images {
    pub(super) textures: Vec<Texture>,
    pub(super) images: Vec<Image>,
}

pub(super) fn load(
    document: &Document,
    buffers: &Buffers<'_>,
    files: &Files<'_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<Images, ImportError> {
    let mut images = Vec::with_capacity(document.images.len());
    for (index, source) in document.images.iter().enumerate() {
        let place = format!("images[{index}]");
        let name = source.name.clone().unwrap_or_default();
        let problem = match bytes(&place, source, buffers, files, budget) {
            Ok(bytes) => match mime_type(&bytes) {
                Some(mime_type) => {
                    images.push(Image { name, mime_type: mime_type.into(), bytes });
                    continue;
                }
                None => "is neither PNG nor JPEG".into(),
            },
            Err(error @ ImportError::Limit { .. }) => return Err(error),
            Err(error) => error.to_string(),
        };
        report.add(codes::IMAGE_UNREADABLE, place, problem)?;
        images.push(Image { name, mime_type: String::new(), bytes: Vec::new() });
    }
    let mut textures = Vec::with_capacity(document.textures.len());
    for (index, texture) in document.textures.iter().enumerate() {
        let sampler = match texture.sampler {
            Some(sampler) => sampler_of(sampler.value(), &document.samplers[sampler.value()])?,
            None => Sampler::default(),
        };
        let mut image = texture.source.value();
        if image >= document.images.len() {
            // Its image comes from an extension.
            let message = "has no image that this library reads";
            report.add(codes::IMAGE_UNREADABLE, format!("textures[{index}]"), message)?;
            image = images.len();
            images.push(Image { name: String::new(), mime_type: String::new(), bytes: Vec::new() });
        }
        textures.push(Texture { image: image as u32, sampler });
    }
    Ok(Images { textures, images })
}

fn bytes(
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

/// By the first bytes; what the file says may be wrong.
fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        _ => None,
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
