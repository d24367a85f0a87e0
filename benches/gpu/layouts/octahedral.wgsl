// Unit vectors in 2x16 signed bits; the lowest bit of y of a tangent is its handedness.
fn decode(word: u32) -> vec3<f32> {
    let f = unpack2x16snorm(word);
    let z = 1.0 - abs(f.x) - abs(f.y);
    let fold = max(-z, 0.0);
    return normalize(vec3<f32>(f + select(vec2<f32>(fold), vec2<f32>(-fold), f >= vec2<f32>(0.0)), z));
}

fn encode(v: vec3<f32>) -> u32 {
    let p = v.xy / (abs(v.x) + abs(v.y) + abs(v.z));
    let folded = (1.0 - abs(p.yx)) * select(vec2<f32>(-1.0), vec2<f32>(1.0), p >= vec2<f32>(0.0));
    return pack2x16snorm(select(p, folded, v.z < 0.0));
}

const HANDEDNESS: u32 = 0x10000u;
