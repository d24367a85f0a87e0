//! A steady frame allocates nothing: evaluation and the twin at all, the graph nothing beyond the same wgpu
//! calls by hand.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a helper too, a failure fails the test"
)]

mod common;
#[path = "../graph/tests/support/counting.rs"]
mod counting;

use common::{
    models::{Shape, character},
    tube::tube,
};
use sinew::{
    Animator, CpuDeformer, Deformer, Frustum, Precision,
    animate::{
        CompressOptions, CompressedClips, JointMap, JointMatrix, LayerKind, Mask, Pose, Reference,
        set_channels,
    },
    declare,
    graph::{Graph, Limits, Runtime, RuntimeOptions, UploadRing},
    ik::{Aim, Ccd, Chain, Spring, SpringJoint, Target, TwoBone},
    pick::{PickOptions, Picker, Ray, Sides, Socket},
    retarget::{Hip, Mode, RestRelative, Retarget, RetargetOptions, WorldCopy},
};

const FRAMES: u64 = 40;
const SHAPE: Shape = Shape { vertices: 500, joints: 20, influences: 4, targets: 3 };

/// Allocations of `FRAMES` frames after a warm-up.
fn steady(mut frame: impl FnMut()) -> u64 {
    (0..40).for_each(|_| frame());
    let before = counting::allocations();
    (0..FRAMES).for_each(|_| frame());
    counting::allocations() - before
}

/// The least of some such rounds. A thread allocates what it works with when it first gets work, and on a busy machine
/// some of a pool's threads get none for a while.
fn settled(rounds: u32, mut frame: impl FnMut()) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..rounds {
        least = least.min(steady(&mut frame));
        if least == 0 {
            break;
        }
    }
    least
}

fn on_cpu(characters: usize) -> u64 {
    let mut deformer = CpuDeformer::new();
    let data = character(1, SHAPE);
    let mask = Mask::new(&data, 0.5);
    let map = JointMap::new(&data, &data, (0..10).map(|node| (node, node))).unwrap();
    let model = deformer.add_model(&data, Precision::Packed).unwrap();
    for _ in 0..characters {
        let id = deformer.spawn(model).unwrap();
        deformer.animator_mut().play(id, "bend").unwrap();
        // Several layers, one of them masked, one additive, a node of its own, and a follower.
        let animator = deformer.animator_mut();
        animator.add_layer(id, "bend", LayerKind::Blend).unwrap().mask = Some(mask.clone());
        animator.add_layer(id, "bend", LayerKind::Additive(Reference::Time(0.5))).unwrap().weight = 0.5;
        animator.set_scale(id, 0, glam::Vec3::splat(2.0)).unwrap();
        animator.show_node(id, 1, false).unwrap();
        let follower = animator.spawn_following(model, id, &map).unwrap();
        animator.play(follower, "bend").unwrap();
        animator.show_node(follower, 2, false).unwrap();
    }
    steady(|| {
        deformer.animator_mut().advance(1.0 / 60.0);
        deformer.run().unwrap();
    })
}

/// Compressed clips, some of them blended, some evaluated every few frames within a budget, and palettes that go
/// elsewhere.
fn in_a_crowd(characters: usize, rounds: u32) -> u64 {
    let data = character(1, SHAPE);
    let mut animator = Animator::new();
    let model = animator.add_model(&data);
    let clips = CompressedClips::new(&data, &CompressOptions::default().with_tolerance(1.0));
    animator.set_compressed(model, Some(clips)).unwrap();
    animator.keep_poses(model, false).unwrap();
    for number in 0..characters as u32 {
        let id = animator.spawn(model).unwrap();
        for _ in 0..1 + number % 2 {
            animator.add_layer(id, "bend", LayerKind::Blend).unwrap();
        }
        animator.set_rate(id, number % 4).unwrap();
    }
    animator.set_frame_budget(Some(characters / 8));
    let mut palettes = vec![JointMatrix::IDENTITY; animator.palette_rows()];
    settled(rounds, || {
        animator.advance(1.0 / 60.0);
        animator.evaluate();
        animator.evaluate_into(&mut palettes).unwrap();
    })
}

/// Every modifier of the library on every instance, whole and in part, some at a rate.
fn with_modifiers(characters: usize, keeps_poses: bool) -> u64 {
    let data = character(1, SHAPE);
    let skeleton = data.skeleton();
    let mut animator = Animator::new();
    let model = animator.add_model(&data);
    animator.keep_poses(model, keeps_poses).unwrap();
    let chain = Chain { iterations: 5, ..Chain::new(12, [11, 10, 9, 8], Target::Node(3)) };
    let ccd = Ccd::new(skeleton, [chain]).unwrap();
    let limb = TwoBone::new(skeleton, [2, 4, 6]).unwrap();
    let aim = Aim::new(skeleton, 14).unwrap();
    let spring = Spring::new(skeleton, 15, 19, SpringJoint::default()).unwrap();
    for number in 0..characters as u32 {
        let id = animator.spawn(model).unwrap();
        animator.play(id, "bend").unwrap();
        let mut added = vec![animator.add_modifier(id, ccd.clone()).unwrap()];
        added.push(animator.add_modifier(id, limb.clone()).unwrap());
        added.push(animator.add_modifier(id, aim.clone()).unwrap());
        added.push(animator.add_modifier(id, spring.clone()).unwrap());
        for (modifier, weight) in added.into_iter().zip([1.0, 0.5, 0.25, 1.0]) {
            animator.set_modifier_weight(id, modifier, weight).unwrap();
        }
        animator.set_rate(id, number % 3).unwrap();
    }
    steady(|| {
        animator.advance(1.0 / 60.0);
        animator.evaluate();
    })
}

/// A character that is posed, refitted and asked for hits and attachments.
fn with_a_picker() -> u64 {
    let data = tube(60, 24, 12);
    let mut deformer = CpuDeformer::new();
    let model = deformer.add_model(&data, Precision::Exact).unwrap();
    let id = deformer.spawn(model).unwrap();
    deformer.animator_mut().play(id, 0).unwrap();
    let mut picker = Picker::new(&data).unwrap();
    let ray = Ray::new(glam::Vec3::new(9.0, 0.5, 0.0), glam::Vec3::NEG_X).unwrap();
    let options = PickOptions { sides: Sides::Front, ..PickOptions::default() };
    let hand = Socket::joint(3, glam::Affine3A::IDENTITY);
    steady(|| {
        deformer.animator_mut().advance(1.0 / 60.0);
        deformer.run().unwrap();
        picker.refit(&deformer, id).unwrap();
        let animator = deformer.animator();
        let hit = picker.nearest(animator, ray, &options).unwrap().unwrap();
        assert!(picker.is_hit(animator, ray, &options).unwrap());
        Socket::surface(&hit, glam::Affine3A::IDENTITY).world(animator, id).unwrap();
        hand.world(animator, id).unwrap();
    })
}

struct Frame {
    deformer: Deformer,
}

/// A whole frame through the graph, or the wgpu calls it makes by hand, on a device of its own that has
/// made the same objects: wgpu's own count depends on them.
fn on_gpu(characters: usize, by_hand: bool) -> u64 {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    // wgpu's trackers grow by index: whichever is measured comes first.
    let first = by_hand.then(|| Hand::new(&device));
    let mut deformer = Deformer::new(&device);
    let model = deformer.add_model(&queue, &character(1, SHAPE)).unwrap();
    let ids: Vec<_> = (0..characters).map(|_| deformer.spawn(model).unwrap()).collect();
    for &id in &ids {
        deformer.play(id, "bend").unwrap();
    }
    let mut graph = Graph::new();
    let skinned = declare(&mut graph, &deformer, ids, |f: &mut Frame| &mut f.deformer).unwrap();
    for part in skinned.all() {
        graph.export(part.a);
        graph.export(part.b);
    }
    let plan = graph.compile(&Limits::from(&device.limits())).unwrap();
    let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
    let mut frame = Frame { deformer };
    let hand = first.unwrap_or_else(|| Hand::new(&device));
    let mut ring = UploadRing::new(&device);
    let mut run = |by_hand: bool| {
        let mut encoder = device.create_command_encoder(&Default::default());
        if by_hand {
            hand.record(&mut encoder, &mut ring);
        } else {
            frame.deformer.advance(1.0 / 60.0);
            runtime.run(&mut graph, &plan, &mut encoder, &mut frame).unwrap();
        }
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    };
    (0..3).for_each(|_| run(true));
    (0..3).for_each(|_| run(false));
    steady(|| run(by_hand))
}

/// One upload, two copies and one dispatch with eight buffers.
struct Hand {
    upload: wgpu::Buffer,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Hand {
    fn new(device: &wgpu::Device) -> Self {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        // As the plan places them: four sources, both uploads in one arena, both outputs in another.
        let buffers = [(); 6].map(|()| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 512,
                usage,
                mapped_at_creation: false,
            })
        });
        let declared = |i: usize| {
            let access = if i < 6 { "read" } else { "read_write" };
            format!("@group(0) @binding({i}) var<storage, {access}> b{i}: array<u32>;\n")
        };
        let sum = (0..6).map(|i| format!("b{i}[0]")).collect::<Vec<_>>().join(" + ");
        let main = format!("@compute @workgroup_size(1) fn main() {{ b6[0] = {sum}; b7[0] = 1u; }}");
        let text = (0..8).map(declared).collect::<String>() + &main;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let places = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (4, 256), (5, 0), (5, 256)];
        let bind = |(binding, (buffer, offset)): (u32, (usize, u64))| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffers[buffer],
                offset,
                size: wgpu::BufferSize::new(256),
            }),
        };
        let entries: Vec<_> = (0u32..).zip(places).map(bind).collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Self { upload: buffers[4].clone(), pipeline, group }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, ring: &mut UploadRing) {
        let mut staging = ring.take(512).unwrap();
        staging.bytes().slice(..512).copy_from_slice(&[0; 512]);
        staging.copy(encoder, 0..256, &self.upload, 0);
        staging.copy(encoder, 256..512, &self.upload, 256);
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("deform"),
                timestamp_writes: None,
            });
            pass.set_bind_group(0, &self.group, &[]);
            pass.set_pipeline(&self.pipeline);
            pass.dispatch_workgroups(1, 1, 1);
        }
        staging.finish(encoder);
    }
}

/// On a thread of a rayon pool: work that other threads hand over to one allocates there.
fn in_a_pool(run: impl FnOnce() -> u64 + Send) -> u64 {
    #[cfg(feature = "threads")]
    return rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(run);
    #[cfg(not(feature = "threads"))]
    run()
}

/// One character drives another, in each mode.
fn retargeting(mode: Mode) -> u64 {
    let data = character(1, SHAPE);
    let names = data.skeleton().names().iter().map(|name| (name.clone(), name.clone())).collect();
    let options = RetargetOptions { mode, names, hip: Hip::Named("joint 1".into()), ..Default::default() };
    let mut retarget = Retarget::new(&data, &data, &options).unwrap();
    let (mut source, mut target) = (Pose::rest(&data), Pose::rest(&data));
    let mut time = 0.0;
    steady(|| {
        time += 1.0 / 60.0;
        set_channels(&data, &data.clips()[0], time, &mut source.as_mut());
        retarget.pose(source.as_ref(), &mut target.as_mut()).unwrap();
    })
}

/// The same of two instances.
fn driving(mode: Mode) -> u64 {
    let data = character(1, SHAPE);
    let names = data.skeleton().names().iter().map(|name| (name.clone(), name.clone())).collect();
    let mut retarget =
        Retarget::new(&data, &data, &RetargetOptions { mode, names, ..Default::default() }).unwrap();
    let mut animator = Animator::new();
    let id = animator.add_model(&data);
    let [source, target] = [(); 2].map(|()| animator.spawn(id).unwrap());
    animator.play(source, 0).unwrap();
    steady(|| {
        animator.advance(1.0 / 60.0);
        animator.refresh(source).unwrap();
        retarget.drive(&mut animator, source, target).unwrap();
        animator.evaluate();
    })
}

/// Characters in a row, half of them in view, and others every other frame.
fn culled(characters: usize) -> u64 {
    let mut deformer = CpuDeformer::new();
    let model = deformer.add_model(&character(1, SHAPE), Precision::Packed).unwrap();
    for at in 0..characters {
        let id = deformer.spawn(model).unwrap();
        let place = glam::Affine3A::from_translation(glam::Vec3::X * 100.0 * at as f32);
        deformer.animator_mut().set_transform(id, place).unwrap();
        deformer.animator_mut().play(id, "bend").unwrap();
    }
    let half = 100.0 * characters as f32 / 2.0;
    let views = [0.0, half].map(|from| {
        let to_unit = glam::Mat4::from_scale(glam::Vec3::new(2.0 / half, 1e-3, 1e-3));
        let center = glam::Vec3::new(from + half / 2.0 - 50.0, 0.0, -500.0);
        [Frustum::from_view_projection(to_unit * glam::Mat4::from_translation(-center))]
    });
    let mut frame = 0;
    steady(|| {
        frame += 1;
        deformer.animator_mut().advance(1.0 / 60.0);
        deformer.set_views(Some(&views[frame % 2])).unwrap();
        deformer.run().unwrap();
        let animator = deformer.animator();
        let shown = animator.instances().filter(|id| animator.is_shown(*id).unwrap()).count();
        assert_eq!(shown, characters / 2);
    })
}

// One test: the counter is shared by all threads of the binary.
#[test]
fn a_steady_frame_allocates_nothing_beyond_wgpus_own_calls() {
    for mode in [Mode::WorldCopy(WorldCopy::default()), Mode::RestRelative(RestRelative::default())] {
        assert_eq!(retargeting(mode.clone()), 0, "{mode:?}");
        assert_eq!(in_a_pool(|| driving(mode.clone())), 0, "driving, {mode:?}");
    }
    assert_eq!(in_a_pool(with_a_picker), 0, "a refit, hits and sockets");
    let mut graphs = Vec::new();
    for characters in [1, 32] {
        let cpu = in_a_pool(|| on_cpu(characters));
        let (graph, hand) = (on_gpu(characters, false), on_gpu(characters, true));
        println!(
            "{characters} characters, {FRAMES} frames: evaluation and twin {cpu} allocations; \
             graph frame {graph}, the same wgpu calls by hand {hand}"
        );
        assert_eq!(cpu, 0, "evaluation and twin, {characters} characters");
        assert_eq!(in_a_crowd(characters, 1), 0, "a crowd, {characters} characters");
        assert_eq!(in_a_pool(|| culled(characters.max(2))), 0, "culled, {characters} characters");
        for keeps_poses in [true, false] {
            let modified = in_a_pool(|| with_modifiers(characters.min(4), keeps_poses));
            assert_eq!(modified, 0, "modifiers, {characters} characters");
        }
        #[cfg(feature = "threads")]
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let many = pool.install(|| in_a_crowd(characters * 20, 20));
            assert_eq!(many, 0, "{} characters on {threads} threads", characters * 20);
        }
        // wgpu's own count varies by a few with the objects it tracks; the graph crate's tests compare
        // equal objects and find equality.
        assert!(graph <= hand, "graph {graph} against hand-written calls {hand}, {characters} characters");
        graphs.push(graph);
    }
    assert_eq!(graphs[0], graphs[1], "a character more allocates nothing");
}
