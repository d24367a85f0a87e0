//! A steady frame through the graph allocates what the same wgpu calls by hand allocate, and no more.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

#[path = "support/counting.rs"]
mod counting;
mod support;

use sinew_graph::{Bind, Graph, Limits, Runtime, RuntimeOptions, UploadRing};
use support::{buffer, device, encoder, kernel};

const SIZE: u64 = 64;
const FRAMES: u64 = 200;

/// Allocations of `FRAMES` frames after a warm-up. Each frame is submitted and waited for.
fn allocations(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut record: impl FnMut(&mut wgpu::CommandEncoder),
) -> u64 {
    let mut frame = || {
        let mut encoder = encoder(device);
        record(&mut encoder);
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    };
    (0..100).for_each(|_| frame());
    let before = counting::allocations();
    (0..FRAMES).for_each(|_| frame());
    counting::allocations() - before
}

fn dispatch(pass: &mut wgpu::ComputePass<'_>, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup) {
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
}

/// Host upload, two compute passes and a copy: through the graph.
fn by_graph(device: &wgpu::Device, queue: &wgpu::Queue) -> u64 {
    let pipeline = kernel(device, 1, 1);
    let result = buffer(device, SIZE, wgpu::BufferUsages::COPY_DST);
    let mut graph = Graph::<()>::new();
    let [a, c] = ["a", "c"].map(|label| graph.transient(label, SIZE));
    // Kept from run to run, under a name that is not static.
    let b = graph.persistent(String::from("b"), SIZE);
    let result = graph.import("result", &result);
    graph.host("animate", |pass| {
        let access = pass.upload(a);
        move |host, ()| host.write(access).copy_from_slice(&[1; SIZE as usize])
    });
    for (label, from, to) in [("morph", a, b), ("skin", b, c)] {
        let pipeline = pipeline.clone();
        graph.compute(label, |pass| {
            let binds: [Bind; 2] = [pass.storage_read(from).into(), pass.storage_write(to).into()];
            let group = pass.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(binds));
            move |pass, resources, ()| dispatch(pass, &pipeline, resources.group(group))
        });
    }
    graph.transfer("copy", |pass| {
        let (from, to) = (pass.copy_src(c), pass.copy_dst(result));
        move |encoder, resources, ()| {
            let (from, to) = (resources.binding(from), resources.binding(to));
            encoder.copy_buffer_to_buffer(from.buffer, from.offset, to.buffer, to.offset, SIZE);
        }
    });
    let plan = graph.compile(&Limits::default()).expect("a valid graph");
    let mut runtime = Runtime::new(device, queue, RuntimeOptions::default());
    let count = allocations(device, queue, |encoder| {
        runtime.run(&mut graph, &plan, encoder, &mut ()).expect("recorded");
    });
    assert_eq!(
        (runtime.staging_created(), runtime.prepared_plans()),
        (1, 1),
        "a steady state creates nothing"
    );
    count
}

/// The same wgpu calls in the same order, on as many buffers: `a` and `c` never live together.
fn by_hand(device: &wgpu::Device, queue: &wgpu::Queue) -> u64 {
    let pipeline = kernel(device, 1, 1);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let [result, a, b] = [(); 3].map(|()| buffer(device, SIZE, usage));
    let group = |from: &wgpu::Buffer, to: &wgpu::Buffer| {
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: from.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: to.as_entire_binding() },
            ],
        })
    };
    let groups = [("morph", group(&a, &b)), ("skin", group(&b, &a))];
    let mut ring = UploadRing::new(device);
    allocations(device, queue, |encoder| {
        let mut staging = ring.take(SIZE).expect("mapped memory");
        staging.bytes().slice(..SIZE as usize).copy_from_slice(&[1; SIZE as usize]);
        staging.copy(encoder, 0..SIZE, &a, 0);
        for (label, group) in &groups {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(label),
                timestamp_writes: None,
            });
            dispatch(&mut pass, &pipeline, group);
        }
        encoder.copy_buffer_to_buffer(&a, 0, &result, 0, SIZE);
        staging.finish(encoder);
    })
}

/// What the ring adds to mapping and unmapping one buffer by hand.
fn by_ring_alone(device: &wgpu::Device, queue: &wgpu::Queue) -> u64 {
    let into = buffer(device, SIZE, wgpu::BufferUsages::COPY_DST);
    let mut ring = UploadRing::new(device);
    allocations(device, queue, |encoder| {
        let mut staging = ring.take(SIZE).expect("mapped memory");
        staging.bytes().slice(..SIZE as usize).copy_from_slice(&[1; SIZE as usize]);
        staging.copy(encoder, 0..SIZE, &into, 0);
        staging.finish(encoder);
    })
}

fn by_mapping_alone(device: &wgpu::Device, queue: &wgpu::Queue) -> u64 {
    let into = buffer(device, SIZE, wgpu::BufferUsages::COPY_DST);
    let size = 16 << 10;
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: true,
    });
    allocations(device, queue, |encoder| {
        let mut view = staging.get_mapped_range_mut(..).expect("mapped");
        view.slice(..SIZE as usize).copy_from_slice(&[1; SIZE as usize]);
        drop(view);
        encoder.copy_buffer_to_buffer(&staging, 0, &into, 0, SIZE);
        staging.unmap();
        let kept = Some(staging.clone());
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Write, .., move |_| drop(kept));
    })
}

/// On a device of its own: wgpu's own count depends on how many objects the device has seen.
fn fresh(measure: fn(&wgpu::Device, &wgpu::Queue) -> u64) -> u64 {
    let (device, queue) = device();
    measure(&device, &queue)
}

// One test: the counter is shared by all threads of the binary.
#[test]
fn a_steady_frame_allocates_nothing_of_its_own() {
    assert_eq!(fresh(by_ring_alone), fresh(by_mapping_alone), "the upload ring");
    assert_eq!(fresh(by_graph), fresh(by_hand), "the graph");
}
