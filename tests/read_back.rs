//! Deformed vertices on their way to the CPU: several at once, one instance alone, out of a graph, and off a device
//! that is gone.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;

use common::{
    gpu,
    models::{Shape, character},
};
use sinew::{
    Deformer, InstanceId, Precision, declare,
    deform::{BakedPrimitive, DeformError, gpu::declare_read_back},
    graph::{Graph, Limits, Runtime, RuntimeOptions},
};

const SHAPES: [Shape; 2] = [
    Shape { vertices: 500, joints: 12, influences: 4, targets: 2 },
    Shape { vertices: 333, joints: 3, influences: 0, targets: 0 },
];

struct Crowd {
    device: wgpu::Device,
    queue: wgpu::Queue,
    deformer: Deformer,
    ids: Vec<InstanceId>,
}

impl Crowd {
    /// Two instances each of two models, on a device whose bindings hold one instance only if `tight`.
    fn new(tight: bool) -> Self {
        let (device, queue) = if tight {
            let max_storage_buffer_binding_size = 40 << 10;
            gpu::device_with(wgpu::Limits { max_storage_buffer_binding_size, ..Default::default() })
        } else {
            gpu::device()
        };
        let mut deformer = Deformer::new(&device);
        let mut ids = Vec::new();
        for (seed, shape) in (1..).zip(SHAPES) {
            let model = deformer.add_model_with(&queue, &character(seed, shape), Precision::Exact).unwrap();
            for _ in 0..2 {
                let id = deformer.spawn(model).unwrap();
                deformer.play(id, 0).unwrap().seek(0.2 * (1 + ids.len()) as f64);
                ids.push(id);
            }
        }
        Self { device, queue, deformer, ids }
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    fn whole(&mut self, id: InstanceId) -> Vec<BakedPrimitive> {
        let mut encoder = self.encoder();
        self.deformer.record(&mut encoder).unwrap();
        let read_back = self.deformer.read_back(&mut encoder).unwrap();
        gpu::submit(&self.device, &self.queue, encoder);
        read_back.bake(&self.deformer, id).unwrap().unwrap()
    }
}

#[test]
fn one_instance_alone_is_as_in_all_of_them_and_others_are_refused() {
    for tight in [false, true] {
        let mut crowd = Crowd::new(tight);
        for at in 0..crowd.ids.len() {
            let id = crowd.ids[at];
            let expected = crowd.whole(id);
            let mut encoder = crowd.encoder();
            crowd.deformer.record(&mut encoder).unwrap();
            let read_back = crowd.deformer.read_back_of(&mut encoder, id).unwrap();
            gpu::submit(&crowd.device, &crowd.queue, encoder);
            assert_eq!(read_back.bake(&crowd.deformer, id).unwrap().unwrap(), expected);
            let other = crowd.ids[(at + 1) % 4];
            let refused = read_back.bake(&crowd.deformer, other);
            assert_eq!(refused, Err(DeformError::NotReadBack { instance: other }));
        }
    }
}

#[test]
fn one_instance_of_another_revision_or_gone_is_refused() {
    let mut crowd = Crowd::new(false);
    let id = crowd.ids[0];
    let mut encoder = crowd.encoder();
    assert_eq!(crowd.deformer.read_back_of(&mut encoder, id).err(), Some(DeformError::NotRecorded));
    crowd.deformer.record(&mut encoder).unwrap();
    let read_back = crowd.deformer.read_back_of(&mut encoder, id).unwrap();
    gpu::submit(&crowd.device, &crowd.queue, encoder);
    crowd.deformer.despawn(crowd.ids[1]).unwrap();
    assert_eq!(read_back.bake(&crowd.deformer, id), Err(DeformError::NotRecorded));
    let mut encoder = crowd.encoder();
    let stale = crowd.deformer.read_back_of(&mut encoder, crowd.ids[1]).err();
    assert!(matches!(stale, Some(DeformError::Animate(_))), "{stale:?}");
    assert_eq!(crowd.deformer.read_back_of(&mut encoder, id).err(), Some(DeformError::NotRecorded));
}

#[test]
fn read_backs_of_several_frames_are_under_way_at_once_and_each_keeps_its_own() {
    let mut crowd = Crowd::new(false);
    let id = crowd.ids[0];
    let times = [0.1, 0.5, 0.9];
    let mut under_way = Vec::new();
    for time in times {
        crowd.deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(time);
        let mut encoder = crowd.encoder();
        crowd.deformer.record(&mut encoder).unwrap();
        let read_back = crowd.deformer.read_back_of(&mut encoder, id).unwrap();
        assert!(!read_back.is_ready());
        assert_eq!(read_back.bake(&crowd.deformer, id), Ok(None), "not submitted yet");
        crowd.queue.submit([encoder.finish()]);
        under_way.push(read_back);
    }
    crowd.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let read: Vec<_> = under_way
        .iter()
        .map(|read_back| {
            assert!(read_back.is_ready());
            read_back.bake(&crowd.deformer, id).unwrap().unwrap()
        })
        .collect();
    for (time, read) in times.into_iter().zip(read) {
        crowd.deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(time);
        assert_eq!(read, crowd.whole(id), "{time}");
    }
}

#[test]
fn a_lost_device_is_an_error_and_not_an_endless_wait() {
    let mut crowd = Crowd::new(false);
    let id = crowd.ids[0];
    crowd.device.on_uncaptured_error(std::sync::Arc::new(|_| ()));
    let mut encoder = crowd.encoder();
    crowd.deformer.record(&mut encoder).unwrap();
    let before = crowd.deformer.read_back(&mut encoder).unwrap();
    crowd.device.destroy();
    crowd.queue.submit([encoder.finish()]);
    let _ = crowd.device.poll(wgpu::PollType::Poll);
    assert!(before.is_ready());
    assert_eq!(before.bake(&crowd.deformer, id), Err(DeformError::Map));
}

#[test]
fn an_encoder_that_is_dropped_is_an_error_of_every_kind_of_read_back() {
    let mut crowd = Crowd::new(false);
    let id = crowd.ids[0];
    let mut encoder = crowd.encoder();
    crowd.deformer.record(&mut encoder).unwrap();
    let read_backs = [
        crowd.deformer.read_back(&mut encoder).unwrap(),
        crowd.deformer.read_back_of(&mut encoder, id).unwrap(),
    ];
    drop(encoder);
    for read_back in read_backs {
        assert!(read_back.is_ready());
        assert_eq!(read_back.bake(&crowd.deformer, id), Err(DeformError::Map));
    }
}

#[test]
fn a_graph_reads_back_the_parts_that_it_was_asked_for_in_the_runs_that_were() {
    let mut crowd = Crowd::new(false);
    let (id, other) = (crowd.ids[1], crowd.ids[2]);
    let mut graph = Graph::new();
    let all = crowd.ids.iter().copied();
    let skinned = declare(&mut graph, &crowd.deformer, all, |deformer: &mut Deformer| deformer).unwrap();
    let requests = declare_read_back(&mut graph, &crowd.device, skinned.parts(id));
    let plan = graph.compile(&Limits::from(&crowd.device.limits())).unwrap();
    // Transient memory holds nothing of the run before.
    let poison = RuntimeOptions { poison: true, ..RuntimeOptions::default() };
    let mut runtime = Runtime::new(&crowd.device, &crowd.queue, poison);
    let mut run = |crowd: &mut Crowd, time: f64| {
        crowd.deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(time);
        let mut encoder = crowd.encoder();
        runtime.run(&mut graph, &plan, &mut encoder, &mut crowd.deformer).unwrap();
        crowd.queue.submit([encoder.finish()]);
    };
    run(&mut crowd, 0.1);
    assert!(requests.take().is_none());
    requests.request();
    run(&mut crowd, 0.3);
    run(&mut crowd, 0.5);
    requests.request();
    run(&mut crowd, 0.7);
    crowd.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    for time in [0.3, 0.7] {
        let read_back = requests.take().unwrap();
        assert!(read_back.is_ready());
        let read = read_back.bake(&crowd.deformer, id).unwrap().unwrap();
        assert_eq!(read_back.bake(&crowd.deformer, other), Err(DeformError::NotReadBack { instance: other }));
        crowd.deformer.animator_mut().player_mut(id).unwrap().unwrap().seek(time);
        assert_eq!(read, crowd.whole(id), "{time}");
    }
    assert!(requests.take().is_none());
}
