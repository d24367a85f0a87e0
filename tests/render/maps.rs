//! Textures: where they are read, and what stands in for those that cannot be read.

use sinew::model::UvTransform;

use super::*;

/// A material with texture 0 in one of its five slots.
type Slotted = fn(Option<TextureRef>) -> Material;

const BASE_COLOR: Slotted = |base_color_texture| Material { base_color_texture, ..plain() };
const METALLIC_ROUGHNESS: Slotted =
    |metallic_roughness_texture| Material { metallic_roughness_texture, metallic: 1.0, ..plain() };
const NORMAL: Slotted = |normal_texture| Material { normal_texture, ..plain() };
const OCCLUSION: Slotted = |occlusion_texture| Material { occlusion_texture, ..plain() };
const EMISSIVE: Slotted = |emissive_texture| Material { emissive_texture, emissive: Vec3::ONE, ..plain() };

fn plain() -> Material {
    Material { base_color: Vec4::new(0.5, 0.25, 0.25, 1.0), metallic: 0.0, ..Material::default() }
}

/// The square with tangents, and an image that is none.
fn broken(material: Material) -> Model {
    let tangents = vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 4];
    let mut desc = desc(vec![PrimitiveDesc { tangents, ..square(Vec3::ZERO, false) }], vec![material]);
    (desc.textures, desc.images) = textured(&[0, 0, 0]);
    desc.images[0].bytes = b"RIFF\0\0\0\0WEBP".to_vec();
    Model::new(desc).unwrap()
}

#[test]
fn of_all_maps_only_a_missing_base_colour_is_drawn_as_a_checker() {
    let unmapped = draw(&broken(plain())).0;
    for map in [METALLIC_ROUGHNESS, NORMAL, OCCLUSION, EMISSIVE] {
        let (picture, diagnostics) =
            draw_with(&broken(map(Some(TextureRef::new(0)))), Light::default(), |_, _| ());
        assert_eq!(diagnostics[0].code, "image-replaced");
        // The flat normal is half a step of 8 bits off.
        let apart = picture.0.iter().zip(&unmapped).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(apart <= Some(2), "{apart:?}: {}", diagnostics[0].message);
    }
    let checkered = draw(&broken(BASE_COLOR(Some(TextureRef::new(0))))).0;
    assert_ne!(checkered, unmapped);
}

/// Four colours, as they lie in the image.
const QUARTERS: [[[u8; 3]; 2]; 2] = [[[200, 0, 0], [0, 200, 0]], [[0, 0, 200], [200, 200, 0]]];

/// The middles of the square's quarters on the picture, rows from the top.
const MIDDLES: [[(u32, u32); 2]; 2] = [[(24, 24), (40, 24)], [(24, 40), (40, 40)]];

/// What a square shows whose texture reads uv set 1 through `transform`, in quarters; set 0 is nothing.
fn quarters(transform: UvTransform) -> [[[u8; 3]; 2]; 2] {
    let mut primitive = square(Vec3::ZERO, false);
    primitive.uv_sets.insert(0, vec![Vec2::ZERO; 4]);
    let base_color_texture = Some(TextureRef { texture: 0, uv_set: 1, transform });
    let material = Material { base_color_texture, ..unlit(1.0, 1.0, 1.0, 1.0) };
    let mut desc = desc(vec![primitive], vec![material]);
    (desc.textures, desc.images) = textured(&[0; 3]);
    let picture =
        image::RgbImage::from_fn(64, 64, |x, y| image::Rgb(QUARTERS[y as usize / 32][x as usize / 32]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    desc.images[0].bytes = bytes.into_inner();
    let drawn = draw(&Model::new(desc).unwrap());
    MIDDLES.map(|row| row.map(|(x, y)| drawn.at(x, y)[..3].try_into().unwrap()))
}

fn assert_quarters(transform: UvTransform, expected: [[[u8; 3]; 2]; 2]) {
    let found = quarters(transform);
    let near = found.as_flattened().as_flattened().iter().zip(expected.as_flattened().as_flattened());
    assert!(near.clone().all(|(f, e)| f.abs_diff(*e) <= 2 * ENCODING_STEP), "{found:?}");
}

#[test]
fn a_texture_lies_upright_without_a_transform() {
    assert_quarters(UvTransform::default(), QUARTERS);
}

#[test]
fn an_offset_moves_the_texture_to_the_left_and_it_wraps() {
    let [[a, b], [c, d]] = QUARTERS;
    let offset = Vec2::new(0.5, 0.0);
    assert_quarters(UvTransform { offset, ..Default::default() }, [[b, a], [d, c]]);
}

#[test]
fn a_scale_is_applied_before_the_offset() {
    let b = QUARTERS[0][1];
    let transform = UvTransform { offset: Vec2::new(0.5, 0.0), scale: Vec2::splat(0.5), rotation: 0.0 };
    assert_quarters(transform, [[b, b], [b, b]]);
}

#[test]
fn a_rotation_turns_uvs_counter_clockwise_and_so_the_picture_clockwise() {
    // u' = v and v' = -u: the left edge of the picture becomes its top.
    let [[a, b], [c, d]] = QUARTERS;
    let rotation = std::f32::consts::FRAC_PI_2;
    assert_quarters(UvTransform { rotation, ..Default::default() }, [[c, a], [d, b]]);
}
