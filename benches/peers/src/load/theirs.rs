//! Every accessor that `sinew` reads, through the readers of the crate `gltf`.

use std::path::Path;

use gltf::animation::util::ReadOutputs;

/// What was read, kept until the clock has stopped.
#[derive(Default)]
pub(crate) struct Everything {
    threes: Vec<Vec<[f32; 3]>>,
    fours: Vec<Vec<[f32; 4]>>,
    twos: Vec<Vec<[f32; 2]>>,
    ones: Vec<Vec<f32>>,
    joints: Vec<Vec<[u16; 4]>>,
    indices: Vec<Vec<u32>>,
    binds: Vec<Vec<[[f32; 4]; 4]>>,
    document: Option<gltf::Document>,
}

pub(crate) fn load(path: &Path) -> Everything {
    let (document, buffers, _) = gltf::import(path).unwrap();
    let mut out = Everything::default();
    let data = |buffer: gltf::Buffer<'_>| buffers.get(buffer.index()).map(|b| &b.0[..]);
    for primitive in document.meshes().flat_map(|mesh| mesh.primitives()) {
        let reader = primitive.reader(data);
        out.threes.extend(reader.read_positions().map(Iterator::collect));
        out.threes.extend(reader.read_normals().map(Iterator::collect));
        out.fours.extend(reader.read_tangents().map(Iterator::collect));
        out.twos.extend(reader.read_tex_coords(0).map(|uvs| uvs.into_f32().collect()));
        out.joints.extend(reader.read_joints(0).map(|joints| joints.into_u16().collect()));
        out.fours.extend(reader.read_weights(0).map(|weights| weights.into_f32().collect()));
        out.indices.extend(reader.read_indices().map(|indices| indices.into_u32().collect()));
        for (positions, normals, tangents) in reader.read_morph_targets() {
            out.threes.extend(positions.map(Iterator::collect));
            out.threes.extend(normals.map(Iterator::collect));
            out.threes.extend(tangents.map(Iterator::collect));
        }
    }
    for skin in document.skins() {
        out.binds.extend(skin.reader(data).read_inverse_bind_matrices().map(Iterator::collect));
    }
    for channel in document.animations().flat_map(|clip| clip.channels().collect::<Vec<_>>()) {
        let reader = channel.reader(data);
        out.ones.extend(reader.read_inputs().map(Iterator::collect));
        match reader.read_outputs() {
            Some(ReadOutputs::Translations(values)) => out.threes.push(values.collect()),
            Some(ReadOutputs::Rotations(values)) => out.fours.push(values.into_f32().collect()),
            Some(ReadOutputs::Scales(values)) => out.threes.push(values.collect()),
            Some(ReadOutputs::MorphTargetWeights(values)) => out.ones.push(values.into_f32().collect()),
            None => {}
        }
    }
    out.document = Some(document);
    out
}
