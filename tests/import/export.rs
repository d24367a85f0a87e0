use glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use sinew::{
    Model,
    export::ExportError,
    import::ImportOptions,
    model::{
        AlphaMode, Channel, Clip, Image, Influence, Influences, Interpolation, Material, Mesh, ModelDesc,
        MorphTarget, Node, Part, PrimitiveDesc, Sampler, Scene, Skeleton, Skin, Texture, TextureRef, Track,
        Transform, UvTransform, Wrap,
    },
};

fn read_back(model: &Model) -> Model {
    Model::from_bytes(&model.to_glb().unwrap(), &ImportOptions::default()).unwrap()
}

fn assert_equal(a: &Model, b: &Model) {
    assert_eq!(a.skeleton(), b.skeleton());
    assert_eq!(a.skins(), b.skins());
    assert_eq!(a.meshes(), b.meshes());
    assert_eq!(a.parts(), b.parts());
    assert_eq!(a.scenes(), b.scenes());
    assert_eq!(a.default_scene(), b.default_scene());
    assert_eq!(a.clips(), b.clips());
    assert_eq!(a.materials(), b.materials());
    assert_eq!(a.textures(), b.textures());
    assert_eq!(a.images(), b.images());
}

fn skeleton() -> Skeleton {
    let node = |name: &str, parent, y| Node {
        name: name.into(),
        parent,
        rest: Transform {
            translation: Vec3::new(0.1, y, 0.0),
            rotation: Quat::from_xyzw(0.6, 0.0, 0.0, 0.8),
            scale: Vec3::new(1.0, 2.0, -1.0),
        },
    };
    Skeleton::new(vec![node("tip", Some(1), 1.0), node("root", None, 0.0), node("", None, 0.3)]).unwrap()
}

/// Twelve vertices, up to nine influences each, out of the kernel's order.
fn primitive() -> PrimitiveDesc {
    let mut influences = Influences::with_capacity(12);
    for vertex in 0..12u32 {
        let count = [1, 3, 9][vertex as usize % 3];
        let weights = vec![1.0 / count as f32; count];
        influences.push(weights.into_iter().zip(0u32..).map(|(weight, joint)| Influence { joint, weight }));
    }
    let v = |i: usize| Vec3::new(i as f32, (i * i) as f32 * 0.3, -(i as f32));
    PrimitiveDesc {
        indices: Some((0..12).rev().collect()),
        positions: (0..12).map(v).collect(),
        normals: vec![Vec3::Z; 12],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, -1.0); 12],
        uv_sets: vec![vec![Vec2::new(0.25, 0.5); 12]; 2],
        colors: vec![vec![Vec4::new(0.1, 0.2, 0.3, 0.4); 12]],
        influences: Some(influences),
        targets: vec![
            MorphTarget::from_dense(&(0..12).map(v).collect::<Vec<_>>(), &[], &[]),
            MorphTarget::from_dense(&[], &[Vec3::X; 12], &[Vec3::Y; 12]),
            MorphTarget::default(),
        ],
        material: Some(0),
        ..Default::default()
    }
}

fn desc() -> ModelDesc {
    let mut nodes: Vec<Node> = Vec::new();
    let base = skeleton();
    for i in 0..base.len() {
        nodes.push(Node { name: base.names()[i].clone(), parent: base.parents()[i], rest: base.rest()[i] });
    }
    nodes.extend((0..9).map(|i| Node { name: format!("j{i}"), parent: Some(1), rest: Transform::IDENTITY }));
    let skeleton = Skeleton::new(nodes).unwrap();
    let binds: Vec<Mat4> = (0..9).map(|i| Mat4::from_translation(Vec3::splat(i as f32 * 0.1))).collect();
    let skin = Skin::new("skin", &skeleton, (3..12).collect(), Some(&binds)).unwrap();
    let mesh = Mesh::new("body", vec![primitive()], vec![0.5, 0.25, 0.0]).unwrap();
    let track = |channel, interpolation, values: Vec<f32>, width| Track {
        node: if channel == Channel::Weights { 2 } else { 0 },
        channel,
        interpolation,
        times: vec![0.25, 1.0],
        values,
        width,
    };
    ModelDesc {
        parts: vec![Part { node: 2, mesh: 0, skin: Some(0), weights: vec![1.0, 0.0, 0.1] }],
        meshes: vec![mesh.with_target_names(vec!["a".into(), String::new(), "c".into()])],
        skins: vec![skin],
        skeleton,
        scenes: vec![Scene { name: "s".into(), roots: vec![1, 2] }],
        default_scene: Some(0),
        clips: vec![
            Clip::new(
                "move",
                vec![
                    track(Channel::Translation, Interpolation::Linear, vec![0.1; 6], 3),
                    track(Channel::Rotation, Interpolation::CubicSpline, vec![0.5; 24], 4),
                    track(Channel::Scale, Interpolation::Step, vec![2.0; 6], 3),
                    track(Channel::Weights, Interpolation::Linear, vec![0.3; 6], 3),
                ],
            )
            .unwrap(),
        ],
        materials: vec![Material {
            name: "fur".into(),
            base_color: Vec4::new(0.1, 0.2, 0.3, 0.4),
            base_color_texture: Some(TextureRef {
                uv_set: 1,
                transform: UvTransform {
                    offset: Vec2::new(0.5, 0.25),
                    rotation: 0.5,
                    scale: Vec2::new(2.0, 3.0),
                },
                ..TextureRef::new(0)
            }),
            normal_texture: Some(TextureRef::new(0)),
            normal_scale: 0.7,
            emissive: Vec3::new(0.0, 0.5, 1.0),
            emissive_strength: 3.5,
            alpha_mode: AlphaMode::Mask { cutoff: 0.3 },
            double_sided: true,
            unlit: true,
            ..Default::default()
        }],
        textures: vec![Texture {
            image: 0,
            sampler: Sampler {
                mag_linear: false,
                min_linear: true,
                mip_linear: Some(false),
                wrap: [Wrap::Clamp, Wrap::Mirror],
            },
        }],
        images: vec![Image {
            name: "i".into(),
            mime_type: "image/png".into(),
            bytes: b"\x89PNG\r\n\x1a\n..".to_vec(),
        }],
        ..Default::default()
    }
}

#[test]
fn a_hand_built_model_reads_back_equal() {
    let model = Model::new(desc()).unwrap();
    let back = read_back(&model);
    assert_equal(&model, &back);
    assert!(back.diagnostics().is_empty(), "{:?}", back.diagnostics());
}

#[test]
fn only_extensions_that_the_materials_need_are_declared() {
    let declares = |name: &str, material: Material| {
        let bytes = Model::new(ModelDesc { materials: vec![material], ..desc() }).unwrap().to_glb().unwrap();
        bytes.windows(name.len()).any(|window| window == name.as_bytes())
    };
    let strong = Material { emissive_strength: 2.0, ..Material::default() };
    let unlit = Material { unlit: true, ..Material::default() };
    for (name, material) in [("KHR_materials_emissive_strength", strong), ("KHR_materials_unlit", unlit)] {
        assert!(declares(name, material) && !declares(name, Material::default()));
    }
}

#[test]
fn flat_normals_read_back_equal() {
    let mut source = desc();
    let mut flat = primitive();
    (flat.normals, flat.tangents) = (Vec::new(), Vec::new());
    flat.targets[1] = MorphTarget::default();
    source.meshes = vec![Mesh::new("flat", vec![flat], vec![]).unwrap()];
    let model = Model::new(source).unwrap();
    assert_equal(&model, &read_back(&model));
}

#[test]
fn files_read_back_equal() {
    for name in
        ["joints1_mixed_types", "targets_different_attributes", "all_modes_skinned", "cubic_trs_two_keys"]
    {
        let path = format!("{}/tests/data/assets/conf/{name}.glb", env!("CARGO_MANIFEST_DIR"));
        let model = Model::load(path).unwrap();
        assert_equal(&model, &read_back(&model));
    }
}

#[test]
fn joints_over_16_bits_are_refused() {
    let mut source = desc();
    let mut influences = Influences::with_capacity(12);
    (0..12).for_each(|_| influences.push([Influence { joint: 70_000, weight: 1.0 }]));
    let primitive = PrimitiveDesc { influences: Some(influences), ..primitive() };
    source.meshes = vec![Mesh::new("far", vec![primitive], vec![]).unwrap()];
    source.parts[0].skin = None;
    let error = Model::new(source).unwrap().to_glb().unwrap_err();
    assert_eq!(error, ExportError::Joint { mesh: 0, primitive: 0, joint: 70_000 });
}

/// A bar of which both nodes are listed twice: the first with the same matrix, the second with another.
fn listed_twice() -> Model {
    let node =
        |parent, y: f32| Node { parent, rest: Transform::from_translation(Vec3::Y * y), ..Node::default() };
    let skeleton = Skeleton::new(vec![node(None, 0.5), node(Some(0), 1.0), node(None, 0.0)]).unwrap();
    let up = |y: f32| Mat4::from_translation(Vec3::NEG_Y * y);
    let binds = [up(0.5), up(1.5), up(0.5), Mat4::from_scale(Vec3::splat(2.0))];
    let skin = || Skin::accept_duplicates("", &skeleton, vec![0, 1, 0, 1], Some(&binds)).unwrap();
    let mut influences = Influences::default();
    (0..4).for_each(|joint| influences.push([Influence { joint, weight: 1.0 }]));
    let primitive = PrimitiveDesc {
        topology: sinew::model::Topology::Points,
        positions: (0..4).map(|i| Vec3::new(i as f32, 1.0, 2.0)).collect(),
        normals: vec![Vec3::Z; 4],
        influences: Some(influences),
        ..Default::default()
    };
    let turn = Track {
        node: 1,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0],
        values: vec![0.6, 0.0, 0.0, 0.8],
        width: 4,
    };
    Model::new(ModelDesc {
        skins: vec![skin()],
        skeleton,
        meshes: vec![Mesh::new("", vec![primitive], Vec::new()).unwrap()],
        parts: vec![Part { node: 2, mesh: 0, skin: Some(0), weights: Vec::new() }],
        clips: vec![Clip::new("turn", vec![turn]).unwrap()],
        ..Default::default()
    })
    .unwrap()
}

/// Vertices at the end of the first clip.
fn deformed(model: &Model) -> Vec<Vec3> {
    let mut deformer = sinew::CpuDeformer::new();
    let id = deformer.add_model(model, sinew::Precision::Exact).unwrap();
    let instance = deformer.spawn(id).unwrap();
    deformer.animator_mut().play(instance, 0).unwrap();
    deformer.run().unwrap();
    deformer.bake(instance).unwrap().into_iter().flat_map(|primitive| primitive.vertices.positions).collect()
}

#[test]
fn a_node_that_a_skin_lists_twice_is_written_with_a_child_that_strict_import_takes() {
    let model = listed_twice();
    let strict = ImportOptions { strict: true, ..Default::default() };
    let read = Model::from_bytes(&model.to_glb().unwrap(), &strict).unwrap();
    assert_eq!(read.diagnostics(), []);
    assert_eq!(read.skins()[0].joints(), [0, 1, 3, 4]);
    assert_eq!(read.skeleton().parents(), [None, Some(0), None, Some(0), Some(1)]);
    assert_eq!(deformed(&read), deformed(&model));
}
