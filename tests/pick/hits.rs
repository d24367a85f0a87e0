//! What a hit says, what is not hit, and what is refused.

use std::f32::consts::PI;

use glam::Quat;
use sinew::{
    deform::DeformError,
    model::{Influence, Influences, Skin, Skinning},
    pick::{PickError, RayError, Sides},
};

use super::*;

#[test]
fn no_ray_is_made_of_a_direction_of_zero_or_of_nan() {
    assert_eq!(Ray::new(Vec3::ZERO, Vec3::ZERO), Err(RayError::NoDirection));
    assert!(matches!(Ray::new(Vec3::NAN, Vec3::X), Err(RayError::NotFinite { .. })));
    assert!(matches!(Ray::new(Vec3::ZERO, v(0.0, f32::INFINITY, 0.0)), Err(RayError::NotFinite { .. })));
}

#[test]
fn directions_of_any_length_become_units() {
    for length in [1e-38f32, 1e-20, 1.0, 1e20, 1e38] {
        let unit = ray(Vec3::ZERO, v(length, length, 0.0)).direction();
        assert!((unit - v(0.5f32.sqrt(), 0.5f32.sqrt(), 0.0)).length() < 1e-6, "{length}: {unit}");
    }
}

#[test]
fn a_picker_without_positions_is_refused() {
    let model = flat(vec![triangle()]);
    let stage = Stage::new(&model);
    let picker = Picker::new(&model).unwrap();
    let nothing =
        picker.nearest(stage.deformer.animator(), ray(Vec3::Z, Vec3::NEG_Z), &PickOptions::default());
    assert_eq!(nothing, Err(PickError::NotPosed));
}

#[test]
fn an_instance_of_another_model_and_a_stale_one_are_refused() {
    let mut stage = Stage::new(&flat(vec![triangle()]));
    let mut other = Picker::new(&flat(vec![triangle()])).unwrap();
    assert_eq!(other.refit(&stage.deformer, stage.id), Err(PickError::OtherModel { instance: stage.id }));
    stage.deformer.despawn(stage.id).unwrap();
    assert!(matches!(stage.picker.refit(&stage.deformer, stage.id), Err(PickError::Animate(_))));
    let gone =
        stage.picker.nearest(stage.deformer.animator(), ray(Vec3::Z, Vec3::NEG_Z), &PickOptions::default());
    assert!(matches!(gone, Err(PickError::Animate(_))), "{gone:?}");
}

#[test]
fn positions_of_another_shape_are_refused_with_the_numbers() {
    let mut stage = Stage::new(&flat(vec![triangle()]));
    let mut baked = stage.deformer.bake(stage.id).unwrap();
    baked[0].vertices.positions.pop();
    let error = stage.picker.refit_baked(stage.deformer.animator(), stage.id, &baked).unwrap_err();
    assert_eq!(error, PickError::Vertices { part: 0, primitive: 0, found: 2, expected: 3 });
}

#[test]
fn positions_of_the_wrong_primitive_and_of_none_are_refused() {
    let mut stage = Stage::new(&flat(vec![triangle(), triangle()]));
    let baked = stage.deformer.bake(stage.id).unwrap();
    for (given, primitive) in [(&baked[1..], 0), (&baked[..1], 1), (&[], 0)] {
        let error = stage.picker.refit_baked(stage.deformer.animator(), stage.id, given).unwrap_err();
        assert_eq!(error, PickError::Vertices { part: 0, primitive, found: 0, expected: 3 });
    }
}

#[test]
fn a_model_without_triangles_is_never_hit() {
    let points = PrimitiveDesc { topology: Topology::Points, ..triangle() };
    let lines = PrimitiveDesc { topology: Topology::LineStrip, ..triangle() };
    let stage = Stage::new(&flat(vec![points, lines]));
    assert_eq!(stage.picker.triangles(), 0);
    assert_eq!(stage.nearest(ray(v(0.0, 0.0, 1.0), Vec3::NEG_Z)), None);
    assert!(!Stage::new(&model_of(Vec::new(), Vec::new())).is_hit(ray(Vec3::ZERO, Vec3::X)));
}

#[test]
fn triangles_without_an_area_are_not_hit_and_hide_none() {
    let point = list(vec![v(0.25, 0.25, 0.5); 3], None);
    let line = list(vec![v(0.0, 0.25, 0.5), v(0.25, 0.25, 0.5), v(1.0, 0.25, 0.5)], None);
    let stage = Stage::new(&flat(vec![point, line, triangle()]));
    let hit = stage.nearest(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z)).unwrap();
    assert_eq!((hit.primitive, hit.distance), (2, 1.0));
}

#[test]
fn corners_far_out_on_a_line_are_not_hit_where_rounding_moves_them_off_it() {
    let far = v(2.5e11, 2.5e11, 0.0);
    let stage = Stage::new(&flat(vec![list(vec![v(0.5, 0.5, 0.0), far, -far], None)]));
    assert_eq!(stage.nearest(Ray::towards(v(0.1, 0.2, 3.0), Vec3::ZERO).unwrap()), None);
}

#[test]
fn corners_that_are_not_finite_are_not_hit_and_hide_none() {
    let mut stage = Stage::new(&flat(vec![triangle(), triangle()]));
    let mut baked = stage.deformer.bake(stage.id).unwrap();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        baked[0].vertices.positions[1] = v(bad, 0.0, 0.0);
        stage.picker.refit_baked(stage.deformer.animator(), stage.id, &baked).unwrap();
        let hit = stage.nearest(ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z)).unwrap();
        assert_eq!(hit.primitive, 1);
    }
}

#[test]
fn a_triangle_seen_edge_on_is_not_hit() {
    let stage = Stage::new(&flat(vec![triangle()]));
    assert_eq!(stage.nearest(ray(v(-1.0, 0.25, 0.0), Vec3::X)), None);
}

#[test]
fn a_hit_says_where_and_what() {
    let stage = Stage::new(&flat(vec![triangle()]));
    let hit = stage.nearest(ray(v(0.25, 0.5, 2.0), v(0.0, 0.0, -7.0))).unwrap();
    assert_eq!((hit.part, hit.mesh, hit.primitive, hit.triangle), (0, 0, 0, 0));
    assert_eq!((hit.vertices, hit.node, hit.joint), ([0, 1, 2], 0, None));
    assert_eq!(hit.barycentrics, v(0.25, 0.25, 0.5));
    assert_eq!((hit.position, hit.normal), (v(0.25, 0.5, 0.0), Vec3::Z));
    assert_eq!((hit.distance, hit.is_front), (2.0, true));
    let back = stage.nearest(ray(v(0.25, 0.5, -2.0), Vec3::Z)).unwrap();
    assert_eq!((back.normal, back.is_front), (Vec3::Z, false));
}

#[test]
fn nothing_behind_the_origin_is_hit_and_an_origin_inside_a_box_hits_what_is_ahead() {
    let cube = |z: f32| list(vec![v(-9.0, -9.0, z), v(9.0, -9.0, z), v(0.0, 9.0, z)], None);
    let stage = Stage::new(&flat(vec![cube(-1.0), cube(1.0)]));
    assert_eq!(stage.nearest(ray(Vec3::ZERO, Vec3::Z)).unwrap().primitive, 1);
    assert_eq!(stage.nearest(ray(Vec3::ZERO, Vec3::NEG_Z)).unwrap().primitive, 0);
    assert_eq!(stage.nearest(ray(v(0.0, 0.0, 1.5), Vec3::Z)), None);
    // On the surface.
    assert_eq!(stage.nearest(ray(v(0.0, 0.0, 1.0), Vec3::Z)).unwrap().distance, 0.0);
}

#[test]
fn hits_beyond_the_largest_distance_are_none() {
    let stage = Stage::new(&flat(vec![triangle()]));
    let down = ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z);
    let within = |max_distance| {
        let options = PickOptions { max_distance: Some(max_distance), ..PickOptions::default() };
        let any = stage.picker.is_hit(stage.deformer.animator(), down, &options).unwrap();
        assert_eq!(stage.nearest_with(down, &options).is_some(), any);
        any
    };
    assert_eq!([1.0, 0.999, -1.0, f32::NAN].map(within), [true, false, false, false]);
}

#[test]
fn sides_are_chosen_by_winding_and_material() {
    let with = |material| PrimitiveDesc { material: Some(material), ..triangle() };
    let materials = vec![Material::default(), Material { double_sided: true, ..Material::default() }];
    let up = ray(v(0.25, 0.25, -1.0), Vec3::Z);
    for (material, sides, expected) in [
        (0, Sides::Both, true),
        (0, Sides::Front, false),
        (0, Sides::AsDrawn, false),
        (1, Sides::Front, false),
        (1, Sides::AsDrawn, true),
    ] {
        let stage =
            Stage::new(&model_of(vec![(Transform::IDENTITY, vec![with(material)])], materials.clone()));
        let options = PickOptions { sides, ..PickOptions::default() };
        assert_eq!(stage.nearest_with(up, &options).is_some(), expected, "{material} {sides:?}");
    }
}

#[test]
fn a_culled_triangle_does_not_hide_the_one_behind() {
    let mut away = triangle();
    away.indices = Some(vec![0, 2, 1]);
    away.positions.iter_mut().for_each(|p| p.z = 0.5);
    let stage = Stage::new(&flat(vec![away, triangle()]));
    let down = ray(v(0.25, 0.25, 1.0), Vec3::NEG_Z);
    let options = PickOptions { sides: Sides::Front, ..PickOptions::default() };
    assert_eq!(stage.nearest(down).unwrap().primitive, 0);
    assert_eq!(stage.nearest_with(down, &options).unwrap().primitive, 1);
}

#[test]
fn hidden_parts_and_parts_not_asked_for_are_passed_through() {
    let at = |z: f32| (Transform::from_translation(Vec3::Z * z), vec![triangle()]);
    let mut stage = Stage::new(&model_of(vec![at(2.0), at(1.0), at(0.0)], Vec::new()));
    let down = ray(v(0.25, 0.25, 3.0), Vec3::NEG_Z);
    assert_eq!(stage.nearest(down).unwrap().part, 0);
    let options = PickOptions { parts: Some(&[2, 1]), ..PickOptions::default() };
    assert_eq!(stage.nearest_with(down, &options).unwrap().part, 1);
    let none = PickOptions { parts: Some(&[]), ..PickOptions::default() };
    assert_eq!(stage.nearest_with(down, &none), None);
    let id = stage.id;
    stage.deformer.animator_mut().show_part(id, 0, false).unwrap();
    assert_eq!(stage.nearest(down).unwrap().part, 1);
    // A hidden node has no size.
    stage.deformer.animator_mut().show_node(id, 1, false).unwrap();
    stage.pose();
    assert_eq!(stage.nearest(down).unwrap().part, 2);
    stage.deformer.animator_mut().set_visible(id, false).unwrap();
    assert_eq!(stage.nearest(down), None);
    assert!(!stage.is_hit(down));
}

#[test]
fn what_culling_leaves_out_of_view_is_hit_where_it_was_deformed() {
    let mut stage = Stage::new(&flat(vec![triangle()]));
    let down = ray(v(0.25, 0.25, 3.0), Vec3::NEG_Z);
    stage.deformer.animator_mut().set_in_view(Some(&[])).unwrap();
    assert!(stage.nearest(down).is_some() && stage.is_hit(down));
}

#[test]
fn an_instance_that_the_last_run_did_not_deform_is_refused() {
    let model = flat(vec![triangle()]);
    let mut stage = Stage::new(&model);
    let id = stage.id;
    let down = ray(v(0.25, 0.25, 3.0), Vec3::NEG_Z);
    let refused = |stage: &mut Stage| {
        stage.deformer.run().unwrap();
        let error = DeformError::NotDeformed { instance: id };
        assert_eq!(stage.deformer.bake(id), Err(error.clone()));
        assert_eq!(stage.picker.refit(&stage.deformer, id), Err(PickError::Deform(error)));
        let none = stage.picker.nearest(stage.deformer.animator(), down, &PickOptions::default());
        assert_eq!(none, Err(PickError::NotPosed));
    };
    stage.deformer.animator_mut().set_visible(id, false).unwrap();
    refused(&mut stage);
    // Shown again, but not deformed yet.
    stage.deformer.animator_mut().set_visible(id, true).unwrap();
    assert!(stage.picker.refit(&stage.deformer, id).is_err());
    stage.pose();
    assert!(stage.is_hit(down));
    stage.deformer.set_views(Some(&[])).unwrap();
    refused(&mut stage);
    stage.deformer.set_views(None).unwrap();
    stage.deformer.animator_mut().show_part(id, 0, false).unwrap();
    refused(&mut stage);
}

#[test]
fn a_part_that_was_hidden_when_deformed_is_not_hit_before_the_next_refit() {
    let at = |z: f32| (Transform::from_translation(Vec3::Z * z), vec![triangle()]);
    let mut stage = Stage::new(&model_of(vec![at(2.0), at(1.0)], Vec::new()));
    let (id, down) = (stage.id, ray(v(0.25, 0.25, 3.0), Vec3::NEG_Z));
    stage.deformer.animator_mut().show_part(id, 0, false).unwrap();
    stage.pose();
    stage.deformer.animator_mut().show_part(id, 0, true).unwrap();
    assert_eq!(stage.nearest(down).unwrap().part, 1);
    stage.pose();
    assert_eq!(stage.nearest(down).unwrap().part, 0);
}

#[test]
fn strips_count_their_triangles_from_each_index_and_keep_one_front() {
    let corners = [v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0), v(1.0, 1.0, 0.0), v(0.0, 2.0, 0.0)];
    // In an order of its own, so that indices and places differ.
    let shuffled = [4, 2, 0, 3, 1].map(|i| corners[i]).to_vec();
    let indices = [2, 4, 1, 3, 0].to_vec();
    for normals in [Vec::new(), vec![Vec3::Z; 5]] {
        let strip = PrimitiveDesc {
            topology: Topology::TriangleStrip,
            normals,
            ..list(shuffled.clone(), Some(indices.clone()))
        };
        let stage = Stage::new(&flat(vec![strip]));
        for (triangle, x, y) in [(0, 0.2, 0.2), (1, 0.8, 0.8), (2, 0.2, 1.2)] {
            let hit = stage.nearest(ray(v(x, y, 1.0), Vec3::NEG_Z)).unwrap();
            assert_eq!((hit.triangle, hit.is_front, hit.normal), (triangle, true, Vec3::Z));
            let mut expected = [0, 1, 2].map(|i| indices[triangle as usize + i]);
            expected.sort_unstable();
            let mut vertices = hit.vertices;
            vertices.sort_unstable();
            assert_eq!(vertices, expected);
        }
    }
}

#[test]
fn fronts_stay_fronts_where_a_joint_or_the_instance_mirrors() {
    let mirror = Transform { scale: v(-1.0, 1.0, 1.0), ..Transform::IDENTITY };
    for (rest, own) in [(mirror, 1.0), (Transform::IDENTITY, -1.0), (mirror, -1.0)] {
        let mut stage = Stage::new(&model_of(vec![(rest, vec![triangle()])], Vec::new()));
        stage.place(Affine3A::from_scale(v(own, 1.0, 1.0)));
        let x = 0.25 * own * rest.scale.x;
        let hit = stage.nearest(ray(v(x, 0.25, 1.0), Vec3::NEG_Z)).unwrap();
        assert_eq!((hit.is_front, hit.normal), (true, Vec3::Z));
        let options = PickOptions { sides: Sides::Front, ..PickOptions::default() };
        assert!(stage.nearest_with(ray(v(x, 0.25, -1.0), Vec3::Z), &options).is_none());
    }
}

/// Three joints at the origin that turn by half a turn about x, y and z, and a triangle that follows all of them alike;
/// beside it another one that a fourth joint mirrors, so that determinants are looked at.
fn half_turns(skinning: Skinning) -> Model {
    let mut influences = Influences::default();
    (0..3).for_each(|_| influences.push((0..3).map(|joint| Influence { joint, weight: 1.0 / 3.0 })));
    (0..3).for_each(|_| influences.push([Influence { joint: 3, weight: 1.0 }]));
    let turn = |axis| Transform { rotation: Quat::from_axis_angle(axis, PI), ..Transform::IDENTITY };
    let mirror = Transform { scale: v(-1.0, 1.0, 1.0), ..Transform::from_translation(Vec3::X * 50.0) };
    let nodes = [turn(Vec3::X), turn(Vec3::Y), turn(Vec3::Z), mirror];
    let skeleton = Skeleton::new(nodes.map(|rest| Node { rest, ..Node::default() }).to_vec()).unwrap();
    let skin = Skin::new("", &skeleton, vec![0, 1, 2, 3], None).unwrap();
    let desc = list(triangle().positions.repeat(2), None);
    let desc = PrimitiveDesc { influences: Some(influences), ..desc };
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![Mesh::new("", vec![desc], Vec::new()).unwrap().with_skinning(skinning)],
        parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: Vec::new() }],
        ..ModelDesc::default()
    })
    .unwrap()
}

#[test]
fn fronts_are_where_the_skinning_of_the_mesh_turns_them() {
    // The mean of the three half turns mirrors at the origin; their dual quaternions are half a turn about (1, 1, 1).
    let turn = Quat::from_axis_angle(Vec3::ONE.normalize(), PI);
    for (skinning, corners, normal) in [
        (Skinning::Linear, [v(0.0, 0.0, 0.0), v(-1.0, 0.0, 0.0) / 3.0, v(0.0, -1.0, 0.0) / 3.0], Vec3::NEG_Z),
        (Skinning::DualQuaternion, [Vec3::ZERO, turn * Vec3::X, turn * Vec3::Y], turn * Vec3::Z),
    ] {
        let stage = Stage::new(&half_turns(skinning));
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let hit = stage.nearest(Ray::towards(middle + normal, middle).unwrap()).unwrap();
        assert!(hit.is_front && hit.position.distance(middle) < 1e-6, "{skinning:?}: {hit:?}");
        assert!(hit.normal.distance(normal) < 1e-6, "{skinning:?}: {hit:?}");
        let options = PickOptions { sides: Sides::Front, ..PickOptions::default() };
        let behind = Ray::towards(middle - normal, middle).unwrap();
        assert_eq!(stage.nearest_with(behind, &options), None, "{skinning:?}");
    }
}

#[test]
fn the_joint_of_a_hit_is_the_one_with_the_largest_share() {
    let model = tube::tube(40, 24, 12);
    let stage = Stage::new(&model);
    // Joint j rests at height j, and each vertex halfway between two heights follows both.
    for joint in 1..11u32 {
        let hit = stage.nearest(ray(v(9.0, joint as f32 + 0.05, 0.0), Vec3::NEG_X)).unwrap();
        assert_eq!((hit.node, hit.joint), (joint, Some(joint)));
        assert_eq!(model.skeleton().names()[hit.node as usize], format!("joint {joint}"));
    }
}

#[test]
fn a_clone_follows_another_instance() {
    let model = tube::tube(40, 24, 12);
    let mut stage = Stage::new(&model);
    let handle = stage.deformer.animator().model_of(stage.id).unwrap();
    let other = stage.deformer.spawn(handle).unwrap();
    stage.deformer.animator_mut().set_transform(other, Affine3A::from_translation(Vec3::X * 50.0)).unwrap();
    stage.pose();
    let mut picker = stage.picker.clone();
    picker.refit(&stage.deformer, other).unwrap();
    let down = ray(v(50.0, 5.0, 9.0), Vec3::NEG_Z);
    assert_eq!(stage.nearest(down), None);
    let hit = picker.nearest(stage.deformer.animator(), down, &PickOptions::default()).unwrap().unwrap();
    assert_eq!(hit.instance, other);
}
