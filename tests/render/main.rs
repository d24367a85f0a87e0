//! The raster pass on known scenes: exact pixels where the arithmetic is exact.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(feature = "render")]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "gltf")]
mod imported;
mod maps;
#[cfg(feature = "gltf")]
mod posed;

use common::picture::{Frame, SIDE, draw, draw_with, look};
use glam::{Affine3A, Vec2, Vec3, Vec4};
use sinew::{
    Deformer, Model, declare,
    graph::{Graph, TextureDesc},
    model::{
        AlphaMode, Image, Material, Mesh, ModelDesc, Node, Part, PrimitiveDesc, Sampler, Skeleton, Texture,
        TextureRef, Topology, Transform,
    },
    render::{Light, Output, RenderError, Renderer, RendererOptions},
};

const BACKGROUND: [u8; 4] = [0, 0, 255, 255];
const RED: [u8; 4] = [255, 0, 0, 255];

/// Drivers may encode sRGB by tables; one step is within what they are allowed.
const ENCODING_STEP: u8 = 1;

fn assert_near(found: [u8; 4], expected: [u8; 4]) {
    let near = found.iter().zip(expected).all(|(f, e)| f.abs_diff(e) <= ENCODING_STEP);
    assert!(near, "{found:?} instead of {expected:?}");
}

/// A square of half-side 1 around `center` that faces +Z, or -Z when `turned`.
fn square(center: Vec3, turned: bool) -> PrimitiveDesc {
    let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::new(1.0, 1.0), Vec2::new(-1.0, 1.0)];
    PrimitiveDesc {
        indices: Some(if turned { vec![0, 2, 1, 0, 3, 2] } else { vec![0, 1, 2, 0, 2, 3] }),
        positions: corners.iter().map(|c| center + c.extend(0.0)).collect(),
        normals: vec![if turned { Vec3::NEG_Z } else { Vec3::Z }; 4],
        uv_sets: vec![corners.iter().map(|c| Vec2::new(c.x, -c.y) * 0.5 + 0.5).collect()],
        material: Some(0),
        ..PrimitiveDesc::default()
    }
}

fn unlit(r: f32, g: f32, b: f32, a: f32) -> Material {
    Material { base_color: Vec4::new(r, g, b, a), unlit: true, ..Material::default() }
}

fn desc(primitives: Vec<PrimitiveDesc>, materials: Vec<Material>) -> ModelDesc {
    ModelDesc {
        skeleton: Skeleton::new(vec![Node::default()]).unwrap(),
        meshes: vec![Mesh::new("mesh", primitives, Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: None, weights: Vec::new() }],
        materials,
        ..ModelDesc::default()
    }
}

fn model(primitives: Vec<PrimitiveDesc>, materials: Vec<Material>) -> Model {
    Model::new(desc(primitives, materials)).unwrap()
}

fn with_material(material: Material) -> Model {
    model(vec![square(Vec3::ZERO, false)], vec![material])
}

#[test]
fn an_unlit_colour_reaches_the_target_unchanged_on_its_background() {
    let picture = draw(&with_material(unlit(1.0, 0.0, 0.0, 1.0)));
    assert_eq!((picture.center(), picture.at(2, 2)), (RED, BACKGROUND));
    // Linear 0.5 is 188 in sRGB.
    assert_near(draw(&with_material(unlit(0.5, 0.5, 0.5, 1.0))).center(), [188, 188, 188, 255]);
}

#[test]
fn up_in_the_world_is_up_in_the_picture_and_x_goes_right() {
    let at = Vec3::new(1.0, 1.0, 0.0);
    let picture = draw(&model(vec![square(at, false)], vec![unlit(1.0, 0.0, 0.0, 1.0)]));
    assert_eq!((picture.at(48, 16), picture.at(16, 48)), (RED, BACKGROUND));
}

#[test]
fn back_faces_are_culled_unless_the_material_is_double_sided() {
    let turned = |double_sided| {
        let material = Material { double_sided, ..unlit(1.0, 0.0, 0.0, 1.0) };
        draw(&model(vec![square(Vec3::ZERO, true)], vec![material])).center()
    };
    assert_eq!((turned(false), turned(true)), (BACKGROUND, RED));
}

#[test]
fn a_mirrored_instance_keeps_its_front_faces() {
    let mirror = Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let model = with_material(unlit(1.0, 0.0, 0.0, 1.0));
    let (picture, _) = draw_with(&model, Light::default(), |deformer, instance| {
        deformer.animator_mut().set_transform(instance, mirror).unwrap();
    });
    assert_eq!(picture.center(), RED);
}

#[test]
fn a_mirroring_node_keeps_its_front_faces() {
    let mut desc = desc(vec![square(Vec3::ZERO, false)], vec![unlit(1.0, 0.0, 0.0, 1.0)]);
    let rest = Transform { scale: Vec3::new(1.0, -1.0, 1.0), ..Transform::IDENTITY };
    desc.skeleton = Skeleton::new(vec![Node { rest, ..Node::default() }]).unwrap();
    assert_eq!(draw(&Model::new(desc).unwrap()).center(), RED);
}

#[test]
fn an_alpha_mask_drops_what_is_below_the_cutoff_and_keeps_the_rest_opaque() {
    let masked = |alpha| {
        let alpha_mode = AlphaMode::Mask { cutoff: 0.5 };
        draw(&with_material(Material { alpha_mode, ..unlit(1.0, 0.0, 0.0, alpha) })).center()
    };
    assert_eq!((masked(0.49), masked(0.51)), (BACKGROUND, RED));
    assert_eq!(draw(&with_material(unlit(1.0, 0.0, 0.0, 0.0))).center(), RED, "opaque ignores alpha");
}

#[test]
fn the_nearer_square_covers_the_farther_one_in_either_order() {
    let materials = vec![unlit(1.0, 0.0, 0.0, 1.0), unlit(0.0, 1.0, 0.0, 1.0)];
    let far = PrimitiveDesc { material: Some(1), ..square(Vec3::NEG_Z, false) };
    let near = square(Vec3::ZERO, false);
    for primitives in [vec![near.clone(), far.clone()], vec![far, near]] {
        assert_eq!(draw(&model(primitives, materials.clone())).center(), RED);
    }
}

#[test]
fn what_is_blended_is_drawn_last_and_mixes_in_linear_light() {
    let glass = Material { alpha_mode: AlphaMode::Blend, ..unlit(1.0, 0.0, 0.0, 0.5) };
    let wall = PrimitiveDesc { material: Some(1), ..square(Vec3::NEG_Z, false) };
    let primitives = vec![square(Vec3::ZERO, false), wall];
    let picture = draw(&model(primitives, vec![glass, unlit(1.0, 1.0, 1.0, 1.0)]));
    assert_near(picture.center(), [255, 188, 188, 255]);
}

#[test]
fn vertex_colours_multiply_the_base_colour() {
    let colors = vec![vec![Vec4::new(1.0, 0.0, 1.0, 1.0); 4]];
    let primitive = PrimitiveDesc { colors, ..square(Vec3::ZERO, false) };
    assert_eq!(draw(&model(vec![primitive], vec![unlit(1.0, 1.0, 0.0, 1.0)])).center(), RED);
}

#[test]
fn a_hidden_instance_is_not_drawn() {
    let model = with_material(unlit(1.0, 0.0, 0.0, 1.0));
    let (picture, _) = draw_with(&model, Light::default(), |deformer, instance| {
        deformer.animator_mut().set_visible(instance, false).unwrap();
    });
    assert_eq!(picture.center(), BACKGROUND);
}

#[test]
fn lines_and_points_are_drawn_unlit_where_they_have_no_normals() {
    for (topology, indices) in [(Topology::Lines, vec![0, 1]), (Topology::LineStrip, vec![0, 1, 0])] {
        let positions = vec![Vec3::new(-1.0, 0.02, 0.0), Vec3::new(1.0, 0.02, 0.0)];
        let line = PrimitiveDesc {
            topology,
            indices: Some(indices),
            positions,
            material: Some(0),
            ..PrimitiveDesc::default()
        };
        let material = Material { unlit: false, ..unlit(1.0, 0.0, 0.0, 1.0) };
        let picture = draw(&model(vec![line], vec![material]));
        // A thin line covers some of a pixel's samples.
        assert!((0..SIDE).any(|y| picture.at(SIDE / 2, y)[0] > 100), "{topology:?}");
    }
    let positions = vec![Vec3::new(0.03, 0.03, 0.0)];
    let topology = Topology::Points;
    let point = PrimitiveDesc { topology, positions, material: Some(0), ..PrimitiveDesc::default() };
    let picture = draw(&model(vec![point], vec![unlit(1.0, 0.0, 0.0, 1.0)]));
    assert!((0..SIDE * SIDE).any(|i| picture.at(i % SIDE, i / SIDE)[0] > 100));
}

#[test]
fn a_diffuse_surface_reflects_by_the_cosine_and_nothing_from_behind() {
    let white = Material { metallic: 0.0, ..Material::default() };
    let model = with_material(white);
    let red = |direction: Vec3| {
        let light = Light { direction, color: Vec3::splat(0.5), sky: Vec3::ZERO, ground: Vec3::ZERO };
        draw_with(&model, light, |_, _| ()).0.center()[0]
    };
    // 0.96 of the light is diffuse, the rest adds almost nothing on a rough surface.
    let facing = red(Vec3::Z);
    assert!((181..=189).contains(&facing), "{facing}");
    let slanted = red(Vec3::new(3f32.sqrt(), 0.0, 1.0));
    assert!((131..=139).contains(&slanted), "{slanted}");
    assert_eq!(red(Vec3::NEG_Z), 0);
}

#[test]
fn a_normal_map_tilts_the_light_towards_its_tangent() {
    // A normal of (0.6, 0, 0.8): 0.6 along the tangent.
    let mut desc = desc(
        vec![PrimitiveDesc { tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 4], ..square(Vec3::ZERO, false) }],
        vec![Material { metallic: 0.0, normal_texture: Some(TextureRef::new(0)), ..Material::default() }],
    );
    (desc.textures, desc.images) = textured(&[204, 128, 230]);
    let model = Model::new(desc).unwrap();
    let red = |direction: Vec3| {
        let light = Light { direction, color: Vec3::splat(0.5), sky: Vec3::ZERO, ground: Vec3::ZERO };
        draw_with(&model, light, |_, _| ()).0.center()[0]
    };
    let (right, left) = (red(Vec3::new(1.0, 0.0, 1.0)), red(Vec3::new(-1.0, 0.0, 1.0)));
    assert!(right > 175 && left < 90, "{right} {left}");
}

/// One texture of a single colour.
fn textured(rgb: &[u8; 3]) -> (Vec<Texture>, Vec<Image>) {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(4, 4, image::Rgb(*rgb));
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    let image = Image { name: "one colour".into(), mime_type: String::new(), bytes: bytes.into_inner() };
    (vec![Texture { image: 0, sampler: Sampler::default() }], vec![image])
}

fn with_texture(bytes: Option<Vec<u8>>) -> Model {
    let base_color_texture = Some(TextureRef::new(0));
    let material = Material { base_color_texture, ..unlit(1.0, 1.0, 1.0, 1.0) };
    let mut desc = desc(vec![square(Vec3::ZERO, false)], vec![material]);
    (desc.textures, desc.images) = textured(&[200, 100, 50]);
    if let Some(bytes) = bytes {
        desc.images[0].bytes = bytes;
    }
    Model::new(desc).unwrap()
}

#[test]
fn a_base_colour_texture_comes_out_as_it_is_stored() {
    assert_near(draw(&with_texture(None)).center(), [200, 100, 50, 255]);
}

/// A square of many small triangles, all inside the left half of their texture.
fn grid(cells: u16) -> PrimitiveDesc {
    let side = cells + 1;
    let corner = |i: u16| ((i % side) as f32 / cells as f32, (i / side) as f32 / cells as f32);
    let quad = |cell: u32| {
        let at = cell / u32::from(cells) * u32::from(side) + cell % u32::from(cells);
        let (right, up) = (at + 1, at + u32::from(side));
        [at, right, up, up, right, up + 1]
    };
    let corners: Vec<_> = (0..side * side).map(corner).collect();
    PrimitiveDesc {
        indices: Some((0..u32::from(cells) * u32::from(cells)).flat_map(quad).collect()),
        positions: corners.iter().map(|(x, y)| Vec3::new(x * 2.0 - 1.0, y * 2.0 - 1.0, 0.0)).collect(),
        normals: vec![Vec3::Z; corners.len()],
        material: Some(0),
        uv_sets: vec![corners.iter().map(|(x, y)| Vec2::new(0.1 + 0.2 * x, 0.1 + 0.2 * y)).collect()],
        ..PrimitiveDesc::default()
    }
}

#[test]
fn texture_detail_does_not_change_at_the_edges_of_triangles() {
    let picture =
        image::RgbImage::from_fn(64, 64, |x, _| image::Rgb(if x < 32 { [200, 0, 0] } else { [0, 0, 200] }));
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    let material = Material { base_color_texture: Some(TextureRef::new(0)), ..unlit(1.0, 1.0, 1.0, 1.0) };
    let mut desc = desc(vec![grid(23)], vec![material]);
    (desc.textures, desc.images) = textured(&[0, 0, 0]);
    desc.images[0].bytes = bytes.into_inner();
    let drawn = draw(&Model::new(desc).unwrap());
    // A coarser level mixes in the blue half. The square fills the middle half of the picture.
    let inside = SIDE / 4 + 1..SIDE * 3 / 4 - 1;
    for (x, y) in inside.clone().flat_map(|x| inside.clone().map(move |y| (x, y))) {
        assert_near(drawn.at(x, y), [200, 0, 0, 255]);
    }
}

#[test]
fn a_broken_image_is_a_checker_and_a_diagnostic() {
    for bytes in [b"no image".to_vec(), Vec::new()] {
        let (picture, diagnostics) = draw_with(&with_texture(Some(bytes)), Light::default(), |_, _| ());
        let found: Vec<_> = diagnostics.iter().map(|d| (d.code, d.place.as_str())).collect();
        assert_eq!(found, [("image-replaced", "images[0]")]);
        let seen = |color| (0..SIDE * SIDE).any(|i| picture.at(i % SIDE, i / SIDE) == color);
        assert!(seen([255, 0, 255, 255]) && seen([90, 90, 90, 255]));
    }
}

#[test]
fn a_target_that_does_not_encode_and_odd_sample_counts_are_refused() {
    let (device, _) = common::gpu::device();
    let options = RendererOptions { format: wgpu::TextureFormat::Rgba8Unorm, samples: 4 };
    let error = Renderer::new(&device, options).unwrap_err();
    let message = "Rgba8Unorm does not encode sRGB; draw into a view of Rgba8UnormSrgb instead";
    assert_eq!(error.to_string(), message);
    let error = Renderer::new(&device, RendererOptions { samples: 2, ..Default::default() }).unwrap_err();
    assert_eq!(error.to_string(), "2 samples per pixel; choose 1 or 4");
}

#[test]
fn a_model_that_was_not_added_is_refused() {
    let (device, queue) = common::gpu::device();
    let mut deformer = Deformer::new(&device);
    let model = with_material(Material::default());
    let id = deformer.add_model(&queue, &model).unwrap();
    let instance = deformer.spawn(id).unwrap();
    let renderer = Renderer::new(&device, RendererOptions::default()).unwrap();
    let mut graph = Graph::new();
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let color = graph.target("picture", TextureDesc::new(SIDE, SIDE, format));
    let skinned = declare(&mut graph, &deformer, [instance], |f: &mut Frame| &mut f.deformer).unwrap();
    let output = Output { color, size: [SIDE; 2], clear: wgpu::Color::BLUE };
    let error = renderer.declare(&mut graph, deformer.animator(), skinned.all(), output, look).unwrap_err();
    assert_eq!(error, RenderError::UnknownModel { name: String::new() });
}

#[test]
fn an_emissive_strength_multiplies_what_glows() {
    let glow = |strength| {
        let emissive = Vec3::new(0.25, 0.0, 0.0);
        let base_color = Vec4::new(0.0, 0.0, 0.0, 1.0);
        let material = Material {
            base_color,
            emissive,
            emissive_strength: strength,
            metallic: 1.0,
            ..Material::default()
        };
        let dark = Light { color: Vec3::ZERO, sky: Vec3::ZERO, ground: Vec3::ZERO, ..Light::default() };
        draw_with(&with_material(material), dark, |_, _| ()).0.center()
    };
    // Linear 0.25 is 137 in sRGB, 0.5 is 188; what is beyond white stays white, also beyond f32.
    assert_near(glow(1.0), [137, 0, 0, 255]);
    assert_near(glow(2.0), [188, 0, 0, 255]);
    assert_near(glow(f32::MAX), RED);
    assert_near(glow(0.0), [0, 0, 0, 255]);
}
