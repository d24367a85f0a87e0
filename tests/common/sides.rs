//! One model on the GPU and on its twin.

use sinew::{Animator, CpuDeformer, Deformer, InstanceId, Model, Packing, deform::BakedPrimitive};

use super::gpu;

pub struct Sides {
    device: wgpu::Device,
    queue: wgpu::Queue,
    deformer: Deformer,
}

impl Sides {
    pub fn new() -> Self {
        let (device, queue) = gpu::device();
        let deformer = Deformer::new(&device);
        Self { device, queue, deformer }
    }

    /// An instance in a pose, as the kernel and then as its twin deforms it.
    pub fn bake(
        &mut self,
        model: &Model,
        packing: impl Into<Packing>,
        pose: impl Fn(&mut Animator, InstanceId),
    ) -> [Vec<BakedPrimitive>; 2] {
        let packing = packing.into();
        let deformer = &mut self.deformer;
        let handle = deformer.add_model_with(&self.queue, model, packing).unwrap();
        let id = deformer.spawn(handle).unwrap();
        pose(deformer.animator_mut(), id);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        deformer.record(&mut encoder).unwrap();
        let read_back = deformer.read_back(&mut encoder).unwrap();
        gpu::submit(&self.device, &self.queue, encoder);
        let on_gpu = read_back.bake(deformer, id).unwrap().unwrap();
        deformer.despawn(id).unwrap();
        deformer.remove_model(&self.queue, handle).unwrap();
        let mut cpu = CpuDeformer::new();
        let on_cpu = cpu.add_model(model, packing).unwrap();
        let on_cpu = cpu.spawn(on_cpu).unwrap();
        pose(cpu.animator_mut(), on_cpu);
        cpu.run().unwrap();
        [on_gpu, cpu.bake(on_cpu).unwrap()]
    }
}
