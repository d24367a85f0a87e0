//! What a program does with a model that was loaded.

use sinew::{CpuDeformer, Model, Precision, import::ImportOptions};

/// Larger models than this are only loaded: the run has to end.
const MOST: usize = 4096;

/// Animates, deforms, exports and reads back; whether it did, or what must not happen.
pub(super) fn try_use(model: &Model, number: u64) -> Result<bool, String> {
    let primitives = || model.meshes().iter().flat_map(|mesh| mesh.primitives());
    let moved = |p: &sinew::model::Primitive| p.targets().iter().map(|t| t.vertices().len()).sum::<usize>();
    let size: usize = primitives().map(|p| p.vertex_count() + p.indices().len() + moved(p)).sum();
    if size * model.parts().len().max(1) > MOST || model.skeleton().len() > MOST {
        return Ok(false);
    }
    deform(model, if number.is_multiple_of(2) { Precision::Packed } else { Precision::Exact })?;
    export(model)?;
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
