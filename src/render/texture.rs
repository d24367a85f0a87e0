//! Encoded images to textures on the device.

use std::collections::HashMap;

use super::{
    codes,
    mip::{ColorSpace, Level, mip_chain},
};
use crate::model::{Diagnostic, Image, Model, Sampler, TextureRef, Wrap};

/// Most texels along a side that are decoded; what is larger than the device allows is scaled down.
const MAX_SIDE: u32 = 1 << 15;

/// Most bytes that decoding one image may take.
const MAX_BYTES: u64 = 1 << 30;

/// What a texture is to a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    BaseColor,
    MetallicRoughness,
    Normal,
    Occlusion,
    Emissive,
}

impl Slot {
    fn space(self) -> ColorSpace {
        match self {
            Self::BaseColor | Self::Emissive => ColorSpace::Srgb,
            Self::MetallicRoughness | Self::Normal | Self::Occlusion => ColorSpace::Linear,
        }
    }

    /// What is drawn where the image cannot be decoded. A missing base colour is to be seen; the other maps are
    /// to hide nothing: no metal (it would be black), no relief, no shadow, no glow.
    fn stand_in(self) -> Level {
        let texel = |texel: [u8; 4]| Level { width: 1, height: 1, texels: texel.to_vec() };
        match self {
            Self::BaseColor => checker(),
            Self::MetallicRoughness => texel([255, 255, 0, 255]),
            Self::Normal => texel([128, 128, 255, 255]),
            Self::Occlusion => texel([255; 4]),
            Self::Emissive => texel([0, 0, 0, 255]),
        }
    }

    /// For the diagnostic.
    fn instead(self) -> &'static str {
        match self {
            Self::BaseColor => "a checker is drawn as base colour",
            Self::MetallicRoughness => "drawn rough and without metal",
            Self::Normal => "drawn without relief",
            Self::Occlusion => "drawn without occlusion",
            Self::Emissive => "drawn without glow",
        }
    }
}

/// The textures of one model, each decoded and uploaded once per colour space.
pub(crate) struct Textures<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    model: &'a Model,
    /// What could not be decoded is remembered with the reason.
    views: HashMap<(u32, ColorSpace), Result<wgpu::TextureView, String>>,
    stand_ins: HashMap<Slot, wgpu::TextureView>,
    samplers: HashMap<Sampler, wgpu::Sampler>,
    white: wgpu::TextureView,
    /// What could not be decoded.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'a> Textures<'a> {
    pub(crate) fn new(device: &'a wgpu::Device, queue: &'a wgpu::Queue, model: &'a Model) -> Self {
        let texel = Level { width: 1, height: 1, texels: vec![255; 4] };
        let white = upload(device, queue, "white", &[texel], ColorSpace::Linear);
        Self {
            device,
            queue,
            model,
            views: HashMap::new(),
            stand_ins: HashMap::new(),
            samplers: HashMap::new(),
            white,
            diagnostics: Vec::new(),
        }
    }

    /// The texture and its sampler; a white texel where the material has none.
    pub(crate) fn get(
        &mut self,
        texture: Option<TextureRef>,
        slot: Slot,
    ) -> (wgpu::TextureView, wgpu::Sampler) {
        let texture = texture.and_then(|t| self.model.textures().get(t.texture as usize).copied());
        let Some(texture) = texture else { return (self.white.clone(), self.sampler(Sampler::default())) };
        let view = match self.image(texture.image, slot.space()) {
            Ok(view) => view,
            Err(message) => {
                self.report(texture.image, format!("{message}; {}", slot.instead()));
                self.stand_in(slot)
            }
        };
        (view, self.sampler(texture.sampler))
    }

    /// Decodes and uploads what will be asked for. With the feature `threads` as many images at once as the current
    /// rayon pool has threads; what comes out, diagnostics too, does not depend on their number.
    pub(crate) fn prepare(&mut self, wanted: impl Iterator<Item = (Option<TextureRef>, Slot)>) {
        let mut images = Vec::new();
        for (texture, slot) in wanted {
            let texture = texture.and_then(|t| self.model.textures().get(t.texture as usize));
            let key = texture.map(|texture| (texture.image, slot.space()));
            images.extend(key.filter(|key| !images.contains(key) && !self.views.contains_key(key)));
        }
        let limit = self.device.limits().max_texture_dimension_2d;
        for batch in images.chunks(at_once()) {
            for (&(index, space), picture) in batch.iter().zip(pictures(self.model, batch, limit)) {
                self.add(index, space, picture);
            }
        }
    }

    fn image(&mut self, index: u32, space: ColorSpace) -> Result<wgpu::TextureView, String> {
        if !self.views.contains_key(&(index, space)) {
            let limit = self.device.limits().max_texture_dimension_2d;
            self.add(index, space, picture(self.model, index, space, limit));
        }
        self.views[&(index, space)].clone()
    }

    fn add(&mut self, index: u32, space: ColorSpace, picture: Result<Picture, String>) {
        let view = picture.map(|picture| {
            picture.scaled.into_iter().for_each(|message| self.report(index, message));
            let name = self.model.images().get(index as usize).map_or("", |image| image.name.as_str());
            upload(self.device, self.queue, name, &picture.levels, space)
        });
        self.views.insert((index, space), view);
    }

    fn stand_in(&mut self, slot: Slot) -> wgpu::TextureView {
        let (device, queue, space) = (self.device, self.queue, slot.space());
        let create = || {
            let levels = mip_chain(slot.stand_in(), space, device.limits().max_texture_dimension_2d);
            upload(device, queue, "stand-in", &levels, space)
        };
        self.stand_ins.entry(slot).or_insert_with(create).clone()
    }

    fn report(&mut self, index: u32, message: String) {
        let place = format!("images[{index}]");
        if self.diagnostics.iter().any(|d| d.place == place && d.message == message) {
            return;
        }
        self.diagnostics.push(codes::IMAGE_REPLACED.at(place, message));
    }

    fn sampler(&mut self, sampler: Sampler) -> wgpu::Sampler {
        let device = self.device;
        self.samplers.entry(sampler).or_insert_with(|| create_sampler(device, sampler)).clone()
    }
}

/// An image as it is uploaded, and whether it had to be made smaller.
struct Picture {
    levels: Vec<Level>,
    scaled: Option<String>,
}

fn picture(model: &Model, index: u32, space: ColorSpace, limit: u32) -> Result<Picture, String> {
    let image = model.images().get(index as usize).ok_or("there is no such image")?;
    let level = decode(image)?;
    let (w, h) = (level.width, level.height);
    let scaled = (w.max(h) > limit)
        .then(|| format!("{w}x{h} texels, scaled down to the device's {limit} along a side"));
    Ok(Picture { levels: mip_chain(level, space, limit), scaled })
}

/// Each in its place, whichever is done first.
#[cfg(feature = "threads")]
fn pictures(model: &Model, images: &[(u32, ColorSpace)], limit: u32) -> Vec<Result<Picture, String>> {
    use rayon::prelude::*;

    images.par_iter().map(|&(index, space)| picture(model, index, space, limit)).collect()
}

#[cfg(not(feature = "threads"))]
fn pictures(model: &Model, images: &[(u32, ColorSpace)], limit: u32) -> Vec<Result<Picture, String>> {
    images.iter().map(|&(index, space)| picture(model, index, space, limit)).collect()
}

/// More would only be memory.
fn at_once() -> usize {
    #[cfg(feature = "threads")]
    return rayon::current_num_threads().max(1);
    #[cfg(not(feature = "threads"))]
    1
}

fn decode(image: &Image) -> Result<Level, String> {
    if image.bytes.is_empty() {
        return Err("the image could not be read".into());
    }
    let mut reader = image::ImageReader::new(std::io::Cursor::new(&image.bytes));
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_BYTES);
    reader.limits(limits);
    let reader = reader.with_guessed_format().map_err(|e| e.to_string())?;
    let decoded = reader.decode().map_err(|e| e.to_string())?.into_rgba8();
    let (width, height) = decoded.dimensions();
    if width == 0 || height == 0 {
        return Err("the image has no texels".into());
    }
    Ok(Level { width, height, texels: decoded.into_raw() })
}

/// Magenta and grey, so that a missing image is seen and not mistaken for a colour.
fn checker() -> Level {
    const SIDE: u32 = 16;
    let texel = |i: u32| {
        if (i % SIDE / 2 + i / SIDE / 2).is_multiple_of(2) { [255, 0, 255, 255] } else { [90, 90, 90, 255] }
    };
    Level { width: SIDE, height: SIDE, texels: (0..SIDE * SIDE).flat_map(texel).collect() }
}

fn upload(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    name: &str,
    levels: &[Level],
    space: ColorSpace,
) -> wgpu::TextureView {
    let size =
        |level: &Level| wgpu::Extent3d { width: level.width, height: level.height, depth_or_array_layers: 1 };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(name),
        size: levels.first().map_or_else(wgpu::Extent3d::default, size),
        mip_level_count: levels.len().max(1) as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: match space {
            ColorSpace::Srgb => wgpu::TextureFormat::Rgba8UnormSrgb,
            ColorSpace::Linear => wgpu::TextureFormat::Rgba8Unorm,
        },
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (mip_level, level) in (0u32..).zip(levels) {
        queue.write_texture(
            wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() },
            &level.texels,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(level.width * 4),
                rows_per_image: None,
            },
            size(level),
        );
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn create_sampler(device: &wgpu::Device, sampler: Sampler) -> wgpu::Sampler {
    let filter = |linear| if linear { wgpu::FilterMode::Linear } else { wgpu::FilterMode::Nearest };
    let wrap = |wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    };
    device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("material"),
        address_mode_u: wrap(sampler.wrap[0]),
        address_mode_v: wrap(sampler.wrap[1]),
        mag_filter: filter(sampler.mag_linear),
        min_filter: filter(sampler.min_linear),
        mipmap_filter: match sampler.mip_linear {
            Some(true) => wgpu::MipmapFilterMode::Linear,
            Some(false) | None => wgpu::MipmapFilterMode::Nearest,
        },
        // Below a half the nearest level is always the first one.
        lod_max_clamp: if sampler.mip_linear.is_some() { 32.0 } else { 0.25 },
        ..Default::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(bytes: &[u8]) -> Image {
        Image { name: String::new(), mime_type: String::new(), bytes: bytes.to_vec() }
    }

    #[test]
    fn an_empty_or_broken_image_is_refused_with_a_reason() {
        assert_eq!(decode(&image(&[])), Err("the image could not be read".into()));
        assert!(decode(&image(b"\x89PNG\r\n\x1a\n not a png")).is_err());
        assert!(decode(&image(b"hello")).is_err());
    }

    #[test]
    fn a_header_that_claims_a_huge_size_is_refused() {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend([0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 6, 0, 0, 0, 0, 0, 0, 0]);
        assert!(decode(&image(&bytes)).is_err());
    }
}
