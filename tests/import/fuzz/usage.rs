//! What a program does with a model that was loaded.

use glam::{Affine3A, Mat3A, Vec3};
use sinew::{
    Animator, CpuDeformer, InstanceId, Model, Precision,
    deform::posed_model,
    import::ImportOptions,
    model::Skinning,
    pick::{PickOptions, Picker, Ray, Sides, SurfacePoint},
};

/// Larger models than this are only loaded: the run has to end.
const MOST: usize = 4096;

/// Animates, deforms, exports and reads back, picks and attaches; whether it did, or what must not happen.
pub(super) fn try_use(model: &Model, number: u64) -> Result<bool, String> {
    let primitives = || model.meshes().iter().flat_map(|mesh| mesh.primitives());
    let moved = |p: &sinew::model::Primitive| p.targets().iter().map(|t| t.vertices().len()).sum::<usize>();
    let size: usize = primitives().map(|p| p.vertex_count() + p.indices().len() + moved(p)).sum();
    if size * model.parts().len().max(1) > MOST || model.skeleton().len() > MOST {
        return Ok(false);
    }
    deform(model, if number.is_multiple_of(2) { Precision::Packed } else { Precision::Exact })?;
    export(model)?;
    read_surface(model, number)?;
    Ok(true)
}

/// One frame of every clip. Output is finite for every model that was accepted.
fn deform(model: &Model, precision: Precision) -> Result<(), String> {
    let mut deformer = CpuDeformer::new();
    let Ok(id) = deformer.add_model(model, precision) else { return Ok(()) };
    let instance = deformer.spawn(id).map_err(|e| e.to_string())?;
    for clip in 0..model.clips().len().clamp(1, 3) as u32 {
        if !model.clips().is_empty() {
            deformer.animator_mut().play(instance, clip).map_err(|e| e.to_string())?;
        }
        deformer.animator_mut().advance(0.3);
        if deformer.run().is_err() {
            return Ok(());
        }
        for baked in deformer.bake(instance).map_err(|e| e.to_string())? {
            let vertices = &baked.vertices;
            let finite = vertices.positions.iter().all(|p| p.is_finite())
                && vertices.normals.iter().all(|n| n.is_finite())
                && vertices.tangents.iter().all(|t| t.is_finite());
            if !finite {
                return Err(format!("clip {clip} deforms mesh {} to what is not finite", baked.mesh));
            }
        }
    }
    Ok(())
}

/// What export writes, import reads.
fn export(model: &Model) -> Result<(), String> {
    let Ok(glb) = model.to_glb() else { return Ok(()) };
    match Model::from_bytes(&glb, &ImportOptions::default()) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("its export does not load: {error}")),
    }
}

/// Where an instance may stand that nobody wants to have there.
fn transforms() -> [Affine3A; 6] {
    let scaled = |scale| Affine3A::from_scale(Vec3::from_array(scale));
    [
        Affine3A::IDENTITY,
        scaled([0.0; 3]),
        scaled([1.0, -1.0, 0.0]),
        scaled([1e30, 1e-30, -1e30]),
        Affine3A::from_translation(Vec3::splat(f32::MAX)),
        Affine3A { matrix3: Mat3A::NAN, translation: Vec3::splat(f32::INFINITY).into() },
    ]
}

/// Rays, places on the surface and a model of one pose, by either skinning.
fn read_surface(model: &Model, number: u64) -> Result<(), String> {
    let mut model = model.clone();
    for mesh in (0..model.meshes().len() as u32).filter(|_| number.is_multiple_of(3)) {
        model = model.with_skinning(mesh, Skinning::DualQuaternion).map_err(|e| e.to_string())?;
    }
    let mut deformer = CpuDeformer::new();
    let Ok(id) = deformer.add_model(&model, Precision::Exact) else { return Ok(()) };
    let instance = deformer.spawn(id).map_err(|e| e.to_string())?;
    if !model.clips().is_empty() {
        deformer.animator_mut().play(instance, 0).map_err(|e| e.to_string())?.seek(0.3);
    }
    deformer.run().map_err(|e| e.to_string())?;
    let mut picker = Picker::new(&model).map_err(|e| e.to_string())?;
    picker.refit(&deformer, instance).map_err(|e| e.to_string())?;
    for transform in transforms() {
        deformer.animator_mut().set_transform(instance, transform).map_err(|e| e.to_string())?;
        pick(&picker, deformer.animator(), transform)?;
        attach(&model, deformer.animator(), instance)?;
    }
    // A pose may be larger than a model can hold, or have nothing in it.
    let Ok(posed) = posed_model(deformer.animator(), instance) else { return Ok(()) };
    let text = posed.to_obj("a.mtl").obj;
    if text.contains("NaN") || text.contains("inf") {
        return Err("its pose as OBJ is not finite".into());
    }
    export(&posed)
}

/// A hit is a place at a distance, and any hit says the same as the nearest.
fn pick(picker: &Picker, animator: &Animator, transform: Affine3A) -> Result<(), String> {
    let origin = Vec3::new(0.1, 0.2, 3.0);
    for target in [Vec3::ZERO, Vec3::Y, Vec3::from(transform.translation)] {
        let Ok(ray) = Ray::towards(origin, target) else { continue };
        for sides in [Sides::Both, Sides::AsDrawn] {
            let options = PickOptions { sides, ..PickOptions::default() };
            let hit = picker.nearest(animator, ray, &options).map_err(|e| e.to_string())?;
            let is_hit = picker.is_hit(animator, ray, &options).map_err(|e| e.to_string())?;
            let is_place = hit.is_none_or(|hit| {
                hit.distance >= 0.0 && hit.position.is_finite() && hit.normal.is_normalized()
            });
            if is_hit != hit.is_some() || !is_place {
                return Err(format!("{ray:?} under {transform:?}: {is_hit} {hit:?}"));
            }
        }
    }
    Ok(())
}

/// Directions are of unit length and upright to each other, wherever the instance stands.
fn attach(model: &Model, animator: &Animator, instance: InstanceId) -> Result<(), String> {
    for &part in model.shown_parts() {
        let mesh = &model.meshes()[model.parts()[part as usize].mesh as usize];
        for (primitive, data) in (0..).zip(mesh.primitives()) {
            for triangle in 0..data.triangle_count().min(4) as u32 {
                let point = SurfacePoint { part, primitive, triangle, barycentrics: Vec3::splat(1.0 / 3.0) };
                let frame = point.frame(animator, instance).map_err(|e| e.to_string())?;
                let is_upright = frame.normal.is_normalized()
                    && frame.tangent.is_normalized()
                    && frame.normal.dot(frame.tangent).abs() < 1e-3;
                if !is_upright {
                    return Err(format!("{point:?}: {frame:?}"));
                }
            }
        }
    }
    Ok(())
}
