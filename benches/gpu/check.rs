//! Sampled vertices of a record against f64.

use glam::{DMat3, DVec3, DVec4, Vec3};
use sinew::{
    Deformer, InstanceId,
    animate::JointMatrix,
    model::{Mesh, Model, Primitive, Skinning},
};

use crate::{
    directions::{decode, kept_normal, kept_tangent},
    dual,
    gpu::Gpu,
    models::Random,
};

/// Positions, as a share of a character's two metres.
const POSITION: f64 = 2e-6 * 2.0;
/// Radians, of normals and of tangents.
const DIRECTION: [f64; 2] = [1e-4, 1.5e-4];

/// Overwrites everything that the next record has to write.
pub(crate) fn poison(gpu: &Gpu, deformer: &Deformer, instances: &[InstanceId]) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut seen = Vec::new();
    for &instance in instances {
        let vertices = deformer.vertices(instance, 0).unwrap();
        for slice in [vertices.a, vertices.b] {
            if !seen.contains(slice.buffer()) {
                encoder.clear_buffer(slice.buffer(), 0, None);
                seen.push(slice.buffer().clone());
            }
        }
    }
    gpu.queue.submit([encoder.finish()]);
}

/// Compares vertices of the instances' first part, packed; their palettes are those of the last record.
pub(crate) fn sample(gpu: &Gpu, deformer: &Deformer, instances: &[(InstanceId, &Model)], weights: &[f32]) {
    let mut random = Random::new(7);
    for _ in 0..gpu.size(40, 10) {
        let (instance, model) = instances[random.below(instances.len() as u32) as usize];
        let mesh = &model.meshes()[0];
        let primitive = &mesh.primitives()[0];
        let vertices = deformer.vertices(instance, 0).unwrap();
        let count = primitive.vertex_count() as u64;
        // A run, so that one read shows many.
        let run = 64.min(count);
        let first = u64::from(random.below((count - run + 1) as u32));
        let a: Vec<u32> = gpu.read(vertices.a.buffer(), vertices.a.offset() + first * 16, run * 16);
        let b: Vec<u32> = gpu.read(vertices.b.buffer(), vertices.b.offset() + first * 4, run * 4);
        let palette = deformer.animator().palette(instance).unwrap();
        for i in 0..run as usize {
            let expected = deformed(mesh, palette, weights, first as usize + i);
            let words = &a[i * 4..i * 4 + 4];
            let found =
                Vec3::new(f32::from_bits(words[0]), f32::from_bits(words[1]), f32::from_bits(words[2]));
            let off = found.as_dvec3().distance(expected.0);
            assert!(
                off <= POSITION,
                "vertex {}: {off:e} m off, {found} for {}",
                first as usize + i,
                expected.0
            );
            for ((word, expected), bound) in
                [words[3], b[i]].into_iter().zip([expected.1, expected.2]).zip(DIRECTION)
            {
                let found = decode(word);
                let off = found.cross(expected).length().atan2(found.dot(expected));
                assert!(off <= bound, "vertex {}: {off:e} rad off", first as usize + i);
            }
        }
    }
}

/// Position, normal and tangent of a deformed vertex, from what packing leaves of its source.
fn deformed(mesh: &Mesh, palette: &[JointMatrix], weights: &[f32], vertex: usize) -> (DVec3, DVec3, DVec3) {
    let primitive = &mesh.primitives()[0];
    let mut position = primitive.positions()[vertex].as_dvec3();
    let mut normal = kept_normal(primitive.normals()[vertex]);
    let source = primitive.tangents()[vertex];
    let mut tangent = kept_tangent(source);
    for (target, &weight) in primitive.targets().iter().zip(weights) {
        if let Ok(at) = target.vertices().binary_search(&(vertex as u32)) {
            let delta = target.delta(at);
            position += f64::from(weight) * delta.position.as_dvec3();
            normal += f64::from(weight) * delta.normal.as_dvec3();
            tangent += f64::from(weight) * delta.tangent.as_dvec3();
        }
    }
    let (linear, translation) = match mesh.skinning() {
        Skinning::Linear => blended(primitive, palette, vertex),
        Skinning::DualQuaternion => dual_blended(primitive, palette, vertex),
    };
    let turned = linear.inverse().transpose() * normal;
    (linear * position + translation, turned.normalize(), (linear * tangent).normalize())
}

/// The matrix that moves a vertex, and its translation.
pub(crate) fn blended(primitive: &Primitive, palette: &[JointMatrix], vertex: usize) -> (DMat3, DVec3) {
    let mut rows = [DVec4::ZERO; 3];
    for influence in primitive.influences().unwrap().row(vertex) {
        let m = palette[influence.joint as usize];
        for (sum, row) in rows.iter_mut().zip([m.x, m.y, m.z]) {
            *sum += f64::from(influence.weight) * DVec4::from_array(row.map(f64::from));
        }
    }
    let linear = DMat3::from_cols(rows[0].truncate(), rows[1].truncate(), rows[2].truncate()).transpose();
    (linear, DVec3::new(rows[0].w, rows[1].w, rows[2].w))
}

/// The same with dual quaternions; no two joints of a character are half a turn apart.
fn dual_blended(primitive: &Primitive, palette: &[JointMatrix], vertex: usize) -> (DMat3, DVec3) {
    let influences = primitive.influences().unwrap().row(vertex);
    let joints: Vec<_> = influences.iter().map(|i| dual::Joint::new(&palette[i.joint as usize])).collect();
    let weighted: Vec<_> =
        joints.iter().zip(influences).map(|(joint, i)| (joint, f64::from(i.weight))).collect();
    dual::blended(&weighted).unwrap()
}
