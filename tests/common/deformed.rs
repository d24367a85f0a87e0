//! A few instances of several models on the GPU, and the bytes that come out.

use sinew::{Deformer, DeformerOptions, InstanceId, Model};

use super::{
    gpu,
    models::{Shape, character},
};

pub const SHAPES: [Shape; 3] = [
    Shape { vertices: 900, joints: 30, influences: 4, targets: 0 },
    Shape { vertices: 700, joints: 20, influences: 2, targets: 3 },
    Shape { vertices: 300, joints: 5, influences: 0, targets: 0 },
];

pub fn models() -> Vec<Model> {
    (1..).zip(SHAPES).map(|(seed, shape)| character(seed, shape)).collect()
}

pub struct Crowd {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub deformer: Deformer,
    pub instances: Vec<(InstanceId, usize)>,
}

impl Crowd {
    /// Four instances of each model, each at its own time.
    pub fn new((device, queue): (wgpu::Device, wgpu::Queue), options: DeformerOptions) -> Self {
        let models = models();
        let mut deformer = Deformer::with(&device, options);
        let mut instances = Vec::new();
        for (at, model) in models.iter().enumerate() {
            let id = deformer.add_model(&queue, model).unwrap();
            for _ in 0..4 {
                let instance = deformer.spawn(id).unwrap();
                deformer.play(instance, 0).unwrap().seek(0.07 * instances.len() as f64);
                instances.push((instance, at));
            }
        }
        Self { device, queue, deformer, instances }
    }

    pub fn record(&mut self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.deformer.record(&mut encoder).unwrap();
        gpu::submit(&self.device, &self.queue, encoder);
    }

    pub fn bytes(&self, slice: wgpu::BufferSlice<'_>) -> Vec<u8> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: slice.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(slice.buffer(), slice.offset(), &copy, 0, slice.size());
        gpu::submit(&self.device, &self.queue, encoder);
        copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        copy.slice(..).get_mapped_range().unwrap().to_vec()
    }

    /// Both outputs of every instance.
    pub fn outputs(&self) -> Vec<[Vec<u8>; 2]> {
        let output = |(id, _): &(InstanceId, usize)| {
            let vertices = self.deformer.vertices(*id, 0).unwrap();
            [self.bytes(vertices.a), self.bytes(vertices.b)]
        };
        self.instances.iter().map(output).collect()
    }

    pub fn recorded(&mut self) -> Vec<[Vec<u8>; 2]> {
        self.record();
        self.outputs()
    }

    /// Zeros, where the next record has to write.
    pub fn poison(&self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for (id, _) in &self.instances {
            let vertices = self.deformer.vertices(*id, 0).unwrap();
            for slice in [vertices.a, vertices.b] {
                encoder.clear_buffer(slice.buffer(), slice.offset(), Some(slice.size()));
            }
        }
        gpu::submit(&self.device, &self.queue, encoder);
    }

    /// By instance, whether anything is there.
    pub fn written(&self) -> Vec<bool> {
        self.outputs().iter().map(|[a, _]| a.iter().any(|byte| *byte != 0)).collect()
    }
}

pub fn clearable() -> DeformerOptions {
    DeformerOptions { output_usage: wgpu::BufferUsages::COPY_DST, ..Default::default() }
}

pub fn usual() -> Vec<[Vec<u8>; 2]> {
    Crowd::new(gpu::device(), DeformerOptions::default()).recorded()
}

/// Little more than the largest instance needs.
pub fn tight() -> (wgpu::Device, wgpu::Queue) {
    gpu::device_with(wgpu::Limits { max_storage_buffer_binding_size: 16 << 10, ..Default::default() })
}
