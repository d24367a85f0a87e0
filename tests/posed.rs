//! Poses written as models: against the stored float64 results, played back, and as Wavefront.
#![cfg(all(feature = "gltf", feature = "meshopt"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    models::{SKINNINGS, Shape, character, skinned},
    oracle::{DataSet, Difference, Expected, Job},
    tube,
};
use glam::Vec3;
use sinew::{
    Animator, CpuDeformer, InstanceId, Model, Precision,
    deform::{BakedPrimitive, DeformedPrimitive, PosedError, VertexAnimation, posed_model},
    import::ImportOptions,
    model::{Interpolation, Mesh, ModelDesc, Node, Part, PrimitiveDesc, Skeleton, Topology, Transform},
};

/// As in tests/reference.rs.
const POSITION_BOUND: f64 = 1.5e-5;
const NORMAL_BOUND: f64 = 1.0;
const TANGENT_BOUND: f64 = 2.0;

fn actor(model: &Model) -> (Animator, InstanceId) {
    let mut animator = Animator::new();
    let id = animator.add_model(model);
    let instance = animator.spawn(id).unwrap();
    (animator, instance)
}

fn seek(animator: &mut Animator, id: InstanceId, job: Job) {
    match job.clip {
        Some(clip) => animator.play(id, clip).unwrap().seek(f64::from(job.time)),
        None => animator.stop(id).unwrap(),
    }
    animator.evaluate();
}

fn posed(model: &Model, job: Job) -> Model {
    let (mut animator, id) = actor(model);
    seek(&mut animator, id, job);
    posed_model(&animator, id).unwrap()
}

fn reloaded(model: &Model) -> Model {
    let strict = ImportOptions { strict: true, ..ImportOptions::default() };
    Model::from_bytes(&model.to_glb().unwrap(), &strict).unwrap()
}

/// Deformed in a pose of its own, by the twin.
fn baked(model: &Model, clip: Option<(u32, f64)>) -> Vec<BakedPrimitive> {
    let mut deformer = CpuDeformer::new();
    let id = deformer.add_model(model, Precision::Exact).unwrap();
    let id = deformer.spawn(id).unwrap();
    if let Some((clip, time)) = clip {
        deformer.animator_mut().play(id, clip).unwrap().seek(time);
    }
    deformer.run().unwrap();
    deformer.bake(id).unwrap()
}

/// What a posed model's own parts look like, called by the names that the original's have, in its order of vertices.
fn as_original(original: &Model, posed: &[BakedPrimitive]) -> Vec<BakedPrimitive> {
    let mut out = Vec::new();
    for (at, &part) in original.shown_parts().iter().enumerate() {
        let part = &original.parts()[part as usize];
        let mesh = &original.meshes()[part.mesh as usize];
        for (index, primitive) in mesh.primitives().iter().enumerate() {
            let own = posed.iter().find(|p| p.node as usize == at && p.primitive as usize == index).unwrap();
            let place = |source: usize| {
                // In the source's order, or where vertices were split, in the deformed one.
                let is_split = own.vertices.positions.len() != primitive.source_vertex_count();
                if is_split { primitive.deformed_vertices()[source] as usize } else { source }
            };
            let order: Vec<usize> = (0..primitive.source_vertex_count()).map(place).collect();
            let (with_normals, with_tangents) =
                (!primitive.has_flat_normals(), !own.vertices.tangents.is_empty());
            // The reference has the source's handedness; that of shading is held against a mirror of its own below.
            let handed = |v: usize| primitive.tangents()[primitive.deformed_vertices()[v] as usize].w;
            let tangent = |(v, at): (usize, &usize)| own.vertices.tangents[*at].truncate().extend(handed(v));
            let vertices = DeformedPrimitive {
                positions: order.iter().map(|v| own.vertices.positions[*v]).collect(),
                normals: if with_normals && !own.vertices.normals.is_empty() {
                    order.iter().map(|v| own.vertices.normals[*v]).collect()
                } else {
                    Vec::new()
                },
                tangents: if with_tangents {
                    order.iter().enumerate().map(tangent).collect()
                } else {
                    Vec::new()
                },
            };
            out.push(BakedPrimitive {
                node: part.node,
                mesh: part.mesh,
                primitive: index as u32,
                skinned: part.skin.is_some(),
                vertices,
            });
        }
    }
    out
}

fn check(expected: &Expected, file: &str, job: Job, baked: &[BakedPrimitive]) -> Difference {
    let difference = expected.compare(job, baked).unwrap_or_else(|problem| panic!("{file}: {problem}"));
    let place = format!("{file} {job:?}: {difference:?}");
    assert!(difference.position <= difference.bound(POSITION_BOUND), "{place}");
    assert!(difference.normal <= NORMAL_BOUND && difference.tangent <= TANGENT_BOUND, "{place}");
    difference
}

#[test]
fn files_of_single_poses_load_strictly_and_hold_the_stored_vertices() {
    let (mut files, mut worst) = (0, 0.0f64);
    for set in DataSet::all() {
        for (file, jobs) in set.jobs() {
            let model = Model::load(set.model(&file)).unwrap();
            let expected = set.load(&file);
            // All of them take minutes without optimisation.
            for &job in jobs.iter().step_by(3) {
                let written = match posed_model_of(&model, job) {
                    Ok(written) => written,
                    Err(PosedError::NothingShown { .. }) => continue,
                    Err(other) => panic!("{file} {job:?}: {other}"),
                };
                let Ok(bytes) = written.to_glb() else { panic!("{file} {job:?}") };
                let strict = ImportOptions { strict: true, ..ImportOptions::default() };
                let read =
                    Model::from_bytes(&bytes, &strict).unwrap_or_else(|e| panic!("{file} {job:?}: {e}"));
                assert!(read.skins().is_empty() && read.clips().is_empty());
                let own = as_original(&model, &baked(&read, None));
                let difference = check(&expected, &file, job, &own);
                worst = worst.max(difference.position / difference.bound(POSITION_BOUND));
                files += 1;
            }
        }
    }
    println!("{files} poses written and read strictly; worst share of the bound {worst:.3}");
    assert!(files > 30);
}

fn posed_model_of(model: &Model, job: Job) -> Result<Model, PosedError> {
    let (mut animator, id) = actor(model);
    seek(&mut animator, id, job);
    posed_model(&animator, id)
}

/// Frames of a clip as one model.
fn animation(model: &Model, clip: u32, times: &[f32], between: Interpolation) -> Model {
    let (mut animator, id) = actor(model);
    let mut frames = VertexAnimation::new();
    for &time in times {
        seek(&mut animator, id, Job { clip: Some(clip), time });
        frames.push(&animator, id, time - times[0]).unwrap();
    }
    frames.finish("frames", between).unwrap()
}

fn apart(a: &[BakedPrimitive], b: &[BakedPrimitive]) -> f32 {
    let positions = |list: &[BakedPrimitive]| -> Vec<Vec3> {
        list.iter().flat_map(|p| p.vertices.positions.clone()).collect()
    };
    let (a, b) = (positions(a), positions(b));
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn frames_as_morph_targets_play_as_the_original_does() {
    let mut files = 0;
    for set in DataSet::all() {
        for (file, jobs) in set.jobs() {
            let Some(clip) = jobs.iter().find_map(|job| job.clip) else { continue };
            let model = Model::load(set.model(&file)).unwrap();
            let end = model.clips()[clip as usize].duration();
            if end <= 0.0
                || model.meshes().iter().flat_map(|m| m.primitives()).map(|p| p.vertex_count()).sum::<usize>()
                    > 20_000
            {
                continue;
            }
            let times = [0.0, 0.3, 0.55, 1.0].map(|share| share * end);
            let expected = set.load(&file);
            // Both take long without optimisation.
            for &skinning in &SKINNINGS[..if files % 4 == 0 { 2 } else { 1 }] {
                let model = skinned(&model, skinning);
                let read = reloaded(&animation(&model, clip, &times, Interpolation::Linear));
                for time in times {
                    let own = as_original(&model, &baked(&read, Some((0, f64::from(time)))));
                    let twin = baked(&model, Some((clip, f64::from(time))));
                    let size = twin.iter().flat_map(|p| &p.vertices.positions).map(|p| p.abs().max_element());
                    let (size, apart) = (size.fold(1e-6f32, f32::max), apart(&own, &twin));
                    assert!(apart <= 1e-6 * size, "{file} at {time}, {skinning:?}: {}", apart / size);
                }
            }
            for &job in jobs.iter().filter(|job| job.clip == Some(clip)).take(2) {
                let job = Job { time: job.time.min(end), ..job };
                let read =
                    reloaded(&animation(&model, clip, &[job.time, job.time + 1.0], Interpolation::Step));
                check(&expected, &file, job, &as_original(&model, &baked(&read, Some((0, 0.0)))));
            }
            files += 1;
        }
    }
    println!("{files} clips");
    assert!(files > 10);
}

#[test]
fn between_frames_a_vertex_stays_or_moves_on_a_straight_line() {
    let model = tube::tube(8, 6, 4);
    let times = [0.0, 0.5, 1.0];
    let frames = times.map(|time| baked(&model, Some((0, f64::from(time)))));
    for (between, share) in
        [(Interpolation::Step, 0.0), (Interpolation::Linear, 0.5), (Interpolation::CubicSpline, 0.5)]
    {
        let read = reloaded(&animation(&model, 0, &times, between));
        assert_eq!(read.clips()[0].name(), "frames");
        let own = baked(&read, Some((0, 0.75)));
        for (at, own) in own[0].vertices.positions.iter().enumerate() {
            let [from, to] = [1, 2].map(|frame: usize| frames[frame][0].vertices.positions[at]);
            assert!((from.lerp(to, share) - *own).length() < 1e-5);
        }
    }
}

#[test]
fn nothing_shown_and_gone_instances_are_refused() {
    let model = tube::tube(2, 3, 2);
    let (mut animator, id) = actor(&model);
    animator.set_visible(id, false).unwrap();
    assert_eq!(posed_model(&animator, id).unwrap_err(), PosedError::NothingShown { instance: id });
    animator.set_visible(id, true).unwrap();
    animator.show_part(id, 0, false).unwrap();
    assert_eq!(posed_model(&animator, id).unwrap_err(), PosedError::NothingShown { instance: id });
    animator.despawn(id).unwrap();
    assert!(matches!(posed_model(&animator, id), Err(PosedError::Deform(_))));
    assert_eq!(VertexAnimation::new().finish("", Interpolation::Step).unwrap().parts().len(), 0);
}

#[test]
fn frames_of_other_parts_and_times_that_do_not_rise_are_refused() {
    let model = tube::tube(2, 3, 2);
    let (mut animator, id) = actor(&model);
    animator.evaluate();
    let mut frames = VertexAnimation::new();
    frames.push(&animator, id, 0.0).unwrap();
    let (other_animator, other) = actor(&tube::tube(2, 3, 2));
    assert_eq!(frames.push(&other_animator, other, 1.0), Err(PosedError::OtherParts { frame: 1 }));
    frames.push(&animator, id, 0.0).unwrap();
    assert_eq!(frames.frames(), 2);
    assert!(matches!(frames.finish("", Interpolation::Step), Err(PosedError::Times(_))));
}

#[test]
fn a_pose_that_no_model_can_hold_is_refused_with_the_part() {
    let far = Transform { translation: Vec3::X * 1e12, scale: Vec3::splat(1e12), ..Transform::IDENTITY };
    let error = posed_model_of(&strip(far), Job { clip: None, time: 0.0 }).unwrap_err();
    assert!(error.to_string().starts_with("part 0 as deformed: primitive 0: "), "{error}");
}

/// A strip of two triangles, normals up, under a node.
fn strip(rest: Transform) -> Model {
    let desc = PrimitiveDesc {
        topology: Topology::TriangleStrip,
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y],
        normals: vec![Vec3::Z; 4],
        tangents: vec![Vec3::X.extend(1.0); 4],
        ..PrimitiveDesc::default()
    };
    Model::new(ModelDesc {
        skeleton: Skeleton::new(vec![Node { name: "flag".into(), rest, ..Node::default() }]).unwrap(),
        meshes: vec![Mesh::new("cloth", vec![desc], Vec::new()).unwrap()],
        parts: vec![Part { node: 0, mesh: 0, skin: None, weights: Vec::new() }],
        ..ModelDesc::default()
    })
    .unwrap()
}

#[test]
fn mirrored_triangles_are_turned_round_and_keep_their_fronts_and_handedness() {
    let rest = Job { clip: None, time: 0.0 };
    for (scale, topology, w) in [
        (Vec3::new(2.0, 1.0, 1.0), Topology::TriangleStrip, 1.0),
        (Vec3::new(-2.0, 1.0, 1.0), Topology::Triangles, -1.0),
    ] {
        let read = reloaded(&posed(&strip(Transform { scale, ..Transform::IDENTITY }), rest));
        assert_eq!((read.skeleton().names()[0].as_str(), read.meshes()[0].name()), ("flag", "cloth"));
        let primitive = &read.meshes()[0].primitives()[0];
        assert_eq!((primitive.topology(), primitive.triangle_count()), (topology, 2));
        for corners in primitive.triangles() {
            let [a, b, c] = corners.map(|corner| primitive.positions()[corner as usize]);
            assert!((b - a).cross(c - a).z > 0.0);
        }
        assert!(primitive.normals().iter().all(|normal| *normal == Vec3::Z));
        let expected = Vec3::X * scale.x.signum();
        // Directions are kept from vanishing by what is less than rounding.
        assert!(primitive.tangents().iter().all(|tangent| tangent.distance(expected.extend(w)) < 1e-12));
    }
}

#[test]
fn flat_normals_are_those_that_the_raster_pass_sees() {
    let desc = |model: &Model| PrimitiveDesc {
        normals: Vec::new(),
        tangents: Vec::new(),
        ..model.meshes()[0].primitives()[0].to_desc()
    };
    let mut model = strip(Transform { scale: Vec3::new(1.0, 3.0, 0.5), ..Transform::IDENTITY });
    let mesh = Mesh::new("cloth", vec![desc(&model)], Vec::new()).unwrap();
    model = Model::new(ModelDesc {
        skeleton: model.skeleton().clone(),
        meshes: vec![mesh],
        parts: model.parts().to_vec(),
        ..ModelDesc::default()
    })
    .unwrap();
    let read = reloaded(&posed(&model, Job { clip: None, time: 0.0 }));
    let primitive = &read.meshes()[0].primitives()[0];
    assert!(!primitive.has_flat_normals());
    assert_eq!(primitive.vertex_count(), 6);
    assert!(primitive.normals().iter().all(|normal| *normal == Vec3::Z));
}

#[test]
fn materials_textures_uvs_and_colours_are_kept() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    let read = reloaded(&posed(&model, Job { clip: Some(0), time: 0.2 }));
    assert_eq!(read.materials(), model.materials());
    assert_eq!((read.textures().len(), read.images().len()), (model.textures().len(), model.images().len()));
    for (own, &part) in read.parts().iter().zip(model.shown_parts()) {
        let original = model.meshes()[model.parts()[part as usize].mesh as usize].primitives();
        for (own, original) in read.meshes()[own.mesh as usize].primitives().iter().zip(original) {
            let (own, original) = (own.to_desc(), original.to_desc());
            assert_eq!(
                (own.material, &own.uv_sets, &own.colors),
                (original.material, &original.uv_sets, &original.colors)
            );
            assert_eq!(own.indices, original.indices);
        }
    }
}

/// What a reader makes of an OBJ file.
#[derive(Default)]
struct Parsed {
    objects: Vec<String>,
    materials: Vec<String>,
    positions: Vec<Vec3>,
    uvs: Vec<[f32; 2]>,
    normals: Vec<Vec3>,
    /// Position, uv and normal of three corners, from 0.
    faces: Vec<[[Option<usize>; 3]; 3]>,
    lines: Vec<[usize; 2]>,
    points: Vec<usize>,
}

fn parse(text: &str) -> Parsed {
    let mut out = Parsed::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        let floats = || words.iter().map(|word| word.parse::<f32>().unwrap()).collect::<Vec<_>>();
        let index = |word: &str| word.parse::<usize>().unwrap() - 1;
        match kind {
            "o" => out.objects.push(words[0].into()),
            "usemtl" => out.materials.push(words[0].into()),
            "v" => out.positions.push(Vec3::from_slice(&floats())),
            "vn" => out.normals.push(Vec3::from_slice(&floats())),
            "vt" => out.uvs.push([floats()[0], floats()[1]]),
            "f" => {
                assert_eq!(words.len(), 3);
                let corner = |at: usize| {
                    let mut parts = words[at].split('/').map(|part| (!part.is_empty()).then(|| index(part)));
                    [0, 1, 2].map(|_| parts.next().flatten())
                };
                out.faces.push([0, 1, 2].map(corner));
            }
            "l" => out.lines.push([index(words[0]), index(words[1])]),
            "p" => out.points.push(index(words[0])),
            other => assert_eq!(other, "mtllib"),
        }
    }
    out
}

#[test]
fn obj_reads_back_to_the_deformed_vertices() {
    let mut files = 0;
    for set in DataSet::all() {
        for (file, jobs) in set.jobs() {
            let model = Model::load(set.model(&file)).unwrap();
            let job = jobs[jobs.len() / 2];
            let Ok(posed) = posed_model_of(&model, job) else { continue };
            let parsed = parse(&posed.to_obj("a.mtl").obj);
            assert_eq!(parsed.objects.len(), posed.parts().len(), "{file}");
            let primitives: Vec<_> = posed
                .parts()
                .iter()
                .flat_map(|part| posed.meshes()[part.mesh as usize].primitives())
                .collect();
            let positions: Vec<Vec3> = primitives.iter().flat_map(|p| p.positions().to_vec()).collect();
            let normals: Vec<Vec3> = primitives.iter().flat_map(|p| p.normals().to_vec()).collect();
            assert_eq!(parsed.positions, positions, "{file}");
            assert_eq!(parsed.normals, normals, "{file}");
            assert_eq!(parsed.faces.len(), primitives.iter().map(|p| p.triangle_count()).sum::<usize>());
            let (mut first, mut faces) = ([0; 3], parsed.faces.iter());
            for primitive in primitives {
                let uvs = primitive.uv_sets().first().map_or(&[][..], Vec::as_slice);
                for corners in primitive.triangles() {
                    for (found, corner) in faces.next().unwrap().iter().zip(corners) {
                        let corner = corner as usize;
                        assert_eq!(found[0], Some(first[0] + corner));
                        if !primitive.normals().is_empty() {
                            assert_eq!(found[2], Some(first[2] + corner));
                        }
                    }
                }
                first[0] += primitive.vertex_count();
                first[1] += uvs.len();
                first[2] += primitive.normals().len();
            }
            files += 1;
        }
    }
    println!("{files} files");
    assert!(files > 10);
}

#[test]
fn obj_names_are_words_of_their_own_and_materials_have_their_colours() {
    let model = Model::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb")).unwrap();
    let written = posed(&model, Job { clip: None, time: 0.0 }).to_obj("my file.mtl");
    assert!(written.obj.starts_with("mtllib my_file.mtl\n"));
    let parsed = parse(&written.obj);
    let names: Vec<&str> = written.mtl.lines().filter_map(|line| line.strip_prefix("newmtl ")).collect();
    assert_eq!(names.len(), model.materials().len());
    assert!(parsed.materials.iter().all(|used| names.contains(&used.as_str())));
    let color = model.materials()[0].base_color;
    assert!(written.mtl.contains(&format!("Kd {} {} {}\n", color.x, color.y, color.z)));
}

#[test]
fn obj_has_points_and_lines_and_an_empty_model_is_an_empty_file() {
    let of = |topology, indices: Vec<u32>| {
        let desc = PrimitiveDesc {
            topology,
            indices: Some(indices),
            positions: vec![Vec3::ZERO; 4],
            ..PrimitiveDesc::default()
        };
        let part = Part { node: 0, mesh: 0, skin: None, weights: Vec::new() };
        let skeleton = Skeleton::new(vec![Node::default()]).unwrap();
        let meshes = vec![Mesh::new("", vec![desc], Vec::new()).unwrap()];
        Model::new(ModelDesc { skeleton, meshes, parts: vec![part], ..ModelDesc::default() }).unwrap()
    };
    assert_eq!(parse(&of(Topology::Points, vec![3, 1]).to_obj("").obj).points, [3, 1]);
    assert_eq!(parse(&of(Topology::Lines, vec![0, 1, 2, 3]).to_obj("").obj).lines, [[0, 1], [2, 3]]);
    assert_eq!(parse(&of(Topology::LineStrip, vec![0, 1, 2]).to_obj("").obj).lines, [[0, 1], [1, 2]]);
    assert_eq!(Model::new(ModelDesc::default()).unwrap().to_obj("a.mtl"), sinew::export::Obj::default());
}

#[test]
fn obj_of_a_mirrored_node_keeps_its_fronts() {
    let parsed =
        parse(&strip(Transform { scale: Vec3::new(-2.0, 1.0, 1.0), ..Transform::IDENTITY }).to_obj("").obj);
    for face in parsed.faces {
        let [a, b, c] = face.map(|corner| parsed.positions[corner[0].unwrap()]);
        assert!((b - a).cross(c - a).z > 0.0);
        assert!(face.iter().all(|corner| parsed.normals[corner[2].unwrap()] == Vec3::Z));
    }
}

#[test]
fn a_morphed_and_skinned_instance_leaves_its_transform_out() {
    let model = character(3, Shape { vertices: 200, joints: 6, influences: 4, targets: 3 });
    let (mut animator, id) = actor(&model);
    animator.set_transform(id, glam::Affine3A::from_translation(Vec3::ONE * 9.0)).unwrap();
    seek(&mut animator, id, Job { clip: Some(0), time: 0.8 });
    let read = reloaded(&posed_model(&animator, id).unwrap());
    assert!(apart(&baked(&read, None), &baked(&model, Some((0, f64::from(0.8f32))))) < 1e-5);
}
