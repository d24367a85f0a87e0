//! Deformation as passes of a frame graph.
#![cfg(feature = "gpu")]

mod common;

use common::{
    gpu,
    models::{Shape, character},
};
use sinew::{
    Deformer, InstanceId, Skinned, declare,
    graph::{Graph, Limits, Plan, Runtime, RuntimeOptions},
};

const SHAPE: Shape = Shape { vertices: 700, joints: 30, influences: 4, targets: 2 };

struct Frame {
    deformer: Deformer,
}

struct Scene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    frame: Frame,
    graph: Graph<Frame>,
    skinned: Skinned,
    ids: Vec<InstanceId>,
}

impl Scene {
    /// Three instances of one model, at different times.
    fn new((device, queue): (wgpu::Device, wgpu::Queue)) -> Self {
        let mut deformer = Deformer::new(&device);
        let model = deformer.add_model(&queue, &character(7, SHAPE)).unwrap();
        let ids: Vec<_> = (0..3).map(|_| deformer.spawn(model).unwrap()).collect();
        for (i, &id) in ids.iter().enumerate() {
            deformer.play(id, "bend").unwrap();
            deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(0.3 * i as f64);
        }
        let mut graph = Graph::new();
        let skinned =
            declare(&mut graph, &deformer, ids.iter().copied(), |f: &mut Frame| &mut f.deformer).unwrap();
        Self { device, queue, frame: Frame { deformer }, graph, skinned, ids }
    }

    fn plan(&self) -> Plan {
        self.graph.compile(&Limits::from(&self.device.limits())).unwrap()
    }

    /// Copies what `copies` exports into CPU memory after one run.
    fn run(&mut self, plan: &Plan, runtime: &mut Runtime, read: &[sinew::graph::Buffer]) -> Vec<Vec<u8>> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        runtime.run(&mut self.graph, plan, &mut encoder, &mut self.frame).unwrap();
        let mut staging = Vec::new();
        for &buffer in read {
            let binding = runtime.exported(&self.graph, plan, buffer).expect("exported");
            let size = binding.size.map_or(0, |s| s.get());
            let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            encoder.copy_buffer_to_buffer(binding.buffer, binding.offset, &copy, 0, size);
            staging.push(copy);
        }
        gpu::submit(&self.device, &self.queue, encoder);
        let mut out = Vec::new();
        for copy in staging {
            copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
            self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            out.push(copy.slice(..).get_mapped_range().unwrap().to_vec());
        }
        out
    }

    fn runtime(&self) -> Runtime {
        Runtime::new(&self.device, &self.queue, RuntimeOptions::default())
    }
}
