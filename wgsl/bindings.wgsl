// The eight bindings of the deform kernel: WebGPU's default limit of storage buffers per stage.
import package::layout::JointMatrix;

@group(0) @binding(0) var<storage, read> source_a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> source_b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> extra: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> tables: array<u32>;
@group(0) @binding(4) var<storage, read> palette: array<JointMatrix>;
@group(0) @binding(5) var<storage, read> frame: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> out_a: array<vec4<u32>>;
@if(exact) @group(0) @binding(7) var<storage, read_write> out_b: array<vec4<u32>>;
@if(!exact) @group(0) @binding(7) var<storage, read_write> out_b: array<u32>;
