//! Tangents for normal textures of files that give none.

use std::f32::consts::FRAC_PI_2;

use glam::{Vec3, Vec4};
use serde_json::json;
use sinew::{
    Model,
    import::ImportOptions,
    model::{Primitive, Topology},
};

use crate::{fuzz::Random, glb::Glb};

const UNSIGNED_INT: u32 = 5125;

/// A rigid mesh of these triangles with a normal texture; normals along z.
fn mesh(positions: &[[f32; 3]], uvs: &[[f32; 2]], indices: &[u32]) -> Glb {
    let mut glb = Glb::triangle();
    glb.json["nodes"][0] = json!({ "mesh": 0 });
    let normals = glb.floats("VEC3", &[0.0, 0.0, 1.0].repeat(positions.len()));
    let positions = glb.floats("VEC3", positions.as_flattened());
    let uvs = glb.floats("VEC2", uvs.as_flattened());
    let bytes: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
    let indices = glb.bytes_of(UNSIGNED_INT, "SCALAR", indices.len(), &bytes);
    *glb.primitive() = json!({ "material": 0, "indices": indices,
        "attributes": { "POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs } });
    glb.json["materials"] = json!([{ "normalTexture": { "index": 0 } }]);
    glb.json["textures"] = json!([{ "source": 0 }]);
    let png = glb.view(b"\x89PNG\r\n\x1a\n");
    glb.json["images"] = json!([{ "bufferView": png }]);
    glb
}

/// Corners from the lower left, counter-clockwise.
const QUAD: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
/// The image upright on the quad: v points down.
pub(crate) const UPRIGHT: [[f32; 2]; 4] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
const LIST: [u32; 6] = [0, 1, 2, 0, 2, 3];

pub(crate) fn quad(uvs: [[f32; 2]; 4]) -> Glb {
    mesh(&QUAD, &uvs, &LIST)
}

/// Two quads side by side that share an edge; the right one shows the image mirrored.
fn mirrored() -> Glb {
    let positions = [QUAD.as_slice(), &[[2.0, 0.0, 0.0], [2.0, 1.0, 0.0]]].concat();
    let uvs = [UPRIGHT.as_slice(), &[[0.0, 1.0], [0.0, 0.0]]].concat();
    mesh(&positions, &uvs, &[0, 1, 2, 0, 2, 3, 1, 4, 5, 1, 5, 2])
}

fn primitive(model: &Model) -> &Primitive {
    &model.meshes()[0].primitives()[0]
}

fn tangents(glb: &Glb) -> Vec<Vec4> {
    primitive(&glb.model()).tangents().to_vec()
}

fn assert_units(glb: &Glb) {
    let model = glb.model();
    let tangents = primitive(&model).tangents();
    assert_eq!(tangents.len(), primitive(&model).vertex_count());
    for (tangent, normal) in tangents.iter().zip(primitive(&model).normals()) {
        assert!((tangent.truncate().length() - 1.0).abs() < 1e-5 && tangent.w.abs() == 1.0, "{tangent}");
        assert!(tangent.truncate().dot(*normal).abs() < 1e-4, "{tangent} {normal}");
    }
}

fn assert_all(glb: &Glb, expected: Vec4) {
    assert!(tangents(glb).iter().all(|t| t.abs_diff_eq(expected, 1e-6)), "{:?}", tangents(glb));
}

#[test]
fn degenerate_uvs_give_unit_tangents() {
    let line = [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [2.0, 2.0]];
    let huge = [[f32::MAX, 0.0], [0.0, f32::MAX], [-f32::MAX, 0.0], [0.0, -f32::MAX]];
    let tiny = UPRIGHT.map(|uv| uv.map(|c| c * 1e-30));
    for uvs in [[[0.5; 2]; 4], line, huge, tiny, [[f32::NAN; 2]; 4]] {
        assert_units(&quad(uvs));
    }
}

#[test]
fn triangles_without_area_or_with_huge_coordinates_give_unit_tangents() {
    assert_units(&mesh(&[[1.0; 3]; 4], &UPRIGHT, &LIST));
    assert_units(&mesh(&QUAD.map(|p| p.map(|c| c * 1e12)), &UPRIGHT, &LIST));
    assert_units(&mesh(&QUAD.map(|p| p.map(|c| c * 1e-38)), &UPRIGHT, &LIST));
    assert_units(&mesh(&QUAD, &UPRIGHT, &[0, 0, 0, 0, 1, 1, 0, 1, 2]));
}

#[test]
fn normals_that_are_no_direction_give_unit_tangents() {
    let mut glb = quad(UPRIGHT);
    for normal in [[0.0; 3], [f32::NAN; 3], [1e-30; 3], [1e11; 3]] {
        let normals = glb.floats("VEC3", &normal.repeat(4));
        glb.set_attribute("NORMAL", normals);
        let tangents = tangents(&glb);
        assert!(tangents.iter().all(|t| (t.truncate().length() - 1.0).abs() < 1e-5), "{tangents:?}");
    }
}

#[test]
fn a_hundred_thousand_triangles_at_one_vertex_take_neither_the_stack_nor_hours() {
    [128, 100_000].into_iter().for_each(fan);
}

fn fan(count: u32) {
    let turn = |i: u32| (i as f32 / count as f32 * std::f32::consts::TAU).sin_cos();
    let rim = (0..count).map(turn).map(|(sin, cos)| [cos, sin, 0.0]);
    let positions: Vec<_> = std::iter::once([0.0; 3]).chain(rim).collect();
    let uvs: Vec<_> = positions.iter().map(|p| [p[0], -p[1]]).collect();
    let fan: Vec<u32> = (1..count).flat_map(|i| [0, i, i + 1]).collect();
    let glb = mesh(&positions, &uvs, &fan);
    let near = |t: &Vec4| t.abs_diff_eq(Vec4::new(1.0, 0.0, 0.0, 1.0), 0.05);
    assert!(tangents(&glb).iter().all(near));
}

#[test]
fn repeated_and_degenerate_triangles_do_not_take_hours() {
    let repeated: Vec<u32> = LIST.repeat(50_000);
    assert_units(&mesh(&QUAD, &UPRIGHT, &repeated));
    let degenerate: Vec<u32> = LIST.into_iter().chain([0, 1, 1].repeat(100_000)).collect();
    assert_units(&mesh(&QUAD, &UPRIGHT, &degenerate));
}

#[test]
fn triangles_without_any_order_give_unit_tangents() {
    // Few places and few uvs: edges of many triangles, both windings, no areas, mirrored and equal corners.
    let mut random = Random::new(7, 0);
    for round in 0..300 {
        let mut number = |below: usize| random.below(below) as f32 - 1.0;
        let positions: Vec<_> = (0..20).map(|_| [number(3), number(3), number(2)]).collect();
        let uvs: Vec<_> = (0..20).map(|_| [number(3), number(2)]).collect();
        let indices: Vec<u32> = (0..120).map(|_| random.below(5 + round % 15) as u32).collect();
        let tangents = tangents(&mesh(&positions, &uvs, &indices));
        let unit = |t: &Vec4| (t.truncate().length() - 1.0).abs() < 1e-5 && t.w.abs() == 1.0;
        assert!(tangents.iter().all(unit), "round {round}: {tangents:?}");
    }
}

#[test]
fn a_budget_too_small_for_tangents_leaves_them_out_with_a_word() {
    let mut options = ImportOptions::default();
    options.limits.decoded_bytes = 1000;
    let model = Model::from_bytes(&quad(UPRIGHT).to_bytes(), &options).unwrap();
    assert!(primitive(&model).tangents().is_empty());
    assert!(model.diagnostics().iter().any(|d| d.code == "tangents-missing"));
}

#[test]
fn a_normal_texture_whose_uv_set_is_missing_gets_no_tangents() {
    let mut glb = quad(UPRIGHT);
    glb.json["materials"][0]["normalTexture"]["texCoord"] = 1.into();
    assert_eq!(glb.codes(), ["tangents-missing"]);
    assert!(tangents(&glb).is_empty());
}

#[test]
fn an_upright_image_has_its_tangent_to_the_right_and_handedness_one() {
    let glb = quad(UPRIGHT);
    assert_all(&glb, Vec4::new(1.0, 0.0, 0.0, 1.0));
    assert_eq!(glb.codes(), ["tangents-computed"]);
    assert_eq!(primitive(&glb.model()).vertex_count(), 4);
}

#[test]
fn a_mirrored_image_has_its_tangent_to_the_left_and_handedness_minus_one() {
    assert_all(&quad(UPRIGHT.map(|[u, v]| [1.0 - u, v])), Vec4::new(-1.0, 0.0, 0.0, -1.0));
    assert_all(&quad(UPRIGHT.map(|[u, v]| [u, 1.0 - v])), Vec4::new(1.0, 0.0, 0.0, -1.0));
}

#[test]
fn vertices_between_an_image_and_its_mirror_image_are_split() {
    let model = mirrored().model();
    let primitive = primitive(&model);
    assert_eq!((primitive.source_vertex_count(), primitive.vertex_count()), (6, 8));
    for (vertex, tangent) in primitive.tangents().iter().enumerate() {
        let source = primitive.source_vertex(vertex);
        let expected = match source {
            0 | 3 => 1.0,
            4 | 5 => -1.0,
            _ => tangent.w,
        };
        assert_eq!(*tangent, Vec4::new(expected, 0.0, 0.0, expected), "{source}");
    }
    let copies = |source| (0..8).filter(|&v| primitive.source_vertex(v) == source).count();
    assert_eq!([0, 1, 2, 3, 4, 5].map(copies), [1, 2, 2, 1, 1, 1]);
    // Every triangle keeps its corners.
    let corners: Vec<u32> =
        primitive.indices().iter().map(|&i| primitive.source_vertex(i as usize)).collect();
    assert_eq!(corners, [0, 1, 2, 0, 2, 3, 1, 4, 5, 1, 5, 2]);
}

#[test]
fn morph_targets_influences_and_colours_follow_the_split() {
    let mut glb = mirrored();
    let six = |values: [f32; 6]| values.map(|v| [v, 0.0, 0.0]);
    let deltas = glb.floats("VEC3", six([0.0, 0.1, 0.2, 0.0, 0.4, 0.0]).as_flattened());
    let joints = glb.bytes_of(5121, "VEC4", 6, &[0, 1, 0, 0].repeat(6));
    let weights: Vec<[f32; 4]> =
        (0..6).map(|v| [0.5 + v as f32 / 16.0, 0.5 - v as f32 / 16.0, 0.0, 0.0]).collect();
    let weights = glb.floats("VEC4", weights.as_flattened());
    let colors: Vec<[f32; 4]> = (0..6).map(|v| [v as f32 / 8.0; 4]).collect();
    let colors = glb.floats("VEC4", colors.as_flattened());
    glb.json["nodes"][0] = json!({ "mesh": 0, "skin": 0 });
    glb.primitive()["targets"] = json!([{ "POSITION": deltas }]);
    for (name, accessor) in [("JOINTS_0", joints), ("WEIGHTS_0", weights), ("COLOR_0", colors)] {
        glb.set_attribute(name, accessor);
    }
    let model = glb.model();
    let primitive = primitive(&model);
    assert_eq!(primitive.vertex_count(), 8);
    let target = &primitive.targets()[0];
    assert_eq!(target.vertices().len(), 5, "two of the three moved vertices are split");
    for (row, &vertex) in target.vertices().iter().enumerate() {
        let source = primitive.source_vertex(vertex as usize);
        assert_eq!(target.positions()[row], Vec3::new(source as f32 / 10.0, 0.0, 0.0));
    }
    for vertex in 0..8 {
        let source = primitive.source_vertex(vertex) as f32;
        assert_eq!(primitive.influences().unwrap().row(vertex)[0].weight, 0.5 + source / 16.0);
        assert_eq!(primitive.colors()[0][vertex].x, source / 8.0);
    }
}

#[test]
fn vertices_that_no_triangle_uses_are_kept() {
    let model = mesh(&QUAD, &UPRIGHT, &[0, 1, 2]).model();
    assert_eq!(primitive(&model).vertex_count(), 4);
    assert_units(&mesh(&QUAD, &UPRIGHT, &[0, 1, 2]));
}

#[test]
fn a_primitive_without_a_whole_triangle_gets_no_tangents() {
    let glb = mesh(&QUAD, &UPRIGHT, &[0, 1]);
    assert_eq!(glb.codes(), ["indices-incomplete"]);
    assert!(tangents(&glb).is_empty());
}

#[test]
fn a_strip_gives_what_its_list_gives() {
    let positions = [QUAD[0], QUAD[1], QUAD[3], QUAD[2]];
    let uvs = [UPRIGHT[0], UPRIGHT[1], UPRIGHT[3], UPRIGHT[2]];
    let mut glb = mesh(&positions, &uvs, &[0, 1, 2, 3]);
    glb.primitive()["mode"] = 5.into();
    assert_all(&glb, Vec4::new(1.0, 0.0, 0.0, 1.0));
    let model = glb.model();
    let primitive = primitive(&model);
    assert_eq!((primitive.topology(), primitive.indices()), (Topology::Triangles, &[0, 1, 2, 2, 1, 3][..]));
}

#[test]
fn missing_normals_are_computed_first() {
    let mut glb = quad(UPRIGHT);
    glb.primitive()["attributes"].as_object_mut().unwrap().remove("NORMAL");
    assert_all(&glb, Vec4::new(1.0, 0.0, 0.0, 1.0));
    assert_units(&glb);
    let model = glb.model();
    assert!(primitive(&model).has_flat_normals() && primitive(&model).has_computed_tangents());
    assert_eq!(primitive(&model).vertex_count(), 6);
}

#[test]
fn the_files_own_tangents_are_never_replaced() {
    let mut glb = quad(UPRIGHT);
    let own = glb.floats("VEC4", &[0.0, 1.0, 0.0, -1.0].repeat(4));
    glb.set_attribute("TANGENT", own);
    assert!(glb.codes().is_empty());
    assert!(tangents(&glb).iter().all(|t| *t == Vec4::new(0.0, 1.0, 0.0, -1.0)));
    assert!(!primitive(&glb.model()).has_computed_tangents());
}

#[test]
fn without_a_lit_normal_texture_there_are_no_tangents() {
    for material in [
        json!({ "emissiveTexture": { "index": 0 } }),
        json!({ "normalTexture": { "index": 0 }, "extensions": { "KHR_materials_unlit": {} } }),
    ] {
        let mut glb = quad(UPRIGHT);
        glb.json["materials"][0] = material;
        assert!(tangents(&glb).is_empty() && glb.codes().is_empty());
    }
    let mut glb = quad(UPRIGHT);
    glb.primitive().as_object_mut().unwrap().remove("material");
    assert!(tangents(&glb).is_empty());
    let mut lines = quad(UPRIGHT);
    lines.primitive()["mode"] = 1.into();
    assert!(tangents(&lines).is_empty() && lines.codes().is_empty());
}

#[test]
fn the_uv_set_is_the_one_that_the_normal_texture_reads() {
    let mut glb = quad([[0.0; 2]; 4]);
    let second = glb.floats("VEC2", UPRIGHT.map(|[u, v]| [1.0 - u, v]).as_flattened());
    glb.set_attribute("TEXCOORD_1", second);
    let left = Vec4::new(-1.0, 0.0, 0.0, -1.0);
    glb.json["materials"][0]["normalTexture"]["texCoord"] = 1.into();
    assert_all(&glb, left);
    glb.json["materials"][0]["normalTexture"] =
        json!({ "index": 0, "texCoord": 0, "extensions": { "KHR_texture_transform": { "texCoord": 1 } } });
    assert_all(&glb, left);
}

#[test]
fn a_transform_of_the_normal_texture_turns_the_tangents_with_it() {
    let mut glb = quad(UPRIGHT);
    let mut with = |transform: serde_json::Value, expected: Vec4| {
        let extensions = json!({ "KHR_texture_transform": transform });
        glb.json["materials"][0]["normalTexture"]["extensions"] = extensions;
        assert_all(&glb, expected);
    };
    // u' = v, which points down.
    with(json!({ "rotation": FRAC_PI_2 }), Vec4::new(0.0, -1.0, 0.0, 1.0));
    with(json!({ "scale": [-1, 1] }), Vec4::new(-1.0, 0.0, 0.0, -1.0));
    with(json!({ "offset": [3, 4], "scale": [5, 5] }), Vec4::new(1.0, 0.0, 0.0, 1.0));
}

#[test]
fn computed_tangents_are_not_exported_and_come_out_the_same_again() {
    let model = mirrored().model();
    let bytes = model.to_glb().unwrap();
    assert!(!bytes.windows(7).any(|w| w == b"TANGENT"));
    let back = Model::from_bytes(&bytes, &ImportOptions::default()).unwrap();
    assert_eq!(model.meshes(), back.meshes());
}

#[test]
fn strict_mode_computes_tangents_too() {
    let options = ImportOptions { strict: true, ..Default::default() };
    let model = Model::from_bytes(&quad(UPRIGHT).to_bytes(), &options).unwrap();
    assert!(primitive(&model).has_computed_tangents());
}

#[test]
fn a_sphere_has_tangents_around_its_axis() {
    // 32 x 16 cells, the image wrapped around y once.
    let (around, down) = (32u32, 16u32);
    let point = |i: u32, j: u32| {
        let ((sin, cos), (s, c)) = (
            (i as f32 / around as f32 * std::f32::consts::TAU).sin_cos(),
            (j as f32 / down as f32 * std::f32::consts::PI).sin_cos(),
        );
        [cos * s, c, -sin * s]
    };
    let grid = || (0..=down).flat_map(|j| (0..=around).map(move |i| (i, j)));
    let positions: Vec<_> = grid().map(|(i, j)| point(i, j)).collect();
    let uvs: Vec<_> = grid().map(|(i, j)| [i as f32 / around as f32, j as f32 / down as f32]).collect();
    let cell = |(i, j): (u32, u32)| {
        let at = j * (around + 1) + i;
        let (right, below) = (at + 1, at + around + 1);
        [at, below, right, right, below, below + 1]
    };
    let indices: Vec<u32> = (0..down).flat_map(|j| (0..around).map(move |i| (i, j))).flat_map(cell).collect();
    let mut glb = mesh(&positions, &uvs, &indices);
    let normals = glb.floats("VEC3", positions.as_flattened());
    glb.set_attribute("NORMAL", normals);
    let model = glb.model();
    for (position, tangent) in primitive(&model).positions().iter().zip(primitive(&model).tangents()) {
        assert_eq!(tangent.w, 1.0);
        if position.y.abs() < 0.9 {
            let east = Vec3::Y.cross(*position).normalize();
            // Half a cell off at the seam, where a vertex has one side.
            assert!(tangent.truncate().dot(east) > 0.99, "{position} {tangent}");
        }
    }
}
