//! What the memory can do: the ceilings that kernels are measured against.

use crate::{
    gpu::{Gpu, buffer, grid, group, pipeline},
    report::Report,
};

const COPY: &str = "
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    let at = (id.y * n.x + id.x) * 256u + i;
    if at < arrayLength(&out) { out[at] = source[at]; }
}";

const WRITE: &str = "
@group(0) @binding(0) var<storage, read_write> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    let at = (id.y * n.x + id.x) * 128u + i;
    if at < arrayLength(&a) { a[at] = vec4<u32>(at); b[at] = at; }
}";

pub(crate) fn run(gpu: &Gpu, report: &mut Report) {
    let device = &gpu.device;
    let count: u64 = gpu.size(50 << 20, 1 << 20);
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let [source, out] = [(); 2].map(|()| buffer(device, count * 16, storage));

    let seconds = dispatched(gpu, COPY, 256, count, &[&source, &out]);
    report.copy = count as f64 * 32.0 / seconds * 1e-9;
    report.line("copy kernel, 16 bytes a thread", &[("GB/s", report.copy)]);

    let tangents = buffer(device, count * 4, storage);
    let seconds = dispatched(gpu, WRITE, 128, count, &[&out, &tangents]);
    report.write = count as f64 / seconds * 1e-9;
    let written = report.write * 20.0;
    report.line("write 16 + 4 bytes in two streams", &[("GB/s", written), ("Gv/s", report.write)]);

    // Copies have no timestamps of their own; passes of nothing around them have.
    let nothing = pipeline(device, "@compute @workgroup_size(1) fn main() {}", None);
    let seconds = gpu.median(|encoder, at| {
        let start = wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(at.start()) };
        encoder.begin_compute_pass(&start).set_pipeline(&nothing);
        encoder.copy_buffer_to_buffer(&source, 0, &out, 0, count * 16);
        let end = wgpu::ComputePassTimestampWrites { beginning_of_pass_write_index: None, ..at.writes() };
        let end = wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(end) };
        encoder.begin_compute_pass(&end).set_pipeline(&nothing);
    });
    report.line("copy_buffer_to_buffer", &[("GB/s", count as f64 * 32.0 / seconds * 1e-9)]);
}

/// Median seconds of one dispatch with a thread for each of `count` elements.
pub(crate) fn dispatched(
    gpu: &Gpu,
    text: &str,
    workgroup: u64,
    count: u64,
    buffers: &[&wgpu::Buffer],
) -> f64 {
    let pipeline = pipeline(&gpu.device, text, None);
    let group = group(&gpu.device, &pipeline, buffers);
    let (x, y) = grid(count.div_ceil(workgroup) as u32);
    gpu.median(|encoder, at| {
        let mut pass = encoder.begin_compute_pass(&at.compute());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(x, y, 1);
    })
}
