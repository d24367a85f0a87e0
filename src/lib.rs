//! Animated characters for anyone who renders with wgpu, without an engine.
//!
//! ```text
//! glTF bytes ─import→ Model (immutable, shared) ─add_model→ static vertex streams on the GPU
//!                        │
//!   spawn → instance (own pose, weights, player, transform)
//!                        │              every frame
//!   host pass   "animate":  sample clips → modifiers → hierarchy → palette  (CPU)
//!                           one upload: palettes | work items | active morph targets
//!   compute pass "deform":  morph → skin → transient vertex buffers     (a dispatch per kernel variant)
//!   raster passes:          shadow, main, motion … read the same deformed vertices
//! ```
//!
//! # Three ways in
//! - **A frame graph.** [`declare`] adds the two passes above to a [`graph::Graph`]; your raster passes
//!   read the [`SkinnedPart`]s that it returns. What no pass reads is not deformed. [`declare_with`] chooses per
//!   part: transient, persistent, or with the positions of the frame before.
//! - **Your own frame.** [`Deformer::record`] writes into your encoder, [`Deformer::vertices`] gives vertex
//!   buffers to draw from.
//! - **No GPU.** [`Animator`] evaluates poses and palettes, [`CpuDeformer`] deforms by the kernel's twin.
//!
//! What is deformed can be asked for on the CPU: [`Picker`] finds what a ray meets, [`Socket`] where attachments belong,
//! [`ReadBack`] brings vertices back from the GPU, [`deform::posed_model`] makes a file of a pose.
//!
//! ```no_run
//! # fn run(device: wgpu::Device, queue: wgpu::Queue) -> Result<(), Box<dyn std::error::Error>> {
//! let model = sinew::Model::load("fox.glb")?;
//! let mut deformer = sinew::Deformer::new(&device);
//! let fox = deformer.add_model(&queue, &model)?;
//! let runner = deformer.spawn(fox)?;
//! deformer.play(runner, "run")?;
//! loop {
//!     deformer.advance(1.0 / 60.0);
//!     let mut encoder = device.create_command_encoder(&Default::default());
//!     deformer.record(&mut encoder)?;
//!     // Draw part 0 from the buffers of `deformer.vertices(runner, 0)?`, then:
//!     queue.submit([encoder.finish()]);
//! }
//! # }
//! ```
//!
//! # What it promises
//! - No submit, poll, callback on your device, thread or global state behind your back; nothing blocks.
//! - WebGPU's default limits are enough. A limit that breaks is an error with the numbers.
//! - A steady frame allocates nothing beyond wgpu's own calls.
//! - Bad files become errors or diagnostics with the place in the document; never a panic.
//! - Evaluation gives the same bytes on every machine.
//!
//! # Features
//! | feature | adds |
//! |---|---|
//! | `gltf` (default) | [`Model::load`], [`Model::from_bytes`], [`Model::to_glb`] |
//! | `gpu` (default) | [`Deformer`], [`declare`], the frame graph |
//! | `threads` | evaluation, and decoding of a model's images, on all threads of the current rayon pool; the same bytes |
//! | `meshopt` | `EXT_meshopt_compression` and `KHR_meshopt_compression`; builds C++ |
//! | `images`, `render` | textures and the standard raster pass |
//! | `shader` | [`shader`]: composition and checks for build scripts; does not compile wgpu |
//! | `cli` | the program `sinew` |

pub mod animate;
pub mod deform;
#[cfg(feature = "gltf")]
pub mod export;
pub mod fix;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod ik;
#[cfg(feature = "gltf")]
pub mod import;
pub mod lint;
pub mod model;
pub mod pick;
#[cfg(feature = "render")]
pub mod render;
pub mod retarget;
#[cfg(feature = "shader")]
pub mod shader;
pub mod shaders;

pub use animate::{Animator, InstanceId, JointMap, LoopMode, ModelId, Player};
#[cfg(feature = "gpu")]
pub use deform::gpu::{
    DeclareOptions, DeformedVertices, Deformer, DeformerOptions, GroupOptions, GroupPart, OutputKind,
    PaletteRows, PendingCapture, ReadBack, ReadBackRequests, Replay, Skinned, SkinnedGroup, SkinnedPart,
    WarmUp, declare, declare_group, declare_read_back, declare_with,
};
pub use deform::{Capture, CpuDeformer, DeformError, Frustum, Packing, Precision};
pub use model::{Bounds, Model, Skinning};
pub use pick::{Hit, PickOptions, Picker, Ray, Socket};
#[cfg(feature = "gpu")]
pub use sinew_graph as graph;
