//! What is seen of a model.

use glam::{Quat, Vec3, Vec4};
use sinew::{
    Model,
    model::Bounds,
    model::{
        Influence, Influences, Material, Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton, Skin,
        Transform,
    },
    render::{Camera, Light, extents},
};

use crate::common::picture::{Picture, SIDE, camera, draw, draw_from, draw_with};

const BACKGROUND: [u8; 4] = [0, 0, 255, 255];
const MIRROR: Vec3 = Vec3::new(-1.0, 1.0, 1.0);

fn count(picture: &Picture, is_counted: impl Fn([u8; 4]) -> bool) -> usize {
    (0..SIDE * SIDE).filter(|i| is_counted(picture.at(i % SIDE, i / SIDE))).count()
}

fn covered(picture: &Picture) -> usize {
    count(picture, |pixel| pixel != BACKGROUND)
}

/// A closed box, turned and out of the middle, each face in a colour of its own.
fn a_box() -> PrimitiveDesc {
    let turn = Quat::from_rotation_y(0.6) * Quat::from_rotation_x(0.5);
    let mut desc = PrimitiveDesc { material: Some(0), ..PrimitiveDesc::default() };
    let (mut indices, mut colors) = (Vec::new(), Vec::new());
    for face in 0..6 {
        let (axis, sign) = (face / 2, if face % 2 == 0 { 1.0 } else { -1.0 });
        let normal = Vec3::AXES[axis] * sign;
        let u = Vec3::AXES[(axis + 1) % 3];
        let v = normal.cross(u);
        let first = desc.positions.len() as u32;
        for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            desc.positions.push(turn * (normal + u * a + v * b) * 0.6 + Vec3::new(0.5, 0.3, 0.0));
            desc.normals.push(turn * normal);
            colors.push((Vec3::splat(0.3) + Vec3::AXES[(axis + face) % 3] * 0.6).extend(1.0));
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
    desc.indices = Some(indices);
    desc.colors = vec![colors];
    desc
}

/// The same on the other side, as a modeller would have made it.
fn mirrored(mut desc: PrimitiveDesc) -> PrimitiveDesc {
    desc.positions.iter_mut().chain(&mut desc.normals).for_each(|v| *v *= MIRROR);
    desc.indices.iter_mut().flatten().collect::<Vec<_>>().chunks_exact_mut(3).for_each(|triangle| {
        let [_, b, c] = triangle else { unreachable!() };
        std::mem::swap(*b, *c);
    });
    desc
}

/// Every vertex on one joint.
fn on(joint: u32, mut desc: PrimitiveDesc) -> PrimitiveDesc {
    let mut influences = Influences::default();
    desc.positions.iter().for_each(|_| influences.push([Influence { joint, weight: 1.0 }]));
    desc.influences = Some(influences);
    desc
}

/// Two primitives as one.
fn merged(mut one: PrimitiveDesc, other: PrimitiveDesc) -> PrimitiveDesc {
    let first = one.positions.len() as u32;
    one.indices.iter_mut().for_each(|all| all.extend(other.indices.iter().flatten().map(|i| first + i)));
    one.positions.extend(other.positions);
    one.normals.extend(other.normals);
    one.colors[0].extend(&other.colors[0]);
    if let (Some(influences), Some(more)) = (&mut one.influences, other.influences) {
        (0..more.vertices()).for_each(|vertex| influences.push(more.row(vertex).iter().copied()));
    }
    one
}

/// One skinned mesh, without inverse binds.
fn skinned(joints: &[Transform], primitives: Vec<PrimitiveDesc>, material: Material) -> Model {
    let nodes = joints.iter().map(|&rest| Node { rest, ..Node::default() });
    let skeleton = Skeleton::new(nodes.collect()).unwrap();
    let skin = Skin::new("", &skeleton, (0..joints.len() as u32).collect(), None).unwrap();
    let mesh = Mesh::new("", primitives, Vec::new()).unwrap();
    Model::new(ModelDesc {
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        parts: vec![Part { node: 0, mesh: 0, skin: Some(0), weights: Vec::new() }],
        materials: vec![material],
        ..ModelDesc::default()
    })
    .unwrap()
}

fn matte() -> Material {
    Material { base_color: Vec4::ONE, metallic: 0.0, ..Material::default() }
}

fn scaled(scale: Vec3) -> Transform {
    Transform { scale, ..Transform::IDENTITY }
}

/// Colours may be off by a step where light was computed on the other side.
#[track_caller]
fn assert_alike(found: &Picture, expected: &Picture) {
    let off = found.0.iter().zip(&expected.0).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(off <= Some(1), "colours are off by {off:?}");
}

#[test]
fn a_box_whose_root_joint_mirrors_it_looks_like_a_mirrored_box() {
    let plain = skinned(&[Transform::IDENTITY], vec![on(0, a_box())], matte());
    let expected = draw(&skinned(&[Transform::IDENTITY], vec![on(0, mirrored(a_box()))], matte()));
    assert!(covered(&expected) > 200 && expected != draw(&plain));
    assert_alike(&draw(&skinned(&[scaled(MIRROR)], vec![on(0, a_box())], matte())), &expected);
    // What mirrors only in this frame does so too.
    let (at_run_time, _) = draw_with(&plain, Light::default(), |deformer, id| {
        deformer.animator_mut().set_scale(id, 0, MIRROR).unwrap();
    });
    assert_alike(&at_run_time, &expected);
}

#[test]
fn primitives_on_joints_that_mirror_and_on_joints_that_do_not_are_each_seen_from_outside() {
    let joints = [Transform::IDENTITY, scaled(MIRROR)];
    let expected = draw(&skinned(&joints, vec![on(0, a_box()), on(0, mirrored(a_box()))], matte()));
    for primitives in [vec![on(0, a_box()), on(1, a_box())], vec![on(1, a_box()), on(0, a_box())]] {
        assert_alike(&draw(&skinned(&joints, primitives, matte())), &expected);
    }
}

#[test]
fn one_primitive_on_joints_of_both_kinds_looks_like_two() {
    let joints = [Transform::IDENTITY, scaled(MIRROR)];
    for double_sided in [false, true] {
        let material = Material { double_sided, ..matte() };
        let apart = vec![on(0, a_box()), on(0, mirrored(a_box()))];
        let expected = draw(&skinned(&joints, apart, material.clone()));
        for together in [merged(on(0, a_box()), on(1, a_box())), merged(on(1, a_box()), on(0, a_box()))] {
            assert_alike(&draw(&skinned(&joints, vec![together], material.clone())), &expected);
        }
    }
}

#[test]
fn a_double_sided_surface_is_lit_on_the_side_that_is_seen() {
    let flat = |towards: f32| {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let desc = PrimitiveDesc {
            material: Some(0),
            indices: Some(if towards > 0.0 { vec![0, 1, 2, 0, 2, 3] } else { vec![0, 2, 1, 0, 3, 2] }),
            positions: corners.iter().map(|(x, y)| Vec3::new(*x, *y, 0.0)).collect(),
            normals: vec![Vec3::Z * towards; 4],
            colors: vec![vec![Vec4::ONE; 4]],
            ..PrimitiveDesc::default()
        };
        draw(&skinned(&[Transform::IDENTITY], vec![on(0, desc)], Material { double_sided: true, ..matte() }))
    };
    assert_alike(&flat(-1.0), &flat(1.0));
    assert!(covered(&flat(1.0)) > 200);
}

#[test]
fn a_mesh_that_its_root_joint_takes_away_is_drawn_there() {
    let away = Vec3::X * 50.0;
    let near = skinned(&[Transform::IDENTITY], vec![on(0, a_box())], matte());
    let far = skinned(&[Transform::from_translation(away)], vec![on(0, a_box())], matte());
    let there = Camera { eye: camera().eye + away, target: away, ..camera() };
    let (seen, _) = draw_from(&far, there, Light::default(), |_, _| ());
    assert_eq!(covered(&seen), covered(&draw(&near)));
    // Where a camera is framed for it.
    let Bounds { min, max } = extents(&far, None::<u32>).unwrap();
    assert!(min.x > 49.0 && max.x < 52.0, "{min} to {max}");
}

#[test]
fn the_first_frame_is_whole_and_the_same_on_every_device() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    let camera = Camera::frame(extents(&model, Some(0)).unwrap(), 1.0);
    let [first, second] = [(); 2].map(|()| {
        draw_from(&model, camera, Light::default(), |deformer, id| {
            deformer.play(id, 0).unwrap().seek(0.2);
        })
        .0
    });
    assert!(covered(&first) > 500, "{}", covered(&first));
    assert!(first == second);
}

/// Fresh processes have nothing compiled yet.
#[test]
#[cfg(feature = "cli")]
fn two_processes_draw_the_same_first_frame() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
    let [first, second] = ["a", "b"].map(|name| {
        let name = format!("sinew-first-frame-{}-{name}.png", std::process::id());
        let path = std::env::temp_dir().join(name);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
            .env("XDG_RUNTIME_DIR", std::env::temp_dir())
            .args(["-q", "render", demo, "--time", "0", "--size", "64x64", "-o"])
            .arg(&path)
            .output();
        assert!(output.unwrap().status.success());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    });
    assert!(first == second);
}
