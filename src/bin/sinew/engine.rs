//! One model at a time, posed and deformed for reading.

use std::fmt;

use sinew::{
    Animator, CpuDeformer, Deformer, InstanceId, Model, Precision,
    deform::{BakedPrimitive, Capture},
};

use crate::{failure::Failure, gpu::Gpu};

/// A clip, or the rest pose, and seconds into it.
pub(crate) type Pose = (Option<u32>, f64);

/// What deforms.
pub(crate) enum Engine {
    Cpu(Box<CpuDeformer>),
    Gpu(Box<(Gpu, Deformer)>),
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(_) => f.write_str("the CPU"),
            Self::Gpu(gpu) => write!(f, "{}", gpu.0.name),
        }
    }
}

impl Engine {
    /// The kernel's twin.
    pub(crate) fn cpu() -> Self {
        Self::Cpu(Box::default())
    }

    pub(crate) fn gpu(gpu: Gpu) -> Self {
        let deformer = Deformer::new(&gpu.device);
        Self::Gpu(Box::new((gpu, deformer)))
    }

    /// One pose of the model, deformed as in [`bake`](Self::bake) and captured.
    pub(crate) fn capture(&mut self, model: &Model, (clip, time): Pose) -> Result<Capture, Failure> {
        match self {
            Self::Cpu(deformer) => {
                let id = deformer.add_model(model, Precision::Exact)?;
                let instance = deformer.spawn(id)?;
                pose(deformer.animator_mut(), instance, clip, time)?;
                deformer.run()?;
                let capture = deformer.capture()?;
                deformer.despawn(instance)?;
                deformer.remove_model(id)?;
                Ok(capture)
            }
            Self::Gpu(both) => {
                let (gpu, deformer) = &mut **both;
                let id = deformer.add_model_with(&gpu.queue, model, Precision::Exact)?;
                let instance = deformer.spawn(id)?;
                pose(deformer.animator_mut(), instance, clip, time)?;
                let capture = captured(gpu, deformer)?;
                deformer.despawn(instance)?;
                deformer.remove_model(&gpu.queue, id)?;
                Ok(capture)
            }
        }
    }

    /// Deforms the model's default scene in each pose, clamped to its clip, exactly, at the origin: instance space is world space.
    pub(crate) fn bake(
        &mut self,
        model: &Model,
        poses: &[Pose],
        mut take: impl FnMut(Option<u32>, f64, &[BakedPrimitive]),
    ) -> Result<(), Failure> {
        match self {
            Self::Cpu(deformer) => {
                let id = deformer.add_model(model, Precision::Exact)?;
                let instance = deformer.spawn(id)?;
                for &(clip, time) in poses {
                    pose(deformer.animator_mut(), instance, clip, time)?;
                    deformer.run()?;
                    take(clip, time, &deformer.bake(instance)?);
                }
                deformer.despawn(instance)?;
                Ok(deformer.remove_model(id)?)
            }
            Self::Gpu(both) => {
                let (gpu, deformer) = &mut **both;
                let id = deformer.add_model_with(&gpu.queue, model, Precision::Exact)?;
                let instance = deformer.spawn(id)?;
                for &(clip, time) in poses {
                    pose(deformer.animator_mut(), instance, clip, time)?;
                    take(clip, time, &read_back(gpu, deformer, instance)?);
                }
                deformer.despawn(instance)?;
                Ok(deformer.remove_model(&gpu.queue, id)?)
            }
        }
    }
}

/// Deforms every instance as it stands, waits, and captures that.
pub(crate) fn captured(gpu: &Gpu, deformer: &mut Deformer) -> Result<Capture, Failure> {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder)?;
    let capture = deformer.start_capture(&mut encoder)?;
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()?;
    capture.finish()?.ok_or_else(|| Failure::new(format_args!("{} did not finish", gpu.name)))
}

/// Puts an instance into a pose for the next evaluation.
pub(crate) fn pose(
    animator: &mut Animator,
    instance: InstanceId,
    clip: Option<u32>,
    time: f64,
) -> Result<(), Failure> {
    match clip {
        Some(clip) => animator.play(instance, clip)?.seek(time),
        None => animator.stop(instance)?,
    }
    Ok(())
}

/// Deforms on the GPU, waits, and reads.
fn read_back(
    gpu: &Gpu,
    deformer: &mut Deformer,
    instance: InstanceId,
) -> Result<Vec<BakedPrimitive>, Failure> {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    deformer.record(&mut encoder)?;
    let read_back = deformer.read_back(&mut encoder)?;
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()?;
    let baked = read_back.bake(deformer, instance)?;
    baked.ok_or_else(|| Failure::new(format_args!("{} did not finish", gpu.name)))
}
