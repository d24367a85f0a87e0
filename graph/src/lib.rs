//! A frame graph for wgpu: passes declare what they touch, a compiler orders, culls and places, and a runtime
//! records the frame into the caller's encoder.
//!
//! ```text
//! Graph<F> ──compile──→ Plan ──run(&mut encoder, &mut frame)──→ commands in the caller's encoder
//!   what there is        plain data:            │
//!   and how to           order, lifetimes,      Runtime: arenas, textures, bind groups,
//!   record it            places, reasons        staging memory, timestamps
//! ```
//!
//! - [`Graph`] holds the declarations and one record closure per pass, boxed once. Values of a frame reach the
//!   closures as `&F` (host passes: `&mut F`), never by capture, so declarations outlive frames.
//! - [`Plan`] needs no device. It can be printed, compared and cloned, says why each pass is not in it, and can
//!   be read as text, DOT, JSON or one HTML page ([`Plan::report`]).
//! - [`Runtime`] owns what the plans need on one device, for any number of graphs.
//!
//! A [`Buffer`] is one *value* with exactly one writer; [`Declare::modify`] changes it in place and returns the
//! next value. All order follows from that, so passes are declared in any order. A [`Pack`] is written as one
//! range and read member by member, and members that nobody reads are left out. Host passes run on the CPU
//! while the frame is recorded and write straight into mapped staging memory ([`UploadRing`], also usable
//! without a graph).
//!
//! | resource | lives | memory |
//! |---|---|---|
//! | [`transient`](Graph::transient), [`pack`](Graph::pack), [`texture`](Graph::texture) | inside a run | shared: what is never alive together lies at the same place |
//! | [`persistent`](Graph::persistent) | from run to run | its own |
//! | [`history`](Graph::history) | this run and the one before | two of its own, which change places after every run that filled the first |
//! | [`import`](Graph::import), [`target`](Graph::target) | with the caller | the caller's |
//!
//! ```
//! use sinew_graph::{Graph, Limits, Runtime, RuntimeOptions};
//!
//! let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
//!
//! /// What changes from frame to frame.
//! struct Frame {
//!     time: f32,
//! }
//!
//! let mut graph = Graph::<Frame>::new();
//! let palette = graph.transient("palette", 64);
//! let vertices = graph.transient("vertices", 1024);
//! graph.host("animate", |pass| {
//!     let palette = pass.upload(palette);
//!     move |host, frame| {
//!         frame.time += 1.0 / 60.0;
//!         host.write(palette).slice(..4).copy_from_slice(&frame.time.to_le_bytes());
//!     }
//! });
//! graph.compute("deform", |pass| {
//!     pass.storage_read(palette);
//!     pass.storage_write(vertices);
//!     |_pass, _resources, _frame| { /* set_pipeline, set_bind_group, dispatch_workgroups */ }
//! });
//! graph.export(vertices);
//!
//! let plan = graph.compile(&Limits::from(device.limits()))?;
//! assert_eq!(plan.peak_bytes(), 1024 + 64);
//!
//! let mut runtime = Runtime::new(&device, &queue, RuntimeOptions::default());
//! let mut frame = Frame { time: 0.0 };
//! for _ in 0..3 {
//!     let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
//!     runtime.run(&mut graph, &plan, &mut encoder, &mut frame)?;
//!     queue.submit([encoder.finish()]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is remembered
//!
//! A graph keeps its newest plans by shape: everything that was declared, and which passes are enabled. So
//! [`Graph::set_enabled`] and back, or [`Graph::clear`] and the same declarations again, cost comparing
//! numbers. A
//! runtime keeps the objects of the newest plans, pools textures over all of them, and builds a bind group again
//! only when something it holds was replaced ([`Runtime::bind_target`], [`Graph::replace_import`]). What was not
//! run for [`RuntimeOptions::idle_runs`] runs, and what a graph no longer declares, goes back to the device.
//!
//! # When the device is lost
//!
//! Install a [`LossFlag`] and let the runtime [watch](Runtime::watch) it: the next run then says so. Make a
//! runtime on a new device and declare the graph again; what was persistent is gone.
//!
//! # What is checked here, and what wgpu checks
//!
//! [`Graph::compile`] finds, all at once, what can be known from the declarations: cycles, reads before any
//! write, two writers, reading and writing one resource in a pass, uses that a kind of pass cannot have,
//! handles of another graph, sizes over the device's limits, attachments that do not fit together, and
//! imported buffers that lack a usage ([`GraphError`]). It also guarantees what wgpu does not check: no two
//! transients that are alive together share bytes.
//!
//! Left to wgpu, and reported by it: shaders, pipelines, bind group layouts against their entries, draw and
//! dispatch arguments, formats that cannot be drawn into or sampled, and the format of the view that
//! [`Runtime::bind_target`] is given, with its size where its texture has several mip levels. Left to the caller: that a record closure does what its pass declared. A
//! buffer bound by [`Bind::range`] is not tracked, so no pass of the graph may write it.
//!
//! # What it refuses to do
//!
//! No submit and no poll: commands go into the caller's encoder, and staging memory comes back during the
//! caller's own submits and polls. No callback on the caller's device unless
//! [`LossFlag::install`] is called, no thread, no waiting, no global state
//! but a counter that numbers graphs. One mip level and one layer per texture. No panic on wrong input: mistakes are values of [`GraphErrors`] or
//! [`RunError`]. A steady frame allocates nothing beyond what wgpu itself does, and creates no GPU object.
//!
//! # Tracing
//!
//! Each run has a span `frame`, and in it one span `pass` per pass with the fields `label`, `kind`,
//! `bytes_read` and `bytes_written` (bytes of buffers), `dispatches` and `draws` (as the closure counts them by
//! [`Resources::count_dispatches`] and [`Resources::count_draws`]) and `gpu_ns` (of the frame that the `frame`
//! span names as `gpu_frame`: the newest finished one, some frames old). Events at compile time say what was
//! culled, why, and how many bytes were saved by aliasing.
#![forbid(unsafe_code)]

mod access;
mod compile;
mod decl;
mod declare;
mod error;
mod fingerprint;
mod graph;
mod handle;
mod limits;
mod loss;
mod plan;
mod record;
mod report;
mod resource;
pub mod role;
mod runtime;
mod upload;

pub use access::{Access, Bind, PassKind};
#[doc(hidden)]
pub use compile::{Colouring, CompileOptions};
pub use decl::TextureDesc;
pub use declare::Declare;
pub use error::{GraphError, GraphErrors, Shape};
pub use graph::Graph;
pub use handle::{Buffer, Group, History, Pack, Pass, Texture};
pub use limits::Limits;
pub use loss::{Loss, LossFlag};
pub use plan::{Arena, CullReason, CulledPass, Placement, Plan, PlannedBuffer, PlannedPass, PlannedTexture};
pub use report::Report;
pub use runtime::{Host, PassTime, Resources, RunError, Runtime, RuntimeOptions, Timings};
pub use upload::{Continuity, RunId, Staging, UploadRing};
