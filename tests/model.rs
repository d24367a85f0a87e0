//! What models, meshes and skins refuse, and how vertices are arranged.
#![expect(clippy::unwrap_used, reason = "a test whose input cannot be built has failed")]

use glam::{Affine3A, Mat4, Quat, Vec2, Vec3, Vec4};
use sinew::{
    Model,
    model::{
        CHUNK_JOINTS, CHUNK_VERTICES, Channel, Clip, ClipError, Influence, InfluenceClass, InfluenceError,
        Influences, Interpolation, Mesh, MeshError, ModelDesc, ModelError, MorphTarget, Node, Part,
        PrimitiveDesc, Skeleton, SkeletonError, Skin, SkinError, Topology, Track, Transform, UvTransform,
        normalize_weights,
    },
};

fn node(parent: Option<u32>) -> Node {
    Node { parent, ..Default::default() }
}

fn chain(length: u32) -> Skeleton {
    Skeleton::new((0..length).map(|i| node(i.checked_sub(1))).collect()).unwrap()
}

fn triangle() -> PrimitiveDesc {
    PrimitiveDesc {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        ..Default::default()
    }
}

fn refused(change: impl FnOnce(&mut PrimitiveDesc)) -> MeshError {
    let mut desc = triangle();
    change(&mut desc);
    Mesh::new("", vec![desc], vec![]).unwrap_err()
}

/// One influence each, of weight one.
fn rigid(joints: impl IntoIterator<Item = u32>) -> Influences {
    let mut influences = Influences::default();
    joints.into_iter().for_each(|joint| influences.push([Influence { joint, weight: 1.0 }]));
    influences
}

// Skeletons

#[test]
fn a_parent_past_the_list_is_refused() {
    let error = Skeleton::new(vec![node(Some(4))]).unwrap_err();
    assert_eq!(error, SkeletonError::ParentOutOfRange { node: 0, parent: 4, nodes: 1 });
}

#[test]
fn a_cycle_is_refused() {
    let nodes = vec![node(None), node(Some(2)), node(Some(1))];
    assert_eq!(Skeleton::new(nodes).unwrap_err(), SkeletonError::Cycle { node: 1 });
    assert_eq!(Skeleton::new(vec![node(Some(0))]).unwrap_err(), SkeletonError::Cycle { node: 0 });
}

#[test]
fn a_rest_transform_must_be_finite() {
    let rest = Transform::from_translation(Vec3::NAN);
    let nodes = vec![Node { rest, ..Default::default() }];
    assert_eq!(Skeleton::new(nodes).unwrap_err(), SkeletonError::NotFinite { node: 0 });
}

#[test]
fn parents_may_come_after_their_children() {
    let skeleton = Skeleton::new(vec![node(Some(2)), node(Some(0)), node(None)]).unwrap();
    assert_eq!(skeleton.order(), [2, 0, 1]);
}

#[test]
fn a_chain_of_100000_nodes_is_a_skeleton_and_a_skin() {
    let skeleton = chain(100_000);
    assert_eq!(skeleton.rest_world().len(), 100_000);
    // Every joint's parent is far above: a walk from each would be quadratic.
    let mut nodes: Vec<Node> = (0..100_000u32).map(|i| node(i.checked_sub(1))).collect();
    nodes.extend((0..50_000).map(|_| node(Some(99_999))));
    let skeleton = Skeleton::new(nodes).unwrap();
    let skin = Skin::new("", &skeleton, (100_000..150_000).collect(), None).unwrap();
    assert!(skin.joint_parents().iter().all(Option::is_none));
}

// Skins

#[test]
fn a_skin_needs_joints_each_once_and_in_the_skeleton() {
    let skeleton = chain(3);
    let refused = |joints: &[u32]| Skin::new("", &skeleton, joints.to_vec(), None).unwrap_err();
    assert_eq!(refused(&[]), SkinError::NoJoints);
    assert_eq!(refused(&[2, 0, 2]), SkinError::DuplicateJoint { node: 2, first: 0, second: 2 });
    assert_eq!(refused(&[0, 3]), SkinError::JointOutOfRange { joint: 1, node: 3, nodes: 3 });
}

#[test]
fn inverse_binds_are_counted_finite_affine_and_invertible() {
    let skeleton = chain(2);
    let refused =
        |second: Mat4| Skin::new("", &skeleton, vec![0, 1], Some(&[Mat4::IDENTITY, second])).unwrap_err();
    let one = Skin::new("", &skeleton, vec![0, 1], Some(&[Mat4::IDENTITY])).unwrap_err();
    assert_eq!(one, SkinError::InverseBindCount { joints: 2, matrices: 1 });
    assert_eq!(refused(Mat4::NAN), SkinError::InverseBindNotFinite { joint: 1 });
    assert_eq!(refused(Mat4::ZERO), SkinError::InverseBindNotAffine { joint: 1 });
    let flat = Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0));
    assert_eq!(refused(flat), SkinError::InverseBindSingular { joint: 1 });
    Skin::accept_singular("", &skeleton, vec![0, 1], Some(&[Mat4::IDENTITY, flat])).unwrap();
}

#[test]
fn a_joint_at_zero_scale_cannot_be_bound_at_rest() {
    let rest = Transform { scale: Vec3::ZERO, ..Transform::IDENTITY };
    let skeleton = Skeleton::new(vec![Node { rest, ..Default::default() }, node(Some(0))]).unwrap();
    let error = Skin::bind_at_rest("", &skeleton, vec![1]).unwrap_err();
    assert_eq!(error, SkinError::BoundAtZeroScale { joint: 0, node: 1 });
}

#[test]
fn bound_at_rest_the_palette_is_the_identity() {
    let rest = Transform {
        translation: Vec3::new(1.0, 2.0, 3.0),
        rotation: Quat::from_rotation_x(0.7),
        scale: Vec3::new(1.0, 2.0, 0.5),
    };
    let nodes = (0..4u32).map(|i| Node { parent: i.checked_sub(1), rest, ..Default::default() }).collect();
    let skeleton = Skeleton::new(nodes).unwrap();
    let skin = Skin::bind_at_rest("", &skeleton, vec![3, 1]).unwrap();
    for (&node, inverse) in skin.joints().iter().zip(skin.inverse_binds()) {
        let palette = skeleton.rest_world()[node as usize] * *inverse;
        assert!(palette.abs_diff_eq(Affine3A::IDENTITY, 1e-5), "{palette:?}");
    }
}

#[test]
fn the_parent_of_a_joint_skips_nodes_that_are_none() {
    let skin = Skin::new("", &chain(5), vec![4, 0, 2], None).unwrap();
    assert_eq!(skin.joint_parents(), [Some(2), None, Some(1)]);
}

// Meshes

#[test]
fn attributes_have_one_value_per_vertex() {
    let count = |attribute, found| MeshError::AttributeCount { primitive: 0, attribute, found, vertices: 3 };
    assert_eq!(refused(|d| d.normals = vec![Vec3::Z; 2]), count("NORMAL", 2));
    assert_eq!(refused(|d| d.tangents = vec![Vec4::X; 4]), count("TANGENT", 4));
    assert_eq!(refused(|d| d.uv_sets = vec![vec![], vec![glam::Vec2::ZERO; 1]]), count("TEXCOORD", 1));
    assert_eq!(refused(|d| d.colors = vec![vec![Vec4::ONE; 5]]), count("COLOR", 5));
    assert_eq!(refused(|d| d.influences = Some(rigid([0, 0]))), count("JOINTS/WEIGHTS", 2));
}

#[test]
fn indices_are_in_range_and_whole() {
    let error = refused(|d| d.indices = Some(vec![0, 1, 3]));
    assert_eq!(error, MeshError::IndexOutOfRange { primitive: 0, index: 3, vertices: 3 });
    let error = refused(|d| d.indices = Some(vec![0, 1]));
    assert_eq!(error, MeshError::IndexCount { primitive: 0, indices: 2, topology: Topology::Triangles });
}

#[test]
fn targets_move_existing_vertices_and_are_equally_many() {
    let far = MorphTarget::from_dense(&[Vec3::X; 4], &[], &[]);
    let error = refused(|d| d.targets = vec![far]);
    assert_eq!(error, MeshError::TargetVertex { primitive: 0, target: 0, vertex: 3, vertices: 3 });
    let with = PrimitiveDesc { targets: vec![MorphTarget::default()], ..triangle() };
    let error = Mesh::new("", vec![with, triangle()], vec![]).unwrap_err();
    assert_eq!(error, MeshError::TargetCount { primitive: 1, found: 0, expected: 1 });
}

#[test]
fn positions_and_the_bind_matrix_are_checked() {
    let error = refused(|d| d.positions[1].y = f32::NAN);
    assert_eq!(error, MeshError::NotFinite { primitive: 0, attribute: "POSITION", vertex: 1 });
    for bind in [Mat4::ZERO, Mat4::NAN, Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0))] {
        let error = Mesh::with_bind("", vec![triangle()], vec![], bind).unwrap_err();
        assert_eq!(error, MeshError::BindMatrix);
    }
}

#[test]
fn the_bind_matrix_is_applied_once() {
    let bind = Mat4::from_scale(Vec3::new(2.0, 1.0, 1.0));
    let target = MorphTarget::from_dense(&[Vec3::X; 3], &[], &[]);
    let desc = PrimitiveDesc { targets: vec![target], ..triangle() };
    let mesh = Mesh::with_bind("", vec![desc], vec![], bind).unwrap();
    let primitive = &mesh.primitives()[0];
    assert_eq!(primitive.positions()[1], Vec3::X * 2.0);
    assert_eq!(primitive.targets()[0].positions()[0], Vec3::X * 2.0);
    assert_eq!(primitive.normals()[0], Vec3::Z);
}

// Influences

#[test]
fn sets_are_paired_and_four_per_vertex() {
    let refused = |per_vertex, joints: &[u32], weights: &[f32]| {
        Influences::from_sets(1, per_vertex, joints, weights).unwrap_err()
    };
    assert_eq!(refused(3, &[0; 3], &[1.0; 3]), InfluenceError::NotFourPerVertex { per_vertex: 3 });
    assert_eq!(
        refused(4, &[0; 4], &[1.0; 3]),
        InfluenceError::Unpaired { joints: 4, weights: 3, per_vertex: 4, vertices: 1 }
    );
}

#[test]
fn weights_are_finite_and_not_negative() {
    for weight in [f32::INFINITY, -0.5] {
        let error = Influences::from_sets(1, 4, &[0; 4], &[0.0, weight, 0.0, 0.0]).unwrap_err();
        assert_eq!(error, InfluenceError::BadWeight { vertex: 0, weight });
    }
}

#[test]
fn weights_are_used_as_given() {
    let influences = Influences::from_sets(1, 4, &[3, 5, 0, 0], &[0.5, 1.5, 0.0, 0.0]).unwrap();
    let strongest_first = [Influence { joint: 5, weight: 1.5 }, Influence { joint: 3, weight: 0.5 }];
    assert_eq!(influences.row(0), strongest_first);
}

#[test]
fn normalising_twice_changes_nothing() {
    let mut weights = [0.1, 0.7, 0.3, 0.13, 0.9, 1e-7, 3.0, 0.0];
    normalize_weights(&mut weights);
    let once = weights;
    assert!(!normalize_weights(&mut weights));
    assert_eq!(weights, once);
}

// Arrangement

#[test]
fn both_permutations_lead_back() {
    let count = 500u32;
    let desc = PrimitiveDesc {
        topology: Topology::Points,
        positions: (0..count).map(|i| Vec3::splat(i as f32)).collect(),
        normals: vec![Vec3::Z; count as usize],
        influences: Some(rigid((0..count).map(|i| i * 7919 % 97))),
        ..Default::default()
    };
    let mesh = Mesh::new("", vec![desc], vec![]).unwrap();
    let primitive = &mesh.primitives()[0];
    for source in 0..count {
        let deformed = primitive.deformed_vertices()[source as usize] as usize;
        assert_eq!(primitive.source_vertex(deformed), source);
        assert_eq!(primitive.positions()[deformed], Vec3::splat(source as f32));
        assert_eq!(primitive.influences().unwrap().row(deformed)[0].joint, source * 7919 % 97);
        assert_eq!(primitive.indices()[source as usize] as usize, deformed);
    }
}

#[test]
fn chunks_hold_at_most_64_joints_and_1280_vertices_of_one_class() {
    let count = 12_000u32;
    let mut influences = Influences::default();
    for i in 0..count {
        let weights = [1, 3, 6, 12][i as usize % 4];
        influences.push((0..weights).map(|k| Influence { joint: (i * 31 + k * 17) % 300, weight: 0.25 }));
    }
    let desc = PrimitiveDesc {
        topology: Topology::Points,
        positions: vec![Vec3::ZERO; count as usize],
        influences: Some(influences),
        ..Default::default()
    };
    let mesh = Mesh::new("", vec![desc], vec![]).unwrap();
    let primitive = &mesh.primitives()[0];
    let mut next = 0;
    for chunk in primitive.chunks() {
        assert_eq!(chunk.first, next);
        next += chunk.count;
        assert!(chunk.count as usize <= CHUNK_VERTICES && chunk.joints.len() <= CHUNK_JOINTS);
        assert!(chunk.joints.is_sorted());
        for vertex in chunk.first..next {
            let row = primitive.influences().unwrap().row(vertex as usize);
            assert_eq!(InfluenceClass::of(row.len()), chunk.class);
            let listed = |i: &Influence| chunk.joints.binary_search(&i.joint).is_ok();
            assert!(chunk.class == InfluenceClass::Any || row.iter().all(listed));
        }
    }
    assert_eq!(next, count);
}

#[test]
fn flat_normals_split_shared_vertices_and_lose_none() {
    let desc = PrimitiveDesc {
        indices: Some(vec![0, 1, 2, 0, 2, 3]),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::splat(9.0)],
        targets: vec![MorphTarget::from_dense(&[Vec3::X; 5], &[], &[])],
        ..Default::default()
    };
    let mesh = Mesh::new("", vec![desc], vec![]).unwrap();
    let primitive = &mesh.primitives()[0];
    assert!(primitive.has_flat_normals());
    assert_eq!((primitive.vertex_count(), primitive.source_vertex_count()), (7, 5));
    let corners: Vec<Vec3> = primitive.indices().iter().map(|&i| primitive.normals()[i as usize]).collect();
    assert_eq!(corners, [Vec3::Z, Vec3::Z, Vec3::Z, Vec3::X, Vec3::X, Vec3::X]);
    assert_eq!(primitive.targets()[0].vertices().len(), 7);
    let unused = primitive.deformed_vertices()[4] as usize;
    assert_eq!(primitive.positions()[unused], Vec3::splat(9.0));
}

// Clips and models

#[test]
fn tracks_are_checked() {
    let track = Track {
        node: 0,
        channel: Channel::Translation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![0.0; 6],
        width: 3,
    };
    let refused = |change: fn(&mut Track)| {
        let mut track = track.clone();
        change(&mut track);
        Clip::new("", vec![track]).unwrap_err()
    };
    assert_eq!(refused(|t| t.times.clear()), ClipError::NoKeys { track: 0 });
    assert_eq!(refused(|t| t.times[1] = 0.0), ClipError::Times { track: 0, key: 1, time: 0.0 });
    assert_eq!(
        refused(|t| t.width = 4),
        ClipError::Width { track: 0, channel: Channel::Translation, width: 4 }
    );
    assert_eq!(refused(|t| t.values.truncate(5)), ClipError::ValueCount { track: 0, found: 5, expected: 6 });
    assert_eq!(refused(|t| t.values[4] = f32::NAN), ClipError::NotFinite { track: 0, index: 4 });
    let clip = Clip::new("", vec![Track { times: vec![0.5, 2.0], ..track }]).unwrap();
    assert_eq!((clip.start(), clip.duration()), (0.5, 2.0));
}

fn skinned(influences: Option<Influences>) -> Result<Model, ModelError> {
    let skeleton = chain(2);
    let skin = Skin::new("", &skeleton, vec![0, 1], None).unwrap();
    let mesh = Mesh::new("", vec![PrimitiveDesc { influences, ..triangle() }], vec![]).unwrap();
    let part = |node| Part { node, mesh: 0, skin: Some(0), weights: vec![] };
    let parts = vec![part(0), part(1)];
    Model::new(ModelDesc { skeleton, skins: vec![skin], meshes: vec![mesh], parts, ..Default::default() })
}

#[test]
fn a_skinned_mesh_needs_influences_within_its_skin() {
    let error = skinned(None).unwrap_err();
    assert_eq!(error, ModelError::SkinWithoutInfluences { part: 0, primitive: 0 });
    let source = InfluenceError::JointOutOfRange { vertex: 2, joint: 2, joints: 2 };
    let error = skinned(Some(rigid([0, 1, 2]))).unwrap_err();
    assert_eq!(error, ModelError::Influences { part: 0, primitive: 0, source });
    skinned(Some(rigid([0, 1, 1]))).unwrap();
}

#[test]
fn a_part_has_a_weight_for_every_target_and_a_node_of_its_own() {
    let target = MorphTarget::from_dense(&[Vec3::X; 3], &[], &[]);
    let mesh = Mesh::new("", vec![PrimitiveDesc { targets: vec![target], ..triangle() }], vec![]).unwrap();
    let part = |weights: usize| Part { node: 0, mesh: 0, skin: None, weights: vec![0.0; weights] };
    let build = |parts| {
        Model::new(ModelDesc { skeleton: chain(1), meshes: vec![mesh.clone()], parts, ..Default::default() })
    };
    let error = build(vec![part(2)]).unwrap_err();
    assert_eq!(error, ModelError::WeightCount { place: "parts[0]".into(), found: 2, expected: 1 });
    assert_eq!(build(vec![part(1), part(1)]).unwrap_err(), ModelError::TwoMeshes { node: 0 });
}

#[test]
fn every_attribute_delta_and_weight_must_be_finite() {
    let nan = |attribute: &'static str| MeshError::NotFinite { primitive: 0, attribute, vertex: 1 };
    assert_eq!(refused(|d| d.normals[1].x = f32::NAN), nan("NORMAL"));
    assert_eq!(refused(|d| d.tangents = vec![Vec4::W, Vec4::NAN, Vec4::W]), nan("TANGENT"));
    assert_eq!(refused(|d| d.colors = vec![vec![Vec4::ONE, Vec4::INFINITY, Vec4::ONE]]), nan("COLOR"));
    let target = MorphTarget::from_dense(&[Vec3::ZERO, Vec3::NAN, Vec3::ZERO], &[], &[]);
    assert_eq!(refused(|d| d.targets = vec![target]), nan("a target's delta of"));
    let error = Mesh::new("", vec![triangle()], vec![f32::INFINITY]).unwrap_err();
    assert_eq!(error, MeshError::Weight { target: 0, weight: f32::INFINITY });
}

#[test]
fn a_small_mirroring_bind_matrix_keeps_deltas_in_proportion_and_turns_the_winding() {
    let mut desc = triangle();
    desc.tangents = vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 3];
    desc.targets = vec![MorphTarget::from_dense(&[Vec3::X; 3], &[Vec3::Y; 3], &[Vec3::Y; 3])];
    let bind = Mat4::from_scale(Vec3::new(-0.01, 0.01, 0.01));
    let mesh = Mesh::with_bind("", vec![desc], vec![], bind).unwrap();
    let primitive = &mesh.primitives()[0];
    let delta = primitive.targets()[0].delta(0);
    let close = |a: Vec3, b: Vec3| assert!(a.distance(b) < 1e-6, "{a} instead of {b}");
    close(primitive.normals()[0], Vec3::Z);
    close(primitive.tangents()[0].truncate(), Vec3::NEG_X);
    assert_eq!(primitive.tangents()[0].w, -1.0);
    // A delta as long as the normal itself stays so.
    close(delta.normal, Vec3::Y);
    close(delta.tangent, Vec3::Y);
    close(delta.position, Vec3::new(-0.01, 0.0, 0.0));
    assert_eq!(primitive.indices(), [0, 2, 1]);
}

#[test]
fn a_uv_transform_scales_then_turns_then_moves() {
    let quarter = UvTransform {
        offset: Vec2::new(0.5, 0.25),
        rotation: std::f32::consts::FRAC_PI_2,
        scale: Vec2::new(2.0, 3.0),
    };
    let [u, v] = quarter.rows();
    let at = |x: f32, y: f32| Vec2::new(u[0] * x + u[1] * y + u[2], v[0] * x + v[1] * y + v[2]);
    // v points down in an image, so a counter-clockwise quarter takes u to -v.
    assert!(at(1.0, 0.0).distance(Vec2::new(0.5, 0.25 - 2.0)) < 1e-6, "{}", at(1.0, 0.0));
    assert!(at(0.0, 1.0).distance(Vec2::new(0.5 + 3.0, 0.25)) < 1e-6, "{}", at(0.0, 1.0));
    assert_eq!(UvTransform::default().rows(), [[1.0, 0.0, 0.0], [-0.0, 1.0, 0.0]]);
}
