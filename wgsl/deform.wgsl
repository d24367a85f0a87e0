import package::codec::oct_decode;
import constants::VARIANT;

const WORKGROUP: u32 = 128;

@group(0) @binding(0) var<storage, read> source: array<vec4u>;
@if(morph) @group(0) @binding(3) var<storage, read> tables: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<vec4f>;

@if(one) fn influences() -> u32 { return 1u; }
@if(four) fn influences() -> u32 { return 4u; }
@if(eight) fn influences() -> u32 { return 8u; }
@if(any) fn influences() -> u32 { return VARIANT; }

@compute @workgroup_size(WORKGROUP)
fn deform(@builtin(global_invocation_id) id: vec3u) {
    var w = f32(influences());
    @if(morph) { w += f32(tables[id.x]); }
    @if(exact) { w += 1.0; }
    out[id.x] = vec4f(oct_decode(source[id.x].w), w);
}
