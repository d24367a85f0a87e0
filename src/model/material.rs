use glam::{Vec2, Vec3, Vec4};

/// glTF's metallic-roughness material. Factors are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// May be empty.
    pub name: String,
    /// Multiplies the base colour texture, linear RGBA.
    pub base_color: Vec4,
    /// sRGB texture.
    pub base_color_texture: Option<TextureRef>,
    /// 0..=1.
    pub metallic: f32,
    /// 0..=1.
    pub roughness: f32,
    /// Linear; roughness in green, metallic in blue.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Linear, tangent space.
    pub normal_texture: Option<TextureRef>,
    /// Multiplies xy of the normal texture.
    pub normal_scale: f32,
    /// Linear, in red.
    pub occlusion_texture: Option<TextureRef>,
    /// 0..=1.
    pub occlusion_strength: f32,
    /// Linear RGB; may exceed 1.
    pub emissive: Vec3,
    /// Multiplies `emissive`: a factor without a unit, 0 or more (`KHR_materials_emissive_strength`).
    pub emissive_strength: f32,
    /// sRGB texture.
    pub emissive_texture: Option<TextureRef>,
    /// What alpha means.
    pub alpha_mode: AlphaMode,
    /// Draw back faces too.
    pub double_sided: bool,
    /// Base colour only, no lighting.
    pub unlit: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: Vec3::ZERO,
            emissive_strength: 1.0,
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
            unlit: false,
        }
    }
}

/// What a material's alpha means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// Ignored.
    #[default]
    Opaque,
    /// Below the cutoff nothing is drawn.
    Mask {
        /// 0..=1.
        cutoff: f32,
    },
    /// Blended over what lies behind.
    Blend,
}

/// A texture and the coordinate set it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into the model's textures.
    pub texture: u32,
    /// Which of the primitive's uv sets.
    pub uv_set: u32,
    /// Applied to the coordinates before they are looked up.
    pub transform: UvTransform,
}

impl TextureRef {
    /// The first uv set as it is.
    #[must_use]
    pub fn new(texture: u32) -> Self {
        Self { texture, uv_set: 0, transform: UvTransform::default() }
    }
}

/// A change of texture coordinates (`KHR_texture_transform`): scale, then turn, then move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UvTransform {
    /// In texture widths and heights.
    pub offset: Vec2,
    /// Radians, counter-clockwise in the image.
    pub rotation: f32,
    /// Per axis.
    pub scale: Vec2,
}

impl Default for UvTransform {
    fn default() -> Self {
        Self { offset: Vec2::ZERO, rotation: 0.0, scale: Vec2::ONE }
    }
}

impl UvTransform {
    /// Two rows of a 2×3 matrix: `u' = rows[0] · (u, v, 1)`, `v' = rows[1] · (u, v, 1)`.
    #[must_use]
    pub fn rows(self) -> [[f32; 3]; 2] {
        let (sin, cos) = self.rotation.sin_cos();
        [
            [cos * self.scale.x, sin * self.scale.y, self.offset.x],
            [-sin * self.scale.x, cos * self.scale.y, self.offset.y],
        ]
    }
}

/// An image with its sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Index into the model's images.
    pub image: u32,
    /// How it is sampled.
    pub sampler: Sampler,
}

/// Filters and wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Smooth when magnified.
    pub mag_linear: bool,
    /// Smooth when minified.
    pub min_linear: bool,
    /// Use mip levels: `None` none, `Some(true)` blended, `Some(false)` the nearest.
    pub mip_linear: Option<bool>,
    /// Along u and v.
    pub wrap: [Wrap; 2],
}

impl Default for Sampler {
    fn default() -> Self {
        Self { mag_linear: true, min_linear: true, mip_linear: Some(true), wrap: [Wrap::Repeat; 2] }
    }
}

/// What lies outside 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Tiles.
    #[default]
    Repeat,
    /// Tiles, every other one mirrored.
    Mirror,
    /// The border's colour.
    Clamp,
}

/// An image as stored in the file; decoded only when something draws it.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// May be empty.
    pub name: String,
    /// `image/png` or `image/jpeg` where the file says so, otherwise empty.
    pub mime_type: String,
    /// The encoded bytes; empty where the file refers to something that could not be read.
    pub bytes: Vec<u8>,
}
