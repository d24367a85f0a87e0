//! Findings about rigs, and what repairing makes of them. Numbers are closed forms.
#![cfg(feature = "gltf")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use glam::{Mat4, Quat, Vec3};
use sinew::{
    CpuDeformer, Model, Precision,
    fix::{FixOptions, fix},
    import::ImportOptions,
    lint::{LintOptions, cost, lint},
    model::{
        Channel, Clip, Diagnostic, Influence, Influences, Interpolation, Mesh, ModelDesc, MorphTarget, Node,
        Part, PrimitiveDesc, Skeleton, Skin, Skinning, Track, Transform,
    },
};

/// Joints in a row along x, a metre apart, bound where they rest.
struct Rig {
    joints: u32,
    rows: Vec<Vec<(u32, f32)>>,
    targets: Vec<MorphTarget>,
    tracks: Vec<Track>,
}

impl Rig {
    fn new(joints: u32, rows: &[&[(u32, f32)]]) -> Self {
        Self { joints, rows: rows.iter().map(|row| row.to_vec()).collect(), targets: vec![], tracks: vec![] }
    }

    fn model(self) -> Model {
        let node =
            |i: u32| Node { rest: Transform::from_translation(Vec3::X * i as f32), ..Default::default() };
        let mut nodes: Vec<Node> = (0..self.joints).map(node).collect();
        nodes.push(Node::default());
        let skeleton = Skeleton::new(nodes).unwrap();
        let skin = Skin::bind_at_rest("row", &skeleton, (0..self.joints).collect()).unwrap();
        let mut influences = Influences::default();
        for row in &self.rows {
            influences.push(row.iter().map(|&(joint, weight)| Influence { joint, weight }));
        }
        let count = self.rows.len();
        let primitive = PrimitiveDesc {
            indices: Some((0..count as u32).cycle().take(count.next_multiple_of(3)).collect()),
            positions: (0..count).map(|i| Vec3::new(0.0, i as f32, 0.0)).collect(),
            normals: vec![Vec3::Z; count],
            influences: Some(influences),
            targets: self.targets.clone(),
            ..Default::default()
        };
        let weights = vec![0.0; self.targets.len()];
        Model::new(ModelDesc {
            skeleton,
            skins: vec![skin],
            meshes: vec![Mesh::new("body", vec![primitive], weights.clone()).unwrap()],
            parts: vec![Part { node: self.joints, mesh: 0, skin: Some(0), weights }],
            clips: if self.tracks.is_empty() {
                vec![]
            } else {
                vec![Clip::new("clip", self.tracks).unwrap()]
            },
            ..Default::default()
        })
        .unwrap()
    }
}

fn weights_track(node: u32, width: u32, values: &[f32]) -> Track {
    let times = (0..values.len() / width as usize).map(|key| key as f32).collect();
    let (channel, interpolation) = (Channel::Weights, Interpolation::Linear);
    Track { node, channel, interpolation, times, values: values.to_vec(), width }
}

/// `joint` goes a metre up and back.
fn lift(joint: u32) -> Track {
    let x = joint as f32;
    Track {
        node: joint,
        channel: Channel::Translation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0, 2.0],
        values: vec![x, 0.0, 0.0, x, 1.0, 0.0, x, 0.0, 0.0],
        width: 3,
    }
}

fn findings(model: &Model, code: &str) -> Vec<Diagnostic> {
    lint(model, &LintOptions::default()).into_iter().filter(|finding| finding.code == code).collect()
}

fn number(finding: &Diagnostic, name: &str) -> f64 {
    finding.numbers.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Four strong joints and a fifth with a tenth of the weight.
const FIVE: &[(u32, f32)] = &[(0, 0.3), (1, 0.2), (2, 0.2), (3, 0.2), (4, 0.1)];

#[test]
fn cutting_a_fifth_influence_that_moves_alone_costs_its_weight_in_metres() {
    let mut rig = Rig::new(5, &[&[(0, 1.0)], FIVE]);
    rig.tracks = vec![lift(4)];
    let model = rig.model();
    let [finding] = &findings(&model, "influences-over-4")[..] else { panic!() };
    // The fifth joint is up by up to a metre; its tenth of that is lost. Times are 2 s in 47 steps.
    let highest = 1.0 - 1.0 / 47.0;
    assert!((number(finding, "displacement") - 0.1 * highest).abs() < 1e-6, "{finding}");
    assert_eq!(number(finding, "vertex"), 1.0);
    assert_eq!(number(finding, "vertices"), 1.0);
    assert_eq!(number(finding, "clip"), 0.0);
    assert!((number(finding, "largestDropped") - 0.1).abs() < 1e-6);
    assert!(findings(&model, "influences-over-8").is_empty());
}

#[test]
fn cutting_influences_that_move_together_costs_nothing() {
    let model = Rig::new(5, &[FIVE]).model();
    let [finding] = &findings(&model, "influences-over-4")[..] else { panic!() };
    assert!(number(finding, "displacement") < 1e-6, "{finding}");
}

#[test]
fn four_influences_are_no_finding() {
    assert!(findings(&Rig::new(5, &[&FIVE[..4]]).model(), "influences-over-4").is_empty());
}

#[test]
fn nine_influences_are_compared_with_four_and_with_eight() {
    let row: Vec<(u32, f32)> = (0..9).map(|joint| (joint, 1.0 / 9.0)).collect();
    let mut rig = Rig::new(9, &[&row]);
    rig.tracks = vec![lift(8)];
    let model = rig.model();
    let of = |code| number(&findings(&model, code)[0], "displacement");
    let highest = 1.0 - 1.0 / 47.0;
    for found in [of("influences-over-4"), of("influences-over-8")] {
        assert!((found - highest / 9.0).abs() < 1e-6, "{found}");
    }
}

#[test]
fn joints_that_no_vertex_follows_are_counted() {
    let [finding] = &findings(&Rig::new(5, &[&[(1, 1.0)], &[(3, 1.0)]]).model(), "joints-unused")[..] else {
        panic!()
    };
    assert_eq!((number(finding, "unused"), number(finding, "joints")), (3.0, 5.0));
    assert_eq!(finding.place, "skins[0].joints (\"row\")");
}

#[test]
fn a_bind_matrix_sheared_by_a_tenth_is_found_with_its_angle() {
    let skeleton = Skeleton::new(vec![Node::default()]).unwrap();
    let sheared = Mat4::from_cols_array(&[
        1.0, 0.0, 0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
    ]);
    let turned = Mat4::from_scale_rotation_translation(
        Vec3::new(1.0, 2.0, 3.0),
        Quat::from_rotation_x(0.5),
        Vec3::ONE,
    );
    for (matrix, found) in [(sheared, 1), (turned.inverse(), 1), (turned, 0)] {
        let skin = Skin::new("", &skeleton, vec![0], Some(&[matrix])).unwrap();
        let model =
            Model::new(ModelDesc { skeleton: skeleton.clone(), skins: vec![skin], ..Default::default() })
                .unwrap();
        let findings = findings(&model, "bind-sheared");
        assert_eq!(findings.len(), found, "{matrix}");
        if matrix == sheared {
            let angle = (0.1f64 / 1.01f64.sqrt()).asin().to_degrees();
            assert!((number(&findings[0], "degrees") - angle).abs() < 1e-3);
        }
    }
}

#[test]
fn targets_that_move_nothing_and_targets_that_nothing_drives_are_told_apart() {
    let moves = MorphTarget::from_dense(&[Vec3::X], &[], &[]);
    let dead = MorphTarget::from_dense(&[Vec3::ZERO], &[], &[]);
    let mut rig = Rig::new(1, &[&[(0, 1.0)]]);
    rig.targets = vec![dead, moves.clone(), moves];
    rig.tracks = vec![weights_track(1, 3, &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0])];
    let model = rig.model();
    let of = |code| findings(&model, code).iter().map(|f| number(f, "target")).collect::<Vec<_>>();
    assert_eq!(of("target-dead"), [0.0]);
    assert_eq!(of("target-undriven"), [1.0]);
}

#[test]
fn of_a_thousand_findings_of_a_kind_a_hundred_are_listed_and_the_rest_is_counted() {
    let mut rig = Rig::new(1, &[&[(0, 1.0)]]);
    rig.targets = vec![MorphTarget::default(); 1000];
    let model = rig.model();
    assert_eq!(findings(&model, "target-dead").len(), 100);
    let [rest] = &findings(&model, "findings-cut")[..] else { panic!() };
    assert_eq!(number(rest, "findings"), 900.0);
    let fixed = fix(&model, &FixOptions::default()).unwrap();
    assert_eq!(number(&fixed.changes[0], "dropped"), 1000.0);
    assert!(fixed.changes[0].message.len() < 200, "{}", fixed.changes[0]);
}

#[test]
fn a_fixed_mesh_keeps_its_skinning() {
    let mut rig = Rig::new(2, &[&[(0, 0.5), (1, 0.5)]]);
    rig.targets = vec![MorphTarget::default()];
    let model = rig.model().with_skinning(0, Skinning::DualQuaternion).unwrap();
    let fixed = fix(&model, &FixOptions::default()).unwrap();
    assert_eq!(fixed.model.meshes()[0].weights().len(), 0, "it was built anew");
    assert_eq!(fixed.model.meshes()[0].skinning(), Skinning::DualQuaternion);
}

#[test]
fn keys_that_never_differ_are_counted_by_channel() {
    let mut rig = Rig::new(2, &[&[(0, 1.0)]]);
    let mut still = lift(0);
    still.values = [0.5, 0.0, 0.0].repeat(3);
    rig.tracks = vec![still, lift(1)];
    let [finding] = &findings(&rig.model(), "channels-constant")[..] else { panic!() };
    assert_eq!((number(finding, "constant"), number(finding, "channels")), (1.0, 2.0));
}

#[test]
fn the_cost_of_a_frame_counts_rows_vertices_and_kernel_variants() {
    let model = Rig::new(5, &[&[(0, 1.0)], FIVE]).model();
    let packed = cost(&model, Precision::Packed);
    assert_eq!((packed.vertices, packed.joints, packed.palette_bytes), (2, 5, 5 * 48));
    assert_eq!((packed.output_bytes, packed.items, packed.dispatches), (2 * 20, 1, 1));
    assert_eq!(cost(&model, Precision::Exact).output_bytes, 2 * 48);
}

#[test]
fn an_empty_model_has_no_findings_and_costs_nothing() {
    let model = Model::new(ModelDesc::default()).unwrap();
    assert!(lint(&model, &LintOptions::default()).is_empty());
    assert_eq!(cost(&model, Precision::Packed), Default::default());
    assert!(fix(&model, &FixOptions::default()).unwrap().changes.is_empty());
}

/// Every GLB below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "glb") {
            found.push(path);
        }
    }
}

/// Positions of all shown primitives in the first clip's middle.
fn baked(model: &Model) -> Vec<Vec<Vec3>> {
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(model, Precision::Exact).unwrap();
    let id = cpu.spawn(id).unwrap();
    if let Some(clip) = model.clips().first() {
        cpu.animator_mut().play(id, 0).unwrap().seek(f64::from(clip.duration()) * 0.43);
    }
    cpu.run().unwrap();
    cpu.bake(id).unwrap().into_iter().map(|primitive| primitive.vertices.positions).collect()
}

#[test]
fn every_file_here_deforms_as_before_once_it_is_repaired_and_read_back() {
    let mut all = Vec::new();
    files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/assets")), &mut all);
    files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")), &mut all);
    assert!(all.len() > 10);
    let options = FixOptions { influences: 1000 };
    for file in all {
        let model = Model::load(&file).unwrap();
        let bytes = fix(&model, &options).unwrap().model.to_glb().unwrap();
        let strict = ImportOptions { strict: true, ..Default::default() };
        let back =
            Model::from_bytes(&bytes, &strict).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let shown = model.shown_parts().iter().map(|part| &model.parts()[*part as usize]);
        let primitives = shown.flat_map(|part| model.meshes()[part.mesh as usize].primitives());
        for ((primitive, before), after) in primitives.zip(baked(&model)).zip(baked(&back)) {
            let size = before.iter().fold(1e-3f32, |size, p| size.max(p.length()));
            for (at, position) in after.iter().enumerate() {
                // Where vertices were split, they come in the kernel's order.
                let source =
                    if after.len() == before.len() { at } else { primitive.source_vertex(at) as usize };
                let off = position.distance(before[source]);
                assert!(off <= 2e-6 * size, "{}: vertex {at} is {off} off", file.display());
            }
        }
    }
}

/// Positions of the only primitive, in the caller's order, at a time of the first clip.
fn deformed(model: &Model, time: f64) -> Vec<Vec3> {
    let mut cpu = CpuDeformer::new();
    let id = cpu.add_model(model, Precision::Exact).unwrap();
    let id = cpu.spawn(id).unwrap();
    cpu.animator_mut().play(id, 0).unwrap().seek(time);
    cpu.run().unwrap();
    cpu.bake(id).unwrap()[0].vertices.positions.clone()
}

#[test]
fn a_repaired_model_deforms_as_before_with_fewer_joints_and_targets() {
    let moves = MorphTarget::from_dense(&[Vec3::X, Vec3::ZERO], &[], &[]);
    let mut rig = Rig::new(6, &[&[(1, 0.5), (4, 0.5)], &[(4, 1.0)]]);
    rig.targets = vec![MorphTarget::default(), moves];
    rig.tracks = vec![lift(4), weights_track(6, 2, &[1.0, 0.0, 1.0, 1.0, 1.0, 0.0])];
    let model = rig.model();
    let fixed = fix(&model, &FixOptions::default()).unwrap();
    assert_eq!(
        fixed.changes.iter().map(|c| c.code).collect::<Vec<_>>(),
        ["joints-dropped", "targets-dropped"]
    );
    assert_eq!(fixed.model.skins()[0].joints(), [1, 4]);
    assert_eq!(fixed.model.meshes()[0].weights().len(), 1);
    for time in [0.0, 0.5, 1.0, 1.7] {
        assert_eq!(deformed(&model, time), deformed(&fixed.model, time), "{time}");
    }
    assert!(fix(&fixed.model, &FixOptions::default()).unwrap().changes.is_empty(), "once is enough");
}

#[test]
fn a_joint_that_is_another_over_again_is_merged_with_it() {
    let mut rig = Rig::new(2, &[&[(0, 0.5), (1, 0.5)], &[(1, 1.0)]]);
    rig.tracks = vec![lift(1)];
    let model = rig.model();
    let (skin, mesh) = (&model.skins()[0], &model.meshes()[0]);
    let bind = |joint: usize| Mat4::from(skin.inverse_binds()[joint]);
    // The third is the first over again; the fourth has a bind of its own.
    let binds = [bind(0), bind(1), bind(0), Mat4::from_translation(Vec3::Y)];
    let skin = Skin::accept_duplicates("row", model.skeleton(), vec![0, 1, 0, 1], Some(&binds)).unwrap();
    let mut desc = mesh.primitives()[0].to_desc();
    let mut influences = Influences::default();
    for row in [[(0, 0.25), (2, 0.25), (1, 0.5)], [(2, 0.5), (3, 0.25), (0, 0.25)]] {
        influences.push(row.map(|(joint, weight)| Influence { joint, weight }));
    }
    desc.influences = Some(influences);
    let doubled = Model::new(ModelDesc {
        skeleton: model.skeleton().clone(),
        skins: vec![skin],
        meshes: vec![Mesh::new("body", vec![desc], vec![]).unwrap()],
        parts: model.parts().to_vec(),
        clips: model.clips().to_vec(),
        ..Default::default()
    });
    let doubled = doubled.unwrap();
    let fixed = fix(&doubled, &FixOptions::default()).unwrap();
    assert_eq!(fixed.changes.iter().map(|c| c.code).collect::<Vec<_>>(), ["skin-joints-merged"]);
    assert_eq!(number(&fixed.changes[0], "merged"), 1.0);
    assert_eq!(fixed.model.skins()[0].joints(), [0, 1, 1]);
    assert_eq!(fixed.model.meshes()[0].primitives()[0].influences().unwrap().max_per_vertex(), 2);
    for time in [0.0, 0.5, 1.0] {
        assert_eq!(deformed(&doubled, time), deformed(&fixed.model, time), "{time}");
    }
}

#[test]
fn cut_influences_sum_up_to_one_and_the_change_says_how_far_vertices_move() {
    let mut rig = Rig::new(5, &[FIVE]);
    rig.tracks = vec![lift(4)];
    let model = rig.model();
    assert!(fix(&model, &FixOptions::default()).unwrap().changes.is_empty(), "eight is enough by default");
    let fixed = fix(&model, &FixOptions { influences: 4 }).unwrap();
    let row = fixed.model.meshes()[0].primitives()[0].influences().unwrap().row(0).to_vec();
    assert_eq!(row.len(), 4);
    assert!((row.iter().map(|i| i.weight).sum::<f32>() - 1.0).abs() < 1e-6);
    let change = fixed.changes.iter().find(|change| change.code == "influences-reduced").unwrap();
    assert!((number(change, "displacement") - 0.1 * (1.0 - 1.0 / 47.0)).abs() < 1e-6, "{change}");
}

#[test]
fn a_clip_that_drove_only_a_dead_target_is_left_out() {
    let mut rig = Rig::new(1, &[&[(0, 1.0)]]);
    rig.targets = vec![MorphTarget::default()];
    rig.tracks = vec![weights_track(1, 1, &[0.0, 1.0])];
    let fixed = fix(&rig.model(), &FixOptions::default()).unwrap();
    assert_eq!(
        fixed.changes.iter().map(|c| c.code).collect::<Vec<_>>(),
        ["targets-dropped", "tracks-dropped"]
    );
    assert!(fixed.model.clips().is_empty());
}

#[test]
fn a_mesh_under_two_skins_keeps_its_joints() {
    let mut nodes = vec![Node::default(); 4];
    nodes[1].rest.translation = Vec3::X;
    let skeleton = Skeleton::new(nodes).unwrap();
    let skins = [vec![0, 1], vec![1, 0]].map(|joints| Skin::bind_at_rest("", &skeleton, joints).unwrap());
    let mut influences = Influences::default();
    influences.push([Influence { joint: 0, weight: 1.0 }]);
    let primitive = PrimitiveDesc {
        topology: sinew::model::Topology::Points,
        positions: vec![Vec3::ZERO],
        influences: Some(influences),
        ..Default::default()
    };
    let part = |node, skin| Part { node, mesh: 0, skin: Some(skin), weights: vec![] };
    let model = Model::new(ModelDesc {
        skeleton: skeleton.clone(),
        skins: skins.into(),
        meshes: vec![Mesh::new("", vec![primitive], vec![]).unwrap()],
        parts: vec![part(2, 0), part(3, 1)],
        ..Default::default()
    })
    .unwrap();
    let fixed = fix(&model, &FixOptions::default()).unwrap();
    assert!(fixed.changes.iter().all(|change| change.code == "joints-kept"));
    assert_eq!(fixed.model.skins()[0].joints(), [0, 1]);
}
