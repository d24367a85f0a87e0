//! Poses written as models look like the pose.

use std::path::Path;

use sinew::{
    Animator,
    deform::{VertexAnimation, posed_model},
    import::ImportOptions,
    model::Interpolation,
    render::{Camera, Light},
};

use super::{common::picture::draw_from, *};

/// The model in a clip at a time, a file of that pose, and the pose as a frame of a file of frames; all from one
/// camera that sees the pose whole.
fn pictures(model: &Model, clip: u32, time: f32) -> [Vec<u8>; 3] {
    let mut animator = Animator::new();
    let id = animator.add_model(model);
    let id = animator.spawn(id).unwrap();
    let mut frames = VertexAnimation::new();
    for at in [0.0, time] {
        animator.play(id, clip).unwrap().seek(f64::from(at));
        animator.evaluate();
        frames.push(&animator, id, at).unwrap();
    }
    let written = [posed_model(&animator, id).unwrap(), frames.finish("", Interpolation::Linear).unwrap()];
    let [posed, frames] =
        written.map(|model| Model::from_bytes(&model.to_glb().unwrap(), &ImportOptions::default()).unwrap());
    let points = posed.meshes().iter().flat_map(|mesh| mesh.primitives()).flat_map(|p| p.positions());
    let (min, max) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(*p), b.max(*p)));
    let (target, size) = ((min + max) * 0.5, (max - min).length());
    let eye = target + Vec3::new(0.6, 0.3, 1.2) * size;
    let camera = Camera { eye, target, aspect: 1.0, near: 0.01 * size, ..Camera::default() };
    let draw = |model: &Model, clip: Option<u32>| {
        let (picture, _) = draw_from(model, camera, Light::default(), |deformer, id| {
            if let Some(clip) = clip {
                deformer.play(id, clip).unwrap().seek(f64::from(time));
            }
        });
        picture.0
    };
    [draw(model, Some(clip)), draw(&posed, None), draw(&frames, Some(0))]
}

#[test]
fn a_pose_and_a_frame_look_like_the_model_in_that_pose() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, clip, time) in [
        ("assets/mascot.glb", 0, 0.3),
        // Joints that mirror, normal maps, flat normals.
        ("tests/data/assets/blender/mirror_nonuniform_multi.gltf", 0, 0.4),
        ("tests/data/assets/blender/suzanne_skin_morph_tangent8.glb", 0, 0.5),
        ("tests/data/assets/conf/negative_nonuniform_joint_scale.glb", 0, 0.5),
        ("tests/data/assets/conf/all_modes_skinned.glb", 0, 0.5),
    ] {
        let model = Model::load(root.join(file)).unwrap();
        let [original, posed, frame] = pictures(&model, clip, time);
        let is_background = |pixel: &[u8]| pixel == &original[..4];
        let drawn = original.chunks_exact(4).filter(|pixel| !is_background(pixel)).count();
        assert!(drawn > 100, "{file}: {drawn} pixels are drawn");
        for (name, other) in [("pose", posed), ("frame", frame)] {
            let pairs = || original.chunks_exact(4).zip(other.chunks_exact(4));
            let outline = pairs().filter(|(a, b)| is_background(a) != is_background(b)).count();
            // Normals are packed to 16 bits before the skin here and after it there.
            let far = pairs().filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 6)).count();
            assert!(outline <= 2 && far <= drawn / 100 + 2, "{file} {name}: {outline} and {far} of {drawn}");
        }
    }
}
