use crate::{
    animate::ClipRef,
    deform::{CpuDeformer, DeformError, Precision},
    model::{Bounds, Model},
};

/// Poses looked at over a clip; enough that what lies between them moves within the margin of a framing.
const POSES: u32 = 16;

/// The box of all deformed vertices of the shown parts over a clip, or at rest without one: computed on
/// the CPU, for framing a camera before the first frame.
pub fn extents<'c>(model: &Model, clip: Option<impl Into<ClipRef<'c>>>) -> Result<Bounds, DeformError> {
    let _span = tracing::debug_span!("extents").entered();
    let mut deformer = CpuDeformer::new();
    let id = deformer.add_model(model, Precision::Exact)?;
    let instance = deformer.spawn(id)?;
    let mut bounds = Bounds::EMPTY;
    let Some(clip) = clip else {
        add_pose(&mut deformer, instance, &mut bounds)?;
        return Ok(bounds);
    };
    deformer.animator_mut().play(instance, clip)?;
    let index = deformer.animator().player(instance)?.map_or(0, |player| player.clip());
    let (start, end) = model
        .clips()
        .get(index as usize)
        .map_or((0.0, 0.0), |clip| (f64::from(clip.start()), f64::from(clip.duration())));
    for pose in 0..=POSES {
        if let Some(player) = deformer.animator_mut().player_mut(instance)? {
            player.seek(start + (end - start) * f64::from(pose) / f64::from(POSES));
        }
        add_pose(&mut deformer, instance, &mut bounds)?;
    }
    Ok(bounds)
}

fn add_pose(
    deformer: &mut CpuDeformer,
    instance: crate::InstanceId,
    bounds: &mut Bounds,
) -> Result<(), DeformError> {
    deformer.run()?;
    let transform = deformer.animator().transform(instance)?;
    for primitive in deformer.bake(instance)? {
        primitive.vertices.positions.iter().for_each(|p| bounds.add(transform.transform_point3(*p)));
    }
    Ok(())
}
