// Octahedral unit vectors in 2x16 bits (Cigolle et al., "A Survey of Efficient Representations for
// Independent Unit Vectors", 2014). A tangent's handedness is the lowest bit of y.

fn oct_decode(word: u32) -> vec3<f32> {
    let f = unpack2x16snorm(word);
    let z = 1.0 - abs(f.x) - abs(f.y);
    let fold = max(-z, 0.0);
    let x = f.x - select(-fold, fold, f.x >= 0.0);
    let y = f.y - select(-fold, fold, f.y >= 0.0);
    return normalize(vec3<f32>(x, y, z));
}

// Any length; a zero vector becomes +z.
fn oct_encode(v: vec3<f32>) -> u32 {
    let sum = abs(v.x) + abs(v.y) + abs(v.z);
    let scale = 1.0 / max(sum, 1e-30);
    let p = v.xy * scale;
    let sign_x = select(-1.0, 1.0, p.x >= 0.0);
    let sign_y = select(-1.0, 1.0, p.y >= 0.0);
    let folded = vec2<f32>((1.0 - abs(p.y)) * sign_x, (1.0 - abs(p.x)) * sign_y);
    return pack2x16snorm(select(p, folded, v.z < 0.0));
}

fn oct_encode_signed(v: vec3<f32>, handedness: f32) -> u32 {
    return (oct_encode(v) & 0xfffeffffu) | select(0u, 0x10000u, handedness < 0.0);
}

fn oct_sign(word: u32) -> f32 {
    return select(1.0, -1.0, (word & 0x10000u) != 0u);
}
